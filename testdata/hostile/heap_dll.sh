#!/bin/bash
# promise: a mapped file without end costs a snapshot only names; it holds no place, and ends with the daemon
# seconds: 60
# timed: yes
# runtime: net10
# needs: pgrep
. "$(dirname "$0")/lib"
truncate -s 4T "$WORK/x.dll" 2>/dev/null || truncate -s 1T "$WORK/x.dll"
out=$("$HOSTILE/heap_dll.sh" 2>&1)
rm -f "$WORK/x.dll"
left=$(sed -n '/after the daemon has ended/,$p' <<<"$out" | grep -c 'heap snapshot')
cpu=$(grep -o 'CPU time: [0-9.]*' <<<"$out" | tr -dc '0-9.')
taken=$(find "$WORK/st2/o" -name 'victim*.gcdump' | wc -l)
figure "snapshot process: ${cpu:-0} s of CPU time after 40 s; $taken snapshots of the neighbour; $left left after the daemon"
most "CPU time of the snapshot" "${cpu:-0}" 10 s
[ "$left" = 0 ] || broken "the snapshot lives on after the daemon"
[ "$taken" -gt 0 ] || broken "the neighbour gets no snapshot"
echo "$out"
