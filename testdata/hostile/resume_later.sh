#!/bin/bash
# promise: a program that another tool keeps suspended starts when that tool says, and is not harmed
# seconds: 25
# runtime: net10
. "$(dirname "$0")/lib"
D=$WORK/rl; folders "$D"
printf 'version: 1\ndiscovery: {interval: 300ms}\noutputs: [{path: %s/o/%%p.json}]\n' "$D" >"$D/c.yaml"
"$PYTHON" "$HOSTILE/resume_later.py" "$D/tool.sock" 5 90 >"$D/tool" & T=$!
until_true 40 test -S "$D/tool.sock"
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
from=$(date +%s.%N)
DOTNET_DiagnosticPorts=$D/tool.sock,suspend "$RT/net10/gcload" churn --rate 50 --live 5 --seconds 8 >"$D/out" 2>&1 & V=$!
ready() { grep -qs '"ready"' "$D/out"; }
until_true 60 ready || broken "the program does not start"
started=$(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $from }")
wait "$V"; code=$?
figure "started after $started s, exit code $code, $(cat "$D"/o/*.json 2>/dev/null | grep -c '"action":"gc"') collections logged"
[ "$code" = 0 ] || broken "the program ended with $code"
awk "BEGIN { exit !($started < 4.5) }" && broken "gclog has let it go"
soon SIGTERM "$(ended "$G")" 6
kill "$T" 2>/dev/null
tail -3 "$D/log"
