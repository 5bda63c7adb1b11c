#!/bin/bash
# promise: a command of a rule has the rights of its user, and no others
# seconds: 30
. "$(dirname "$0")/lib"
# The caller's namespace has no user 998: the number is enough.
out=$("$HOSTILE/exec_rights.sh" 2>&1)
caps=$(grep -o 'CapEff: *[0-9a-f]*' <<<"$out" | head -1)
left=$(grep -c 'sleep 40$' <<<"$out")
figure "${caps:-the command said nothing}, $left commands left after their timeout"
grep -q 'root:' <<<"$out" && broken "the command can read the shadow file"
[ -n "$caps" ] || broken "the command did not run"
grep -q 'CapEff: *0*$\|CapEff: *0* ' <<<"$caps " || broken "the command has capabilities: $caps"
[ "$left" = 0 ] || broken "the command was not ended"
echo "$out"
