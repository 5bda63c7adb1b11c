package view_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/view"
)

// TestColumns: a column has everything, and its key and title are its own.
func TestColumns(t *testing.T) {
	keys, titles := map[string]bool{}, map[string]bool{}
	words := []string{"event.start", "generation", "type", "reason", "condemned.budget_exceeded"}
	for _, c := range view.Columns() {
		if c.Key == "" || c.Title == "" || c.Help == "" || c.Text == nil || keys[c.Key] || titles[c.Title] {
			t.Errorf("%q, %q, %q", c.Key, c.Title, c.Help)
		}
		if c.Value == nil && !slices.Contains(words, c.Key) {
			t.Errorf("%s has no value", c.Key)
		}
		keys[c.Key], titles[c.Title] = true, true
	}
	head := []string{}
	for _, c := range view.Columns()[:13] {
		head = append(head, c.Title)
	}
	if got := strings.Join(head, " "); got != "time gc gen kind reason exceeded compact suspend ms pause ms before after promoted free" {
		t.Errorf("the columns start with %s", got)
	}
}

// TestColumnsAreThoseOfRecords: the values are those of JSON records, and every column has one.
func TestColumnsAreThoseOfRecords(t *testing.T) {
	columns := view.Columns()
	seen := map[string]int{}
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	for _, tr := range recordings.Repository(t) {
		var log bytes.Buffer
		var records []*gclog.GCDetails
		_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(p *gclog.Process) gclog.Observer { // some are truncated
			return gclog.Tee(formats.NewWriter(format, formats.NewStream(&log, false), formats.Options{Process: *p}).Observe, (&keeper{list: &records}).Observe)
		})
		for line := range bytes.Lines(log.Bytes()) {
			var v struct {
				Event  struct{ Action string }
				Dotnet struct{ GC map[string]any }
			}
			if err := json.Unmarshal(line, &v); err != nil {
				t.Fatal(err)
			}
			if v.Event.Action != "gc" {
				continue
			}
			d := records[0]
			records = records[1:]
			for _, c := range columns {
				if c.Value == nil {
					continue
				}
				got, known := c.Value(d)
				want, there := lookUp(v.Dotnet.GC, strings.Split(c.Key, "."))
				if known != there || known && math.Abs(got-want) > 0.006 { // shares have two decimals
					t.Fatalf("%s: %s of collection %d is %v, %v; in json %v, %v", tr.Name, c.Key, d.Number, got, known, want, there)
				}
				if known {
					seen[c.Key]++
				}
				if text := c.Text(&gclog.Process{}, d); known == (text == view.Unknown || text == "?") {
					t.Errorf("%s: %s of collection %d is shown as %q", tr.Name, c.Key, d.Number, text)
				}
			}
		}
		if len(records) > 0 {
			t.Fatalf("%s: json lacks %d records", tr.Name, len(records))
		}
	}
	for _, c := range columns {
		if c.Value != nil && seen[c.Key] == 0 {
			t.Errorf("no recording has %s", c.Key)
		}
	}
}

// lookUp returns the number at a path of a JSON object, with or without an object that names its
// unit.
func lookUp(v any, path []string) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, len(path) == 0
	case bool:
		return map[bool]float64{true: 1}[v], len(path) == 0
	case map[string]any:
		if len(path) > 0 {
			return lookUp(v[path[0]], path[1:])
		}
		for unit, factor := range map[string]float64{"bytes": 1, "ns": 1, "pct": 100, "count": 1} {
			if n, ok := v[unit].(float64); ok {
				return n * factor, true
			}
		}
	}
	return 0, false
}

type keeper struct {
	list *[]*gclog.GCDetails
}

// Observe takes a record.
func (k *keeper) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		*k.list = append(*k.list, d.Clone())
	}
}

// TestLooks: what is shown together differs in more than its color.
func TestLooks(t *testing.T) {
	var classes, severities, lengths []view.Look
	for c := range analysis.ClassAll {
		classes = append(classes, view.Of(c))
	}
	for _, s := range []analysis.Severity{analysis.Info, analysis.Warning, analysis.Error} {
		severities = append(severities, view.OfSeverity(s))
	}
	for _, l := range view.Lengths() {
		lengths = append(lengths, l.Look)
	}
	for _, list := range [][]view.Look{classes, severities, lengths} {
		for i, a := range list {
			if len(a.Letter) != 1 || len(a.RGB) != 7 || len(a.Dark) != 7 {
				t.Errorf("%+v", a)
			}
			for _, b := range list[:i] {
				if a.Name == b.Name || a.Letter == b.Letter || a.Shape == b.Shape || a.RGB == b.RGB || a.Dark == b.Dark || a.Style == b.Style {
					t.Errorf("%+v and %+v are too similar", a, b)
				}
			}
		}
	}
}

// TestLengths: the steps are those in which lines are colored.
func TestLengths(t *testing.T) {
	for ns, want := range map[int64]string{0: "short", 49_999_999: "short", 50e6: "noticeable", 199_999_999: "noticeable", 200e6: "long", 1e12: "long"} {
		if got := view.LengthOf(ns); got.Name != want || got.Style != screen.PauseStyle(ns, screen.Plain) {
			t.Errorf("%d: %+v, want %s", ns, got, want)
		}
	}
}

func TestSparkline(t *testing.T) {
	for want, values := range map[string][]float64{
		"": nil, " ▁▄█": {0, 0.1, 50, 100}, "█": {1000}, "·▁": {-1, 0.0001},
	} {
		if got := view.Sparkline(values, 100); got != want {
			t.Errorf("%v is %q, want %q", values, got, want)
		}
	}
	if got := view.Sparkline([]float64{1}, 0); got != " " {
		t.Errorf("without a scale: %q", got)
	}
}

func TestText(t *testing.T) {
	if got := view.Text(203e6, "ns"); got != "203 ms" {
		t.Error(got)
	}
}
