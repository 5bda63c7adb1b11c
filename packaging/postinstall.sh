#!/bin/sh
# Runs after an installation or an upgrade (deb, rpm, apk). Creates the user and the folder of the
# logs. It does not enable the daemon: some users need only gclog's commands.
set -e

# dpkg, unlike rpm and apk, also calls this to undo a removal or an upgrade.
case "$1" in
abort-*) exit 0 ;;
esac

if ! id gclog >/dev/null 2>&1; then
	if command -v systemd-sysusers >/dev/null; then
		systemd-sysusers gclog.conf
	elif command -v useradd >/dev/null; then
		useradd --system --user-group --home-dir /var/log/gclog --no-create-home \
			--shell /usr/sbin/nologin --comment "GC logs of .NET processes" gclog
	elif command -v adduser >/dev/null; then # busybox
		addgroup -S gclog
		adduser -S -D -H -h /var/log/gclog -s /sbin/nologin -G gclog -g "GC logs of .NET processes" gclog
	else
		echo "gclog: cannot make the user gclog: there is no systemd-sysusers, useradd or adduser" >&2
		exit 1
	fi
fi

if [ ! -d /var/log/gclog ]; then
	mkdir -m 0750 /var/log/gclog
	chown gclog:gclog /var/log/gclog
fi

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
	systemctl try-restart gclog.service || true # its log contains the reason
fi
