package heap_test

import (
	"encoding/json"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/gcload"
)

// runtimeDir returns the folder of a runtime of the captures.
func runtimeDir(t *testing.T, name string) string {
	t.Helper()
	list, err := gcload.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range list {
		if r.Name == name {
			return filepath.Dir(r.Program("wks"))
		}
	}
	t.Skipf("the runtime %s is not in the folder of shared recordings, or not for this platform", name)
	return ""
}

// TestExactNames holds the names of types against those that ClrMD gives them.
func TestExactNames(t *testing.T) {
	for _, path := range captures(t, "*-graph.nettrace.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		t.Run(name, func(t *testing.T) {
			runtime, _, _ := strings.Cut(name, "-")
			var a heap.Assemblies
			if err := a.AddDir(runtimeDir(t, runtime)); err != nil {
				t.Fatal(err)
			}
			g := read(t, path)
			found := g.Resolve(&a)
			var want truth
			if err := json.NewDecoder(unpacked(t, filepath.Join(filepath.Dir(path), name+".heaptruth.json.gz"))).Decode(&want); err != nil {
				t.Fatal(err)
			}
			names, all := map[uint64]string{}, map[string]bool{}
			for i := range g.Types {
				names[g.Types[i].ID] = g.Types[i].String()
				all[g.Types[i].String()] = true
			}
			compareStatics(t, g, &want)
			equal := 0
			for _, w := range want.Types {
				id, err := strconv.ParseUint(w.MT, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				got, ok := names[id]
				switch {
				case ok && got != w.Name:
					t.Errorf("%s, want %s", got, w.Name)
				case ok || all[w.Name]: // .NET Core 3.1 gives arrays other ids
					equal++
				case w.Count > w.Unreachable:
					t.Errorf("no type %s", w.Name)
				}
			}
			if equal < 150 || found < len(g.Types)-2 {
				t.Errorf("%d names are equal, and %d of %d definitions were found", equal, found, len(g.Types))
			}
			t.Logf("%d of %d names are equal; %d of %d definitions were found", equal, len(want.Types), found, len(g.Types))
		})
	}
}

// compareStatics holds the declaring classes of static fields against ClrMD. It leaves out those of
// generic types and of threads, which are not in the stream, and boxed values, which ClrMD leaves
// out.
func compareStatics(t *testing.T, g *heap.Graph, want *truth) {
	t.Helper()
	all, names := map[string]bool{}, map[string]bool{}
	for _, w := range want.Statics {
		if w.Kind == "static" && !strings.Contains(w.Field, "<System.") && !strings.Contains(w.Field, "<GcLoad.") {
			all[w.Field+" "+w.Target] = true
		}
		names[w.Field] = true
	}
	found, unknown := 0, 0
	for i := range g.Statics {
		s := &g.Statics[i]
		typ := &g.Types[s.Type]
		switch field := s.Declaring + "." + s.Field; {
		case s.Declaring == "":
			unknown++
			t.Logf("?.%s %s", s.Field, typ)
		case all[field+" "+typ.String()]:
			found++
		case typ.Element != 0x11:
			t.Errorf("%s (%s) is not a static field for ClrMD", field, typ)
		}
	}
	t.Logf("%d of %d static fields of ClrMD; %d of %d have no declaring class", found, len(all), unknown, len(g.Statics))
}
