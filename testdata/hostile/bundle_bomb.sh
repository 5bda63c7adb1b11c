#!/bin/bash
# promise: a single-file program that unpacks to 8 GB is left alone, and hangs nothing
# cases: one many
# seconds: 20
. "$(dirname "$0")/lib"
n=1; [ "$1" = many ] && n=2000
"$PYTHON" "$HOSTILE/bundle_bomb.py" "$WORK/bomb" 8 "$n" >/dev/null
spent "$GCLOG" heap stat "$(dirname "$0")/../../gclog/heap/testdata/small.gcdump" --assemblies "$WORK/bomb" >"$WORK/said" 2>&1
rss=$(sed -n 's/.*peak //p' "$WORK/said")
figure "memory ${rss:-?} MB, $(grep '^rc' "$WORK/said")"
most memory "$rss" 600 MB
grep -q '^rc -9' "$WORK/said" && broken "it does not end"
cat "$WORK/said"
