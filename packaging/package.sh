#!/bin/sh
# Creates the files of a release in bin/dist: an archive for each platform, packages (deb, rpm, apk)
# for Linux, and SHA256SUMS. The same sources give the same files.
#
#   VERSION=0.1.0 packaging/package.sh linux/amd64 linux/arm64 ...
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export GO VERSION SOURCE_DATE_EPOCH
dist=bin/dist
rm -rf $dist
mkdir -p $dist
packaging/share.sh

nfpm=$($GO tool -modfile=tools/nfpm/go.mod -n nfpm)

for platform; do
	os=${platform%/*}
	arch=${platform#*/}
	binary=$dist/$platform/gclog
	[ "$os" = windows ] && binary=$binary.exe
	GOOS=$os GOARCH=$arch make -s build OUT="$binary"

	name=gclog-$VERSION-$os-$arch
	mkdir -p $dist/archive/"$name"
	cp -R "$binary" README.md CHANGELOG.md LICENSE docs samples bin/share/man bin/share/completions \
		bin/share/doc/third-party-licenses.txt $dist/archive/"$name"
	tar -C $dist/archive --sort=name --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw \
		--mtime="@$SOURCE_DATE_EPOCH" -cf - "$name" | gzip -9n >$dist/"$name".tar.gz

	if [ "$os" = linux ]; then
		for packager in deb rpm apk; do
			GOARCH=$arch "$nfpm" package -f packaging/nfpm.yaml -p $packager -t $dist/ >/dev/null
		done
	fi
done
rm -rf $dist/archive
cd $dist
find . -maxdepth 1 -name 'gclog*' -printf '%f\n' | sort | xargs sha256sum | tee SHA256SUMS
