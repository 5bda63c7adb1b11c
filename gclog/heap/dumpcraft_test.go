package heap

import (
	"bufio"
	"bytes"
	"errors"
	"math"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// craft returns a file whose entry object has a class and contents.
func craft(entry class, contents func(w *dumpWriter)) []byte {
	var b bytes.Buffer
	w := &dumpWriter{Writer: bufio.NewWriter(&b), classes: map[string]int64{}}
	w.text(dumpMagic)
	w.begin(entry)
	contents(w)
	w.u8(tagEnd)
	w.u8(tagEnd)
	table := w.off
	w.i32(0)
	w.label(table)
	w.label(w.off - 4)
	w.Flush()
	return b.Bytes()
}

// craftNode is a node of a crafted graph.
type craftNode struct {
	typ      int32
	children []int32
	address  int64
}

// craftGraph writes a graph whose objects have the sizes of their types.
func craftGraph(w *dumpWriter, c class, types []nodeType, nodes []craftNode, deferred func(w *dumpWriter)) {
	w.begin(c)
	w.i64(0)
	w.i32(0)
	w.i32(int32(len(types)))
	for _, t := range types {
		w.text(t.name)
		w.i32(t.size)
		w.text(t.module)
	}
	blob := []byte{0, 0}
	w.i32(int32(len(nodes)))
	for i, n := range nodes {
		w.i32(int32(len(blob)))
		blob = appendCint(blob, n.typ<<1)
		blob = appendCint(blob, int32(len(n.children)))
		for _, child := range n.children {
			blob = appendCint(blob, child-int32(i))
		}
	}
	w.i32(int32(len(blob)))
	w.raw(blob)
	if deferred != nil {
		deferred(w)
	}
	w.i32(int32(len(nodes)))
	for _, n := range nodes {
		w.i64(n.address)
	}
	w.u8(tagByte)
	w.u8(0)
	w.u8(tagEnd)
}

var (
	craftTypes = []nodeType{
		{name: undefined},
		{name: "[.NET Roots]"},
		{name: "[other roots]"},
		{name: "[FinalizerQueue]"},
		{name: "[static var App.Main.cache]"},
		{name: "A", size: 12, module: "a.dll"},
		{name: "A[] (Bytes > 10K)", size: 20_000, module: "a.dll"},
		{name: "A[]", size: 16, module: "a.dll"},
		{name: "UNKNOWN 0x1234", size: 8},
		{name: "[CCW 0x10 for type A]", size: 200},
	}
	craftNodes = []craftNode{
		{1, []int32{1, 3, 4}, 0},
		{2, []int32{2, 4}, 0},
		{3, []int32{5, 5}, 0},
		{4, []int32{6}, 0},
		{9, []int32{7}, 0},
		{5, []int32{6, 7, 8, 5}, 0x1000},
		{6, nil, 0x2000},
		{7, nil, 0x8000},
		{8, []int32{0, 6}, 0x9000},
	}
)

// processInfo writes the description of a process.
func processInfo(w *dumpWriter) { loggedInfo(w, "log") }

// loggedInfo does so with what the writer of the file has logged.
func loggedInfo(w *dumpWriter, log string) {
	w.text(log)
	w.i64(0)
	w.text("host")
	w.text("app")
	w.i32(7)
	w.i64(1)
	w.i64(2)
}

// TestPerfView reads what PerfView writes and dotnet-gcdump does not: older versions, segments of
// several generations, samples, COM objects, values that later versions add.
func TestPerfView(t *testing.T) {
	check := func(name string, b []byte) (*Graph, *DumpInfo) {
		t.Helper()
		g, info := readDump(t, b)
		var names []string
		for o := range Object(g.Len()) {
			names = append(names, g.Types[g.Type(o)].String())
		}
		if want := []string{"A", "A[]", "A[]", "unknown type 0x1234"}; !slices.Equal(names, want) || len(g.Types) != 3 || g.UnknownTypes() != 1 {
			t.Errorf("%s: objects %q, want %q", name, names, want)
		}
		if g.Size(1) != 20_000 || g.Space(0) != 12 || g.PointerSize != 4 {
			t.Errorf("%s: sizes %v", name, g.size)
		}
		if got, want := g.References(0), []Object{1, 2, 3, 0}; !slices.Equal(got, want) || len(g.References(3)) != 1 {
			t.Errorf("%s: references %v, want %v", name, got, want)
		}
		roots := []Root{{0, RootFinalizer, 0, 0}, {2, RootOther, 0, 0}}
		if !reflect.DeepEqual(g.Roots, roots) {
			t.Errorf("%s: roots %v, want %v", name, g.Roots, roots)
		}
		if want := []Static{{Object: 1, Type: g.Type(1), Field: "App.Main.cache"}}; !reflect.DeepEqual(g.Statics, want) {
			t.Errorf("%s: static fields %v, want %v", name, g.Statics, want)
		}
		return g, info
	}
	for version := int32(4); version < 8; version++ {
		_, info := check("old", craft(class{"GCHeapDump", version, 0}, func(w *dumpWriter) {
			craftGraph(w, class{"Graphs.MemoryGraph", 0, 0}, craftTypes, craftNodes, nil)
			w.raw(make([]byte, 25))
			if version >= 5 {
				processInfo(w)
			}
			if version >= 6 {
				w.i32(1)
				w.begin(class{"GCHeapDumpSegment", 0, 0})
				w.raw(make([]byte, 6*8))
				w.u8(tagEnd)
			}
			if version >= 7 {
				w.u8(0)
			}
		}))
		if version >= 5 && (info.Process != "app" || info.Log != "log" || info.ProcessID != 7 || info.WorkingSet != 2) {
			t.Errorf("version %d: %+v", version, info)
		}
	}

	b := craft(class{"GCHeapDump", 11, 8}, func(w *dumpWriter) {
		craftGraph(w, classGraph, craftTypes, craftNodes, nil)
		w.u8(0)
		w.f32(2.5)
		w.f32(1.5)
		w.begin(classJS)
		w.u8(tagEnd)
		w.begin(classHeap)
		w.i64(0)
		w.i32(1)
		w.begin(classSegment)
		for _, v := range []int64{0x1000, 0x8800, 0x8800, 0x8000, 0x2000, 0, 0} {
			w.i64(v)
		}
		w.u8(tagEnd)
		w.u8(tagEnd)
		processInfo(w)
		w.i32(int32(len(craftTypes)))
		for i := range craftTypes {
			w.f32(float32(i))
		}
		w.u8(tagSkip)
		w.i32(0)
		w.begin(classInterop)
		for _, n := range []int32{2, 1, 1, 1, 1} {
			w.i32(n)
		}
		w.raw(make([]byte, 40+32+33+16))
		w.text("com.dll")
		w.u8(tagEnd)
		w.u8(tagString)
		w.text("PerfView")
		for i, tag := range []uint8{tagByte, tagInt16, tagInt32, tagInt64} {
			w.u8(tag)
			w.raw(make([]byte, 1<<i))
		}
		w.u8(tagPrivate)
		w.i32(3)
		w.raw([]byte{tagEnd, tagEnd, tagEnd})
	})
	g, info := check("new", b)
	if want := []float32{5, 7, 8}; !slices.Equal(info.Multipliers, want) || info.CountMultiplier != 2.5 || info.SizeMultiplier != 1.5 {
		t.Errorf("multipliers %v, want %v; %+v", info.Multipliers, want, info)
	}
	if want := []Generation{Gen2, Gen1, Gen0, Frozen}; !slices.Equal(g.ages, want) {
		t.Errorf("generations %v, want %v", g.ages, want)
	}
	if info.Tool != "PerfView" || info.Machine != "host" {
		t.Errorf("%+v", info)
	}
}

// TestSegments: neighbouring regions of a generation are one segment, unless there is an object
// between them, which is frozen.
func TestSegments(t *testing.T) {
	l, info := goldenTiny()
	l.g.index = newAddressIndex(l.g.address)
	const base = 0x7f0000000000
	l.g.regions = []generationRange{
		{base + 0x100, base + 0x200, Gen2},
		{base + 0x300, base + 0x400, Gen2},
		{base + 0x500, base + 0x600, Gen1},
		{base + 0x700, base + 0x800, Gen1},
		{base + 0x1100, base + 0x1200, Gen1},
		{base + 0x1200, base + 0x1300, POH},
	}
	var b bytes.Buffer
	if err := l.write(&b, info, nil); err != nil {
		t.Fatal(err)
	}
	_, d := summarize(t, b.Bytes())
	want := []generationRange{
		{base + 0x100, base + 0x400, Gen2}, {base + 0x500, base + 0x800, Gen1}, {base + 0x1100, base + 0x1200, Gen1}, {base + 0x1200, base + 0x1300, POH},
	}
	if !slices.Equal(d.regions, want) {
		t.Errorf("%v, want %v", d.regions, want)
	}
}

// TestDeferredTypes: types of NativeAOT are numbers in a module, which is described once.
func TestDeferredTypes(t *testing.T) {
	types := []nodeType{{name: undefined}, {size: 24}, {size: 32}, {name: "[RCW N.Class]", size: -1, module: "n.dll"}, {name: "Same", size: 8}, {name: "Same", size: 8}}
	nodes := []craftNode{{1, []int32{1, 2}, 0x10}, {2, nil, 0x20}, {3, nil, 0x30}, {4, nil, 0x40}, {5, nil, 0x50}}
	g, info := readDump(t, craft(classDump, func(w *dumpWriter) {
		craftGraph(w, class{"Graphs.MemoryGraph", 1, 1}, types, nodes, func(w *dumpWriter) {
			w.i32(0)
			w.i32(3)
			w.i32(0)
			w.u8(tagNull)
			w.i32(-1)
			w.i32(0x111)
			at := w.off
			w.begin(classModule)
			w.text("/app/native")
			w.raw(make([]byte, 8+4+8))
			w.text("native.pdb")
			w.raw(make([]byte, 16+4))
			w.u8(tagEnd)
			w.text("")
			w.i32(0x222)
			w.u8(tagLabel)
			w.label(at)
			w.text("[]")
			w.u8(tagEnd)
		})
		w.u8(1)
		w.f32(1)
		w.f32(1)
		w.u8(tagNull)
		w.u8(tagNull)
		processInfo(w)
		w.i32(0)
	}))
	var got []string
	for _, x := range g.Types {
		got = append(got, x.Name+" "+info.Modules[x.Module])
	}
	if want := []string{"Type(0x111) /app/native", "Type(0x222)[] /app/native", "N.Class n.dll", "Same ", "Same "}; !slices.Equal(got, want) || g.Types[1].Token != 0x222 {
		t.Errorf("%q, want %q", got, want)
	}
	if g.Size(2) != maxNodeSize {
		t.Errorf("a size that does not fit is %d", g.Size(2))
	}
	if want := []Root{{Object: 0, Kind: RootOther}}; !reflect.DeepEqual(g.Roots, want) {
		t.Errorf("roots %v: the root is an object", g.Roots)
	}
}

// TestHostile: a file cannot make the reader allocate more than in proportion to its size, or
// describe a larger graph than it has bytes.
func TestHostile(t *testing.T) {
	const huge = math.MaxInt32
	graph := func(contents func(w *dumpWriter)) []byte {
		return craft(classDump, func(w *dumpWriter) {
			w.begin(classGraph)
			w.i64(0)
			w.i32(0)
			contents(w)
		})
	}
	oneType := func(w *dumpWriter) {
		w.i32(1)
		w.text(undefined)
		w.i32(0)
		w.text("")
	}
	rest := make([]byte, 64)
	for _, test := range []struct {
		b    []byte
		want string
	}{
		{graph(func(w *dumpWriter) { w.i32(huge) }), "list of types has 2147483647 elements"},
		{graph(func(w *dumpWriter) { w.i32(-5) }), "length -5"},
		{graph(func(w *dumpWriter) { w.i32(1); w.i32(huge); w.raw(rest) }), "a string in the list of types has 2147483647 characters"},
		{graph(func(w *dumpWriter) { w.i32(1); w.i32(-2); w.raw(rest) }), "length -2"},
		{graph(func(w *dumpWriter) { oneType(w); w.i32(huge) }), "list of nodes has 2147483647 elements"},
		{graph(func(w *dumpWriter) { oneType(w); w.i32(0); w.raw(rest) }), "the root is node 0 of 0"},
		{graph(func(w *dumpWriter) { oneType(w); w.i32(1); w.i32(2); w.i32(huge); w.raw(rest) }), "list of records has 2147483647"},
		{graph(func(w *dumpWriter) { oneType(w); w.i32(1); w.i32(9); w.i32(4); w.raw(rest) }), "node 0 is at byte 9 of 4"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(2)
			w.i32(2)
			w.i32(2)
			w.i32(4)
			w.raw(rest)
		}), "node 1 is at byte 2 of 4 of the list, within another"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(1)
			w.i32(2)
			w.raw([]byte{0, 8})
			w.raw(rest)
		}), "type 4 of 1"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(1)
			w.i32(3)
			w.raw([]byte{0, 0, 5})
			w.raw(rest)
		}), "5 references, but the list has 0"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(1)
			w.i32(3)
			w.raw([]byte{0, 0, 0x7f})
			w.raw(rest)
		}), "-1 references"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(1)
			w.i32(4)
			w.raw([]byte{0, 0, 1, 1})
			w.raw(rest)
		}), "refers to node 1 of 1"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(1)
			w.i32(4)
			w.raw([]byte{0, 0, 1, 0x7f})
			w.raw(rest)
		}), "refers to node -1 of 1"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(1)
			w.i32(3)
			w.raw([]byte{0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80})
			w.raw(rest)
		}), "more than 5 bytes"},
		{graph(func(w *dumpWriter) {
			oneType(w)
			w.i32(1)
			w.i32(0)
			w.i32(2)
			w.raw([]byte{0, 0})
			w.i32(0)
			w.raw(rest)
		}), "0 elements, but there are 1 nodes"},
		{craft(classDump, func(w *dumpWriter) { w.u8(tagObject); w.u8(tagLabel); w.label(12345) }), "a class at byte 12345, where there is none"},
		{craft(classDump, func(w *dumpWriter) { w.u8(tagNull) }), "should have an object of class Graphs.MemoryGraph"},
		{craft(classDump, func(w *dumpWriter) { w.u8(77) }), "not the tag 77"},
	} {
		for range 2 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			_, _, err := ReadDump(bytes.NewReader(test.b))
			_, _, unknown := ReadDump(unsized(test.b))
			runtime.ReadMemStats(&after)
			var f *FormatError
			if !errors.As(err, &f) || !strings.Contains(err.Error(), test.want) || f.Offset > int64(len(test.b)) {
				t.Errorf("%v, want %q", err, test.want)
			}
			if !errors.As(unknown, &f) {
				t.Errorf("%v, of a reader of unknown length", unknown)
			}
			if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
				t.Errorf("%q: %d bytes were allocated for an input of %d", test.want, n, len(test.b))
			}
		}
	}
}

