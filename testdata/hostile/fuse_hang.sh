#!/bin/bash
# promise: processes whose file system does not answer delay no other one, and not the end of gclog
# seconds: 35
# needs: pgrep
. "$(dirname "$0")/lib"
D=$WORK/fh; folders "$D"
[ -e /dev/fuse ] || { figure "no /dev/fuse"; exit; }
printf 'version: 1\ndiscovery: {interval: 500ms}\noutputs: [{path: %s/o/%%p.json}]\n' "$D" >"$D/c.yaml"
"$PYTHON" "$HOSTILE/fuse_hang.py" 30 70 65534 >"$D/hang" & H=$!
until_true 40 grep -q ready "$D/hang" || broken "the file system does not start"
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
sleep 3
from=$(date +%s.%N)
fake good 50; V=$!
until_true 40 logged "$D/o/*.json" || broken "the program is not logged"
figure "a new program is logged after $(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $from }") s beside 30 that hang"
kill "$V"
read -r P _ < <(pgrep -P "$H")
for c in ps "attach $P" "doctor $P"; do
	"$GCLOG" $c >"$D/said" 2>&1 & C=$!
	until_true 40 gone "$C" || broken "gclog $c does not end: $(tail -1 "$D/said")"
done
soon SIGTERM "$(ended "$G")" 6
kill "$H"
tail -3 "$D/log"
