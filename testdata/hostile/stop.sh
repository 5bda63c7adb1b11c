#!/bin/bash
# promise: SIGTERM ends the daemon within 5 s
# cases: heap-never heap-fast good no-end slow
# seconds: 20
# timed: yes
# needs: bc
. "$(dirname "$0")/lib"
out=$("$HOSTILE/stop.sh" "$1" 2>&1)
took=$(grep -o 'SIGTERM took [0-9.]*' <<<"$out" | tr -dc '0-9.')
figure "${took:-?} s, $(grep '^rc' <<<"$out")"
soon SIGTERM "$took" 6 # with the start of the next program of the script
pgrep -f 'heap snapshot' >/dev/null && broken "the snapshot lives on after the daemon"
echo "$out"
