#!/bin/bash
# promise: a command of another user ends at its timeout, and its worker goes on
# seconds: 30
# needs: jq bc
. "$(dirname "$0")/lib"
out=$("$HOSTILE/exec_kill.sh" 2>&1)
took=$(grep -o 'SIGTERM took [0-9.]*' <<<"$out" | tr -dc '0-9.')
left=$(grep -c 'sleep 300$' <<<"$out")
figure "$left commands left; SIGTERM took ${took:-?} s; $(grep -m1 -o 'it did not end in time[^"]*\|cannot be killed[^"]*' <<<"$out")"
[ "$left" -le 0 ] || broken "$left commands live on"
soon SIGTERM "$took" 6
grep -q 'did not end in time' <<<"$out" || broken "the log does not say that the command was ended"
echo "$out"