// TestHostilePrivate: each wrong number in the private part is an error, and none makes the reader
// allocate more than in proportion to the file.
func TestHostilePrivate(t *testing.T) {
	part := func(types, objects []uint64) []byte {
		walk := make([]uint64, 16)
		return appendVarints(nil, slices.Concat([]uint64{privateVersion}, walk, types, objects)...)
	}
	none := []uint64{0, 0} // types and their counts
	after := func(zeros int, values ...uint64) []byte {
		return part(none, append(make([]uint64, zeros), values...))
	}
	const huge = math.MaxUint32
	for _, test := range []struct {
		private []byte
		want    string
	}{
		{appendVarints(nil, 9), "version 9, and this gclog reads version 2"},
		{[]byte{}, "a number is missing"},
		{appendVarints(nil, privateVersion, 1, 2), "a number is missing"},
		{appendVarints(nil, privateVersion, 1<<40), "the number 1099511627776 is too large"},
		{part([]uint64{50}, nil), "50 bytes or more should follow, but 0 do"},
		{part([]uint64{huge}, nil), "4294967295 bytes or more should follow"},
		{part([]uint64{1, 0, 0, 1 << 40}, none), "the number 1099511627776 is too large"},
		{part([]uint64{1, 0, 0, 0, 0, 0, 0, huge}, none), "4294967295 bytes or more should follow"},
		{part([]uint64{1, 0, 0, 0, 0, 0, 0, 0, 1, 2}, none), "0 parameters, and the kinds of 1"},
		{part([]uint64{1, 0, 0, 0, 0, 0, 0, 0, 0, 9}, none), "9 bytes or more should follow"},
		{part([]uint64{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, showsEnd}, none), "the name of a type is 3"},
		{part([]uint64{0, 1}, make([]uint64, 16)), "counts of 1 types, of 0"},
		{after(0, 1, 99<<3), "99 objects are in generation 0, where 3 objects have none"},
		{after(0, 1, 1<<3), "a number is missing"},
		{after(0, 1, 3<<3|7), "generation 7"},
		{after(1, 1, 77, 1), "an object is 77"},
		{after(2, 1, 100, 99, 0), "the region at 0x64 ends before it starts"},
		{after(2, 1, 100, 101, 5), "the generation of a region is 5"},
		{after(3, 1, 3, 0, 0, 0), "an object is 3"},
		{after(3, 1, 0, 300, 0, 0), "the number 300 is too large"},
		{after(4, 1, 0, 0, 5, 0, 0), "a type is 5"},
		{after(5, 1, 0, 9), "an object is 9"},
		{after(6, 1, 3, 0, 1), "an object is 3"},
		{after(6, 1, 0, 0, 1<<32), "the number 4294967296 is too large"},
		{after(9), "1 more bytes follow"},
		{after(8), "an object has type 1, but gclog's own part of the file has 0 types"},
		{part(append([]uint64{4}, make([]uint64, 4*11+1)...), nil), "counts of 0 types, of 4"},
		{part(append(append([]uint64{5}, make([]uint64, 5*11)...), append([]uint64{5}, make([]uint64, 5*16)...)...), make([]uint64, 8)), "5 types, but the file has 4"},
	} {
		l, info := goldenTiny()
		var b bytes.Buffer
		if err := l.write(&b, info, func() []byte { return test.private }); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, _, err := ReadDump(bytes.NewReader(b.Bytes()))
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 8<<20 {
			t.Errorf("%q: %d bytes were allocated", test.want, n)
		}
	}
}

