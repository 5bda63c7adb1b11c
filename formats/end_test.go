package formats_test

import (
	"testing"

	"github.com/gclog/gclog/formats"
)

// TestEndText: what a signal or an exit code means is said in words, and a signal has its name.
func TestEndText(t *testing.T) {
	for _, c := range []struct {
		end  formats.End
		want string
		bad  bool
	}{
		{formats.End{Reason: formats.EndExited}, "exited", false},
		{formats.End{Reason: formats.EndExited, HasCode: true}, "exited with code 0", false},
		{formats.End{Reason: formats.EndExited, HasCode: true, ExitCode: 143}, "exited with code 143", true},
		{formats.End{Reason: formats.EndKilled}, "was killed or crashed", true},
		{formats.End{Reason: formats.EndKilled, Signal: 9}, "was killed by SIGKILL", true},
		{formats.End{Reason: formats.EndKilled, Signal: 40}, "was killed by signal 40", true},
		{formats.End{Reason: formats.EndOOMKilled, Signal: 9}, "was killed by the kernel, because memory ran out", true},
		{formats.End{Reason: formats.EndAborted, Signal: 6}, "aborted (SIGABRT)", true},
		{formats.End{Reason: formats.EndAborted, HasCode: true, ExitCode: 0xE0434352}, "aborted (exit code 0xE0434352)", true},
		{formats.End{Reason: formats.EndCrashed, Signal: 11}, "crashed (SIGSEGV)", true},
		{formats.End{Reason: formats.EndCrashed, HasCode: true, ExitCode: -1073741819}, "crashed (exit code 0xC0000005)", true},
		{formats.End{Reason: formats.EndUnseen}, "ended", false},
	} {
		if got := string(c.end.AppendTo(nil)); got != c.want || c.end.Bad() != c.bad || !c.end.Reason.OfProcess() {
			t.Errorf("%+v: %q, bad: %v, want %q, %v", c.end, got, c.end.Bad(), c.want, c.bad)
		}
	}
}

// TestEndReasons: a signal, or an exit code of Windows, decides how the process ended.
func TestEndReasons(t *testing.T) {
	for signal, want := range map[int]formats.EndReason{0: formats.EndKilled, 1: formats.EndKilled, 4: formats.EndCrashed, 5: formats.EndCrashed, 6: formats.EndAborted, 7: formats.EndCrashed, 8: formats.EndCrashed, 9: formats.EndKilled, 11: formats.EndCrashed, 13: formats.EndKilled, 15: formats.EndKilled, 31: formats.EndCrashed} {
		if got := formats.KilledBy(signal); got != want {
			t.Errorf("signal %d: %s, want %s", signal, got, want)
		}
	}
	for code, want := range map[int]formats.EndReason{0: formats.EndExited, 1: formats.EndExited, -1: formats.EndExited, 255: formats.EndExited, 0xE0434352: formats.EndAborted, 0x80131623: formats.EndAborted, 0xC0000005: formats.EndCrashed, 0xC00000FD: formats.EndCrashed, 0xC000013A: formats.EndExited} {
		if got := formats.ExitedWith(code); got != want {
			t.Errorf("exit code %#x: %s, want %s", code, got, want)
		}
	}
	for r := range formats.EndOfLog + 1 {
		if of := r.OfProcess(); of != (r != formats.EndDetached && r < formats.EndStreamError) || !of && r.Forced() {
			t.Errorf("%s: %v", r, of)
		}
	}
}
