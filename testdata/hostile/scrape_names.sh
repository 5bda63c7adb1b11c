#!/bin/bash
# promise: /metrics stays bounded and correct, whatever processes are called and however many come and go
# seconds: 20
# timed: yes
# needs: curl
. "$(dirname "$0")/lib"
D=$WORK/sn; folders "$D"
printf 'version: 1\ndiscovery: {interval: 300ms}\noutputs: [{path: "%s/o/%%p.json"}]\nhttp: {listen: "127.0.0.1:19803"}\nmetrics: {enabled: true}\n' "$D" >"$D/c.yaml"
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
n=0
for name in 'a"b' 'a\nb{x="1"} 7\n# EOF' 'a\\' '\x1b]0;x\x07' 'orders' 'orders' 'a\u2028\u202eb' "$(printf 'x%.0s' {1..3000})"; do
	fake time-back 14 65534 --count 3 --name "$name" --cmdline "$name"; n=$((n + 3))
done
fake lost 14 65534; fake gc-gaps 14 65534
fake good 14 0 --name orders --cmdline orders
scrape() { curl -s -m 5 "$@" http://127.0.0.1:19803/metrics; }
counted() { [ "$(scrape | grep -c '^dotnet_gc_process_info\|_process_info{')" -ge 5 ]; }
until_true 12 counted || broken "no process is counted"
sleep 2
scrape >"$D/text"; scrape -H 'Accept: application/openmetrics-text' >"$D/open"
"$PYTHON" - "$D/text" "$D/open" <<'P'
import math, re, sys
line = re.compile(r'^(# .*|[a-zA-Z_:][\w:]*(\{([a-zA-Z_]\w*="([^"\\\n]|\\[\\n"])*"(,(?!\})|(?=\})))*\})? (\S+)( \S+)?( # .*)?)$')
for path in sys.argv[1:]:
    text = open(path, encoding="utf-8", errors="strict").read()
    seen, wrong = set(), []
    for l in text.split("\n")[:-1]:
        m = line.match(l)
        if not m or any(ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u2028" for c in l): wrong.append(l[:100])
        elif not l.startswith("#"):
            series = l[:l.rindex("} ") + 1] if "} " in l else l.split(" ")[0]
            if series in seen: wrong.append("twice: " + l[:100])
            seen.add(series)
            v = float(m.group(6))
            if math.isnan(v) or v < 0 and ("_total" in series or "_bucket" in series or "_count" in series): wrong.append("value: " + l[:100])
    print("figure: %d series in %d KB, %d wrong lines" % (len(seen), len(text) >> 10, len(wrong)))
    for w in wrong[:3]: print("broken: " + repr(w))
    if len(text) > 8 << 20: print("broken: it has %d bytes" % len(text))
P
soon SIGTERM "$(ended "$G")" 6
tail -3 "$D/log"
