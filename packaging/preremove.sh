#!/bin/sh
# Runs before a removal (deb, rpm, apk). Stops the daemon, except before an upgrade, which restarts
# it afterwards.
set -e

case "$1" in
upgrade | failed-upgrade | 1) exit 0 ;; # 1: from rpm, one version stays installed
esac

if [ -d /run/systemd/system ]; then
	systemctl --no-reload disable --now gclog.service || true
fi
