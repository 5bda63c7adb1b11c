package analysis_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

// asDump makes a record that of the collection for a heap snapshot.
func asDump(by gclog.Requester) func(*gclog.GCDetails) {
	return func(d *gclog.GCDetails) {
		d.Generation, d.Reason, d.HeapDump, d.HeapDumpBy = gclog.Gen2, clr.ReasonInduced, true, by
	}
}

// TestExplainHeapDump: an explanation says that a collection is that of a heap snapshot, who took
// it, and what its pause includes. It is not compared with others.
func TestExplainHeapDump(t *testing.T) {
	for by, want := range map[gclog.Requester]string{
		gclog.RequesterOther: "Induced by a diagnostic tool that took a heap snapshot (Induced)",
		gclog.RequesterGclog: "Induced by gclog for a heap snapshot (Induced).",
	} {
		peers := analysis.NewPeers()
		d := blockingRecord(asDump(by))
		peers.Observe(d)
		plain := blockingRecord(func(d *gclog.GCDetails) { d.Generation, d.Reason = gclog.Gen2, clr.ReasonInduced })
		peers.Observe(plain)
		e := analysis.Explain(d, analysis.Context{Peers: peers})
		checkExplanation(t, d, &e)
		i := slices.IndexFunc(e.What, func(s analysis.Statement) bool { return s.ID == "heap-dump" })
		if i < 0 || !strings.HasPrefix(e.What[i].Text, "It is the collection of a heap snapshot") || e.What[i].Facts[0].Text != by.String() {
			t.Errorf("%s: %+v", by, e.What)
		}
		if got := e.Trigger[0]; !strings.HasPrefix(got.Text, want) || !slices.Equal(got.Causes, []string{"Induced"}) {
			t.Errorf("%s: %+v", by, got)
		}
		if len(e.Comparison) > 0 || !strings.Contains(whyUnknown(&e, "how it compares"), "heap snapshot") {
			t.Errorf("%s: %+v", by, e.Comparison)
		}
		if got := flat(e.Parts); !strings.Contains(got, " walk=0.4 ") || strings.Contains(got, "untold") {
			t.Errorf("%s: %s", by, got)
		}
		if e := analysis.Explain(plain, analysis.Context{Peers: peers}); whyUnknown(&e, "how it compares") != "it was the only blocking gen2 collection observed" {
			t.Errorf("it is compared with that of a snapshot: %+v", e.Comparison)
		}
	}
	// One of another reason is walked too while a background collection runs.
	if e := explain(func(d *gclog.GCDetails) { d.HeapDump = true }); !strings.Contains(e.Trigger[0].Text, "AllocSmall") {
		t.Errorf("%+v", e.Trigger[0])
	}
}

// TestHeapDumpStatistics: the pauses for heap snapshots count, and are known apart; they are not
// among the induced collections.
func TestHeapDumpStatistics(t *testing.T) {
	h := newPast().gc(2, 3*milli, reason(clr.ReasonInduced)).gc(2, 70*milli, asDump(gclog.RequesterOther)).gc(2, 90*milli, asDump(gclog.RequesterGclog)).gc(0, milli)
	s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
	h.replay(struct {
		*analysis.Statistics
		listensToNothing
	}{Statistics: s})
	x := s.Summary()
	for class, want := range map[analysis.Class]struct{ induced, dumps, longest, sum float64 }{
		analysis.ClassAll: {1, 2, float64(90 * milli), float64(160 * milli)}, analysis.ClassGen2: {1, 2, float64(90 * milli), float64(160 * milli)}, analysis.ClassGen0: {},
	} {
		r := &x.Classes[class]
		if r.Induced.Value != want.induced || float64(r.HeapDumps) != want.dumps || r.HeapDumpPause.Max.Value != want.longest || r.HeapDumpPause.Total.Value != want.sum {
			t.Errorf("%s: induced %v, %d snapshots with %+v, want %+v", class, r.Induced, r.HeapDumps, r.HeapDumpPause, want)
		}
	}
	all := &x.Classes[analysis.ClassAll]
	if all.Pauses.Max.Value != float64(90*milli) || all.Pauses.Count != 4 {
		t.Errorf("pauses %+v", all.Pauses)
	}
	if why := x.Classes[analysis.ClassGen0].HeapDumpPause.Max.Why; why != "no heap snapshots" {
		t.Errorf("gen0: %q", why)
	}
}

// listensToNothing are the methods of a listener that Statistics do not have.
type listensToNothing struct{}

func (listensToNothing) Damaged(string)                                 {}
func (listensToNothing) Ended(analysis.Ending)                          {}
func (listensToNothing) Event(gclog.Stamp, clr.Event, *gclog.GCDetails) {}

// TestHeapDumpStops: a timeline says which pauses were for heap snapshots.
func TestHeapDumpStops(t *testing.T) {
	line := analysis.NewTimeline(analysis.Always())
	for i, d := range []*gclog.GCDetails{nil, blockingRecord(nil), blockingRecord(asDump(gclog.RequesterOther)), blockingRecord(asDump(gclog.RequesterGclog))} {
		line.Observe(&gclog.Pause{PausePart: gclog.PausePart{Start: int64(i) * 100, Duration: 10}, GC: d})
	}
	want := []string{"", "", "other", "gclog"}
	for i, s := range line.All() {
		by := ""
		if s.HeapDump {
			by = s.HeapDumpBy.String()
		}
		if by != want[i] {
			t.Errorf("pause %d: %q, want %q", i, by, want[i])
		}
	}
}
