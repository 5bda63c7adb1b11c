#!/bin/sh
# Renames the last files of processes that have ended in the same way as rotation does, so that
# rsyslog reads them too. For cron: * * * * * gclog sh /etc/gclog/ended.sh /var/log/gclog
cd "${1:-/var/log/gclog}" || exit
for f in ./*.json; do
	case $f in *-20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T*.json) continue ;; esac
	if [ -f "$f" ] && tail -n 1 "$f" | grep -q '"action":"gc-session-end"'; then
		mv -n "$f" "${f%.json}-$(date -u +%Y-%m-%dT%H-%M-%S.999).json" # later than what gclog has named
	fi
done
