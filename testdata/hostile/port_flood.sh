#!/bin/bash
# promise: thousands of connections at a diagnostic port keep no program out
# cases: silent resume
# seconds: 30
. "$(dirname "$0")/lib"
D=$WORK/pf; folders "$D"
printf 'version: 1\ndiscovery: {interval: 500ms, listen: [%s/p.sock]}\noutputs: [{path: %s/o/%%p.json}]\n' "$D" "$D" >"$D/c.yaml"
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
until_true 40 test -S "$D/p.sock" || broken "the port does not open"
"$PYTHON" "$HOSTILE/port_flood.py" "$D/p.sock" 3000 60 "$1" >"$D/flood" & F=$!
until_true 40 grep -q announced "$D/flood"
from=$(date +%s.%N)
"$PYTHON" "$HOSTILE/fake.py" good --dir "$D/t" --port "$D/p.sock" --seconds 50 >/dev/null & V=$!
until_true 40 logged "$D/o/*.json" || broken "the program is not logged"
figure "a program is logged after $(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $from }") s beside $(grep -o 'announced [0-9]*' "$D/flood")"
kill "$V" "$F"
soon SIGTERM "$(ended "$G")" 6
tail -3 "$D/log"
