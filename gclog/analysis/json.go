package analysis

import (
	"bytes"
	"encoding/json"
	"math"
)

// The JSON encodings are part of gclog's compatibility promise. Names of facts are those of the
// fields in JSON records, where such a field exists.

// marshal encodes a value without escapes for HTML, which the caller's encoder adds if requested.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b) //nolint:forbidigo // the caller's encoder escapes what a terminal acts upon
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return b.Bytes(), err
}

// MarshalJSON encodes the value with its unit as its name, or why it is unknown.
func (n Number) MarshalJSON() ([]byte, error) {
	name, value := n.field()
	return marshal(map[string]any{name: value})
}

// field returns the value with its unit as its name. A share is a fraction, as everywhere in JSON;
// durations and sizes are whole numbers. JSON cannot represent numbers that are not finite: one of
// them would invalidate the whole document.
func (n Number) field() (name string, value any) {
	switch v := n.Value; {
	case !n.Known():
		return "unknown", n.Why
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "unknown", "it is not a finite number"
	case n.Unit == "ns" || n.Unit == "bytes":
		if math.Abs(v) < 1<<62 { // a damaged file may contain values beyond all integers
			return n.Unit, int64(math.Round(v))
		}
		return n.Unit, v
	case n.Unit == "bytes/s":
		return "bytes_per_s", v
	case n.Unit == "1/min":
		return "per_minute", v
	case n.Unit == "%":
		return "pct", v / 100
	case n.Unit == "%/h":
		return "pct_per_hour", v / 100
	default:
		return "value", v
	}
}

// field returns the value or the text of a Fact.
func (f *Fact) field() (name string, value any) {
	if f.Text != "" {
		return "text", f.Text
	}
	return Number{Value: f.Value, Unit: f.Unit}.field()
}

// MarshalJSON encodes the facts by name.
func (list Facts) MarshalJSON() ([]byte, error) {
	all := map[string]any{}
	for i := range list {
		name, value := list[i].field()
		all[list[i].Name] = map[string]any{name: value}
	}
	return marshal(all)
}

// MarshalJSON encodes a finding with the texts of its rule.
func (f *Finding) MarshalJSON() ([]byte, error) {
	evidence := []map[string]any{}
	for i := range f.Evidence {
		name, value := f.Evidence[i].field()
		evidence = append(evidence, map[string]any{"name": f.Evidence[i].Name, name: value})
	}
	return marshal(struct {
		Rule        string           `json:"rule"`
		Severity    string           `json:"severity"`
		Title       string           `json:"title"`
		Text        string           `json:"text"`
		GCs         []uint32         `json:"gcs"`
		Evidence    []map[string]any `json:"evidence"`
		Explains    Explained        `json:"explains"`
		SymptomOf   *Rule            `json:"symptom_of,omitempty"`
		Explanation string           `json:"explanation"`
		Advice      string           `json:"advice"`
	}{
		f.Rule.ID, f.Severity.String(), f.Rule.Title, f.Text, append([]uint32{}, f.GCs...), evidence, f.Explains,
		f.SymptomOf, f.Rule.Explanation, f.Advice,
	})
}

// MarshalJSON encodes the verdict. Shares are fractions, of the time or of the time paused.
func (v Verdict) MarshalJSON() ([]byte, error) {
	return marshal(struct {
		GC         Answer    `json:"gc"`
		Cause      Cause     `json:"cause"`
		Text       string    `json:"text"`
		First      string    `json:"first,omitempty"`
		PauseShare Number    `json:"pause_share"`
		Explains   Explained `json:"explains"`
	}{v.GC, v.Cause, v.Text, v.First, v.PauseShare, v.Explains})
}

// MarshalJSON encodes what is known.
func (e Explained) MarshalJSON() ([]byte, error) {
	known := map[string]Number{}
	if e.Paused > 0 {
		known["pause_share"] = Number{Value: 100 * e.Paused, Unit: "%"}
	}
	if e.Bytes > 0 {
		known["bytes"] = Number{Value: float64(e.Bytes), Unit: "bytes"}
	}
	return marshal(known)
}

// MarshalText returns the rule's ID.
func (r *Rule) MarshalText() ([]byte, error) { return []byte(r.ID), nil }
