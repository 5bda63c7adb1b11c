#!/bin/bash
# promise: files of a user's processes are pushed out only by that user's
# seconds: 140
. "$(dirname "$0")/lib"
out=$("$HOSTILE/quota.sh" 2>&1)
figure "$(grep -c DELETED <<<"$out") of the victim's files deleted, $(grep -c 'still there' <<<"$out") kept"
grep -q DELETED <<<"$out" && broken "$(grep -m1 DELETED <<<"$out")"
grep -q 'still there' <<<"$out" || broken "the victim had no files"
echo "$out"
