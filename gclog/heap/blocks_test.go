package heap_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/extent"
)

// A block is an object of a nettrace stream of version 4.
type block struct {
	name    string
	head    []byte // all before the padding
	content []byte // all after it: content begins at a multiple of 4
}

// blocksOf returns what a stream begins with, and its objects.
func blocksOf(t *testing.T, b []byte) (head []byte, list []block) {
	t.Helper()
	const begin, end = 5, 6
	at := len("Nettrace") + 4 + len("!FastSerialization.1")
	head = b[:at]
	for len(b)-at > 32 && b[at] == begin { // some recordings end with the first byte of an object
		var x block
		start := at
		at += 1 + 1 + 1 + 4 + 4 // its class is an object as well, whose class is null; two versions
		n := int(binary.LittleEndian.Uint32(b[at:]))
		x.name = string(b[at+4 : at+4+n])
		at += 4 + n + 1
		if x.name == "Trace" {
			at += 8*2 + 2*8 + 4*4 + 1 // a date, the clock, four numbers, and the end
			x.head = b[start:at]
		} else {
			size := int(binary.LittleEndian.Uint32(b[at:]))
			x.head = b[start : at+4]
			at = (at + 4 + 3) &^ 3
			x.content = b[at : at+size+1]
			at += size + 1
		}
		if b[at-1] != end {
			t.Fatalf("the object %s at byte %d does not end at byte %d", x.name, start, at)
		}
		list = append(list, x)
	}
	return head, list
}

// join makes a stream of objects.
func join(head []byte, list []block) []byte {
	b := bytes.Clone(head)
	for _, x := range list {
		b = append(b, x.head...)
		for x.content != nil && len(b)%4 != 0 {
			b = append(b, 0)
		}
		b = append(b, x.content...)
	}
	return b
}

// TestBlocks cuts recordings off at each block, and deletes one block after the other: what is read
// has all objects, or says what it lacks; and has no fewer objects if it was cut off later.
func TestBlocks(t *testing.T) {
	t.Run("small", func(t *testing.T) { blocks(t, small) })
	for _, name := range []string{"app9-ranges", "notypes", "rundown", "three-walks", "net10-svr-graph", "core31-wks-graph"} {
		t.Run(name, func(t *testing.T) {
			extent.Long(t)
			t.Parallel()
			blocks(t, captures(t, name+".nettrace.gz")[0])
		})
	}
}

// TestPauses: wherever a stream pauses after the walk, the Graph is the same. What other threads have
// written may come after that.
func TestPauses(t *testing.T) {
	for _, name := range []string{"three-walks", "net10-svr-graph", "core31-wks-graph"} {
		t.Run(name, func(t *testing.T) {
			extent.Long(t)
			t.Parallel()
			pauses(t, captures(t, name+".nettrace.gz")[0])
		})
	}
}

func pauses(t *testing.T, path string) {
	b, err := io.ReadAll(unpacked(t, path))
	if err != nil {
		t.Fatal(err)
	}
	dump := func(r io.Reader) []byte {
		g, _ := heap.Read(r) // some recordings are cut off
		if g == nil {
			t.Fatal("no walk")
		}
		var to bytes.Buffer
		if err := g.WriteDump(&to, &heap.DumpInfo{}); err != nil {
			t.Fatal(err)
		}
		return to.Bytes()
	}
	want := dump(bytes.NewReader(b))
	head, list := blocksOf(t, b)
	tried := 0
	for n := len(list) - 1; n > 0; n-- {
		before := join(head, list[:n])
		if g, _ := heap.Read(bytes.NewReader(before)); g == nil || !g.Walk.Complete() {
			break
		}
		tried++
		if got := dump(io.MultiReader(bytes.NewReader(before), &pause{}, bytes.NewReader(b[len(before):]))); !bytes.Equal(got, want) {
			t.Errorf("a pause before block %d of %d changes the snapshot", n, len(list))
		}
	}
	if tried == 0 {
		t.Error("there is no block after the walk")
	}
}

// A pause is a reader that returns heap.ErrPause once.
type pause struct{ over bool }

func (p *pause) Read([]byte) (int, error) {
	if p.over {
		return 0, io.EOF
	}
	p.over = true
	return 0, heap.ErrPause
}

func blocks(t *testing.T, path string) {
	b, err := io.ReadAll(unpacked(t, path))
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := heap.Read(bytes.NewReader(b))
	check := func(what string, b []byte) (objects int, changed bool) {
		t.Helper()
		g, err := heap.Read(bytes.NewReader(b))
		h, _ := heap.ReadHistogram(bytes.NewReader(b))
		switch {
		case g == nil:
			if err == nil {
				t.Errorf("%s: neither a graph nor an error", what)
			}
			changed = true
		case !g.Walk.Complete():
			if g.NumReferences() > 0 || g.Len() > whole.Len() {
				t.Errorf("%s: %d objects with %d references", what, g.Len(), g.NumReferences())
			}
			changed = true
		default:
			if g.Len() != whole.Len() || g.NumReferences() != whole.NumReferences() || len(g.Roots) != len(whole.Roots) {
				t.Errorf("%s: %d objects with %d references and %d roots", what, g.Len(), g.NumReferences(), len(g.Roots))
			}
			changed = g.UnknownTypes() != whole.UnknownTypes() || len(g.Statics) != len(whole.Statics)
		}
		if (h == nil) != (g == nil) || h != nil && h.Walk.Complete() != g.Walk.Complete() {
			t.Errorf("%s: counting says something else", what)
		}
		if g != nil {
			objects = g.Len()
		}
		return objects, changed
	}
	head, list := blocksOf(t, b)
	if !bytes.HasPrefix(b, join(head, list)) {
		t.Fatal("the blocks are not those of the recording")
	}
	noticed, empty, before := 0, 0, 0
	for i, x := range list {
		what := fmt.Sprintf("%s %d of %d", x.name, i, len(list))
		objects, _ := check("cut off at "+what, join(head, list[:i]))
		if objects < before && whole.Walk.Others == 0 {
			t.Errorf("cut off at %s: %d objects, %d one block earlier", what, objects, before)
		}
		before = objects
		if objects == 0 {
			empty++
		}
		if _, changed := check("without "+what, join(head, append(append([]block{}, list[:i]...), list[i+1:]...))); changed {
			noticed++
		}
	}
	if empty > len(list)/2 {
		t.Errorf("cut off at %d of %d blocks there are no objects", empty, len(list))
	}
	t.Logf("%d blocks, %d of them are needed", len(list), noticed)
}
