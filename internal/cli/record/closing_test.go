package record

import (
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/program"
)

// TestClosing: the message at the end of a session reports what there was.
func TestClosing(t *testing.T) {
	for _, c := range []struct {
		pauses int
		each   time.Duration
		lasted time.Duration
		wrote  []string
		want   string
	}{
		{46, 28 * time.Millisecond, 123 * time.Second, []string{"x.json"}, "gclog: 46 collections in 2 min 3 s, longest pause 38 ms, paused 1.06 % of the time, 2 events lost, wrote x.json\n"},
		{200, 1 << 21, // live percentiles have an error of up to 1 %
			5*time.Hour + 12*time.Minute, []string{"x.json", "x.nettrace"}, "gclog: 200 collections in 5 h 12 min, p99 pause 2.11 ms, longest pause 12.1 ms, paused under 0.01 % of the time, 2 events lost, wrote x.json, x.nettrace\n"},
		{1, time.Second, 10 * time.Second, nil, "gclog: 1 collection in 10 s, longest pause 1.01 s, paused 10.1 % of the time, 2 events lost\n"},
		{0, 0, time.Second, nil, ""},
	} {
		var said strings.Builder
		p := &commands{&program.Run{UI: &program.UI{W: &said, Terminal: true}}}
		w := NewLogger(p.Run)
		w.closing = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
		w.closing.Observe(&gclog.Start{At: 0})
		for i := range c.pauses {
			took := c.each.Nanoseconds()
			if i == c.pauses/2 { // one pause is longer
				took += 10e6
			}
			part := gclog.PausePart{Kind: gclog.PauseBlocking, Start: int64(i) * (c.each.Nanoseconds() + 1e6), Duration: took, Suspend: 1000, HasSuspend: true}
			d := &gclog.GCDetails{Number: uint32(i + 1), Known: gclog.GroupNumber, Start: part.Start, Pauses: []gclog.PausePart{part}}
			w.closing.Observe(&gclog.Pause{PausePart: part, GC: d})
			w.closing.Observe(d)
			w.Progress.GCs.Add(1)
		}
		w.Progress.Lost.Store(2)
		w.sayClosing("", &attach.Result{End: gclog.End{At: c.lasted.Nanoseconds()}, Wrote: c.wrote})
		if said.String() != c.want {
			t.Errorf("%q, want %q", said.String(), c.want)
		}
	}
}
