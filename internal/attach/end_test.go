package attach

import (
	"reflect"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

// TestEnded: how the operating system reports the end of a process determines its reason.
func TestEnded(t *testing.T) {
	for _, tc := range []struct {
		o    host.Outcome
		want gclog.End
	}{
		{host.Outcome{Known: true, Exited: true, Code: 3}, gclog.End{Reason: gclog.EndExited, ExitCode: 3, HasCode: true}},
		{host.Outcome{Known: true, Exited: true}, gclog.End{Reason: gclog.EndExited, HasCode: true}},
		{host.Outcome{Exited: true}, gclog.End{Reason: gclog.EndExited}},
		{host.Outcome{Known: true, Signal: 6}, gclog.End{Reason: gclog.EndAborted, Signal: 6}},
		{host.Outcome{Known: true, Signal: 11}, gclog.End{Reason: gclog.EndCrashed, Signal: 11}},
		{host.Outcome{Known: true, Signal: 15}, gclog.End{Reason: gclog.EndKilled, Signal: 15}},
		{host.Outcome{Known: true, Exited: true, Code: 0xE0434352}, gclog.End{Reason: gclog.EndAborted, ExitCode: 0xE0434352, HasCode: true}},
		{host.Outcome{Known: true, Exited: true, Code: 0xC0000005}, gclog.End{Reason: gclog.EndCrashed, ExitCode: 0xC0000005, HasCode: true}},
		{host.Outcome{}, gclog.End{Reason: gclog.EndKilled}},
		{host.Outcome{Known: true, Signal: 9, OOM: true}, gclog.End{Reason: gclog.EndOOMKilled, Signal: 9}},
		{host.Outcome{Unseen: true}, gclog.End{Reason: gclog.EndUnseen}},
		{host.Outcome{OOM: true}, gclog.End{Reason: gclog.EndOOMKilled}},
	} {
		var e gclog.End
		if ended(&e, tc.o); !reflect.DeepEqual(e, tc.want) {
			t.Errorf("%+v: %+v, want %+v", tc.o, e, tc.want)
		}
	}
}
