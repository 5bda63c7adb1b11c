package heap

import (
	"bytes"
	"errors"
	"path/filepath"
	"reflect"
	"runtime"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestDumpCounts: the counts in a file are those of the objects in it.
func TestDumpCounts(t *testing.T) {
	extent.Long(t)
	g := graphOf(t, "testdata/small.nettrace.gz")
	g.ages = make([]Generation, g.Len())
	for o := range g.ages {
		g.ages[o] = Generation(o % int(UnknownGeneration))
	}
	g.Types[3].Exact = "Exact.Name"
	g.Process = Process{42, "app"}
	file := writeDump(t, g, &DumpInfo{})
	h, _, err := ReadDumpHistogram(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	read, _ := readDump(t, file)
	if want := read.Histogram(); !reflect.DeepEqual(h, want) {
		t.Errorf("%+v, want %+v", h, want)
	}
	if !reflect.DeepEqual(h.Counts, g.Histogram().Counts) || h.Total().Objects != 7095 || h.Total().References != uint64(g.NumReferences()) {
		t.Errorf("%+v", h.Counts)
	}
	for n := 0; n < len(file); n++ {
		if _, _, err := ReadDumpHistogram(bytes.NewReader(file[:n])); err == nil || errors.Is(err, ErrUncounted) {
			t.Fatalf("%d bytes of %d: %v", n, len(file), err)
		}
		if n > 1000 && n < len(file)-1000 {
			n += 997
		}
	}
}

// TestUncounted: the files of others have no counts.
func TestUncounted(t *testing.T) {
	for name, file := range map[string][]byte{
		"PerfView": recordings.Read(t, "testdata/golden-tiny.gcdump"),
		"others":   recordings.Read(t, "testdata/small.gcdump"),
	} {
		readDump(t, file) // it is a valid one
		if _, _, err := ReadDumpHistogram(bytes.NewReader(file)); !errors.Is(err, ErrUncounted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sameCounts compares what a file and its Graph contain, without the references to nodes that the
// Graph does not have.
func sameCounts(a, b *Histogram) bool {
	if a.PointerSize != b.PointerSize || !reflect.DeepEqual(a.Types, b.Types) || len(a.Counts) != len(b.Counts) {
		return false
	}
	for i := range a.Counts {
		x, y := a.Counts[i], b.Counts[i]
		if x.Count != y.Count || x.RawBytes != y.RawBytes || x.Generations != y.Generations {
			return false
		}
	}
	return true
}

// TestCountDump: what is counted in the files of others, without a Graph, is what is in the Graph.
func TestCountDump(t *testing.T) {
	odd := recordings.Read(t, "testdata/small.gcdump") // with roots that no tool calls like this
	if _, _, err := CountDump(bytes.NewReader(odd)); !errors.Is(err, ErrUncounted) {
		t.Errorf("a file with odd roots: %v", err)
	}
	files := map[string][]byte{"PerfView": recordings.Read(t, "testdata/golden-tiny.gcdump")}
	if dir := recordings.Find(); dir != "" {
		list, err := filepath.Glob(filepath.Join(dir, "heap-traces", "*-graph.gcdump.gz"))
		if err != nil || len(list) == 0 {
			t.Fatal(list, err)
		}
		for _, path := range list {
			files[filepath.Base(path)] = recordings.Read(t, path)
		}
	}
	for name, file := range files {
		h, info, err := CountDump(unsized(file))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		g, want := readDump(t, file)
		if !sameCounts(h, g.Histogram()) || h.Process != g.Process || info.Tool != want.Tool || !reflect.DeepEqual(h.Modules, g.Modules) {
			t.Errorf("%s: %+v, want %+v", name, h.Total(), g.Histogram().Total())
		}
		if h.Unreachable != nil || !h.Walk.Complete() || h.Walk.Objects != uint64(g.Len()) {
			t.Errorf("%s: %+v", name, h)
		}
	}
}

// TestCountDumpDoubts: a node with a name as that of a root is one if it has no address. If some have
// one and some do not, it must be clear which.
func TestCountDumpDoubts(t *testing.T) {
	types := []nodeType{{name: undefined}, {name: "[.NET Roots]"}, {name: "A", size: 12}, {name: "[]c[]", size: 20}, {name: "[odd]", size: 8}}
	for _, c := range []struct {
		name    string
		nodes   []craftNode
		counted bool
	}{
		{"one root", []craftNode{{1, []int32{1}, 0}, {2, nil, 0x1000}}, true},
		{"a type of the compiler", []craftNode{{1, []int32{1}, 0}, {2, []int32{2}, 0x1000}, {3, nil, 0x2000}}, true},
		{"the same without an address", []craftNode{{1, []int32{1}, 0}, {2, []int32{2}, 0x1000}, {3, nil, 0}}, false},
		{"an odd name", []craftNode{{1, []int32{1}, 0}, {2, []int32{2}, 0x1000}, {4, nil, 0x2000}}, false},
		{"an object without an address", []craftNode{{1, []int32{1}, 0}, {2, nil, 0}}, false},
	} {
		file := craft(class{"GCHeapDump", 4, 0}, func(w *dumpWriter) {
			craftGraph(w, class{"Graphs.MemoryGraph", 0, 0}, types, c.nodes, nil)
			w.raw(make([]byte, 25))
		})
		g, _ := readDump(t, file)
		h, _, err := CountDump(bytes.NewReader(file))
		if (err == nil) != c.counted || err != nil && !errors.Is(err, ErrUncounted) || err == nil && !sameCounts(h, g.Histogram()) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, h, err, g.Histogram())
		}
	}
}

// TestCountDumpMemory: the memory for counting does not depend on the number of objects.
func TestCountDumpMemory(t *testing.T) {
	allocated := func(n int) uint64 {
		nodes := []craftNode{{1, nil, 0}}
		for i := range n {
			nodes = append(nodes, craftNode{5, []int32{int32(1 + i/2)}, int64(0x1000 + 16*i)})
		}
		file := craft(class{"GCHeapDump", 4, 0}, func(w *dumpWriter) {
			craftGraph(w, class{"Graphs.MemoryGraph", 0, 0}, craftTypes, nodes, nil)
			w.raw(make([]byte, 25))
		})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		h, _, err := CountDump(bytes.NewReader(file))
		runtime.ReadMemStats(&after)
		if err != nil || h.Total().Objects != uint64(n) {
			t.Fatalf("%d objects: %v", n, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(100), allocated(100_000); many > 2*few {
		t.Errorf("%d bytes were allocated for 100 objects, %d for 100000", few, many)
	}
}
