package condition

import (
	"errors"
	"strings"
	"testing"
)

// scope has a field of each type and unit.
var scope = Scope{
	About: "field", Where: "docs",
	Fields: []Field{
		{Name: "pause", Unit: "ns"},
		{Name: "heap.after", Unit: "bytes"},
		{Name: "hard_limit", Unit: "bytes"},
		{Name: "generation"},
		{Name: "paused", Unit: "%"},
		{Name: "alloc_rate", Unit: "bytes/s"},
		{Name: "gc.rate", Unit: "1/min"},
		{Name: "reason", Type: Text, Values: []string{"AllocSmall", "Induced", "LowMemory"}},
		{Name: "service", Type: Text},
		{Name: "compacting", Type: Flag},
		{Name: "pause.p99.9", Unit: "ns"},
		{Name: "findings.long-pause"},
		{Name: "pause.mean", Unit: "ns", Compared: true},
	},
}

// values are by name; what is missing is unknown.
type values map[string]any

func (v values) Number(field int) (float64, bool) {
	x, known := v[scope.Fields[field].Name].(float64)
	return x, known
}

func (v values) Text(field int) (string, bool) {
	x, known := v[scope.Fields[field].Name].(string)
	return x, known
}

var collection = values{
	"pause": 750e6, "heap.after": 950e6, "hard_limit": 1e9, "generation": 2.0, "paused": 12.5, "alloc_rate": 3e9, "gc.rate": 6.0,
	"reason": "Induced", "service": "orders", "compacting": 1.0, "findings.long-pause": 3.0,
}

func TestEval(t *testing.T) {
	for text, want := range map[string]Truth{
		"pause > 500ms":                     True,
		"pause>500ms":                       True,
		"pause > 1s":                        False,
		"pause <= 750ms":                    True,
		"pause < 750 ms":                    False,
		"pause == 750ms":                    True,
		"pause != 0.75s":                    False,
		"pause > 1m":                        False,
		"500ms < pause":                     True,
		"1s < pause":                        False,
		"pause > 0":                         True,
		"pause < 1 min":                     True,
		"pause < 1m30s":                     True,
		"pause > 500ms && generation == 2":  True,
		"pause > 500ms and generation == 1": False,
		"pause > 1s || generation == 2":     True,
		"pause > 1s or generation == 1":     False,
		"generation == 1 || pause > 1s && paused>5%":    False,
		"(generation == 1 || pause > 1ms) && paused>5%": True,
		"!(generation == 1)":                            True,
		"not generation == 1":                           True,
		"not not compacting":                            True,
		"compacting":                                    True,
		"!compacting":                                   False,
		"(compacting)":                                  True,
		"compacting == false":                           False,
		"compacting != false && compacting == true":     True,
		"heap.after > 900MB":                            True,
		"heap.after > 900M":                             True,
		"heap.after > 950 MB":                           False,
		"heap.after > 90% * hard_limit":                 True,
		"heap.after > 0.96 * hard_limit":                False,
		"heap.after / hard_limit > 90%":                 True,
		"heap.after / hard_limit > 0.96":                False,
		"heap.after > hard_limit * 90 %":                True,
		"hard_limit - heap.after < 100MB":               True,
		"heap.after - hard_limit < -10MB":               True,
		"heap.after + 50MB >= hard_limit":               True,
		"(heap.after + 50MB) / 2 == 500MB":              True,
		"1GB - 50MB == heap.after":                      True,
		"heap.after > generation * 475MB - 1B":          True,
		"paused > 12%":                                  True,
		"alloc_rate > 2.9 GB/s":                         True,
		"gc.rate > 5/min":                               True,
		"gc.rate > 6 /min":                              False,
		"reason == 'Induced'":                           True,
		`reason != "Induced"`:                           False,
		"'Induced' == reason":                           True,
		"reason in ['AllocSmall', 'LowMemory']":         False,
		"reason in ['AllocSmall', 'Induced']":           True,
		"not reason in ['AllocSmall']":                  True,
		"service != reason":                             True,
		"findings.long-pause > 2":                       True,
		"findings.long-pause>2":                         True,
		"generation - 1 == 1":                           True,
		"pause.p99.9 > 1s":                              Unknown,
		"!(pause.p99.9 > 1s)":                           Unknown,
		"pause.p99.9 > 1s && generation == 2":           Unknown,
		"pause.p99.9 > 1s && generation == 1":           False,
		"pause.p99.9 > 1s || generation == 2":           True,
		"pause.p99.9 > 1s || generation == 1":           Unknown,
		"pause.p99.9 - pause > 1s":                      Unknown,
		"pause / (generation - 2) > 1ms":                Unknown,
	} {
		c, err := scope.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if got := c.Eval(collection); got != want {
			t.Errorf("%s is %d, want %d", text, got, want)
		}
		if got := c.Judge(func(c *Comparison) Truth { return c.Eval(collection) }); got != want {
			t.Errorf("%s is judged %d, want %d", text, got, want)
		}
	}
}

