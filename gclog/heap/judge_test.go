package heap_test

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
)

// unpacked opens a compressed file.
func unpacked(t testing.TB, path string) io.Reader {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	return z
}

// graphs are those of the recordings that were read, by path.
var graphs sync.Map

// read returns the Graph of a recording, which all tests share: it must not be changed.
func read(t testing.TB, path string) *heap.Graph {
	t.Helper()
	if g, ok := graphs.Load(path); ok {
		return g.(*heap.Graph)
	}
	g := readAnew(t, path)
	graphs.Store(path, g)
	return g
}

// readAnew reads a recording. Some recordings lack their end tag, after a walk that is complete.
func readAnew(t testing.TB, path string) *heap.Graph {
	t.Helper()
	g, err := heap.Read(unpacked(t, path))
	if damage := (*parse.FormatError)(nil); err != nil && !errors.As(err, &damage) {
		t.Fatal(err)
	}
	if !g.Walk.Complete() {
		t.Fatalf("%+v", g.Walk)
	}
	return g
}

// text returns the content of a file.
func text(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// captures lists the files next to the recordings of heap walks that have names of a pattern.
func captures(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(recordings.Dir(t), "heap-traces", pattern))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	return list
}

// What ClrMD found in the same process: tools/heaptruth.
type truth struct {
	Total struct {
		References, DependentEdges int
		Reachable                  int
		ReachableAligned           uint64
	}
	Statics []struct{ Field, Kind, Target string }
	Types   []struct {
		Name, MT                        string
		Count, Aligned, References      uint64
		Unreachable, UnreachableAligned uint64
		Retained, RetainedSet           uint64
	}
}

// truthOf returns what ClrMD found in the process of a recording, by the path of the recording or of
// another file that belongs to it.
func truthOf(t testing.TB, path string) (found truth) {
	t.Helper()
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	if err := json.NewDecoder(unpacked(t, filepath.Join(filepath.Dir(path), name+".heaptruth.json.gz"))).Decode(&found); err != nil {
		t.Fatal(err)
	}
	return found
}

// TestClrMD holds graphs against what ClrMD found in the same process: objects, bytes and
// references of each type, what is reachable, and what it retains.
func TestClrMD(t *testing.T) {
	extent.Long(t)
	for _, path := range captures(t, "*-graph.nettrace.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		t.Run(name, func(t *testing.T) {
			core31 := strings.HasPrefix(name, "core31")
			g := read(t, path)
			want := truthOf(t, path)
			d := g.Dominators()
			if d.NumReachable() != want.Total.Reachable || len(g.Dependents) != want.Total.DependentEdges {
				t.Errorf("%d objects are reachable, want %d; %d dependent handles, want %d", d.NumReachable(), want.Total.Reachable, len(g.Dependents), want.Total.DependentEdges)
			}
			if n := g.Unreachable(); n.Objects != uint64(g.Len()-want.Total.Reachable) || g.Histogram().Total().Bytes-n.Bytes != want.Total.ReachableAligned {
				t.Errorf("%+v of %d objects are unreachable", n, g.Len())
			}
			byID, byName := map[uint64]int{}, map[string]int{}
			for i, x := range g.Types {
				byID[x.ID], byName[x.Name] = i, i
			}
			reachable := make([]heap.Count, len(g.Types))
			for o := range d.All {
				reachable[g.Type(o)].Objects++
				reachable[g.Type(o)].Bytes += g.Space(o)
			}
			retained := d.RetainedByType()
			compared := 0
			for _, w := range want.Types {
				id, err := strconv.ParseUint(w.MT, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				i, ok := byID[id]
				if !ok && core31 {
					i, ok = byName[w.Name] // the ids of its array types are others in the stream
				}
				if !ok {
					if w.Count > w.Unreachable && !(core31 && strings.ContainsAny(w.Name, "<+")) {
						t.Errorf("no type %s", w.Name)
					}
					continue
				}
				compared++
				set := g.RetainedSet(func(o heap.Object) bool { return g.Type(o) == i })
				if got, want := reachable[i], (heap.Count{Objects: w.Count - w.Unreachable, Bytes: w.Aligned - w.UnreachableAligned}); got != want {
					t.Errorf("%s: %+v, want %+v", w.Name, got, want)
				}
				if w.Name == "System.Object[]" {
					continue // for ClrMD the arrays of static fields retain what the fields hold
				}
				if retained[i] != w.Retained || set.Bytes != w.RetainedSet {
					t.Errorf("%s: retains %d, together %d, want %d and %d", w.Name, retained[i], set.Bytes, w.Retained, w.RetainedSet)
				}
			}
			t.Logf("%d of %d types compared", compared, len(want.Types))
		})
	}
}
