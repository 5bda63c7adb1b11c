#!/bin/bash
# promise: a packed file of 2 MB takes no more memory than what is read of it
# seconds: 10
. "$(dirname "$0")/lib"
"$PYTHON" "$HOSTILE/dump_bomb.py" "$(dirname "$0")/../../gclog/heap/testdata/small.gcdump" "$WORK/bomb.gcdump.gz"
spent "$GCLOG" heap stat "$WORK/bomb.gcdump.gz" >"$WORK/said" 2>&1
rss=$(sed -n 's/.*peak //p' "$WORK/said")
figure "memory ${rss:-?} MB: $(head -1 "$WORK/said")"
most memory "$rss" 1500 MB
grep -q '^rc [1-9]' "$WORK/said" || broken "it was not refused"
cat "$WORK/said"
