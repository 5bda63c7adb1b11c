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

// fits is the number of static fields of the program whose class is found. The first one may also
// be the last of the library, so it is not among them. The program of .NET 8 is not that of the
// captures.
var fits = map[string]int{"core31": 78, "net8": 0, "net9": 80, "net10": 80}

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
			// Other runtimes than the oldest are trimmed: the linker has left out other types of the
			// library than in the captures, so that it does not fit.
			whole := runtime == "core31"
			if whole != (found == len(g.Types)-1) {
				t.Errorf("%d of %d definitions were found", found, len(g.Types))
			}
			compareStatics(t, g, &want, fits[runtime])
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
				case ok && typ.Exact == w.Name, !ok && all[w.Name]: // .NET Core 3.1 gives arrays other ids
					equal++
				case ok && !whole && strings.Contains(w.Name, "+"):
					other++
				case ok:
					t.Errorf("%s, want %s", typ.Exact, w.Name)
				case w.Count > w.Unreachable:
					t.Errorf("no type %s", w.Name)
				}
			}
			if equal < 150 || other > 45 {
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
func compareStatics(t *testing.T, g *heap.Graph, want *truth, fits int) {
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
	if program != fits {
		t.Errorf("%d static fields of the program are equal, want %d", program, fits)
	}
	t.Logf("%d of %d static fields are as ClrMD says, %d have no declaring class", equal, len(g.Statics), unknown)
}

// TestModules: a recording with rundown has the paths of the modules.
func TestModules(t *testing.T) {
	g := read(t, captures(t, "rundown.nettrace.gz")[0])
	for i := range g.Types {
		if path := g.Modules[g.Types[i].Module]; g.Types[i].Name == "System.Object" && filepath.Base(path) != "System.Private.CoreLib.dll" {
			t.Errorf("System.Object is in %q", path)
		}
	}
	if len(g.Modules) < 5 {
		t.Errorf("%d modules", len(g.Modules))
	}
}
