package analysis

import (
	"encoding/json"
	"math"
	"testing"
)

// TestNumberJSON: a number that JSON cannot hold does not cost the document.
func TestNumberJSON(t *testing.T) {
	for _, unit := range []string{"ns", "bytes", "bytes/s", "1/min", "%", "%/h", ""} {
		for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, 0} {
			n := Number{Value: v, Unit: unit}
			if _, err := json.Marshal(n); err != nil {
				t.Errorf("%v in %q: %v", v, unit, err)
			}
			name, value := n.field()
			if finite := math.Abs(v) <= math.MaxFloat64; (name == "unknown") == finite {
				t.Errorf("%v in %q is %s %v", v, unit, name, value)
			}
		}
	}
}

// TestJSON: what is claimed is in the fields, as it is written: the encoder decides what is escaped.
func TestJSON(t *testing.T) {
	facts := []Fact{{Name: "b", Text: "<10.0\n>"}, {Name: "a", Value: 3, Unit: "bytes"}}
	for _, c := range []struct {
		value any
		want  string
	}{
		{
			[]Statement{{ID: "kind", Text: "It blocked.", Causes: []string{"young"}, Facts: facts}, {ID: "x", Text: "y"}},
			`[{"id":"kind","text":"It blocked.","causes":["young"],"facts":{"a":{"bytes":3},"b":{"text":"<10.0\n>"}}},{"id":"x","text":"y"}]`,
		},
		{known(12.5).in("%"), `{"pct":0.125}`},
		{unknown("a < b"), `{"unknown":"a < b"}`},
		{tallyOf(1, 2).quantity("").in("ns"), `{"count":2,"total":{"ns":3},"max":{"ns":2}}`},
		{[]NotEvaluated{{&Rule{ID: "pinning"}, "no"}}, `[{"rule":"pinning","why":"no"}]`},
		{
			[]Finding{{Rule: &Rule{ID: "pinning", Title: "T", Explanation: "E", Advice: "B"}, Advice: "A", Severity: Info, Text: "x", Evidence: facts[1:]}},
			`[{"rule":"pinning","severity":"info","title":"T","text":"x","gcs":[],"evidence":[{"bytes":3,"name":"a"}],"explains":{},"explanation":"E","advice":"A"}]`,
		},
	} {
		b, err := marshal(c.value)
		if got := string(b); err != nil || got != c.want+"\n" {
			t.Errorf("%s, %v; want %s", got, err, c.want)
		}
	}
}

func tallyOf(values ...float64) *tally {
	var t tally
	for _, v := range values {
		t.add(v)
	}
	return &t
}
