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
			// The linker has trimmed the libraries of some runtimes otherwise than those of the captures.
			var library uint64
			for i := range g.Types {
				if g.Types[i].Name == "System.Object" {
					library = g.Types[i].Module
				}
			}
			unresolved := found < len(g.Types)-2
			if unresolved == (runtime == "core31") {
				t.Errorf("%d of %d definitions were found", found, len(g.Types))
			}
			compareStatics(t, g, &want)
			types, all := map[uint64]*heap.Type{}, map[string]bool{}
			for i := range g.Types {
				types[g.Types[i].ID] = &g.Types[i]
				all[g.Types[i].Exact] = true
			}
			equal, other := 0, 0
			for _, w := range want.Types {
				id, err := strconv.ParseUint(w.MT, 16, 64)
				if err != nil {
					t.Fatal(err)
				}
				typ, ok := types[id]
				switch {
				case ok && typ.Exact == w.Name || all[w.Name]: // .NET Core 3.1 gives arrays other ids
					equal++
				case ok && unresolved && typ.Module == library && strings.Contains(w.Name, "+"):
					other++
				case ok:
					t.Errorf("%s, want %s", typ.Exact, w.Name)
				case w.Count > w.Unreachable:
					t.Errorf("no type %s", w.Name)
				}
			}
			if equal < 150 || other > 40 {
				t.Errorf("%d names are equal, %d differ", equal, other)
			}
			t.Logf("%d of %d names are equal; %d of %d definitions were found", equal, len(want.Types), found, len(g.Types))
		})
	}
}

// notForClrMD are static fields that ClrMD does not find in .NET Core 3.1. They exist: the sources of
// that version have them.
var notForClrMD = map[string]bool{
	"System.Environment.s_commandLineArgs":                               true,
	"System.RuntimeType+ActivatorCache.s_delegateCtorInfo":               true,
	"System.String.Empty":                                                true,
	"System.Diagnostics.Tracing.RuntimeEventSource.s_RuntimeEventSource": true,
}

// compareStatics holds the declaring classes of static fields against ClrMD, which leaves out boxed
// values.
func compareStatics(t *testing.T, g *heap.Graph, want *truth) {
	t.Helper()
	all := map[string]bool{}
	for _, w := range want.Statics {
		if w.Kind == "static" {
			all[w.Field+" "+w.Target] = true
		}
	}
	equal, program, unknown := 0, 0, 0
	for i := range g.Statics {
		s := &g.Statics[i]
		typ := &g.Types[s.Type]
		switch field := s.Declaring + "." + s.Field; {
		case s.Declaring == "":
			unknown++
		case all[field+" "+typ.Exact]:
			equal++
			if strings.HasPrefix(s.Declaring, "GcLoad.") {
				program++
			}
		case typ.Element != 0x11 && !notForClrMD[field]:
			t.Errorf("%s (%s) is not a static field for ClrMD", field, typ)
		}
	}
	const ofProgram = 80 // but for one that may also be the last of the library
	if program != ofProgram {
		t.Errorf("%d static fields of the program are equal, want %d", program, ofProgram)
	}
	t.Logf("%d of %d static fields are as ClrMD says, %d have no declaring class", equal, len(g.Statics), unknown)
}
