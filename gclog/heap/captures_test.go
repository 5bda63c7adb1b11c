package heap_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/extent"
)

// TestExpected holds graphs against what another reducer made of the same recordings, with another
// algorithm for dominators: types, references, roots, static fields, and retained sizes.
func TestExpected(t *testing.T) {
	for _, path := range captures(t, "*.expected.tsv") {
		name := strings.TrimSuffix(filepath.Base(path), ".expected.tsv")
		t.Run(name, func(t *testing.T) {
			g := read(t, filepath.Join(filepath.Dir(path), name+".nettrace.gz"))
			d, h := g.Dominators(), g.Histogram()
			byAddress := func(text string) heap.Object {
				at, err := strconv.ParseUint(text, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				o, ok := g.At(at)
				if !ok {
					t.Errorf("no object at %s", text)
				}
				return o
			}
			types := map[string]int{}
			for i, x := range g.Types {
				types[fmt.Sprintf("%d\t%d\t%08x\t%x\t%s", h.Counts[i].Objects, h.Counts[i].RawBytes, x.Token, x.Flags, x.Name)]++
			}
			var bytes, raw, reachableRaw uint64
			used := 0
			for _, c := range h.Counts {
				bytes, raw = bytes+c.Bytes, raw+c.RawBytes
				if c.Objects > 0 {
					used++
				}
			}
			order := slices.Collect(d.All)
			rawRetained := make([]uint64, g.Len()) // without rounding
			for _, o := range slices.Backward(order) {
				reachableRaw += g.Size(o)
				rawRetained[o] += g.Size(o)
				if above := d.Dominator(o); above != heap.NoObject {
					rawRetained[above] += rawRetained[o]
				}
			}
			facts := map[string]uint64{
				"nodes": uint64(g.Len()), "edges": uint64(g.NumReferences()), "cwt": uint64(len(g.Dependents)),
				"statics": uint64(len(g.Statics)), "bytes_raw": raw, "bytes_aligned8": bytes, "roots_null": g.Walk.NullRoots,
				"reachable": uint64(d.NumReachable()), "reachable_bytes_raw": reachableRaw, "distinct_types_used": uint64(used),
			}
			lines := bufio.NewScanner(strings.NewReader(text(t, path)))
			compared := map[string]int{}
			for lines.Scan() {
				f := strings.Split(lines.Text(), "\t")
				fact, ok := facts[f[0]]
				switch {
				case ok:
					if f[1] != strconv.FormatUint(fact, 10) {
						t.Errorf("%s: %d, want %s", f[0], fact, f[1])
					}
				case f[0] == "type" && name != "notypes":
					if types[strings.Join(f[1:], "\t")]--; types[strings.Join(f[1:], "\t")] < 0 {
						t.Errorf("no type %q", f[1:])
					}
				case f[0] == "retained":
					o := byAddress(f[1])
					if f[2] != strconv.FormatUint(g.Size(o), 10) || f[3] != strconv.FormatUint(rawRetained[o], 10) {
						t.Errorf("0x%x: %d bytes, retains %d, want %q", g.Address(o), g.Size(o), rawRetained[o], f[1:])
					}
				default:
					continue
				}
				compared[f[0]]++
			}
			t.Log(compared)
		})
	}
}

// TestHistograms: counting without a graph finds the same.
func TestHistograms(t *testing.T) {
	extent.Long(t)
	for _, path := range captures(t, "*.nettrace.gz") {
		b, err := io.ReadAll(unpacked(t, path))
		if err != nil {
			t.Fatal(err)
		}
		g, err := heap.Read(bytes.NewReader(b))
		h, err2 := heap.ReadHistogram(bytes.NewReader(b))
		if !reflect.DeepEqual(err, err2) {
			t.Errorf("%s: %v, %v", path, err, err2)
		}
		want := g.Histogram()
		want.Types = want.Types[:len(h.Types)] // without those that only static fields have
		want.Counts = want.Counts[:len(h.Types)]
		if want.Walk.Unresolved = 0; !reflect.DeepEqual(h, want) {
			t.Errorf("%s: %+v, want %+v", path, h.Walk, want.Walk)
		}
	}
}
