package fields_test

import (
	"math"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestNames: a field has a place of its own in json, next to the others of its object, and a column
// of its own in csv.
func TestNames(t *testing.T) {
	paths, columns, objects := map[string]bool{}, map[string]bool{}, map[string]bool{}
	open := ""
	for _, f := range fields.All() {
		if f.CSV != "" && columns[f.CSV] {
			t.Errorf("two fields are in the column %s", f.CSV)
		}
		columns[f.CSV] = true
		if f.JSON == "" {
			continue
		}
		if paths[f.JSON] {
			t.Errorf("two fields are called %s", f.JSON)
		}
		paths[f.JSON] = true
		object, _, _ := strings.Cut(f.JSON, ".")
		if object != open && objects[object] {
			t.Errorf("%s is not next to the others of its object", f.JSON)
		}
		open, objects[object] = object, true
	}
}

// TestDescribed: every field says what it is, in one line, and is in a format.
func TestDescribed(t *testing.T) {
	for _, f := range fields.All() {
		if f.Doc == "" || strings.ContainsAny(f.Doc, "\n|") || f.JSON == "" && f.CSV == "" {
			t.Errorf("%q, %q: %q", f.JSON, f.CSV, f.Doc)
		}
	}
}

// TestEmpty: an empty record has hardly any known fields, and asking for them is harmless.
func TestEmpty(t *testing.T) {
	d := &gclog.GCDetails{}
	d.Reset()
	var known []string
	for _, f := range fields.All() {
		if f.Set != nil && f.Get == nil {
			t.Errorf("%s can be set only", f.JSON)
		}
		if f.Get != nil {
			if _, ok := f.Get(d); ok {
				known = append(known, f.JSON+"/"+f.CSV)
			}
		}
	}
	const want = "generation/Generation /StartRelativeMSec complete/Complete /LostEvents"
	if got := strings.Join(known, " "); got != want {
		t.Errorf("known are %s, want %s", got, want)
	}
}

// TestSet: what is set is what is returned, in a record that has what the value depends on.
func TestSet(t *testing.T) {
	for _, f := range fields.All() {
		if f.Set == nil {
			continue
		}
		d := rich(f.JSON)
		v := min(f.Max, 1e6)
		if f.Unit == fields.Ratio || f.Unit == fields.ExactPercent {
			v = math.Float64bits(2.5)
		}
		f.Set(d, v)
		if got, known := f.Get(d); !known || got != v {
			t.Errorf("%s%s was set to %d, but is %d, %v", f.JSON, f.CSV, v, got, known)
		}
	}
}

// rich returns a record with everything that a field depends on.
func rich(path string) *gclog.GCDetails {
	d := &gclog.GCDetails{}
	d.Reset()
	d.Generation, d.GenerationCount, d.FinalizationCount = gclog.Gen2, gclog.Generations, 1
	d.Known |= gclog.GroupAfter | gclog.GroupHistory
	d.Global.HasCondemned = true
	d.Known |= gclog.GroupAllocated
	d.PinEvents, d.PinPlugs, d.Memory.Resident = 1, 1, 1
	d.Known |= gclog.GroupReserved | gclog.GroupDatasSample
	d.Summary, d.Background = &gclog.HeapSummary{}, &gclog.BackgroundDetails{WaitCount: 1}
	d.Known |= gclog.GroupFinalizers
	if path == "heap.fragmentation" {
		d.Known &^= gclog.GroupHistory // else it is the sum over the generations
	}
	if d.Known |= gclog.GroupCompaction; path == "timing.relocate" {
		d.Global.Mechanisms = clr.MechanismCompaction
	}
	return d
}
