#!/bin/sh
# Before a removal (deb, rpm, apk): stops the daemon. An upgrade leaves it alone, and
# restarts it afterwards.
set -e

case "$1" in
upgrade | failed-upgrade | 1) exit 0 ;; # 1: rpm, one gclog stays
esac

if [ -d /run/systemd/system ]; then
	systemctl --no-reload disable --now gclog.service || true
fi
