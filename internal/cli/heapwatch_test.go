package cli

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// watched returns a series of three snapshots in which a type has grown every time, one only in the
// end, and one has shrunk meanwhile.
func watched(t *testing.T) *heapWatch {
	t.Helper()
	g, err := heap.Read(bytes.NewReader(recordings.Read(t, "../../gclog/heap/testdata/small.nettrace.gz")))
	if g == nil || !g.Walk.Complete() {
		t.Fatal(err)
	}
	w := &heapWatch{last: g, types: g}
	w.list.filter = regexp.MustCompile("")
	last := g.Histogram()
	for i := range 3 {
		h := *last
		h.Counts = slices.Clone(h.Counts)
		for k := range h.Types {
			switch h.Types[k].String() {
			case "My.App.Leaf":
				h.Counts[k].Bytes -= uint64(2-i) * 1000
				h.Counts[k].Objects -= uint64(2-i) * 25
			case "System.String":
				h.Counts[k].Bytes -= []uint64{500, 500, 0}[i]
			case "My.App.Node":
				h.Counts[k].Bytes -= []uint64{700, 0, 100}[i]
			}
		}
		w.snapshots = append(w.snapshots, watchedSnapshot{counts: &h})
	}
	return w
}

// TestWatchLeaks: only what has grown every time is a leak, and it is said what holds it.
func TestWatchLeaks(t *testing.T) {
	w := watched(t)
	leaks := w.findLeaks()
	if len(leaks) != 1 || leaks[0].Name != "My.App.Leaf" || leaks[0].Bytes() != 2000 || leaks[0].Objects() != 50 {
		t.Fatalf("%+v", leaks)
	}
	if got, want := leaks[0].heldBy(&w.list, w.last), "static s_head > My.App.Node > My.App.Leaf"; got != want {
		t.Errorf("held by %s, want %s", got, want)
	}
	var out bytes.Buffer
	writeLeaks(&out, 80, w, leaks)
	if want := "\nGrew every time in 3 snapshots:\n  objects    bytes  type, and what holds most of it\n      +50  +2.0 KB  My.App.Leaf\n                      static s_head > My.App.Node > My.App.Leaf\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	var grown []string
	for _, g := range w.growth() {
		grown = append(grown, g.Name)
	}
	if got := strings.Join(grown, " "); got != "My.App.Leaf My.App.Node System.String" {
		t.Errorf("%s have grown", got)
	}
	w.list.min = 2001
	if leaks := w.findLeaks(); len(leaks) != 0 {
		t.Errorf("%+v are smaller than --min", leaks)
	}
}
