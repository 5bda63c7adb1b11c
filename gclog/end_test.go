package gclog_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestEndText: what a signal or an exit code means is said in words, and a signal has its name.
func TestEndText(t *testing.T) {
	for _, c := range []struct {
		end  gclog.End
		want string
		bad  bool
	}{
		{gclog.End{Reason: gclog.EndExited}, "exited", false},
		{gclog.End{Reason: gclog.EndExited, HasCode: true}, "exited with code 0", false},
		{gclog.End{Reason: gclog.EndExited, HasCode: true, ExitCode: 143}, "exited with code 143", true},
		{gclog.End{Reason: gclog.EndKilled}, "was killed or crashed", true},
		{gclog.End{Reason: gclog.EndKilled, Signal: 9}, "was killed by SIGKILL", true},
		{gclog.End{Reason: gclog.EndKilled, Signal: 40}, "was killed by signal 40", true},
		{gclog.End{Reason: gclog.EndOOMKilled, Signal: 9}, "was killed by the kernel, because memory ran out", true},
		{gclog.End{Reason: gclog.EndAborted, Signal: 6}, "aborted (SIGABRT)", true},
		{gclog.End{Reason: gclog.EndAborted, HasCode: true, ExitCode: 0xE0434352}, "aborted (exit code 0xE0434352)", true},
		{gclog.End{Reason: gclog.EndCrashed, Signal: 11}, "crashed (SIGSEGV)", true},
		{gclog.End{Reason: gclog.EndCrashed, HasCode: true, ExitCode: -1073741819}, "crashed (exit code 0xC0000005)", true},
		{gclog.End{Reason: gclog.EndUnseen}, "ended", false},
	} {
		if got := string(c.end.AppendTo(nil)); got != c.want || c.end.Bad() != c.bad || !c.end.Reason.OfProcess() {
			t.Errorf("%+v: %q, bad: %v, want %q, %v", c.end, got, c.end.Bad(), c.want, c.bad)
		}
	}
}

// TestEndReasons: a signal, or an exit code of Windows, decides how the process ended.
func TestEndReasons(t *testing.T) {
	for signal, want := range map[int]gclog.EndReason{0: gclog.EndKilled, 1: gclog.EndKilled, 4: gclog.EndCrashed, 5: gclog.EndCrashed, 6: gclog.EndAborted, 7: gclog.EndCrashed, 8: gclog.EndCrashed, 9: gclog.EndKilled, 11: gclog.EndCrashed, 13: gclog.EndKilled, 15: gclog.EndKilled, 31: gclog.EndCrashed} {
		if got := gclog.KilledBy(signal); got != want {
			t.Errorf("signal %d: %s, want %s", signal, got, want)
		}
	}
	for code, want := range map[int]gclog.EndReason{0: gclog.EndExited, 1: gclog.EndExited, -1: gclog.EndExited, 255: gclog.EndExited, 0xE0434352: gclog.EndAborted, 0x80131623: gclog.EndAborted, 0xC0000005: gclog.EndCrashed, 0xC00000FD: gclog.EndCrashed, 0xC000013A: gclog.EndExited} {
		if got := gclog.ExitedWith(code); got != want {
			t.Errorf("exit code %#x: %s, want %s", code, got, want)
		}
	}
	for r := range gclog.EndOfLog + 1 {
		if of := r.OfProcess(); of != (r != gclog.EndDetached && r < gclog.EndStreamError) || !of && r.Forced() {
			t.Errorf("%s: %v", r, of)
		}
	}
}
