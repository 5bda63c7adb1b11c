package analyse

import (
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
)

// explanationGC contains an explanation in JSON.
type explanationGC struct {
	Number      *uint32               `json:"number,omitempty"`
	Generation  int                   `json:"generation"`
	Type        string                `json:"type,omitempty"` // omitted if the kind is unknown
	Reason      string                `json:"reason,omitempty"`
	Conditions  []string              `json:"conditions"`
	Complete    bool                  `json:"complete"`
	Flaws       []string              `json:"flaws"`
	Explanation *analysis.Explanation `json:"explanation"`
}

// ExplanationJSON returns what explain says of a collection in JSON.
func ExplanationJSON(p *program.Run, h *history.History, d *gclog.GCDetails, e *analysis.Explanation) *assess.JSON {
	_, conditions, _ := d.Condemned()
	gc := explanationGC{
		Generation: d.Generation, Conditions: conditions.Names([]string{}),
		Complete: d.Complete, Flaws: d.Flaws.Names([]string{}), Explanation: e,
	}
	if d.KindKnown() {
		gc.Type = d.Kind.String()
	}
	if d.Known.Has(gclog.GroupNumber) {
		gc.Number = &d.Number
	}
	if d.Known.Has(gclog.GroupReason) {
		gc.Reason = d.Reason.String()
	}
	return assess.NewJSON(p, h, "gc-explanation", analysis.Window{From: h.Begin, To: h.End}, gc)
}
