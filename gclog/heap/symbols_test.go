package heap_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// nativeWalks are the recordings of NativeAOT programs, with the runtime and the program of each.
var nativeWalks = map[string][2]string{
	"aot10-wks-graph": {"aot10", "gcload"},
	"aot11-svr-graph": {"aot11", "gcload-svr"},
}

// nativeGraph returns the Graph of a recording, without names, and the path of the program.
func nativeGraph(t *testing.T, name string) (g *heap.Graph, program string) {
	t.Helper()
	r := sharedRuntime(t, nativeWalks[name][0])
	if err := r.Unpack(); err != nil {
		t.Fatal(err)
	}
	g = readAnew(t, filepath.Join(recordings.Dir(t), "heap-aot", name+".nettrace.gz"))
	return g, filepath.Join(r.Dir(), nativeWalks[name][1])
}

// withSymbols returns what finds symbols in a file or a folder.
func withSymbols(t *testing.T, path string) *heap.Assemblies {
	t.Helper()
	a := &heap.Assemblies{Notify: func(note string) { t.Log(note) }}
	if err := a.AddSymbols(path); err != nil {
		t.Fatal(err)
	}
	return a
}

// programTruth is what the load program says about its objects.
type programTruth struct {
	Types []struct {
		Name         string
		Count, Bytes uint64
	}
	LeakRoot  string
	Statics   []string
	LeakCount uint64
}

func programTruthOf(t *testing.T, path string) (x programTruth) {
	t.Helper()
	if err := json.Unmarshal([]byte(text(t, path)), &x); err != nil {
		t.Fatal(err)
	}
	if len(x.Types) < 38 {
		t.Fatalf("%d types", len(x.Types))
	}
	return x
}

// TestNativeNames: each type has a name, and those that the program itself counts have its numbers.
func TestNativeNames(t *testing.T) {
	for name := range nativeWalks {
		t.Run(name, func(t *testing.T) {
			g, program := nativeGraph(t, name)
			if !heap.Nameless(g.Types) || g.UnknownTypes() != len(g.Types) {
				t.Fatalf("without symbols %d of %d types have no name", g.UnknownTypes(), len(g.Types))
			}
			g.Resolve(t.Context(), withSymbols(t, program+".dbg"))
			if g.UnknownTypes() != 0 || heap.Nameless(g.Types) {
				t.Errorf("%d of %d types have no name", g.UnknownTypes(), len(g.Types))
			}
			counts := map[string]heap.Count{}
			for i, c := range g.Histogram().Counts {
				x := counts[g.Types[i].String()]
				x.Objects, x.Bytes = x.Objects+c.Objects, x.Bytes+c.Bytes
				counts[g.Types[i].String()] = x
			}
			want := programTruthOf(t, filepath.Join(recordings.Dir(t), "heap-aot", name+".truth.json"))
			for _, w := range want.Types {
				name := clrMDName(w.Name)
				if name == deadFinalizer {
					w.Count, w.Bytes = 0, 0
				}
				if got := counts[name]; got.Objects != w.Count || w.Bytes != 0 && got.Bytes != w.Bytes {
					t.Errorf("%s: %+v, want %d objects in %d bytes", name, got, w.Count, w.Bytes)
				}
			}
			compareHolders(t, g, &want)
			if lacks := g.LacksStackRoots(); lacks != strings.HasPrefix(name, "aot10") {
				t.Errorf("it lacks the roots on the stack: %v", lacks)
			}
		})
	}
}

// deadFinalizer is a class with an object that the program counts and the recordings do not contain, even
// by its number: NativeAOT does not keep an object alive until its finalizer has ended.
const deadFinalizer = "GcLoad.Graph.FinalizerBlocker"

// clrMDName returns a name as ClrMD writes it.
func clrMDName(reflection string) string {
	if reflection == "GcLoad.Graph.Outer`1+Inner`1[System.String,System.Int32]" { // whose are the arguments?
		return "GcLoad.Graph.Outer<System.String>+Inner<System.Int32>"
	}
	name, arguments, generic := strings.Cut(reflection, "`1[")
	if !generic {
		return reflection
	}
	return name + "<" + strings.TrimSuffix(arguments, "]") + ">"
}

