package heap_test

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestLiveNames resolves the names in a snapshot of each real runtime, and compares them with what
// ClrMD says about the same program in a build of the runtime that is not quite the same.
func TestLiveNames(t *testing.T) {
	extent.NeedFull(t)
	list, err := gcload.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.AOT { // has no metadata
			continue
		}
		t.Run(r.Name, func(t *testing.T) {
			g := liveGraph(t, r)
			var a heap.Assemblies
			if err := a.AddDir(r.Dir()); err != nil {
				t.Fatal(err)
			}
			found := g.Resolve(t.Context(), &a)
			if found < len(g.Types)-1 { // one type is made at run time
				t.Errorf("%d of %d definitions were found", found, len(g.Types))
			}
			want := truthOf(t, filepath.Join(recordings.Dir(t), "heap-traces", r.Name+"-wks-graph"))
			compareLive(t, g, &want)
		})
	}
}

// liveGraph takes a snapshot of the load program with a known graph.
func liveGraph(t *testing.T, r *gcload.Runtime) *heap.Graph {
	t.Helper()
	p, err := r.Start("", "wks", nil, "graph", "--deep", "1000", "--leak", "100")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Kill()
	if _, err := p.Wait(time.Minute, func(l *gcload.Line) bool { return l.Event == "graph" }); err != nil {
		t.Fatal(err)
	}
	target, err := new(host.Host).Find(t.Context(), p.PID)
	if err != nil {
		t.Fatal(err)
	}
	// The first session of a process makes types of its own, which are in the captures.
	first := liveStream(t, target, 0x1)
	if _, err := io.Copy(io.Discard, first); err != nil {
		t.Fatal(err)
	}
	g, err := heap.Read(liveStream(t, target, 0x1980001))
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// liveStream opens a session that ends soon.
func liveStream(t *testing.T, target *host.Target, keywords uint64) io.Reader {
	t.Helper()
	stream, err := target.StartTracing(t.Context(), session.Config{
		BufferMB:  256,
		Providers: []session.Provider{{Name: clr.RuntimeProvider, Keywords: keywords, Level: 4}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stream.Close() })
	time.AfterFunc(time.Second, func() { _ = stream.Stop(context.Background()) })
	return stream
}

// compareLive compares the names of nested types, and the classes of the static fields that ClrMD
// knows as well.
func compareLive(t *testing.T, g *heap.Graph, want *truth) {
	t.Helper()
	names := map[string]bool{}
	for i := range g.Types {
		names[g.Types[i].Exact] = true
	}
	nested, missing := 0, 0
	for _, w := range want.Types {
		if !strings.Contains(w.Name, "+") {
			continue
		}
		nested++
		if !names[w.Name] {
			missing++
			t.Logf("no type %s", w.Name)
		}
	}
	if nested < 20 || missing > 2 {
		t.Errorf("%d of %d nested types are missing", missing, nested)
	}
	all, fields := map[string]bool{}, map[string]bool{}
	for _, w := range want.Statics {
		all[w.Field] = true
		fields[w.Field[strings.LastIndexByte(w.Field, '.')+1:]+" "+w.Target] = true
	}
	equal, unknown := 0, 0
	for i := range g.Statics {
		s := &g.Statics[i]
		field := s.Declaring + "." + s.Field
		switch {
		case s.Declaring == "":
			unknown++
			t.Logf("?.%s (%s)", s.Field, g.Types[s.Type].Exact)
		case all[field]:
			equal++
		case fields[s.Field+" "+g.Types[s.Type].Exact] && !notForClrMD[field]:
			t.Errorf("%s (%s) is in another class for ClrMD", field, g.Types[s.Type].Exact)
		}
	}
	if equal < 100 || unknown > 6 {
		t.Errorf("%d static fields are as ClrMD says, and %d of %d have no declaring class", equal, unknown, len(g.Statics))
	}
	t.Logf("%d static fields are as ClrMD says, %d of %d have no declaring class", equal, unknown, len(g.Statics))
}
