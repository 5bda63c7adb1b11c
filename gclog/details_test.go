package gclog_test

import (
	"reflect"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

func TestParseFlaw(t *testing.T) {
	for i := range 8 {
		f := gclog.Flaw(1) << i
		if got, ok := gclog.ParseFlaw([]byte(f.Names(nil)[0])); !ok || got != f {
			t.Errorf("%v is read as %v", f.Names(nil), got.Names(nil))
		}
	}
	if _, ok := gclog.ParseFlaw([]byte("none")); ok {
		t.Error("what is no flaw is read as one")
	}
}

func TestUserPinned(t *testing.T) {
	for _, x := range []struct {
		objects, plugs uint64
		percent        float64
		known          bool
	}{
		{300, 1200, 25, true},
		{300, 300, 100, true},
		{300, 0, 0, false},
		{0, 1200, 0, false},
		{1200, 300, 0, false}, // large ones are in no stretch
	} {
		d := gclog.GCDetails{PinEventBytes: x.objects, PinPlugBytes: x.plugs}
		if percent, known := d.UserPinned(); percent != x.percent || known != x.known {
			t.Errorf("%d of %d bytes are %v %%, known %v", x.objects, x.plugs, percent, known)
		}
	}
}

// TestClone: the copy of a record that a reader made has all of it, and shares
// nothing.
func TestClone(t *testing.T) {
	made := func() *gclog.GCDetails {
		return &gclog.GCDetails{
			Pauses:     []gclog.PausePart{{Start: 1}},
			Background: &gclog.BackgroundDetails{MarkStart: 2, Waits: []gclog.AllocWait{{Start: 3}}},
			Summary:    &gclog.HeapSummary{Gen0Imbalance: 4},
			Dynamic:    []gclog.DynamicEvent{{Name: "a", Data: []byte{5}}},
		}
	}
	d := made()
	c := d.Clone()
	again := c.Clone()
	d.Pauses[0].Start, d.Background.MarkStart, d.Background.Waits[0].Start, d.Summary.Gen0Imbalance, d.Dynamic[0].Data[0] = 0, 0, 0, 0, 0
	for _, x := range []*gclog.GCDetails{c, again} {
		want := made()
		if !reflect.DeepEqual(x.Background, want.Background) || !reflect.DeepEqual(x.Pauses, want.Pauses) ||
			!reflect.DeepEqual(x.Summary, want.Summary) || !reflect.DeepEqual(x.Dynamic, want.Dynamic) {
			t.Errorf("the copy is %+v with %+v", x, x.Background)
		}
	}
	c.Background.Waits[0].Start = 0
	if again.Background.Waits[0].Start != 3 {
		t.Error("a copy of the copy shares its lists")
	}
}

// TestGenerationName: a stream may say any generation, and a log in Java's words not which.
func TestGenerationName(t *testing.T) {
	for want, d := range map[string]*gclog.GCDetails{"gen1": {Generation: 1}, "gen255": {Generation: 255}, "young": {Young: true}} {
		if got := d.GenerationName(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestSummaryOfMarks: of a record that was read from a log a balance may be known to be even, and 0 is
// unknown.
func TestSummaryOfMarks(t *testing.T) {
	d := &gclog.GCDetails{Summary: &gclog.HeapSummary{}}
	for _, imbalance := range []float64{0, 0.5, 1, 1.5} {
		d.Summary.Marks[clr.MarkStack].Imbalance = imbalance
		if ratio, known := d.MarkImbalance(clr.MarkStack); ratio != imbalance || known != (imbalance != 0) {
			t.Errorf("%v is told as %v, known %v", imbalance, ratio, known)
		}
	}
}

// TestAppendName: of a name there is one digit for the generation, and a letter if it was induced.
func TestAppendName(t *testing.T) {
	for want, d := range map[string]*gclog.GCDetails{
		"0N":  {},
		"2B":  {Generation: 2, Kind: gclog.KindBackground, HasReason: true},
		"1F":  {Generation: 1, Kind: gclog.KindForeground, Reason: clr.ReasonInduced}, // which nothing told
		"2NI": {Generation: 2, Reason: clr.ReasonInduced, HasReason: true},
		"2Ni": {Generation: 2, Reason: clr.ReasonInducedNotForced, HasReason: true},
		"9N":  {Generation: 255},
	} {
		if got := d.AppendName([]byte("x")); string(got) != "x"+want {
			t.Errorf("%s, want x%s", got, want)
		}
	}
}
