#!/bin/sh
# Runs after a removal (deb, rpm, apk). The logs and the user who owns them stay, even after a
# purge: there is no other copy of these records.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
