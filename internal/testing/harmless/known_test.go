//go:build linux

package harmless

import (
	"strings"
	"syscall"
	"time"
)

// A defect is a defect of a runtime that gclog cannot avoid. What it explains is tolerated, and
// counted.
type defect struct {
	reason   string
	explains func(x *trial) bool
}

// ignoredRequest is a defect that only delays gclog gc.
const ignoredRequest = "CoreCLR ignores the request for a collection for some milliseconds while it starts; up to .NET 9 it collects when the request ends. `gclog gc` and `gclog heap snapshot` then end with code 4."

func defects() []defect {
	return []defect{
		{
			".NET Core 3.1 may wait for itself forever when a session has lost its reader.",
			func(x *trial) bool { return x.cell.runtime == core31 && x.lostReader() && x.hangs() },
		},
		{
			".NET Core 3.1 crashes when the connection of a request for a session is closed before it was answered, which takes milliseconds.",
			func(x *trial) bool {
				return x.cell.runtime == core31 && x.cell.ending == gclogKilled && x.diedOf(syscall.SIGSEGV)
			},
		},
		{
			"NativeAOT 8 aborts when a session is stopped while the program exits and has another session (`EventPipeEventProvider.Callback`).",
			func(x *trial) bool {
				return x.cell.runtime == "aot8" && x.diedOf(syscall.SIGABRT) && strings.Contains(x.targetStderr(), "EventPipeEventProvider.Callback")
			},
		},
		{
			"NativeAOT may crash or hang when a session ends that has lost its reader, above all while the program collects.",
			func(x *trial) bool {
				return x.cell.isAOT() && x.lostReader() && (x.hangs() || x.diedOf(syscall.SIGSEGV) || x.diedOf(syscall.SIGABRT))
			},
		},
		{ignoredRequest, func(*trial) bool { return false }},
	}
}

// mayHang reports whether a defect of the runtime may make the program hang.
func (x *trial) mayHang() bool {
	return x.lostReader() && (x.cell.isAOT() || x.cell.runtime == core31)
}

// hangs reports whether the program or its runtime hangs: whatever else was wrong, only that is its
// own fault.
func (x *trial) hangs() bool {
	if x.target.hasEnded() {
		return false
	}
	t := atDefaultPort(x.dir)
	if _, err := t.processInfo(); err != nil {
		return true
	}
	if !x.target.hasStarted() {
		return x.wasResumed() // if it was not, gclog may have failed to resume it
	}
	if _, err := x.target.mark(); err != nil {
		return true
	}
	return t.probe(x.target.pid()) != nil
}

// tolerated returns the defect that explains what happened to the program, or "" if none does.
func (x *trial) tolerated() string {
	if x.target == nil {
		return ""
	}
	const dying = 3 * time.Second // a program that is exiting does not answer either
	_ = poll("the end of the program", dying, x.target.hasEnded)
	for _, d := range defects() {
		if d.explains(x) {
			return d.reason
		}
	}
	return ""
}

// lostReader reports whether a session of the program may have lost its reader.
func (x *trial) lostReader() bool {
	return x.cell.ending == gclogKilled && x.cell.action != "ps" || x.cell.other == drops
}

// diedOf reports whether a signal has ended the program.
func (x *trial) diedOf(s syscall.Signal) bool {
	return x.target.hasEnded() && x.target.status.Signaled() && x.target.status.Signal() == s
}