// FuzzReadDump: any input ends with an error that has words, or with a Graph that can be written and
// read again.
func FuzzReadDump(f *testing.F) {
	f.Add(recordings.Read(f, "testdata/golden-tiny.gcdump"))
	f.Add(foreign(f))
	f.Add(everything(f))
	f.Fuzz(checkAny)
}

// TestCorrupt: a file with a wrong byte, wherever it is, is an error or has a Graph.
func TestCorrupt(t *testing.T) {
	extent.Long(t)
	RareGC(t)
	step := extent.Pick(3, 1)
	for at, valid := range [][]byte{everything(t), foreign(t)} {
		for i := at; i < len(valid); i += step {
			for _, wrong := range []byte{0, 0x7f, 0xff, valid[i] + 1} {
				b := slices.Clone(valid)
				b[i] = wrong
				checkAny(t, b)
			}
		}
	}
}

// foreign returns a small file as other tools write it: without segments and without gclog's own part.
func foreign(t testing.TB) []byte {
	l, info := goldenTiny()
	g := l.g
	g.Types = []Type{{Name: "A"}, {Name: "[]c[]"}, {Name: "[odd]"}}
	g.Roots = []Root{{Object: 1}, {Kind: RootHandle, Flags: RootPinned}}
	var b bytes.Buffer
	if err := newDumpLayout(g, nil).write(&b, info, nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// everything returns a small file that has every kind of contents.
func everything(t testing.TB) []byte {
	l, info := goldenTiny()
	g := l.g
	g.Types = []Type{{Name: "A", Parameters: []uint64{1, 300}, Kinds: []uint8{0, 0x1d}}, {Name: "B", Module: 7}, {ID: 8}}
	g.Roots, g.Statics, g.Dependents = []Root{{Object: 1}, {Kind: RootHandle, Flags: RootPinned, ID: 900}}, []Static{{Field: "f"}}, []Dependent{{0, 1}}
	g.Wrappers = []Wrapper{{1, true, 70_000}, {2, false, 1}}
	g.ages, g.regions = make([]Generation, 4), []generationRange{{0x100, 0x200, LOH}, {0x300, 0x400, Gen0}}
	g.size[2], g.large = largeSize, map[Object]uint64{2: 1 << 40}
	g.index = newAddressIndex(g.address)
	info.Multipliers, info.Log = []float32{1, 2, 3}, "log"
	var b bytes.Buffer
	if err := newDumpLayout(g, map[uint64]string{7: "b.dll"}).write(&b, info, g.private); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// checkAny checks what must be true of any input.
func checkAny(t *testing.T, b []byte) {
	h, _, countErr := ReadDumpHistogram(bytes.NewReader(b))
	if countErr == nil && (len(h.Types) != len(h.Counts) || len(h.Types) > len(b)) || countErr != nil && countErr.Error() == "" {
		t.Fatalf("%d types, %d counts: %v", len(h.Types), len(h.Counts), countErr)
	}
	g, info, err := ReadDump(bytes.NewReader(b))
	if counted, _, countErr := CountDump(bytes.NewReader(b)); countErr != nil {
		if !errors.Is(countErr, ErrUncounted) {
			t.Fatal(countErr)
		}
	} else if err == nil && !sameCounts(counted, g.Histogram()) {
		t.Fatalf("counted %+v, want %+v", counted.Counts, g.Histogram().Counts)
	}
	_, _, unsizedErr := ReadDump(unsized(b))
	if (err == nil) != (unsizedErr == nil) {
		t.Fatalf("%v; with unknown length %v", err, unsizedErr)
	}
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without words")
		}
		return
	}
	if g.Len()+g.NumReferences() > len(b) {
		t.Fatalf("%d objects and %d references of %d bytes", g.Len(), g.NumReferences(), len(b))
	}
	for o := range Object(g.Len()) {
		g.Size(o)
		g.Generation(o)
		_ = g.Types[g.Type(o)].String()
	}
	g.Dominators()
	var again bytes.Buffer
	if err := g.WriteDump(&again, info); err != nil {
		t.Fatal(err)
	}
	got, _, err := ReadDump(&again)
	if err != nil {
		t.Fatal(err)
	}
	if got.Len() != g.Len() || !slices.Equal(got.target, g.target) || !slices.Equal(got.Roots, g.Roots) || got.Walk != g.Walk {
		t.Errorf("what was written is not what was read: %+v, %+v", got.Walk, g.Walk)
	}
}
