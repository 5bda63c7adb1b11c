#!/bin/bash
# promise: no id is in the logs twice with different contents when a daemon restarts
# seconds: 110
# runtime: net9
# needs: jq
. "$(dirname "$0")/lib"
out=$("$HOSTILE/double.sh" 2>&1)
ledger=$("$PYTHON" "$(dirname "$0")/ledger.py" "$WORK"/db/o/*.json)
figure "$(tail -1 <<<"$ledger")"
grep -q 'twice 0 ' <<<"$ledger" || broken "ids are there twice with different contents"
grep -q 'records 0 ' <<<"$ledger" && broken "there are no records"
echo "$out"; echo "$ledger"