// compareHolders holds the classes of static fields against those that the program names.
func compareHolders(t *testing.T, g *heap.Graph, want *programTruth) {
	t.Helper()
	fields := map[string]int{} // by class
	for _, s := range g.Statics {
		fields[s.Declaring]++
		if s.Field != "" {
			t.Errorf("the field %s", s.Field)
		}
	}
	wanted := map[string]int{}
	for _, field := range want.Statics {
		wanted[field[:strings.LastIndexByte(field, '.')]]++
	}
	for class, n := range wanted {
		if got := fields[class]; got < n-1 || got > n+1 { // Dynamic is null, and Lock is not in the list
			t.Errorf("%d static fields of %s, want about %d", got, class, n)
		}
	}
	if len(wanted) != 2 || len(fields) < 200 {
		t.Errorf("%d classes have static fields, of the program %d", len(fields), len(wanted))
	}
	p := g.Paths()
	for _, x := range []struct{ typ, class string }{
		{"GcLoad.Graph.LeakedItem", "GcLoad.Graph.Leaks"},
		{"GcLoad.Graph.CwtKey", "GcLoad.Graph.Store"},
		{"GcLoad.Graph.GridCell[,]", "GcLoad.Graph.Store"},
	} {
		list, _ := p.Merge(func(o heap.Object) bool { return g.Types[g.Type(o)].String() == x.typ })
		if len(list) == 0 || list[0].Holder != "static field of "+x.class {
			t.Errorf("%s is held by %+v", x.typ, list)
		}
	}
}

// TestNativeLinesUp: the types of a program have the same names whether NativeAOT or the runtime compiles
// it, and those of the library, too, as far as both have objects of them.
func TestNativeLinesUp(t *testing.T) {
	native, program := nativeGraph(t, "aot11-svr-graph")
	native.Resolve(t.Context(), withSymbols(t, program+".dbg"))
	r := sharedRuntime(t, "net11")
	if err := r.Unpack(); err != nil {
		t.Fatal(err)
	}
	core := readAnew(t, filepath.Join(recordings.Dir(t), "heap-traces", "net11-wks-graph.nettrace.gz"))
	var a heap.Assemblies
	if err := a.AddDir(r.Dir()); err != nil {
		t.Fatal(err)
	}
	core.Resolve(t.Context(), &a)
	names := func(g *heap.Graph, of string) (list []string) {
		h := g.Histogram()
		for i := range g.Types {
			if name := g.Types[i].String(); h.Counts[i].Objects > 0 && strings.HasPrefix(name, of) {
				list = append(list, name)
			}
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	want := slices.DeleteFunc(names(core, "GcLoad.Graph."), func(name string) bool {
		// The threads of a NativeAOT program do not keep the variables of the lambda that they run.
		return name == deadFinalizer || strings.Contains(name, "+<>c__DisplayClass")
	})
	if got := names(native, "GcLoad.Graph."); !slices.Equal(got, want) {
		t.Errorf("the types of the program are\n%s, want\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	library, common := names(core, "System."), 0
	for _, name := range names(native, "System.") {
		if slices.Contains(library, name) {
			common++
		}
	}
	if common < 70 {
		t.Errorf("%d types of the library have the same names", common)
	}
	shared, of := heap.SharedClasses(native.Histogram(), core.Histogram())
	if shared < of-2 {
		t.Errorf("they share %d of %d classes", shared, of)
	}
	growth := heap.Compare(core.Histogram(), native.Histogram())
	for _, x := range growth {
		if x.Name == "GcLoad.Graph.Outer<System.String>+Inner<System.Int32>" && x.Objects() != 0 {
			t.Errorf("%+v", x)
		}
	}
}

// TestNativeDump: a .gcdump file keeps names, symbols and the classes of static fields; one without names
// has what it takes to find them later.
func TestNativeDump(t *testing.T) {
	g, program := nativeGraph(t, "aot10-wks-graph")
	write := func() []byte {
		var b bytes.Buffer
		if err := g.WriteDump(&b, &heap.DumpInfo{}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	nameless := write()
	again, _, err := heap.ReadDump(bytes.NewReader(nameless))
	if err != nil {
		t.Fatal(err)
	}
	for i := range again.Types {
		if again.Types[i].String() != g.Types[i].String() || !strings.HasPrefix(g.Types[i].String(), "NativeAOT type 0x") {
			t.Fatalf("%s, want %s", &again.Types[i], &g.Types[i])
		}
	}
	g.Resolve(t.Context(), withSymbols(t, filepath.Dir(program))) // also has the other program
	again.Resolve(t.Context(), withSymbols(t, filepath.Dir(program)))
	named, _, err := heap.ReadDump(bytes.NewReader(write()))
	if err != nil {
		t.Fatal(err)
	}
	for i := range g.Types {
		if a, b, c := &g.Types[i], &again.Types[i], &named.Types[i]; a.String() != b.String() || a.String() != c.String() || a.Symbol != c.Symbol || a.Flags != c.Flags || a.Element != c.Element || !slices.Equal(a.Kinds, c.Kinds) {
			t.Fatalf("%+v, %+v, %+v", a, b, c)
		}
	}
	if !slices.Equal(g.Statics, named.Statics) || !slices.Equal(g.Statics, again.Statics) || len(g.Statics) == 0 {
		t.Errorf("%d, %d and %d static fields", len(g.Statics), len(again.Statics), len(named.Statics))
	}
	counts, _, err := heap.ReadDumpHistogram(bytes.NewReader(write()))
	if err != nil || counts.Types[0].Symbol != g.Types[0].Symbol || g.Types[0].Symbol == "" {
		t.Errorf("%v, %v", counts.Types[0], err)
	}
}
