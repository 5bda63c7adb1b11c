#!/bin/bash
# promise: a snapshot of a lying runtime is complete or refused, in bounded memory and disk space
# cases: heap-fast heap-types heap-endless heap-names heap-edges heap-chain heap-never
# seconds: 30
. "$(dirname "$0")/lib"
out=$("$HOSTILE/heap_walk.sh" "$1" 25 60 2>&1)
peak() { grep -o "$1[0-9]*MB" <<<"$out" | tr -dc '0-9\n' | sort -n | tail -1; }
rss=$(peak rss=) disk=$(peak unlinked-files=)
figure "memory ${rss:-?} MB, spool ${disk:-?} MB, $(grep '^rc ' <<<"$out"): $(grep -v '^t=\|^rc \|^GUARD\|^total\|^[d-]r' <<<"$out" | tail -1 | cut -c1-150)"
most memory "$rss" 1200 MB
most spool "$disk" 1200 MB
grep -q '^GUARD' <<<"$out" && broken "it does not end"
echo "$out"