// TestSimple: a comparison of a field with a constant says what it compares, with the field on the
// left.
func TestSimple(t *testing.T) {
	for text, want := range map[string]Comparison{
		"pause > 500 ms":            {Operator: ">", Limit: 500e6, Typed: "500 ms"},
		"500ms > pause":             {Operator: "<", Limit: 500e6, Typed: "500ms"},
		"generation!=2":             {Operator: "!=", Limit: 2, Typed: "2"},
		"heap.after >= 2M":          {Operator: ">=", Limit: 2 << 20, Typed: "2M"},
		"pause.mean worse than 10%": {Operator: Worse, Limit: 10, Typed: "10%"},
		"pause.mean worse":          {Operator: Worse},
	} {
		c, err := scope.Parse(" " + text + " ")
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := c.Comparisons[0]
		if len(c.Comparisons) != 1 || !got.Simple || got.Text != text || c.Text != text || len(got.Fields) != 1 || len(c.Fields()) != 1 ||
			got.Operator != want.Operator || got.Limit != want.Limit || got.Typed != want.Typed {
			t.Errorf("%s: %+v", text, got)
		}
	}
	c, err := scope.Parse("heap.after > hard_limit && (pause > 1s || reason == 'Induced') || !compacting")
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, x := range c.Comparisons {
		texts = append(texts, x.Text)
		if x.Simple != (x.Text == "pause > 1s") {
			t.Errorf("%s is simple: %v", x.Text, x.Simple)
		}
	}
	if got := strings.Join(texts, "; "); got != "heap.after > hard_limit; pause > 1s; reason == 'Induced'; compacting" || len(c.Fields()) != 5 {
		t.Errorf("the comparisons are %s, of %v", got, c.Fields())
	}
}

func TestErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "at column 1: the condition is empty: write a comparison, such as 'pause > 50ms'",
		"  ":                                   "at column 3: the condition is empty",
		"pauze > 1s":                           "at column 1: there is no field pauze, did you mean pause? (docs)",
		"generation == 2 && pauze > 1s":        "at column 20: there is no field pauze",
		"pause":                                "at column 1: pause is not a condition: write 'pause > 50ms' in quotes",
		"pause >":                              "at column 8: the condition ends where a name or a number should follow",
		"pause = 1s":                           "at column 7: = is not an operator: write == to compare",
		"pause > 1s & generation == 2":         "at column 12: & is not an operator: write &&",
		"pause > 1s generation == 2":           `at column 12: "generation" where &&, || or the end should follow`,
		"pause > 50":                           `at column 9: "50" is not a duration: write a number with a unit`,
		"pause > 1GB":                          `at column 9: "1GB" is not a duration`,
		"heap.after > 5%":                      `at column 14: "5%" is not a size`,
		"paused > 5":                           `at column 10: "5" is not a percentage`,
		"generation > 5%":                      `at column 14: "5%" is not a number`,
		"pause > heap.after":                   "at column 9: a duration cannot be combined with a size",
		"pause + heap.after > 1s":              "at column 9: a duration cannot be combined with a size",
		"pause * heap.after > 1s":              "at column 7: a duration cannot be combined with a size by *",
		"2 / pause > 1s":                       "at column 3: a number cannot be combined with a duration by /",
		"heap.after / hard_limit > 1s":         `at column 27: "1s" is not a number`,
		"1ms < pause < 5ms":                    "at column 13: comparisons cannot be chained: join two with &&",
		"1 < 2":                                "at column 1: there is no field in the comparison",
		"'a' == 'b'":                           "there is no field in the comparison",
		"reason == 'Inducd'":                   `at column 11: reason is never "Inducd", did you mean Induced? (it is AllocSmall, Induced, LowMemory)`,
		"reason in ['Induced', 'x']":           `at column 23: reason is never "x" (it is`,
		"reason in 'Induced'":                  `at column 11: "Induced" where a list`,
		"reason in []":                         `at column 12: "]" where a text in quotes should follow`,
		"reason in ['Induced'":                 "at column 21: the condition ends where ] should follow",
		"pause in ['Induced']":                 "at column 7: in needs a field with a text on its left",
		"reason > 'Induced'":                   "at column 8: texts can only be compared with ==, != and in",
		"reason == Induced":                    "at column 11: there is no field Induced",
		"reason == 5":                          "at column 11: reason is a text, and 5 is a number",
		"reason - 5 > 1":                       "at column 1: - needs numbers, and reason is a text",
		"-reason > 1":                          "at column 2: - needs numbers, and reason is a text",
		"compacting > true":                    "at column 12: flags can only be compared with == and !=",
		"compacting == 1":                      "at column 15: compacting is a flag, and 1 is a number",
		"reason == 'Induced":                   "at column 11: the quote is not closed",
		"(pause > 1s":                          "at column 12: the condition ends where ) should follow",
		"pause > 1s)":                          `at column 11: ")" where &&, || or the end should follow`,
		"pause > 1s;":                          `at column 11: ';' does not belong in a condition`,
		"pause > 1parsec":                      `at column 9: "1parsec" is not a duration`,
		"pause > 5 pause":                      `"5 pause" is not a duration`,
		"pause worse than 10%":                 "at column 7: only a difference can be worse: compare pause with a number",
		"pause.mean > 10ms":                    "at column 12: pause.mean is a difference: write 'pause.mean worse than 10%'",
		"pause.mean worse than 10ms":           `at column 23: "10ms" is not a percentage`,
		"pause.mean worse than":                "the condition ends where a percentage should follow",
		"1s worse than 10%":                    "at column 1: only a difference can be worse",
		"'ä' == reason && pauze > 1s":          "at column 1: reason is never",
		"service == 'ä' && pauze > 1s":         "at column 19: there is no field pauze",
		strings.Repeat("(", 100) + "pause":     "nested more than 64 deep",
		strings.Repeat("!", 100) + "pause":     "nested more than 64 deep",
		strings.Repeat("-", 100) + "pause":     "nested more than 64 deep",
		strings.Repeat("pause > 1s && ", 1000): "longer than 4096 bytes",
	} {
		_, err := scope.Parse(text)
		if _, ok := errors.AsType[*Error](err); !ok || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"pause > 500ms && generation == 2", "heap.after / hard_limit > 90%", "reason in ['Induced']", "!(compacting || -pause < 5 ms)", "pause.mean worse than 5%"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := scope.Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Errorf("%v", err)
			}
			return
		}
		if len(c.Comparisons) == 0 || len(c.Fields()) == 0 {
			t.Errorf("%q compares nothing", text)
		}
		if a, b := c.Eval(collection), c.Judge(func(c *Comparison) Truth { return c.Eval(collection) }); a != b {
			t.Errorf("%q is %d and %d", text, a, b)
		}
		if _, err := scope.Parse(c.Text); err != nil {
			t.Errorf("%q, trimmed: %v", c.Text, err)
		}
	})
}

// byIndex has the values of the fields at their indexes, as records have.
type byIndex struct{ pause, generation, heap float64 }

func (v *byIndex) Number(field int) (float64, bool) {
	switch field {
	case 0:
		return v.pause, true
	case 1:
		return v.heap, true
	case 3:
		return v.generation, true
	}
	return 0, false
}

func (v *byIndex) Text(int) (string, bool) { return "Induced", true }

const typical = "pause > 500ms && generation == 2 && reason in ['Induced', 'LowMemory'] && heap.after > 1GB"

func BenchmarkEval(b *testing.B) {
	c, err := scope.Parse(typical)
	if err != nil {
		b.Fatal(err)
	}
	v := &byIndex{750e6, 2, 2e9}
	b.ReportAllocs()
	for b.Loop() {
		if c.Eval(v) != True {
			b.Fatal("it is false")
		}
	}
}

// TestEvalAllocatesNothing: rules are evaluated for each collection.
func TestEvalAllocatesNothing(t *testing.T) {
	c, err := scope.Parse(typical + " && heap.after / 2 - 100MB > 1B")
	if err != nil {
		t.Fatal(err)
	}
	v := &byIndex{750e6, 2, 2e9}
	if n := testing.AllocsPerRun(100, func() { c.Eval(v) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
