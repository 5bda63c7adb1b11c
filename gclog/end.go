package gclog

import (
	"fmt"
	"strconv"
)

// EndReason is why a session with a process ended.
type EndReason uint8

// The reasons for the end of a session.
const (
	EndDetached    EndReason = iota // gclog was asked to stop
	EndExited                       // the process exited
	EndKilled                       // a signal killed the process, or it left its socket behind
	EndOOMKilled                    // the kernel killed the process because memory ran out
	EndAborted                      // the process aborted itself: SIGABRT
	EndCrashed                      // the kernel killed the process because of a fault in it, such as SIGSEGV
	EndUnseen                       // the process ended; where it ran, nothing shows how
	EndStreamError                  // the stream broke
	EndOfRecording                  // end of a recording: how its session ended is unknown
	EndOfLog                        // end of a log: only open items are closed
)

var endNames = [...]string{
	"detached", "exited", "killed", "oom-killed", "aborted", "crashed", "ended", "stream-error", "end-of-recording",
	"end-of-log",
}

func (r EndReason) String() string { return endNames[r] }

// EndsOfProcess lists the reasons that are the end of the process, too.
var EndsOfProcess = [...]EndReason{EndExited, EndKilled, EndOOMKilled, EndAborted, EndCrashed, EndUnseen}

// OfProcess reports whether the process ended.
func (r EndReason) OfProcess() bool { return EndExited <= r && r <= EndUnseen }

// Forced reports whether the process did not end by exiting.
func (r EndReason) Forced() bool { return EndKilled <= r && r <= EndCrashed }

// KilledBy returns the reason of a process that a signal killed.
func KilledBy(signal int) EndReason {
	switch signal {
	case sigABRT:
		return EndAborted
	case 4, 5, 7, 8, 11, 31:
		return EndCrashed
	}
	return EndKilled
}

const sigABRT = 6

// ExitedWith returns the reason of a process that exited with a code. On Windows, that shows what
// signals do elsewhere: an unhandled exception of .NET, its FailFast and its fatal errors are an
// abort, and a status of the kernel that is an error is a crash.
func ExitedWith(code int) EndReason {
	switch x := uint32(code); {
	case x == 0xE0434352, x == 0x80131623, x == 0x80131506:
		return EndAborted
	case x>>28 == 0xC && x != controlC:
		return EndCrashed
	}
	return EndExited
}

// controlC is the status of a process that Ctrl+C, or the end of its console, has ended.
const controlC = 0xC000013A

// signals are the names of those that end processes, by their numbers on Linux. Of those that crash
// a process, macOS has other numbers only for SIGBUS and SIGSYS.
var signals = map[int]string{
	1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 4: "SIGILL", 5: "SIGTRAP", sigABRT: "SIGABRT", 7: "SIGBUS", 8: "SIGFPE",
	9: "SIGKILL", 11: "SIGSEGV", 13: "SIGPIPE", 14: "SIGALRM", 15: "SIGTERM", 24: "SIGXCPU", 31: "SIGSYS",
}

// SignalName returns the name of a signal: "SIGABRT", or "signal 40" for one without a name here.
func SignalName(signal int) string {
	if name, ok := signals[signal]; ok {
		return name
	}
	return "signal " + strconv.Itoa(signal)
}

// End is the end of a session.
type End struct {
	At       int64 // nanoseconds since the sync point
	Ticks    int64
	Reason   EndReason
	ExitCode int // of the process
	HasCode  bool
	Signal   int    // that killed the process; 0: none or unknown
	Message  string // details of the reason, or ""
	// Process is what is known about the process by now; nil: nothing more than at the start.
	Process *Process
	Open    []Open   // what was in progress at the end of a recording
	Verdict *Verdict // about the session; nil: nobody has judged it
}

// A Verdict says whether the garbage collector is the reason for a problem, and why, as package analysis
// finds it.
type Verdict struct {
	GC    string // yes, no or unknown
	Cause string // as in docs/verdict.md
	Text  string // a sentence or two
	First string // a command or a setting that comes first, or ""
	// Paused is the percentage of the time that the program was paused.
	Paused    float64
	HasPaused bool
	// What the cause accounts for: a percentage of the time paused, and memory. 0 is none, or unknown.
	ExplainsPaused float64
	ExplainsBytes  uint64
}

// Bad reports whether something went wrong: the stream broke, or the process did not end by exiting
// with code 0.
func (e *End) Bad() bool {
	return e.Reason == EndStreamError || e.Reason.Forced() || e.ExitCode != 0
}

// AppendTo appends how the process ended, as the rest of a sentence that begins with it: "aborted
// (SIGABRT)". The Reason must be OfProcess.
func (e *End) AppendTo(b []byte) []byte {
	in := func(b []byte) []byte {
		switch {
		case e.Signal != 0:
			return fmt.Appendf(b, " (%s)", SignalName(e.Signal))
		case e.HasCode:
			return fmt.Appendf(b, " (exit code 0x%08X)", uint32(e.ExitCode))
		}
		return b
	}
	switch e.Reason {
	case EndExited:
		b = append(b, "exited"...)
		if e.HasCode {
			b = append(b, " with code "...)
			b = strconv.AppendInt(b, int64(e.ExitCode), 10)
		}
	case EndKilled:
		if e.Signal == 0 {
			return append(b, "was killed or crashed"...)
		}
		b = append(b, "was killed by "...)
		b = append(b, SignalName(e.Signal)...)
	case EndOOMKilled:
		b = append(b, "was killed by the kernel, because memory ran out"...)
	case EndAborted:
		b = in(append(b, "aborted"...))
	case EndCrashed:
		b = in(append(b, "crashed"...))
	default:
		b = append(b, "ended"...)
	}
	return b
}
