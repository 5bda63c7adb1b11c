#!/bin/bash
# promise: connections that say nothing, and requests of others, keep no probe out and change nothing
# seconds: 20
# needs: curl
. "$(dirname "$0")/lib"
D=$WORK/hs; folders "$D"
printf 'version: 1\ndiscovery: {include: [{pid: "1"}]}\noutputs: [{path: %s/o/%%p.json}]\nhttp: {listen: "127.0.0.1:19802"}\nmetrics: {enabled: true}\n' "$D" >"$D/c.yaml"
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
answers() { [ "$(curl -s -m 40 -o /dev/null -w '%{http_code}' http://127.0.0.1:19802/healthz)" = 200 ]; }
until_true 40 answers || broken "nothing is served"
setpriv --reuid 65534 --regid 65534 --clear-groups "$PYTHON" "$HOSTILE/http_storm.py" 127.0.0.1:19802 hold 2000 60 >"$D/hold" 2>&1 & F=$!
sleep 3
n=0; for _ in 1 2 3 4 5; do answers && n=$((n + 1)); done
figure "$n of 5 probes answered beside 2000 connections; $(setpriv --reuid 65534 --regid 65534 --clear-groups "$PYTHON" "$HOSTILE/http_storm.py" 127.0.0.1:19802 reload 20 2>&1 | tail -1)"
[ "$n" = 5 ] || broken "probes are kept out"
grep -q 'configuration reloaded' "$D/log" && broken "nobody has made it reload"
kill "$F"
soon SIGTERM "$(ended "$G")" 6
