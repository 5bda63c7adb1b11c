package analysis_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

// TestFindingsOrder: of equally severe findings the one that explains most comes first: long calls of
// GC.Collect before one slow suspension, and free space that is much of the heap before both if they
// are little of the time paused.
func TestFindingsOrder(t *testing.T) {
	warnings := func(h *past) (ids []string) {
		for _, f := range h.findings(t).List() {
			if f.Severity == analysis.Warning && slices.Contains([]string{"induced-gcs", "long-suspension", "loh-fragmentation"}, f.Rule.ID) {
				ids = append(ids, f.Rule.ID)
			}
		}
		return ids
	}
	holes := func(d *gclog.GCDetails) {
		g := &d.Generations[gclog.LOH]
		g.After, g.Fragmentation = 400*megabyte, 300*megabyte
	}
	h := newPast().healthy(20).gc(0, 300*milli, suspended(0, 250*milli))
	times(4, func(int) { h.run(time.Second).gc(2, 300*milli, reason(clr.ReasonInduced)) })
	if got := warnings(h); !slices.Equal(got, []string{"induced-gcs", "long-suspension"}) {
		t.Errorf("%q", got)
	}
	h = newPast().healthy(20).gc(0, 300*milli, suspended(0, 250*milli))
	times(4, func(int) { h.run(time.Second).gc(2, 300*milli, holes) })
	if got := warnings(h); !slices.Equal(got, []string{"loh-fragmentation", "long-suspension"}) {
		t.Errorf("%q", got)
	}
}

// TestAdvice: what a finding advises applies to the process and to the causes that were seen.
func TestAdvice(t *testing.T) {
	advice := func(h *past, rule string) string {
		f, why := of(h.findings(t), rule)
		if f == nil {
			t.Fatalf("%s: %s", rule, why)
		}
		return f.Advice
	}
	for _, c := range []struct {
		server gclog.Known
		want   bool
	}{{gclog.Unknown, true}, {gclog.No, true}, {gclog.Yes, false}} {
		h := newPast()
		h.process.SetServer(c.server, gclog.EvidenceEvents)
		times(20, func(int) { h.run(time.Second).background(milli, milli, 900*milli) })
		for _, rule := range []string{"high-pause-share", "background-behind"} {
			if got := advice(h, rule); strings.Contains(got, "DOTNET_gcServer=1") != c.want {
				t.Errorf("%s, server GC %v: %s", rule, c.server, got)
			}
		}
	}
	h := newPast()
	times(20, func(int) { h.gc(2, milli, reason(clr.ReasonInduced)) })
	if got := advice(h, "blocking-gen2"); strings.Contains(got, "Concurrent") || !strings.Contains(got, "GC.Collect") {
		t.Errorf("all are induced: %s", got)
	}
	h = newPast()
	h.process.Concurrent = gclog.No
	times(20, func(int) { h.gc(2, milli) })
	if got := advice(h, "blocking-gen2"); !strings.Contains(got, "System.GC.Concurrent=true") {
		t.Errorf("background collections are disabled: %s", got)
	}
}
