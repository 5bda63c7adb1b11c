package heap

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// watched returns a series of three snapshots in which a type has grown every time, one only in the
// end, and one has shrunk meanwhile.
func watched(t *testing.T) *watcher {
	t.Helper()
	g, err := heap.Read(bytes.NewReader(recordings.Read(t, "../../../gclog/heap/testdata/small.nettrace.gz")))
	if g == nil || !g.Walk.Complete() {
		t.Fatal(err)
	}
	w := &watcher{last: g, types: g}
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
	if want := "\nGrew every time in 3 snapshots:\n  objects    bytes  what holds most of it, and what grew\n                    static s_head: My.App.Node\n      +50  +2.0 KB    My.App.Leaf\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	var grown []string
	for _, g := range w.growth() {
		grown = append(grown, g.Name)
	}
	if got := strings.Join(grown, " "); got != "My.App.Leaf My.App.Node System.String" {
		t.Errorf("%s have grown", got)
	}
	w.list.Min = 2001
	if leaks := w.findLeaks(); len(leaks) != 0 {
		t.Errorf("%+v are smaller than --min", leaks)
	}
}

// TestWriteLeaks: what paths have in common is printed once, and a long path without its middle.
func TestWriteLeaks(t *testing.T) {
	g := &heap.Graph{}
	branch := func(holder string, types ...string) []*heap.Branch {
		var b *heap.Branch
		for _, name := range slices.Backward(types) {
			above := &heap.Branch{Type: len(g.Types)}
			if b != nil {
				above.Below = []*heap.Branch{b}
			}
			b = above
			g.Types = append(g.Types, heap.Type{Name: name})
		}
		b.Holder = holder
		return []*heap.Branch{b}
	}
	grown := func(name string, objects, bytes uint64, held []*heap.Branch) leak {
		return leak{heap.Growth{Name: name, Counts: []heap.Count{{}, {Objects: objects, Bytes: bytes}}}, held}
	}
	long := []string{"A"}
	for i := range 20 {
		long = append(long, fmt.Sprint("B", i))
	}
	leaks := []leak{
		grown("System.Byte[]", 30, 3000, branch("static Shop.Cache", "Map", "Row[]", "Row", "System.Byte[]")),
		grown("B19", 5, 1000, branch("stack", long...)),
		grown("Row", 30, 720, branch("static Shop.Cache", "Map", "Row[]", "Row")),
		grown("Gone", 1, 24, nil),
	}
	w := &watcher{types: g, snapshots: make([]watchedSnapshot, 2)}
	var out bytes.Buffer
	writeLeaks(&out, 80, w, leaks)
	want := `
Grew every time in 2 snapshots:
  objects    bytes  what holds most of it, and what grew
                    static Shop.Cache: Map
                      Row[]
      +30   +720 B      Row
      +30  +3.0 KB        byte[]
                    stack: A
                      B0
                        B1
                          B2
                            B3
                              B4
                                ... 9 steps ...
                                  B14
                                    B15
                                      B16
                                        B17
                                          B18
       +5  +1.0 KB                          B19
       +1    +24 B  Gone (not searched for, or unreachable)
`
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

// TestWatchOrder: what grew every time comes first, and of that what says whose it is.
func TestWatchOrder(t *testing.T) {
	w := &watcher{}
	w.list.filter = regexp.MustCompile("")
	grown := map[string][3]uint64{
		"System.Byte[]":     {100, 5000, 9000},
		"System.String":     {100, 200, 8000},
		"Shop.Row":          {10, 20, 30},
		"Shop.Once":         {10, 10, 900},
		"System.Object[][]": {0, 100, 100},
		"System.Collections.Generic.Dictionary<System.Int32, Shop.Row>+Entry[]": {1, 5, 40},
	}
	for i := range 3 {
		h := &heap.Histogram{}
		for name, bytes := range grown {
			h.Types = append(h.Types, heap.Type{Name: name, Exact: name})
			c := heap.TypeCount{}
			c.Objects, c.Bytes = 1, bytes[i]
			h.Counts = append(h.Counts, c)
		}
		w.snapshots = append(w.snapshots, watchedSnapshot{counts: h})
	}
	var got []string
	for _, g := range w.growth() {
		got = append(got, g.Name)
	}
	want := []string{"System.Collections.Generic.Dictionary<System.Int32, Shop.Row>+Entry[]", "Shop.Row", "System.Byte[]", "System.String", "Shop.Once", "System.Object[][]"}
	if !slices.Equal(got, want) {
		t.Errorf("the order is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
