package heap

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
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
			craftRest(w)
			w.u8(tagString)
			w.text("gclog")
			w.u8(tagString)
			w.text(privateMagic)
			w.u8(tagPrivate)
			w.i32(math.MaxInt32)
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
