#!/usr/bin/env python3
"""ledger.py FILE...: checks JSON logs of one process, each line alone: which collections between the
first and the last are in no record and no gap, and which ids are there twice with different contents.
Prints them, and then "missing N twice M records R gaps G"."""
import json, sys

records, gaps, ids, twice = set(), [], {}, []
for path in sys.argv[1:]:
    with open(path, "rb") as f:
        for line in f:
            try:
                r = json.loads(line)
            except ValueError:
                continue  # the torn last line of a writer that was killed
            gc = r.get("dotnet", {}).get("gc", {})
            action, id = r.get("event", {}).get("action"), r.get("gclog_doc_id")
            if id is not None and ids.setdefault(id, line) != line:
                twice.append(id)
            if action == "gc" and gc.get("number"):
                records.add(gc["number"])
            gap = gc.get("gap")
            if gap and gap.get("to"):
                gaps.append((gap["from"], gap["to"]))
told = set(records)
for a, b in gaps:
    told.update(range(a, b + 1))
missing = sorted(set(range(min(told), max(told) + 1)) - told) if told else []
for n in missing[:20]:
    print("missing", n)
for id in twice[:20]:
    print("twice", id)
print("missing %d twice %d records %d gaps %d" % (len(missing), len(twice), len(records), len(gaps)))
