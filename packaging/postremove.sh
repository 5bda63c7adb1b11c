#!/bin/sh
# After a removal (deb, rpm, apk). The logs and the user they belong to stay, also after
# a purge: nobody else has these records.
set -e

if [ -d /run/systemd/system ]; then
	systemctl daemon-reload
fi
