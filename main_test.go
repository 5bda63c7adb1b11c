//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/fakefuse"
	"github.com/gclog/gclog/internal/testing/fakenode"
	"github.com/gclog/gclog/internal/testing/program"
	"github.com/gclog/gclog/internal/testing/scripts"
	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	fakenode.Main()
	fakefuse.Main()
	program.Main(m, scripts.Programs)
}

// TestScripts runs the scripts of testdata/script. In addition to the commands and conditions of
// testscript there are:
//
//	exitcode N PROGRAM ARGS...    runs the program, whose exit code must be N
//	asnobody N PROGRAM ARGS...    the same as user 65534; requires root
//	start VAR [KEY=VALUE...] PROGRAM ARGS...
//	                              runs it in the background: $VAR is its pid, VAR.out and VAR.err
//	                              contain its output
//	fake VAR [KEY=VALUE...] PROGRAM ARGS...
//	                              the same for a fake runtime, or portowner PATH, another tool at a
//	                              diagnostic port that resumes at SIGUSR1; waits until it is ready
//	finish VAR N                  waits until it exits with N; stdout and stderr are its output
//	waitfor FILE REGEXP           waits until a line of the file matches
//	until PROGRAM ARGS...         runs the program repeatedly until it succeeds
//	signal NAME $PID              sends a signal: INT, TERM, HUP, KILL, STOP, CONT, ...
//	gone $PID                     waits until the process does not exist
//	gzip, gunzip, zstd FROM TO    pack and unpack
//	cut FILE N                    truncates the file to N bytes
//	damage FILE N                 inverts the byte at offset N
//	hour FILE H[:M[:S]]           sets the hour at which a recording (V4) was started
//	count FILE N REGEXP           exactly N lines of the file match
//	files DIR NAME...             the folder contains these files, and no others
//	capture VAR FILE REGEXP       waits until the file has a match; $VAR is its first group
//	http STATUS METHOD URL        sends a request, which must have this status; stdout is the body
//	numbers FROM TO FILE...       the JSON logs, given as patterns, contain each collection from
//	                              FROM to TO exactly once, and no others
//
//	[root]      the tests run as root
//	[pid1other] process 1 belongs to another user
//	[mount]     $MOUNTNS COMMAND runs in a mount namespace of its own and may mount
//	[pidns]     $PIDNS COMMAND sees only its own processes
//	[timens]    $TIMENS COMMAND has a boot time of its own
//	[kthread]   process 2 is a kernel thread
//	[caps]      the tests run as root with the capabilities of a host's root, and setpriv works
//	[ptrace]    programs may debug each other
//	[strace]    strace works
//	[full]      $FULL is a device that is always full; not the machine's own if the tests run as
//	            root, because a bug might remove it
//
// $NOBODY COMMAND runs as user 65534, which requires root and setpriv; tracer PID is a debugger
// that has stopped a process. $TRACES is the folder of recordings, $HEAPS that of heap snapshots,
// $EXTENT is full or usual (internal/testing/extent), $UNIQUE a word that no other script has: gclog
// sees all processes of the machine, including those of other scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, scripts.Params(filepath.Join("testdata", "script")))
}

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
		run("attach $P --level %s --count 1 -o %[1]s.log", level)
		run("record $P --level %s --for 200ms -o %[1]s.nettrace", level)
	}
	for _, keywords := range []string{"", ":1:5", ":100000:4", ":0x800000:0", ":1980001", ":ffffffffffffffff:5"} {
		run("record $P --providers $R%s --for 200ms -o asked.nettrace", keywords)
	}
	run("record $P --providers My.Provider --on \"pause > 1s\" --for 200ms -o until.nettrace")
	run("gc $P --timeout 200ms")
	run("gc $P --wait --timeout 200ms")
	run("heap snapshot $P --timeout 1s -o a.gcdump")
	run("heap snapshot $P --timeout 1s --stack-names -o b.gcdump")
	run("heap stat $P")
	run("record $P --stacks --for 200ms -o stacks.nettrace")
	run("alloc $P --for 200ms")
	run("alloc $P --for 200ms --continuous")
	run("induced $P --for 200ms")
	for _, command := range []string{"summary", "check --max-pause 1h", "pauses", "metrics", "stat --interval 100ms --count 2"} {
		run("%s $P --for 200ms", command)
	}
	// The program runs until its standard input ends.
	traced := func(log string) string {
		return "for i in $(seq 600); do grep -qs \"request 0x020[3456]\" " + log + " && break; sleep 0.05; done"
	}
	say("exec sh -c '%s | gclog run --level full -o run-%%p.log -- %s -log started >>said 2>&1 || true'", traced("started"), fakeruntime)
	say("exec sh -c '%s | gclog run --suspend -o run-%%p.log -- %s -log held >>said 2>&1 || true'", traced("held"), fakeruntime)
	say("exec sh -c 'timeout --preserve-status 3 gclog daemon -c gclog.yaml >>said 2>&1 || true'")
	say("exec kill -0 $P")
	say("! grep 'a request that a runtime may not survive' P.err")
	say("! grep 'a request that a runtime may not survive' said")
	for _, least := range []string{"log 0x0400\\|0x0404\\|0x0408", "log 0x0201", "log 0x020[3456]", "started 0x020[3456]", "held 0x020[3456]"} {
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
