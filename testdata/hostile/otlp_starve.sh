#!/bin/bash
# promise: a flood of one user's processes while the server of OTLP is down costs no other user a record
# seconds: 25
# timed: yes
# needs: jq
. "$(dirname "$0")/lib"
D=$WORK/os; folders "$D"
"$PYTHON" "$(dirname "$0")/otlp_starve.py" 19801 10 victim "$D/count" & S=$!
printf 'version: 1\ndiscovery: {interval: 300ms}\noutputs: [{path: "%s/o/%%n-%%p.json", filesize: 4M, filecount: 2}]\notlp: {endpoint: "http://127.0.0.1:19801", compression: none, logs: true, queue: 2M}\n' "$D" >"$D/c.yaml"
fake flood 12 65534 --count 3 --name flood --cmdline flood; F=$!
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
dropping() { grep -q 'records were dropped' "$D/log"; }
until_true 12 dropping || broken "the flood fills nothing"
fake good 14 0 --name victim --cmdline victim
sleep 12
soon SIGTERM "$(ended "$G")" 6
kill "$S"
read -r arrived others <"$D/count" || { arrived=0 others=0; }
logged=$(cat "$D"/o/victim*.json | jq -c 'select(.event.action == "gc")' | wc -l)
figure "$arrived of $logged collections have arrived beside $others of the flood"
[ "$logged" -gt 20 ] || broken "the neighbour has no log"
[ "$arrived" -ge "$logged" ] || broken "$((logged - arrived)) collections of the neighbour were dropped"
tail -3 "$D/log"
