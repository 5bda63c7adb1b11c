package heap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// An endless reader delivers a head, and then zeros, and counts both.
type endless struct {
	head []byte
	read int64
}

func (e *endless) Read(p []byte) (int, error) {
	clear(p)
	if e.read < int64(len(e.head)) {
		copy(p, e.head[e.read:])
	}
	e.read += int64(len(p))
	return len(p), nil
}

// craftRest writes what follows the graph in a file.
func craftRest(w *dumpWriter) {
	w.u8(1)
	w.i32(0)
	w.i32(0)
	w.u8(tagNull)
	w.u8(tagNull)
	processInfo(w)
	w.i32(0)
}

// craftOwn writes what follows the graph in a file of gclog, up to the length of its own part.
func craftOwn(w *dumpWriter, n int32) {
	craftRest(w)
	w.u8(tagString)
	w.text("gclog")
	w.u8(tagString)
	w.text(privateMagic)
	w.u8(tagPrivate)
	w.i32(n)
}

// bombs are starts of files that claim to contain more than anyone has the memory for.
func bombs() map[string][]byte {
	start := func(contents func(w *dumpWriter)) []byte {
		var b bytes.Buffer
		w := &dumpWriter{Writer: bufio.NewWriter(&b), classes: map[string]int64{}}
		w.text(dumpMagic)
		w.begin(classDump)
		contents(w)
		w.Flush()
		return b.Bytes()
	}
	graph := func(w *dumpWriter, types, nodes int32) {
		w.begin(classGraph)
		w.i64(0)
		w.i32(0)
		w.i32(types)
		if types > 1 {
			return
		}
		w.text(undefined)
		w.i32(0)
		w.text("")
		w.i32(nodes)
		if nodes == 1 {
			w.i32(2)
		}
	}
	return map[string][]byte{
		"types":          start(func(w *dumpWriter) { graph(w, maxDumpTypes, 0) }),
		"too many types": start(func(w *dumpWriter) { graph(w, math.MaxInt32, 0) }),
		"nodes":          start(func(w *dumpWriter) { graph(w, 1, math.MaxInt32) }),
		"references": start(func(w *dumpWriter) {
			graph(w, 1, 1)
			w.i32(math.MaxInt32)
			w.raw(appendCint([]byte{0, 0, 0}, math.MaxInt32/2))
		}),
		"text": start(func(w *dumpWriter) {
			graph(w, 2, 0)
			w.i32(math.MaxInt32)
		}),
		"gclog's own part": start(func(w *dumpWriter) {
			craftGraph(w, classGraph, []nodeType{{name: undefined}}, []craftNode{{}}, nil)
			craftOwn(w, math.MaxInt32)
		}),
	}
}

// TestReadDumpWithin: a file of unknown size that claims to be huge takes no more memory than it may.
func TestReadDumpWithin(t *testing.T) {
	for name, head := range bombs() {
		e := &endless{head: head}
		_, _, err := ReadDumpWithin(e, 1<<20)
		format, wrong := errors.AsType[*FormatError](err)
		if refused := name == "text" || name == "too many types"; !errors.Is(err, ErrTooLarge) && !refused || refused != wrong {
			t.Errorf("%s: %v %v", name, err, format)
		}
		if e.read > 1<<20 {
			t.Errorf("%s: %d bytes were read", name, e.read)
		}
	}
	whole := craft(classDump, func(w *dumpWriter) {
		craftGraph(w, classGraph, craftTypes, craftNodes, nil)
		craftRest(w)
	})
	if _, _, err := ReadDumpWithin(io.MultiReader(bytes.NewReader(whole)), 1<<20); err != nil {
		t.Error(err)
	}
}

