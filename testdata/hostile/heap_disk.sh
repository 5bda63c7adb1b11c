#!/bin/bash
# promise: a snapshot without end takes no neighbour a collection that is in no gap
# cases: heap-fast heap-types
# seconds: 45
# needs: jq
. "$(dirname "$0")/lib"
out=$("$HOSTILE/heap_disk.sh" "$1" 2>&1)
ledger=$("$PYTHON" "$(dirname "$0")/ledger.py" $(find "$WORK/df/o" -name 'victim*.json'))
used=$(grep -o 'used [0-9]*' <<<"$out" | tr -dc '0-9\n' | sort -n | tail -1)
figure "disk: at most ${used:-?} of 600 MB; neighbour: $(tail -1 <<<"$ledger")"
most "disk space" "$used" 540 MB
grep -q '^missing 0 ' <<<"$ledger" || broken "collections of the neighbour are in no record and no gap"
grep -q 'records 0 ' <<<"$ledger" && broken "the neighbour has no log"
pgrep -f 'heap snapshot' >/dev/null && broken "the snapshot lives on after the daemon"
echo "$out"; echo "$ledger"
