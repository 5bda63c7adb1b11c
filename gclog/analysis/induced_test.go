package analysis_test

import (
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// An inducedCounter counts the records of induced collections.
type inducedCounter struct {
	*analysis.Findings
	induced, blocking int
}

// Observe takes a record.
func (c *inducedCounter) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		if r.Complete && !r.HeapDump && r.Known.Has(gclog.GroupReason) && r.Reason.Induced() {
			c.induced++
			if r.Kind != gclog.KindBackground { // also one that is demoted to a blocking one
				c.blocking++
			}
		}
		c.Findings.Observe(r)
	default:
		c.Findings.Observe(r)
	}
}

// TestInducedCounted checks that the finding about induced collections counts those in the records,
// from the first one on.
func TestInducedCounted(t *testing.T) {
	compared := 0
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		counters := map[*gclog.Process]*inducedCounter{}
		processes := read(t, recordings.Read(t, tr.Path), func(p *gclog.Process) gclog.Observer {
			c := &inducedCounter{Findings: analysis.NewFindings(p, analysis.Thresholds{}, analysis.Always())}
			c.Observe(&gclog.Start{At: 0})
			counters[p] = c
			return c.Observe
		})
		for p, c := range counters {
			c.Observe(&gclog.End{At: processes.Latest()})
			x, _ := of(c.Findings, "induced-gcs")
			if x == nil {
				continue
			}
			compared++
			for _, e := range x.Evidence {
				if e.Name == "induced" && int(e.Value) != c.induced || e.Name == "induced.blocking" && int(e.Value) != c.blocking {
					t.Errorf("process %d: %s %v, the records have %d, %d of them blocking", p.ID, e.Name, e.Value, c.induced, c.blocking)
				}
			}
		}
	})
	if compared == 0 {
		t.Error("no recording has the finding")
	}
	t.Logf("%d findings", compared)
}