// craftTypesOf returns a file with a number of types and, in gclog's own part, others with events without
// names.
func craftTypesOf(public, own, events int) []byte {
	typ := slices.Concat(make([]byte, 9), appendVarints(nil, uint64(events)), make([]byte, 2*events+1))
	private := slices.Concat([]byte{privateVersion}, make([]byte, 16),
		appendVarints(nil, uint64(own)), bytes.Repeat(typ, own),
		appendVarints(nil, uint64(own)), make([]byte, 16*own),
		make([]byte, 8)) // no objects
	return craft(classDump, func(w *dumpWriter) {
		types := append([]nodeType{{name: undefined}}, make([]nodeType, public)...)
		craftGraph(w, classGraph, types, []craftNode{{typ: 1, address: 0x1000}}, nil)
		craftOwn(w, int32(len(private)))
		w.raw(private)
	})
}

// allocated returns how many bytes a function allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestHostileTypes: gclog's own part cannot have more types or events than there are, and a reader finds
// that out before it has allocated the memory for them.
func TestHostileTypes(t *testing.T) {
	for want, file := range map[string][]byte{
		"a type has 1000000 events":                  craftTypesOf(1, 1, 1_000_000),
		"there are 200000 types, but the file has 1": craftTypesOf(1, 200_000, 0),
	} {
		for way, read := range map[string]func(io.Reader) error{
			"graph":  func(r io.Reader) error { _, _, err := ReadDump(r); return err },
			"counts": func(r io.Reader) error { _, _, err := ReadDumpHistogram(r); return err },
		} {
			var err error
			n := allocated(func() { err = read(bytes.NewReader(file)) })
			if _, ok := errors.AsType[*FormatError](err); !ok || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", way, err, want)
			}
			if most := uint64(2*len(file) + 1<<20); n > most {
				t.Errorf("%s: %q: %d bytes were allocated for a file of %d", way, want, n, len(file))
			}
		}
	}
}

// TestOwnPartWithin: what gclog's own part contains counts when it is read, and the events of types do not
// for a histogram, which has none.
func TestOwnPartWithin(t *testing.T) {
	const limit = 8 << 20
	file := craftTypesOf(200, 200, maxEvents) // some 25 MB of events in 1.6 MB
	var err error
	if n := allocated(func() { _, _, err = ReadDumpWithin(unsized(file), limit) }); !errors.Is(err, ErrTooLarge) || n > 2*limit {
		t.Errorf("graph: %v; %d bytes were allocated", err, n)
	}
	if g, _, err := ReadDump(unsized(file)); err != nil || len(g.Types[199].Events) != maxEvents {
		t.Errorf("graph without a limit: %v", err)
	}
	var h *Histogram
	n := allocated(func() { h, _, err = ReadDumpHistogramWithin(unsized(file), limit) })
	if err != nil || len(h.Types) != 200 || h.Types[199].Events != nil || n > 2*limit {
		t.Errorf("counts: %v; %d bytes were allocated", err, n)
	}
	file = craftTypesOf(100_000, 100_000, 0)
	n = allocated(func() { _, _, err = ReadDumpHistogramWithin(unsized(file), 16<<20) })
	if !errors.Is(err, ErrTooLarge) || n > 2*16<<20 {
		t.Errorf("counts of many types: %v; %d bytes were allocated", err, n)
	}
	for _, name := range []string{"types", "gclog's own part"} {
		e := &endless{head: bombs()[name]}
		if _, _, err := ReadDumpHistogramWithin(e, 1<<20); !errors.Is(err, ErrTooLarge) || e.read > 1<<20 {
			t.Errorf("%s: %v after %d bytes", name, err, e.read)
		}
	}
}

// TestManyEvents: a Graph whose types have more events than are read can be written and read.
func TestManyEvents(t *testing.T) {
	l, _ := goldenTiny()
	g := l.g
	many := slices.Repeat([]Event{{"Changed", "System.Handler"}}, maxEvents+1)
	g.Types, g.Roots = []Type{{Name: "A", Events: many}, {Name: "B"}, {Name: "C"}}, []Root{{Object: 1}}
	g.index = newAddressIndex(g.address)
	got, _ := readDump(t, writeDump(t, g, &DumpInfo{}))
	if !slices.Equal(got.Types[0].Events, many[:maxEvents]) || len(g.Types[0].Events) != len(many) {
		t.Errorf("%d events of %d", len(got.Types[0].Events), len(g.Types[0].Events))
	}
}
