//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/scripts"
	"github.com/rogpeppe/go-internal/testscript"
)

// TestRequests runs every command that talks to a runtime, at every level, with every runtime. A fake
// runtime panics on a request that the real one is not sure to survive (internal/fakeruntime): it must
// still be there at the end. Exit codes are the business of other tests.
func TestRequests(t *testing.T) {
	const core = " -map lib/libcoreclr.so"
	runtimes := []struct{ name, flags string }{
		{"net11", "-version 11.0.0 -threads -server" + core},
		{"aot10server", "-version 10.0.12 -threads -server"},
		{"aot9", "-version 9.0.22"},
		{"core31", "-version 3.1.3" + core},
	}
	if extent.Full() {
		runtimes = append(runtimes, []struct{ name, flags string }{
			{"net5", "-version 5.0.17" + core},
			{"net6", "-version 6.0.36" + core},
			{"net8", "-version 8.0.33 -threads" + core},
			{"net9", "-version 9.0.22 -threads" + core},
			{"net10", "-version 10.0.14 -threads" + core},
			{"aot8", "-version 8.0.33"},
			{"aot10", "-version 10.0.12 -threads"},
			{"aot11server", "-version 11.0.0 -threads -server"},
		}...)
	}
	dir := t.TempDir()
	var files []string
	for _, r := range runtimes {
		file := filepath.Join(dir, r.name+".txtar")
		if err := os.WriteFile(file, []byte(requestScript(r.name, r.flags)), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	params := scripts.Params("")
	params.Files = files
	testscript.Run(t, params)
}

// requestScript returns a script with all commands.
func requestScript(name, flags string) string {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	run := func(format string, args ...any) { say("exec sh -c 'gclog "+format+" >>said 2>&1 || true'", args...) }
	fakeruntime := "fakeruntime -trace $TRACES/net9-wks-attach.nettrace.gz " + flags
	say("env R=Microsoft-Windows-DotNETRuntime")
	say("fake P OTEL_SERVICE_NAME=requests-%s-$UNIQUE %s -log log", name, fakeruntime)
	run("ps")
	run("doctor $P")
	run("settings $P")
	for _, level := range []string{"light", "normal", "full"} {
		run("attach $P --level %s --duration 200ms -o %[1]s.log", level)
		run("record $P --level %s --duration 200ms -o %[1]s.nettrace", level)
	}
	for _, keywords := range []string{"", ":1:5", ":100000:4", ":0x800000:0", ":1980001", ":ffffffffffffffff:5"} {
		run("record $P --providers $R%s --duration 200ms -o asked.nettrace", keywords)
	}
	run("record $P --providers My.Provider --until \"pause > 1s\" --duration 200ms -o until.nettrace")
	run("gc $P --timeout 200ms")
	run("gc $P --wait --timeout 200ms")
	run("heap snapshot $P --timeout 1s -o a.gcdump")
	run("heap snapshot $P --timeout 1s --stack-names -o b.gcdump")
	run("heap stat $P")
	for _, command := range []string{"summary", "check --max-pause 1h", "pauses", "metrics", "stat --interval 100ms --count 2"} {
		run("%s $P --duration 200ms", command)
	}
	// It runs until its standard input ends.
	say("exec sh -c 'sleep 1 | gclog run --level full -o run-%%p.log -- %s -log started >>said 2>&1 || true'", fakeruntime)
	say("exec sh -c 'sleep 1 | gclog run --suspend -o run-%%p.log -- %s -log held >>said 2>&1 || true'", fakeruntime)
	say("exec sh -c 'timeout --preserve-status 3 gclog daemon -c gclog.yaml >>said 2>&1 || true'")
	say("exec kill -0 $P")
	say("! grep 'a request that a runtime may not survive' P.err")
	say("! grep 'a request that a runtime may not survive' said")
	for _, least := range []string{"log 0x0400\\|0x0404\\|0x0408", "log 0x0201", "log 0x020[3456]", "started 0x020[3456]"} {
		file, request, _ := strings.Cut(least, " ")
		say("grep 'request (%s)' %s", strings.ReplaceAll(request, `\|`, "|"), file)
	}
	say("-- lib/libcoreclr.so --\nmapped as the runtime is")
	say("-- gclog.yaml --")
	say("version: 1\ndiscovery: {interval: 100ms, include: [{service: \"requests-%s-*\"}]}", name)
	say("outputs: [{path: \"daemon-%%p.json\"}]\nheap: {auto: {when: \"pause > 0s\", dir: dumps}}")
	say("rules: [{name: collect, on: gc, when: \"pause > 0s\", do: [{snapshot: {}}, {record: {}}]}]\ncontrol: {socket: \"\"}")
	return b.String()
}
