//go:build linux

package main

import (
	"path/filepath"
	"testing"

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
