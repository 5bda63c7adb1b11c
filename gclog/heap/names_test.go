package heap_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
)

// sharedRuntime returns a runtime of the captures.
func sharedRuntime(t *testing.T, name string) *gcload.Runtime {
	t.Helper()
	extent.NeedFull(t)
	r, err := gcload.SharedNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	if r == nil {
		t.Skipf("the runtime %s is not in the folder of shared recordings, or not for this platform", name)
	}
	return r
}

// isWhole reports whether the library of a runtime is complete, and so the one of the captures.
// Otherwise the linker has left out what the program does not use, which differs from one build of
// the program to the next.
func isWhole(t *testing.T, r *gcload.Runtime) bool {
	t.Helper()
	info, err := os.Stat(filepath.Join(r.Dir(), "System.Private.CoreLib.dll"))
	if err != nil {
		t.Fatal(err)
	}
	return info.Size() > 5<<20 // a trimmed one has some 2 MB, a whole one at least 9
}

// TestExactNames holds the names of types against those that ClrMD gives them.
func TestExactNames(t *testing.T) {
	for _, path := range captures(t, "*-graph.nettrace.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		t.Run(name, func(t *testing.T) {
			runtime, _, _ := strings.Cut(name, "-")
			r := sharedRuntime(t, runtime)
			whole := isWhole(t, r)
			var a heap.Assemblies
			// The program of the runtime is another build, unless it is kept nowhere else. That of the
			// trimmed ones was built together with the library: if it is not kept, it is lost.
			program := filepath.Join(filepath.Dir(path), "programs", runtime)
			kept := a.AddDir(program) == nil || whole
			if err := a.AddDir(r.Dir()); err != nil {
				t.Fatal(err)
			}
			g := readAnew(t, path)
			found := g.Resolve(t.Context(), &a)
			want := truthOf(t, path)
			names, all := map[uint64]string{}, map[string]bool{}
			for i := range g.Types {
				names[g.Types[i].ID] = g.Types[i].String()
				all[g.Types[i].String()] = true
			}
			if whole != (found == len(g.Types)-1) {
				t.Errorf("%d of %d definitions were found", found, len(g.Types))
			}
			compareStatics(t, g, &want, kept)
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
// values. All of the program are found if its assembly was kept.
func compareStatics(t *testing.T, g *heap.Graph, want *truth, kept bool) {
	t.Helper()
	all, fits := map[string]bool{}, 0
	for _, w := range want.Statics {
		if w.Kind == "static" {
			all[w.Field+" "+w.Target] = true
			if kept && strings.HasPrefix(w.Field, "GcLoad.") {
				fits++
			}
		}
	}
	if kept {
		fits-- // the first one may also be the last of the library
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

// TestNestedNames: a program all of whose classes are nested in one that has no objects.
func TestNestedNames(t *testing.T) {
	for _, path := range captures(t, "*-async.nettrace.gz") {
		g := readAnew(t, path)
		var a heap.Assemblies
		if err := a.AddDir(filepath.Join(filepath.Dir(path), "programs", "async")); err != nil {
			t.Fatal(err)
		}
		names := map[string]bool{}
		if found := g.Resolve(t.Context(), &a); found != 7 {
			t.Errorf("%s: %d definitions were found", path, found)
		}
		for i := range g.Types {
			names[g.Types[i].String()] = true
		}
		for _, want := range []string{"P+Sub", "P+Order", "P+Slow", "P+<Gen>d__13", "P+<>c__DisplayClass18_0", "P+<>c__DisplayClass18_1", "P+<>c__DisplayClass18_2"} {
			if !names[want] {
				t.Errorf("%s: no type %s", path, want)
			}
		}
	}
}
