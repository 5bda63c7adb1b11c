package analyse

import (
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
)

// summaryGC contains a summary in JSON.
type summaryGC struct {
	Metrics     map[string]analysis.Number   `json:"metrics"`
	Worst       []stretchJSON                `json:"worst"`       // by length, the windows with the longest pauses
	Utilization []stretchJSON                `json:"utilization"` // the windows in which it ran least
	WithoutGC   map[string]analysis.Quantity `json:"without_gc"`  // pauses, by kind
	Reasons     map[string]uint64            `json:"reasons"`
	Allocated   analysis.AllocatedTypes      `json:"allocated"`
	Finalized   []analysis.FinalizedType     `json:"finalized"`
	Findings    []analysis.Finding           `json:"findings"`
	Unjudged    []analysis.NotEvaluated      `json:"unjudged"`
	Damage      string                       `json:"damage,omitempty"`        // why the input could not be read wholly
	Skipped     int64                        `json:"skipped_lines,omitempty"` // lines that are damaged or not gclog's
}

// mostTypes is how many types are listed.
const mostTypes = 20

// stretchJSON is the share for a window of some length.
type stretchJSON struct {
	Length analysis.Number `json:"length"`
	Share  analysis.Number `json:"share"`
	Start  string          `json:"start,omitempty"` // omitted if the share is unknown
}

// SummaryJSON returns what summary says in JSON.
func SummaryJSON(p *program.Run, h *history.History, a *assess.Assessment) *assess.JSON {
	s := a.Statistics.Summary()
	gc := summaryGC{
		Metrics: map[string]analysis.Number{}, Worst: stretchesJSON(h, s.Worst),
		Utilization: stretchesJSON(h, s.Utilization), WithoutGC: map[string]analysis.Quantity{},
		Reasons: map[string]uint64{}, Allocated: a.Types.Allocated(mostTypes), Finalized: a.Types.Finalized(mostTypes),
		Findings: a.Findings.List(), Unjudged: a.Findings.NotEvaluated(), Damage: h.Damage, Skipped: h.Skipped,
	}
	for _, m := range s.Metrics() {
		gc.Metrics[m.Name] = m.Number
	}
	for _, x := range s.WithoutGC {
		gc.WithoutGC[x.Kind.String()] = x.Pauses
	}
	for _, r := range s.Reasons {
		gc.Reasons[r.Reason.String()] = r.Count
	}
	return assess.NewJSON(p, h, "gc-analysis", s.Window, gc).With(a.Findings.Verdict())
}

func stretchesJSON(h *history.History, shares []analysis.Share) (list []stretchJSON) {
	for _, s := range shares {
		x := stretchJSON{Length: analysis.Number{Value: float64(s.Length), Unit: "ns"}, Share: s.Percent}
		if s.Percent.Known() {
			x.Start = assess.Time(h.Process.Time(s.At))
		}
		list = append(list, x)
	}
	return list
}
