#!/bin/bash
# promise: clients of the records of a process that do not read cost the daemon bounded memory, and delay no log
# seconds: 20
# timed: yes
. "$(dirname "$0")/lib"
D=$WORK/sr; folders "$D"
printf 'version: 1\ndiscovery: {interval: 300ms}\noutputs: [{path: "%s/o/%%p.json", filesize: 4M, filecount: 2}]\n' "$D" >"$D/c.yaml"
fake flood 16 65534; V=$!
GCLOG_CONTROL__SOCKET=$D/ctl "$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
until_true 12 logged "$D/o/$V.json" || broken "the program is not logged"
"$PYTHON" - "$D/ctl" "$V" >"$D/clients" <<'P' &
import socket, sys, time
all = []
for i in range(40):
    c = socket.socket(socket.AF_UNIX); c.connect(sys.argv[1])
    c.sendall(("GET /records?pid=%s HTTP/1.1\r\nHost: gclog\r\n\r\n" % sys.argv[2]).encode()); all.append(c)
print("asked", len(all), flush=True)
time.sleep(12)
P
C=$!
sleep 5
rss=$(awk '/VmRSS/ { print int($2 / 1024) }' "/proc/$G/status")
fake good 8; N=$!
from=$(date +%s.%N)
until_true 8 logged "$D/o/$N.json" || broken "another program is not logged"
grep -q 'asked 40' "$D/clients" || broken "the clients could not ask"
figure "memory $rss MB with 40 clients that do not read; another program is logged after $(awk "BEGIN { printf \"%.1f\", $(date +%s.%N) - $from }") s; $(cat "$D/clients")"
most memory "$rss" 600 MB
kill "$V" "$C"
soon SIGTERM "$(ended "$G")" 6
tail -3 "$D/log"
