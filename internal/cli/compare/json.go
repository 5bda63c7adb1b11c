package compare

import (
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
)

// comparisonJSON is a comparison in JSON; it is part of gclog's compatibility promise.
type comparisonJSON struct {
	Event struct {
		Action string `json:"action"`
	} `json:"event"`
	A      sideJSON `json:"a"`
	B      sideJSON `json:"b"`
	Dotnet struct {
		GC comparisonGC `json:"gc"`
	} `json:"dotnet"`
	Gclog assess.Version `json:"gclog"`
}

// sideJSON is one side of a comparison.
type sideJSON struct {
	Name   string          `json:"name"`
	Runs   []*assess.JSON  `json:"runs"`
	Blocks int             `json:"blocks"`
	Block  analysis.Number `json:"block"` // mean length of a block
}

// comparisonGC is the result of a comparison.
type comparisonGC struct {
	Differs    bool                      `json:"differs"`
	Confidence analysis.Number           `json:"confidence"` // that all intervals hold
	WholeRuns  bool                      `json:"whole_runs"` // a block is a run
	Metrics    map[string]DifferenceJSON `json:"metrics"`
	New        []changedFindingJSON      `json:"findings_new"`
	Gone       []changedFindingJSON      `json:"findings_gone"`
	Both       []changedFindingJSON      `json:"findings_both"`
	Check      *checkGC                  `json:"check,omitempty"` // of --fail-if
}

// A DifferenceJSON is a metric of two groups of runs, and whether it differs.
type DifferenceJSON struct {
	A       analysis.Number  `json:"a"`
	B       analysis.Number  `json:"b"`
	Change  *analysis.Number `json:"change,omitempty"` // (b-a)/a; omitted if there is too little data
	Low     *analysis.Number `json:"low,omitempty"`    // of its interval
	High    *analysis.Number `json:"high,omitempty"`
	Verdict analysis.Outcome `json:"verdict"`
	Reason  string           `json:"reason,omitempty"` // why there is too little data
}

type changedFindingJSON struct {
	Runs    [2]int            `json:"runs"`        // in how many runs of a and b it is
	Unknown [2]int            `json:"unevaluated"` // in how many its rule was not evaluated
	Finding *analysis.Finding `json:"finding"`     // the most severe one
}

func (p *commands) comparisonJSON(x *compared, verdicts []verdict) *comparisonJSON {
	d := &comparisonJSON{A: p.sideJSON(x, 0), B: p.sideJSON(x, 1), Gclog: assess.NewVersion(p.Run)}
	d.Event.Action = "gc-comparison"
	gc := &d.Dotnet.GC
	gc.Differs, gc.WholeRuns = x.result.Differs(), x.result.WholeRuns
	gc.Confidence = analysis.Number{Value: analysis.Confidence, Unit: "%"}
	gc.Metrics = map[string]DifferenceJSON{}
	AddDifferences(gc.Metrics, x.result.Differences)
	gc.New, gc.Gone = findingsJSON(x.findings.added), findingsJSON(x.findings.gone)
	gc.Both = findingsJSON(x.findings.both)
	if len(verdicts) > 0 {
		check := newCheckGC(verdicts)
		gc.Check = &check
	}
	return d
}

func findingsJSON(list []changedFinding) []changedFindingJSON {
	all := []changedFindingJSON{}
	for _, f := range list {
		all = append(all, changedFindingJSON{f.found, f.unknown, f.latest})
	}
	return all
}

// sideJSON describes the runs of a side; their metrics are in summaries of the files.
func (p *commands) sideJSON(x *compared, side int) sideJSON {
	g := x.sides[side]
	j := sideJSON{Name: g.name, Blocks: x.result.Blocks[side], Block: x.result.BlockTime[side]}
	for _, r := range g.runs {
		h := assess.NewJSON(p.Run, r.History, "gc-run", r.Sample.Summary().Window, struct {
			Pauses analysis.Number `json:"pauses"`
		}{r.Sample.Summary().Classes[analysis.ClassAll].PauseCount()})
		j.Runs = append(j.Runs, h)
	}
	return j
}

// AddDifferences adds differences by name.
func AddDifferences(to map[string]DifferenceJSON, list []analysis.Difference) {
	for i := range list {
		d := &list[i]
		j := DifferenceJSON{A: d.A, B: d.B, Verdict: d.Verdict, Reason: d.Why}
		if d.Verdict != analysis.TooLittleData {
			j.Change, j.Low, j.High = &d.Change, &d.Low, &d.High
		}
		to[d.Name] = j
	}
}
