#!/bin/bash
# promise: wrong passwords do not keep the right one out of /metrics
# cases: 60 300
# seconds: 50
# timed: yes
# needs: curl
. "$(dirname "$0")/lib"
out=$("$HOSTILE/passwords.sh" "$1" 2>&1)
scrapes=$(grep '^code 200' <<<"$out" | grep -o 'after [0-9.]*' | tr -dc '0-9.\n' | sort -n | tail -1)
figure "$(grep -c '^code 200' <<<"$out") of 3 scrapes, the slowest ${scrapes:-?} s; $(grep '^daemon cpu' <<<"$out")"
[ "$(grep -c '^code 200' <<<"$out")" = 3 ] || broken "scrapes were kept out"
[ "$(grep -c '^healthz code 200' <<<"$out")" = 3 ] || broken "probes were kept out"
echo "$out"
