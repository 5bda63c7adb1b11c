package attach

import (
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/host"
)

// TestEnded: how the operating system reports the end of a process determines its reason.
func TestEnded(t *testing.T) {
	for _, tc := range []struct {
		o    host.Outcome
		want formats.End
	}{
		{host.Outcome{Known: true, Exited: true, Code: 3}, formats.End{Reason: formats.EndExited, ExitCode: 3, HasCode: true}},
		{host.Outcome{Known: true, Exited: true}, formats.End{Reason: formats.EndExited, HasCode: true}},
		{host.Outcome{Exited: true}, formats.End{Reason: formats.EndExited}},
		{host.Outcome{Known: true, Signal: 6}, formats.End{Reason: formats.EndAborted, Signal: 6}},
		{host.Outcome{Known: true, Signal: 11}, formats.End{Reason: formats.EndCrashed, Signal: 11}},
		{host.Outcome{Known: true, Signal: 15}, formats.End{Reason: formats.EndKilled, Signal: 15}},
		{host.Outcome{Known: true, Exited: true, Code: 0xE0434352}, formats.End{Reason: formats.EndAborted, ExitCode: 0xE0434352, HasCode: true}},
		{host.Outcome{Known: true, Exited: true, Code: 0xC0000005}, formats.End{Reason: formats.EndCrashed, ExitCode: 0xC0000005, HasCode: true}},
		{host.Outcome{}, formats.End{Reason: formats.EndKilled}},
		{host.Outcome{Known: true, Signal: 9, OOM: true}, formats.End{Reason: formats.EndOOMKilled, Signal: 9}},
		{host.Outcome{Unseen: true}, formats.End{Reason: formats.EndUnseen}},
		{host.Outcome{OOM: true}, formats.End{Reason: formats.EndOOMKilled}},
	} {
		var e formats.End
		if ended(&e, tc.o); e != tc.want {
			t.Errorf("%+v: %+v, want %+v", tc.o, e, tc.want)
		}
	}
}
