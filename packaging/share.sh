#!/bin/sh
# Generates in bin/share what packages contain in addition to the program and files of the
# repository: manual pages, completions, licences, change logs.
#
#   VERSION=0.1.0 packaging/share.sh
set -eu
cd "$(dirname "$0")/.."
GO=${GO:-go}
share=bin/share
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
rm -rf $share
mkdir -p $share/completions $share/doc

make -s build
bin/gclog man --dir $share/man
gzip -9n $share/man/man?/*
bin/gclog completion bash >$share/completions/gclog.bash
bin/gclog completion zsh >$share/completions/_gclog
bin/gclog completion fish >$share/completions/gclog.fish

# The licences of everything that is linked into the program on any platform.
{
	printf 'gclog holds the Go runtime and library, and the modules below.\n\n== Go\n\n'
	cat "$($GO env GOROOT)/LICENSE"
	for os in linux darwin windows; do
		GOOS=$os $GO list -tags urfave_cli_no_docs -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}' .
	done | sort -u | while read -r module version dir; do
		printf '\n== %s %s\n\n' "$module" "$version"
		find "$dir" -maxdepth 1 \( -name 'LICENSE*' -o -name 'NOTICE*' -o -name 'COPYING*' \) | sort | xargs -d '\n' cat
	done
	printf '\n== uPlot 1.6.32, in the pages of gclog report\n\n'
	cat internal/report/page/uplot/LICENSE
} >$share/doc/third-party-licenses.txt

cat >$share/doc/changelog.Debian <<-END
	gclog ($VERSION-1) unstable; urgency=medium

	  * New release: changelog.gz says what changed.

	 -- gclog <gclog@users.noreply.github.com>  $(LC_ALL=C date -u -R -d "@$SOURCE_DATE_EPOCH")
END
cp CHANGELOG.md $share/doc/changelog
gzip -9nk $share/doc/*
