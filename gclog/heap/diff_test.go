package heap_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

func TestSlope(t *testing.T) {
	for _, c := range []struct {
		bytes []uint64
		want  float64
	}{
		{[]uint64{7}, 0},
		{[]uint64{100, 60}, -40},
		{[]uint64{0, 10, 20, 30}, 10},
		{[]uint64{5, 5, 5}, 0},
		{[]uint64{0, 1000, 0, 1000}, 200}, // not a third of 1000
	} {
		g := heap.Growth{}
		for _, n := range c.bytes {
			g.Counts = append(g.Counts, heap.Count{Objects: 1, Bytes: n})
		}
		if got := g.Slope(); got != c.want {
			t.Errorf("%d: %g, want %g", c.bytes, got, c.want)
		}
	}
}

// TestCompare: types without objects do not count, the largest growth comes first, and Always means
// from each snapshot to the next.
func TestCompare(t *testing.T) {
	snapshot := func(names string, objects ...uint64) *heap.Histogram {
		h := &heap.Histogram{}
		for i, name := range strings.Fields(names) {
			h.Types = append(h.Types, heap.Type{Name: name})
			h.Counts = append(h.Counts, heap.TypeCount{Count: heap.Count{Objects: objects[i], Bytes: 8 * objects[i]}})
		}
		return h
	}
	var got []string
	for _, g := range heap.Compare(
		snapshot("Empty A B C C", 0, 10, 1, 5, 1), snapshot("B A C D", 2, 30, 6, 1), snapshot("D Empty A C B", 2, 0, 40, 6, 2),
	) {
		got = append(got, fmt.Sprintf("%s %d %d %v", g.Name, g.Objects(), g.Bytes(), g.Always()))
	}
	if want := []string{"A 30 240 true", "D 2 16 true", "B 1 8 false", "C 0 0 false"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestCompareNames: a type is the same if only one snapshot has its exact name, but not if two types
// have the same name in the stream.
func TestCompareNames(t *testing.T) {
	exact := &heap.Histogram{
		Types: []heap.Type{{ID: 1}, {ID: 2, Name: "Gone", Exact: "N.X+Gone"}, {Name: "Entry[A]", Exact: "N.Map<A>+Entry"}, {Name: "<>c", Exact: "N.X+<>c"}, {Name: "<>c", Exact: "N.Y+<>c"}, {Name: "Row", Exact: "N.Table+Row"}, {Name: "Row", Exact: "Row"}},
	}
	stream := &heap.Histogram{Types: []heap.Type{{ID: 1}, {Name: "Gone"}, {Name: "Entry[A]"}, {Name: "<>c", Exact: "<>c"}, {Name: "Row", Exact: "N.Table+Row"}, {Name: "Row", Exact: "Row"}}}
	for _, h := range []*heap.Histogram{exact, stream} {
		for range h.Types {
			h.Counts = append(h.Counts, heap.TypeCount{Count: heap.Count{Objects: 1, Bytes: 10}})
		}
	}
	exact.Counts[1].Objects = 0 // so its name is not used
	got := map[string]int64{}
	for _, g := range heap.Compare(exact, stream) {
		got[g.Name] = g.Objects()
	}
	if want := map[string]int64{"unknown type 0x1": 0, "Gone": 1, "N.Map<A>+Entry": 0, "<>c": -1, "N.Table+Row": 0, "Row": 0}; !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestCompareKnowledge: of a type with several names, the one counts that says most, and if those that
// say most differ, what they have in common.
func TestCompareKnowledge(t *testing.T) {
	const (
		stream = "Entry[Pool`1+Local[System.Char],A]"
		bare   = "Entry[Pool+Local[System.Char],A]"
		barely = "Entry<Pool+Local<System.Char>, A>"
		known  = "Entry<Pool<System.Char>+Local, A>"
		nested = "Map<Pool<System.Char>+Local, A>+Entry"
	)
	foreign, streamed := heap.Type{Name: bare, Exact: barely}, heap.Type{Name: stream, Exact: known}
	exact, other := heap.Type{Name: stream, Exact: nested}, heap.Type{Name: stream, Exact: "Other+Entry<Pool<System.Char>+Local, A>"}
	for _, c := range []struct {
		snapshots [][]heap.Type
		want      map[string]int64
	}{
		{[][]heap.Type{{foreign}, {streamed}}, map[string]int64{known: 0}},
		{[][]heap.Type{{exact}, {streamed}}, map[string]int64{nested: 0}},
		{[][]heap.Type{{foreign}, {exact}, {streamed}}, map[string]int64{nested: 0}},
		{[][]heap.Type{{foreign}, {exact, other}}, map[string]int64{barely: 1}},
		{[][]heap.Type{{exact}, {other}}, map[string]int64{nested: -1, other.Exact: 1}},
		{[][]heap.Type{{exact, streamed}, {exact, streamed}}, map[string]int64{nested: 0, known: 0}},
	} {
		var list []*heap.Histogram
		for _, types := range c.snapshots {
			list = append(list, &heap.Histogram{Types: types, Counts: slices.Repeat([]heap.TypeCount{{Count: heap.Count{Objects: 1}}}, len(types))})
		}
		got := map[string]int64{}
		for _, g := range heap.Compare(list...) {
			got[g.Name] = g.Objects()
		}
		if !maps.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.snapshots, got, c.want)
		}
	}
}

// TestCompareForeign: of the same heap, a recording and the file that dotnet-gcdump wrote contain the
// same types, whether the assemblies are known or not.
func TestCompareForeign(t *testing.T) {
	for _, path := range captures(t, "*-*-*.gcdump.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".gcdump.gz")
		t.Run(name, func(t *testing.T) {
			foreign, _, err := heap.ReadDump(unpacked(t, path))
			if err != nil {
				t.Fatal(err)
			}
			counted, _, err := heap.CountDump(unpacked(t, path))
			if err != nil {
				t.Fatal(err)
			}
			own := readAnew(t, strings.Replace(path, ".gcdump", ".nettrace", 1))
			compare := func(what string) {
				for i, h := range []*heap.Histogram{foreign.Histogram(), counted} {
					for _, g := range heap.Compare(h, own.Histogram()) {
						if g.Objects() != 0 || g.Bytes() != 0 {
							t.Errorf("%d: %s, %s: %+d objects in %+d bytes", i, what, g.Name, g.Objects(), g.Bytes())
						}
					}
				}
			}
			compare("names of the stream")
			runtime, _, _ := strings.Cut(name, "-")
			var a heap.Assemblies
			if err := a.AddDir(sharedRuntime(t, runtime).Dir()); err != nil {
				t.Fatal(err)
			}
			if found := own.Resolve(t.Context(), &a); found == 0 {
				t.Error("no definition was found")
			}
			compare("exact names")
		})
	}
}

// TestSharedClasses: neither the classes of .NET nor nested ones, whose outer class is unknown, say
// which program it is.
func TestSharedClasses(t *testing.T) {
	snapshot := func(names ...string) *heap.Histogram {
		h := &heap.Histogram{}
		for _, name := range names {
			h.Types = append(h.Types, heap.Type{Name: name})
			h.Counts = append(h.Counts, heap.TypeCount{Count: heap.Count{Objects: 1}})
		}
		return h
	}
	a := snapshot("Shop.Cart", "Shop.Cart[]", "Shop.Item`1[System.String]", "Shop.Gone", "System.String", "Microsoft.Extensions.Logging.Logger", "Node", "Leaf", "Entry[Shop.A]")
	b := snapshot("System.String", "Shop.Item<System.Int32>+Key", "Shop.Cart", "Shop.New", "Shop.Other", "<>c", "Leaf", "Entry[Shop.A]", "Node")
	a.Counts[3].Objects = 0
	if shared, of := heap.SharedClasses(a, b); shared != 2 || of != 2 {
		t.Errorf("%d of %d", shared, of)
	}
	if shared, of := heap.SharedClasses(a, snapshot("System.String")); shared != 0 || of != 0 {
		t.Errorf("%d of %d", shared, of)
	}
}

// programs are the programs of the recordings by what is in the names of their classes.
var programs = map[string]string{"GcLoad.": "gcload", "My.App.": "work", "Azure.Mcp.": "azmcp", ",P+<": "asy"}

// hasProcessInfo reports whether a recording contains the event with the name of the process, with
// which the runtime ends a stream.
func hasProcessInfo(t *testing.T, path string) bool {
	t.Helper()
	b, err := io.ReadAll(unpacked(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Contains(b, []byte("P\x00r\x00o\x00c\x00e\x00s\x00s\x00I\x00n\x00f\x00o\x00"))
}

// TestPrograms: recordings name their process, and the classes of different programs differ.
func TestPrograms(t *testing.T) {
	counts := map[string]*heap.Histogram{}
	for _, path := range captures(t, "*.nettrace.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		h := read(t, path).Histogram()
		of, named := 0, 0
		for i := range h.Types {
			if h.Types[i].Name != "" {
				named++
			}
			for part, program := range programs {
				if strings.Contains(h.Types[i].Name, part) {
					of++
					if program != h.Process.Name && h.Process.Name != "" {
						t.Errorf("%s: %+v has a class %s", name, h.Process, h.Types[i].Name)
					}
				}
			}
		}
		if of == 0 && named > 1 && h.Process.Name != "" {
			t.Errorf("%s: none of the classes is of a known program", name)
		}
		if h.Process.ID == 0 || (h.Process.Name != "") != hasProcessInfo(t, path) {
			t.Errorf("%s: %+v", name, h.Process)
		}
		counts[name] = h
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"net8-wks-graph", "net9-svr-graph", true},
		{"core31-wks-graph", "net10-wks-graph", true},
		{"small", "rundown", true},
		{"net9-wks-graph", "app9-ranges", false},
		{"app10", "net10-wks-graph", false},
		{"small", "net9-wks-graph", false},
		{"app9-ranges", "app10", true},
	} {
		shared, of := heap.SharedClasses(counts[c.a], counts[c.b])
		t.Logf("%s, %s: %d of %d", c.a, c.b, shared, of)
		if same := 5*shared >= of; same != c.same {
			t.Errorf("%s and %s share %d of %d classes", c.a, c.b, shared, of)
		}
	}
}
