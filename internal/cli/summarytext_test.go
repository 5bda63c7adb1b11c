package cli

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// TestFinalizedTypes: they are told where events name them, and a control character in a
// name stays on its line.
func TestFinalizedTypes(t *testing.T) {
	var text summaryText
	text.finalized(nil)
	if text.Len() > 0 {
		t.Errorf("of nothing it says %q", text.String())
	}
	text.finalized([]analysis.FinalizedType{{Type: "A\nB", Objects: 12}, {Type: "C", Objects: 3}})
	if got := text.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "most: 12 A") || !strings.Contains(got, ", 3 C") {
		t.Errorf("it is %q", got)
	}
}

// TestPins: what was told of pinned objects is one line, and none where nothing was.
func TestPins(t *testing.T) {
	for _, x := range []struct {
		d    gclog.GCDetails
		want string
	}{
		{gclog.GCDetails{}, ""},
		{gclog.GCDetails{PinPlugs: 2}, ""}, // of a log that does not hold their bytes
		{gclog.GCDetails{PinEvents: 3, PinEventBytes: 300}, "  pins            300 B in 1 GC\n"},
		{gclog.GCDetails{PinEvents: 3, PinEventBytes: 300, PinPlugs: 2, PinPlugBytes: 1200}, "  pins            300 B in 1 GC; 1.2 KB could not be moved in 1 GC, 25 % of it pinned\n"},
	} {
		s := analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})
		s.GC(&x.d)
		var text summaryText
		text.pins(&s.Summary().Classes[analysis.ClassAll])
		if got := text.String(); got != x.want {
			t.Errorf("it is %q, want %q", got, x.want)
		}
	}
}
