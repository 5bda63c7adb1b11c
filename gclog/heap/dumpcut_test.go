package heap

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestLimited: a writer that stops at its limit says so in its log, or there are as many nodes as that
// limit, some of which are not described.
func TestLimited(t *testing.T) {
	const words = "  1.2s: .NET Dump Started...\n[WARNING]: Exceeded max node count 10000000. Processed 12/34 nodes with 56 node bulk events to go.\n"
	for name, x := range map[string]struct {
		nodes       int
		undescribed uint64
		log, tool   string
		want        bool
	}{
		"below the limit":     {9_999_999, 5, "", "dotnet-gcdump", false},
		"at the limit":        {10_000_000, 5, "", "dotnet-monitor", true},
		"above it":            {10_000_123, 1, "", "", true},
		"all are described":   {10_000_123, 0, "", "dotnet-gcdump", false},
		"PerfView":            {20_000_000, 5, "", "PerfView", false},
		"it says so":          {4, 0, words, "dotnet-gcdump", true},
		"PerfView says so":    {4, 0, words, "PerfView", true},
		"it says other words": {4, 5, "  1.2s: .NET Dump Started...\n", "dotnet-gcdump", false},
	} {
		d := &dumpFile{nodes: nodeGraph{count: x.nodes}, info: DumpInfo{Log: x.log, Tool: x.tool}}
		if got := d.limited(x.undescribed); got != x.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestCut reads files that their writers have cut off, and others.
func TestCut(t *testing.T) {
	types := []nodeType{{name: undefined}, {name: "[.NET Roots]"}, {name: "A", size: 12}, {name: "B", size: 1000}}
	file := func(log string, nodes ...craftNode) []byte {
		return craft(class{"GCHeapDump", 5, 0}, func(w *dumpWriter) {
			craftGraph(w, class{"Graphs.MemoryGraph", 0, 0}, types, nodes, nil)
			w.raw(make([]byte, 25))
			loggedInfo(w, log)
		})
	}
	root := func(children ...int32) craftNode { return craftNode{1, children, 0} }
	a, b := func(at int64, children ...int32) craftNode { return craftNode{2, children, at} }, func(at int64, children ...int32) craftNode { return craftNode{3, children, at} }
	for name, x := range map[string]struct {
		file              []byte
		limited, unrooted bool
	}{
		"whole":                        {file("log", root(1, 2), a(0x1000), a(0x2000)), false, false},
		"half is unreachable":          {file("log", root(1), a(0x1000), a(0x2000)), false, false},
		"most is unreachable":          {file("log", root(1), a(0x1000), a(0x2000, 3), a(0x3000)), false, true},
		"most objects, but not bytes":  {file("log", root(1), b(0x1000), a(0x2000), a(0x3000)), false, false},
		"most bytes, but not objects":  {file("log", root(1, 2), a(0x1000), a(0x2000), b(0x3000)), false, false},
		"it says so":                   {file("[WARNING]: Exceeded max node count 10000000.", root(1), a(0x1000)), true, false},
		"it says so, most unreachable": {file("Exceeded max node count", root(1), a(0x1000), a(0x2000), a(0x3000)), true, false},
	} {
		g, _, err := ReadDump(bytes.NewReader(x.file))
		if err != nil {
			t.Fatal(name, err)
		}
		if w := g.Walk; w.Limited != x.limited || w.Unrooted != x.unrooted || w.Complete() == (x.limited || x.unrooted) {
			t.Errorf("%s: %+v", name, w)
		}
		h, _, err := CountDump(bytes.NewReader(x.file))
		if err != nil {
			t.Fatal(name, err)
		}
		if w := h.Walk; w.Limited != x.limited || w.Complete() == x.limited { // without a graph it does not know more
			t.Errorf("%s, counted: %+v", name, w)
		}
		for _, count := range []bool{false, true} {
			r := newDumpReader(bytes.NewReader(x.file))
			if count {
				r.census = &census{}
			}
			if d, err := r.file(); err != nil || d.nodes.count != g.Len()+1 {
				t.Errorf("%s: %v, %d nodes", name, err, d.nodes.count)
			}
		}
	}
	undescribed := recordings.Read(t, "testdata/golden-tiny.gcdump")
	r := newDumpReader(bytes.NewReader(undescribed))
	r.census = &census{}
	if _, err := r.file(); err != nil || r.census.missing != 1 {
		t.Errorf("%v, %d nodes are not described, want 1", err, r.census.missing)
	}
}

// TestNotCut: what dotnet-gcdump has written of real programs is complete.
func TestNotCut(t *testing.T) {
	list, err := filepath.Glob(filepath.Join(recordings.Dir(t), "heap-traces", "*.gcdump*"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		if g, _ := readDump(t, recordings.Read(t, path)); !g.Walk.Complete() {
			t.Errorf("%s: %+v", path, g.Walk)
		}
	}
}
