#!/bin/bash
# promise: links in an output folder of another user lead nothing outside of it
# cases: links folders
# seconds: 20
. "$(dirname "$0")/lib"
D=$WORK/lr; folders "$D"
mkdir "$D/o/a" "$D/o/b"; chown -R 65534:65534 "$D/o/b"
mkdir "$D/secret"; echo untouched >"$D/secret/file.json"
printf 'version: 1\ndiscovery: {interval: 300ms}\noutputs: [{path: %s/o/a/%%p.json, filesize: 64K, filecount: 3}, {path: %s/o/b/su-%%p.json, filesize: 64K, filecount: 3, su: {user: nobody}}]\n' "$D" "$D" >"$D/c.yaml"
fake flood 80; V=$!
"$GCLOG" daemon -c "$D/c.yaml" >"$D/log" 2>&1 & G=$!
until_true 40 logged "$D/o/a/*.json" || broken "the program is not logged"
# A folder that was root's at the start becomes another user's while gclog writes there.
chown -R 65534:65534 "$D/o" 2>/dev/null # files are renamed meanwhile
sleep 0.5; touch "$D/given"
if [ "$1" = links ]; then
	for folder in a b; do
		setpriv --reuid 65534 --regid 65534 --clear-groups "$PYTHON" "$HOSTILE/link_race.py" "$D/o/$folder" "$D/secret/file.json" 12 >>"$D/race" 2>&1 & F="${F:-} $!"
	done
else
	ln -s "$D/secret" "$D/o/l"; chown -h 65534:65534 "$D/o/l"
	for folder in a b; do
		setpriv --reuid 65534 --regid 65534 --clear-groups "$PYTHON" "$HOSTILE/swap_race.py" "$D/o/$folder" "$D/o/l" 12 >>"$D/race" 2>&1 & F="${F:-} $!"
	done
fi
sleep 12
kill "$V"; took=$(ended "$G"); wait $F
rounds=$(tr -dc '0-9\n' <"$D/race" | sort -n | tail -1)
figure "${rounds:-0} rounds; $(find "$D/secret" -type f | wc -l) file outside, $(head -c 20 "$D/secret/file.json")"
[ "${rounds:-0}" -gt 0 ] || broken "nothing was attacked: $(cat "$D/race")"
[ "$(cat "$D/secret/file.json")" = untouched ] || broken "a file outside was written"
[ "$(find "$D/secret" | wc -l)" = 2 ] || broken "files were created outside"
find "$D/o" -user 0 -type f -newerBm "$D/given" | grep -q . && broken "root has written into a folder of nobody"
soon SIGTERM "$took" 6
tail -3 "$D/log"
