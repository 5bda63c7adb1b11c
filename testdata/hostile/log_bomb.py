"""Writes a JSON log that is meant to take much time: log_bomb.py KIND LINES."""
import json, sys, time

kind, lines = sys.argv[1], int(sys.argv[2])

def at(seconds, ns=0):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(1767225600 + seconds)) + ".%09dZ" % ns

def line(when, action, gc, key=5, **event):
    print(json.dumps({"@timestamp": when, "event": dict(action=action, **event), "process": {"pid": 1, "start_key": str(key), "name": "x"},
                      "dotnet": {"gc": gc}, "gclog": {"schema": "1.1"}}, separators=(",", ":")))

def gc(seconds, number, ns=1000000, late=0):
    start = at(seconds, late)
    line(start, "gc", {"number": number, "generation": 0, "type": "blocking", "reason": "AllocSmall", "pause": {"count": 1, "parts": [
        {"start": start, "ns": ns, "kind": "blocking"}]}, "complete": True}, start=start, end=at(seconds, late + 1000), duration=1000)

def gap(seconds, **more): line(at(seconds), "gc-gap", {"gap": dict(reason="missed-gcs", **more)})

line(at(0), "gc-session-start", {})
gc(0, 1)
for i in range(lines):
    if kind == "honest": gc(i, i + 2)
    elif kind == "headers": line(at(1), "gc-log-header", {}, key=10 + i % 9990)  # processes that never begin
    elif kind == "jumps":  # numbers are missing before each collection, and gaps name others
        if i < 1024: gap(0, **{"from": 3000000000 + 2 * i, "to": 3000000000 + 2 * i})
        gc(i + 1, 1000 * i + 1001)
    elif kind == "pauses":  # gaps everywhere, then pauses over all of them
        if i < lines // 2: gap(3 * i), gc(3 * i + 1, i + 2, 1000)
        else: gc(1, i + 2, 10**16, i)
    elif kind == "backwards": gc(2 * lines - i, i + 2)
