package cli

import (
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
)

// summaryGC contains a summary in JSON.
type summaryGC struct {
	Metrics     map[string]map[string]any `json:"metrics"`
	Worst       []stretchJSON             `json:"worst"`       // of each length the window in which the program was paused most
	Utilization []stretchJSON             `json:"utilization"` // of each length the window in which the program ran least
	WithoutGC   map[string]withoutGCJSON  `json:"without_gc"`  // pauses, by kind
	Reasons     map[string]uint64         `json:"reasons"`
	Allocated   allocatedJSON             `json:"allocated"`
	Finalized   []finalizedJSON           `json:"finalized"` // named types, the most frequent first
	Findings    []ruleFindingJSON         `json:"findings"`
	Unjudged    []unjudgedJSON            `json:"unjudged"`
	Damage      string                    `json:"damage,omitempty"`        // why the input could not be read to its end
	Skipped     int64                     `json:"skipped_lines,omitempty"` // of a log: damaged lines, and lines that are not gclog's
}

// mostTypes is how many types are listed.
const mostTypes = 20

// stretchJSON is the share for a window of some length.
type stretchJSON struct {
	Length map[string]any `json:"length"`
	Share  map[string]any `json:"share"`
	Start  string         `json:"start,omitempty"` // omitted if the share is unknown
}

type withoutGCJSON struct {
	Count uint64         `json:"count"`
	Total map[string]any `json:"total"`
	Max   map[string]any `json:"max"`
}

// allocatedJSON is what allocation ticks report about the allocated types, the largest share first.
type allocatedJSON struct {
	Samples map[string]any      `json:"samples"` // number of ticks
	Sampled map[string]any      `json:"sampled"` // bytes that the ticks stand for
	Types   []allocatedTypeJSON `json:"types"`
}

type allocatedTypeJSON struct {
	Type  string         `json:"type"`
	Share map[string]any `json:"share"`
	Error map[string]any `json:"error"` // margin of the share at 95 % confidence, also as a fraction of the total
}

type finalizedJSON struct {
	Type    string `json:"type"`
	Objects uint64 `json:"objects"`
}

type ruleFindingJSON struct {
	Rule        string           `json:"rule"`
	Severity    string           `json:"severity"`
	Title       string           `json:"title"`
	Text        string           `json:"text"`
	GCs         []uint32         `json:"gcs"`
	Evidence    []map[string]any `json:"evidence"`
	Explanation string           `json:"explanation"`
	Advice      string           `json:"advice"`
}

type unjudgedJSON struct {
	Rule string `json:"rule"`
	Why  string `json:"why"`
}

func (p *program) summaryJSON(h *history.History, a *assessment) *historyJSON {
	s := a.statistics.Summary()
	gc := summaryGC{
		Metrics: map[string]map[string]any{}, Reasons: map[string]uint64{}, WithoutGC: map[string]withoutGCJSON{},
		Finalized: []finalizedJSON{}, Findings: []ruleFindingJSON{}, Unjudged: []unjudgedJSON{},
		Damage: h.Damage, Skipped: h.Skipped,
	}
	for _, m := range s.Metrics() {
		gc.Metrics[m.Name] = numberJSON(m.Number, m.Unit)
	}
	for _, w := range s.Worst {
		gc.Worst = append(gc.Worst, stretchOf(h, w.Length, w.Percent, w.At))
	}
	for _, u := range s.Utilization {
		gc.Utilization = append(gc.Utilization, stretchOf(h, u.Length, u.Percent, u.At))
	}
	for _, x := range s.WithoutGC {
		gc.WithoutGC[x.Kind.String()] = withoutGCJSON{x.Pauses.Told, numberJSON(x.Pauses.Total, "ns"), numberJSON(x.Pauses.Max, "ns")}
	}
	for _, r := range s.Reasons {
		gc.Reasons[r.Reason.String()] = r.Count
	}
	gc.Allocated = allocatedOf(a.allocated)
	for _, x := range a.finalized.Most(mostTypes) {
		gc.Finalized = append(gc.Finalized, finalizedJSON{x.Type, x.Objects})
	}
	for _, f := range a.findings.List() {
		gc.Findings = append(gc.Findings, findingOf(&f))
	}
	for _, u := range a.findings.Unjudged() {
		gc.Unjudged = append(gc.Unjudged, unjudgedJSON{u.Rule.ID, u.Why})
	}
	return p.historyJSON(h, "gc-analysis", s.Window, gc)
}

func allocatedOf(a *analysis.Allocated) allocatedJSON {
	n, bytes := a.Samples()
	why := ""
	if n == 0 {
		why = "there are no allocation ticks: recordings of the level full have them, and logs do not"
	}
	x := allocatedJSON{
		Samples: numberJSON(analysis.Number{Value: float64(n), Why: why}, ""), Sampled: numberJSON(analysis.Number{Value: bytes, Why: why}, "bytes"),
		Types: []allocatedTypeJSON{},
	}
	for _, t := range a.Most(mostTypes) {
		x.Types = append(x.Types, allocatedTypeJSON{t.Type, valueJSON(t.Share, "%"), valueJSON(t.Error, "%")})
	}
	return x
}

func stretchOf(h *history.History, length int64, share analysis.Number, at int64) stretchJSON {
	x := stretchJSON{Length: valueJSON(float64(length), "ns"), Share: numberJSON(share, "%")}
	if share.Known() {
		x.Start = timeJSON(h.Process.Time(at))
	}
	return x
}

func findingOf(f *analysis.Finding) ruleFindingJSON {
	x := ruleFindingJSON{
		Rule: f.Rule.ID, Severity: f.Severity.String(), Title: f.Rule.Title, Text: f.Text, GCs: f.GCs,
		Evidence: []map[string]any{}, Explanation: f.Rule.Explanation, Advice: f.Rule.Advice,
	}
	if x.GCs == nil {
		x.GCs = []uint32{}
	}
	for _, e := range f.Evidence {
		v := valueJSON(e.Value, e.Unit)
		v["name"] = e.Name
		x.Evidence = append(x.Evidence, v)
	}
	return x
}
