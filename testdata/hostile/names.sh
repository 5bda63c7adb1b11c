#!/bin/bash
# promise: no command prints or writes a control character of a target
# seconds: 80
. "$(dirname "$0")/lib"
out=$("$HOSTILE/names.sh" 2>&1)
bad=$(grep -c 'control [1-9]\|control characters [1-9]' <<<"$out")
figure "$(grep -c '^rc ' <<<"$out") commands and $(grep -c '^file ' <<<"$out") files, $bad with control characters"
[ "$bad" = 0 ] || broken "$(grep -m1 'control [1-9]\|control characters [1-9]' <<<"$out" | cut -c1-150)"
[ "$(grep -c '^rc ' <<<"$out")" -gt 0 ] || broken "no command ran"
echo "$out"
