package fields_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// An explaining explains every collection.
type explaining struct {
	process *gclog.Process
	each    func(*gclog.GCDetails, analysis.Explanation)
}

// Observe takes a record.
func (x *explaining) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		x.each(d, analysis.Explain(d, analysis.Context{Process: x.process}))
	}
}

// TestFactsOfExplanations: a number in an explanation that is named after a field of the table has
// its value and unit. Package analysis cannot use the table, which is above it.
func TestFactsOfExplanations(t *testing.T) {
	byName := map[string]fields.Field{}
	for _, f := range fields.All() {
		byName["dotnet.gc."+f.JSON] = f
	}
	compared := map[string]bool{}
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(p *gclog.Process) gclog.Observer {
			return (&explaining{process: p, each: func(d *gclog.GCDetails, e analysis.Explanation) {
				for _, s := range slices.Concat(e.What, e.Trigger, e.Generation, e.Pause, e.Result, e.Comparison) {
					for _, fact := range s.Facts {
						f := byName[fact.Name]
						if f.Get == nil || fact.Text != "" {
							continue
						}
						if v, known := f.Get(d); !known || number(f.Unit, v) != fact.Value || factUnits[f.Unit] != fact.Unit {
							t.Errorf("#%d: %s is %v %s, in the table %v, known %v", d.Number, fact.Name, fact.Value, fact.Unit, number(f.Unit, v), known)
						}
						compared[fact.Name] = true
					}
				}
			}}).Observe
		}) // some recordings are damaged
	})
	if len(compared) < 50 {
		t.Errorf("only %d fields are in explanations", len(compared))
	}
}

// factUnits are the units of facts; others are plain numbers.
var factUnits = map[fields.Unit]string{
	fields.Bytes: "bytes", fields.PlainBytes: "bytes", fields.Nanoseconds: "ns", fields.PlainNanoseconds: "ns",
	fields.WholePercent: "%", fields.Percent: "%", fields.ExactPercent: "%",
}

// number returns the value of a field.
func number(u fields.Unit, v uint64) float64 {
	if u == fields.Percent || u == fields.ExactPercent || u == fields.Ratio {
		return math.Float64frombits(v)
	}
	return float64(v)
}
