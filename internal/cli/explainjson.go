package cli

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
)

// What explain prints in JSON. Names of numbers are those of the records in JSON logs, where such a
// field exists; all of them are part of gclog's compatibility promise.

// explanationGC is an explanation.
type explanationGC struct {
	Number      *uint32         `json:"number,omitempty"`
	Generation  int             `json:"generation"`
	Type        string          `json:"type,omitempty"` // omitted if the kind is unknown
	Reason      string          `json:"reason,omitempty"`
	Conditions  []string        `json:"conditions"`
	Complete    bool            `json:"complete"`
	Flaws       []string        `json:"flaws"`
	Explanation explanationText `json:"explanation"`
}

type explanationText struct {
	Title      string          `json:"title"`
	What       []statementJSON `json:"what"`
	Trigger    []statementJSON `json:"trigger"`
	Generation []statementJSON `json:"generation"`
	Pause      []statementJSON `json:"pause"`
	Parts      []stepJSON      `json:"parts"`
	Phases     []stepJSON      `json:"phases"`
	Roots      []rootJSON      `json:"roots"`
	Result     []statementJSON `json:"result"`
	Sizes      []sizeJSON      `json:"sizes"`
	Comparison []statementJSON `json:"comparison"`
	Unknown    []unknownJSON   `json:"unknown"`
}

type statementJSON struct {
	ID     string                    `json:"id"`
	Text   string                    `json:"text"`
	Causes []string                  `json:"causes,omitempty"`
	Facts  map[string]map[string]any `json:"facts,omitempty"`
}

type stepJSON struct {
	ID    string         `json:"id"`
	Name  string         `json:"name"`
	Time  map[string]any `json:"time"`
	Share *float64       `json:"pct,omitempty"` // of the whole pause, 0 to 1
	Parts []stepJSON     `json:"parts,omitempty"`
}

type rootJSON struct {
	Type      string         `json:"type"`
	Longest   map[string]any `json:"longest"`
	Heap      *int           `json:"heap,omitempty"` // the slowest
	Imbalance map[string]any `json:"imbalance"`
	Promoted  map[string]any `json:"promoted"`
}

type sizeJSON struct {
	Generation    string         `json:"generation"`
	Collected     bool           `json:"collected"`
	Before        map[string]any `json:"before"`
	After         map[string]any `json:"after"`
	Fragmentation map[string]any `json:"fragmentation"`
	Promoted      map[string]any `json:"promoted"`
	Survival      map[string]any `json:"survival"`
	Budget        map[string]any `json:"budget"`
}

type unknownJSON struct {
	What []string `json:"what"`
	Why  string   `json:"why"`
}

func (p *program) explanationJSON(h *history.History, d *gclog.GCDetails, e *analysis.Explanation) *historyJSON {
	_, conditions, _ := d.Condemned()
	gc := explanationGC{
		Generation: d.Generation, Conditions: conditions.Names([]string{}),
		Complete: d.Complete, Flaws: d.Flaws.Names([]string{}), Explanation: explanationOf(d, e),
	}
	if d.KindKnown() {
		gc.Type = d.Kind.String()
	}
	if d.HasNumber {
		gc.Number = &d.Number
	}
	if d.HasReason {
		gc.Reason = d.Reason.String()
	}
	return p.historyJSON(h, "gc-explanation", analysis.Window{From: h.Begin, To: h.End}, gc)
}

func explanationOf(d *gclog.GCDetails, e *analysis.Explanation) explanationText {
	x := explanationText{
		Title: oneLine(e.Title), What: statementsJSON(e.What), Trigger: statementsJSON(e.Trigger), Generation: statementsJSON(e.Generation),
		Pause: statementsJSON(e.Pause), Parts: stepsJSON(e.Parts, d.Pause()), Phases: stepsJSON(e.Phases, 0), Roots: []rootJSON{},
		Result: statementsJSON(e.Result), Sizes: []sizeJSON{}, Comparison: statementsJSON(e.Comparison), Unknown: []unknownJSON{},
	}
	for _, r := range e.Roots {
		root := rootJSON{
			Type: r.Type.String(), Longest: valueJSON(float64(r.Longest), "ns"),
			Imbalance: numberJSON(r.Imbalance, ""), Promoted: valueJSON(float64(r.Promoted), "bytes"),
		}
		if r.Heap >= 0 {
			root.Heap = &r.Heap
		}
		x.Roots = append(x.Roots, root)
	}
	for _, s := range e.Sizes {
		x.Sizes = append(x.Sizes, sizeJSON{
			Generation: s.Name, Collected: s.Collected, Before: numberJSON(s.Before, "bytes"), After: numberJSON(s.After, "bytes"),
			Fragmentation: numberJSON(s.Free, "bytes"), Promoted: numberJSON(s.Promoted, "bytes"), Survival: numberJSON(s.Survival, "%"), Budget: numberJSON(s.Budget, "bytes"),
		})
	}
	for _, u := range e.Unknown {
		x.Unknown = append(x.Unknown, unknownJSON{u.What, oneLine(u.Why)})
	}
	return x
}

func statementsJSON(list []analysis.Statement) []statementJSON {
	out := []statementJSON{}
	for _, s := range list {
		x := statementJSON{ID: s.ID, Text: oneLine(s.Text), Causes: s.Causes, Facts: map[string]map[string]any{}}
		for _, f := range s.Facts {
			x.Facts[f.Name] = factJSON(f)
		}
		out = append(out, x)
	}
	return out
}

func factJSON(f analysis.Fact) map[string]any {
	if f.Text != "" {
		return map[string]any{"text": oneLine(f.Text)}
	}
	return valueJSON(f.Value, f.Unit)
}

// stepsJSON converts parts, with their share of whole; 0: without shares.
func stepsJSON(list []analysis.Part, whole int64) []stepJSON {
	out := []stepJSON{}
	for _, x := range list {
		part := stepJSON{ID: x.ID, Name: x.Name, Time: numberJSON(x.Time, "ns")}
		if x.Time.Known() && whole > 0 {
			share := x.Time.Value / float64(whole)
			part.Share = &share
		}
		if len(x.Parts) > 0 {
			part.Parts = stepsJSON(x.Parts, whole)
		}
		out = append(out, part)
	}
	return out
}
