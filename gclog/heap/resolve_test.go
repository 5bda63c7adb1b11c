package heap

import (
	"os"
	"path/filepath"
	"testing"
)

// tiny copies the small assembly of the tests, and returns its path and the folder.
func tiny(t *testing.T, name string) (path, dir string) {
	t.Helper()
	b, err := os.ReadFile("ecma335/testdata/tiny.dll")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	path = filepath.Join(dir, name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, dir
}

// tinyTypes are some of its types, as they are in a stream.
func tinyTypes() []Type {
	return []Type{
		{ID: 1, Module: 7, Definition: 0x02000004, Name: "N.Plain", Element: elementClass},
		{ID: 2, Module: 7, Definition: 0x02000003, Name: "Inner`1[System.String,System.Int32]"},
		{ID: 3, Module: 7, Definition: 0x02000003, Name: "Inner`1[System.String[],N.Outer`1+Inner`1[A,B]][,][]"},
		{ID: 4, Module: 7, Definition: 0x02000006, Name: "Deeper[]", Element: elementVector},
		{ID: 5, Module: 8, Definition: 0x02000004, Name: "Other"},
		{ID: 6, Module: 0, Definition: 0, Name: "System.String", Element: elementString},
		{ID: 7},
	}
}

func exactNames(types []Type) (list [7]string) {
	for i := range types {
		list[i] = types[i].Exact
	}
	return list
}

var (
	known = [7]string{
		"N.Plain", "N.Outer<System.String>+Inner<System.Int32>", "N.Outer<System.String[]>+Inner<N.Outer<A>+Inner<B>>[,][]",
		"N.Plain+Deep+Deeper[]", "Other", "System.String", "",
	}
	unknown = [7]string{
		"N.Plain", "Inner<System.String, System.Int32>", "Inner<System.String[], N.Outer<A>+Inner<B>>[,][]",
		"Deeper[]", "Other", "System.String", "",
	}
)

func TestResolve(t *testing.T) {
	path, dir := tiny(t, "tiny.dll")
	copied, _ := tiny(t, "other.dll") // with the same ID
	for name, x := range map[string]struct {
		add     []string
		modules map[uint64]string
		want    [7]string
	}{
		"no files":          {want: unknown},
		"a file":            {add: []string{path}, want: known},
		"a copy":            {add: []string{path, copied, path}, want: known},
		"missing files":     {add: []string{"missing", dir, path}, want: known},
		"the module's path": {modules: map[uint64]string{7: path}, want: known},
		"a foreign path":    {modules: map[uint64]string{7: path}, want: unknown},
		"the module's name": {add: []string{path}, modules: map[uint64]string{7: `C:\app\Tiny.dll`}, want: known},
		"another module":    {add: []string{path}, modules: map[uint64]string{7: "/app/another.dll"}, want: unknown},
		"another type":      {add: []string{path}, want: unknown},
	} {
		types := tinyTypes()
		if name == "another type" {
			types[4].Module = 7
		}
		a := Assemblies{FollowModules: name == "the module's path"}
		a.Add(x.add...)
		a.Resolve(t.Context(), types, x.modules)
		if got := exactNames(types); got != x.want {
			t.Errorf("%s: %q", name, got)
		}
		// The module of types that were found is known then.
		modules := Modules{}
		if n := a.Resolve(t.Context(), tinyTypes(), modules); x.modules == nil && name != "another type" && (n > 0) != (modules[7] == path) {
			t.Errorf("%s: %d types, of the modules %v", name, n, modules)
		}
	}
	// Nested types are not enough: every compiler makes some of the same name.
	types := tinyTypes()[3:4]
	var a Assemblies
	if err := a.AddDir(dir); err != nil {
		t.Fatal(err)
	}
	if n := a.Resolve(t.Context(), types, nil); n != 0 || types[0].Exact != "Deeper[]" {
		t.Error(n, types[0].Exact)
	}
	if n := a.Resolve(t.Context(), types, map[uint64]string{7: "tiny.dll"}); n != 1 || types[0].Exact != "N.Plain+Deep+Deeper[]" {
		t.Error(n, types[0].Exact)
	}
	// What is known stays.
	if n := new(Assemblies).Resolve(t.Context(), types, nil); n != 0 || types[0].Exact != "N.Plain+Deep+Deeper[]" {
		t.Error(n, types[0].Exact)
	}
}

// TestResolveNested: without a type that is not nested, an assembly is that of a module if the names of
// the nested ones are beyond chance, or if the stream has the full name of one.
func TestResolveNested(t *testing.T) {
	_, dir := tiny(t, "tiny.dll")
	all := tinyTypes()
	inner, deeper := all[1], all[3]
	of := func(name string) Type { // a type of another module that has Deeper as its argument
		return Type{ID: 20, Module: 9, Definition: 0x02000099, Name: "System.Collections.Generic.List`1[" + name + "]", Parameters: []uint64{30}}
	}
	element := deeper
	element.ID, element.Name, element.Element = 30, "Deeper", elementClass
	for name, x := range map[string]struct {
		types []Type
		want  string // of the first
	}{
		"one":                      {[]Type{deeper}, "Deeper[]"},
		"the same one twice":       {[]Type{deeper, element}, "Deeper[]"},
		"two":                      {[]Type{deeper, inner}, "N.Plain+Deep+Deeper[]"},
		"two and another":          {[]Type{deeper, inner, {ID: 40, Module: 7, Definition: 0x02000004, Name: "Other"}}, "Deeper[]"},
		"with its full name":       {[]Type{deeper, element, of("N.Plain+Deep+Deeper")}, "N.Plain+Deep+Deeper[]"},
		"with another full name":   {[]Type{deeper, element, of("N.Plain+Other+Deeper")}, "Deeper[]"},
		"with that of an array":    {[]Type{deeper, element, of("N.Plain+Deep+Deeper[]")}, "Deeper[]"},
		"with that of another one": {[]Type{deeper, of("N.Plain+Deep+Deeper")}, "Deeper[]"},
	} {
		var a Assemblies
		if err := a.AddDir(dir); err != nil {
			t.Fatal(err)
		}
		a.Resolve(t.Context(), x.types, nil)
		if got := x.types[0].Exact; got != x.want {
			t.Errorf("%s: %s, want %s", name, got, x.want)
		}
	}
	for _, x := range []struct {
		names  []string
		enough bool
	}{
		{[]string{"<>c", "<>c"}, false},
		{[]string{"<>c", "Order"}, false},
		{[]string{"<>c", "<>c`1", "Order"}, false},
		{[]string{"<>c__DisplayClass0_0", "<>c__DisplayClass1_0"}, false},
		{[]string{"<>c__DisplayClass0_0", "Order"}, true},
		{[]string{"<>c__DisplayClass0_0", "<Load>d__5"}, true},
		{[]string{"<Load>d__5", "<Save>d__6"}, true},
	} {
		var n nestedNames
		for i, name := range x.names {
			n.add(uint32(i), name)
		}
		if n.enough() != x.enough {
			t.Errorf("%q: %v", x.names, n.enough())
		}
	}
}

// TestResolveAmbiguous has two assemblies that define the same types.
func TestResolveAmbiguous(t *testing.T) {
	path, _ := tiny(t, "tiny.dll")
	second, _ := tiny(t, "second.dll")
	b, err := os.ReadFile(second)
	if err != nil {
		t.Fatal(err)
	}
	changed := 0
	for i := range b {
		if b[i] == 0xab { // of the ID
			b[i] = 0xcd
			changed++
		}
	}
	if changed != 16 {
		t.Fatal(changed)
	}
	if err := os.WriteFile(second, b, 0o600); err != nil {
		t.Fatal(err)
	}
	types := tinyTypes()
	var a Assemblies
	a.Add(path, second)
	if n := a.Resolve(t.Context(), types, nil); n != 0 || exactNames(types) != unknown {
		t.Error(n, exactNames(types))
	}
}

func TestDeclaring(t *testing.T) {
	path, _ := tiny(t, "tiny.dll")
	g := &Graph{Types: tinyTypes(), Statics: []Static{
		{Type: 5, Field: "elsewhere"},
		{Type: 5, Field: "text"},
		{Type: 3, Field: "plain"}, // an array is no Plain
		{Type: 0, Field: "plain"},
		{Type: 1, Field: "list"},
		{Type: 5, Field: "text"}, // in the wrong order
	}}
	var a Assemblies
	a.Add(path)
	g.Resolve(t.Context(), &a)
	want := []string{"", "N.Plain", "", "N.Plain", "N.Plain", ""}
	for i := range g.Statics {
		if g.Statics[i].Declaring != want[i] {
			t.Errorf("%d: %q, want %q", i, g.Statics[i].Declaring, want[i])
		}
	}
}

func TestStreamNames(t *testing.T) {
	for stream, want := range map[string]string{
		"System.Int32[,][]*&":        "System.Int32[,][]*&",
		"A[*]":                       "A[*]",
		"<>c__DisplayClass10_0[B[]]": "<>c__DisplayClass10_0<B[]>",
		"A`1[B`2[C,D+E`1[F]]][]":     "A<B<C, D+E<F>>>[]",
		"Ns.A`1+B[C]":                "Ns.A<C>+B",
		"A`1[B":                      "A`1[B",
		"A]":                         "A]",
		"A[":                         "A[",
		"A`1[B]C":                    "A`1[B]C",
		`A\[B\,C`:                    `A\[B\,C`,
		"Name`":                      "Name`",
		"Name`99999999999999999999":  "Name`99999999999999999999",
		"":                           "",
	} {
		if got := exactName(stream, "", nil); got != want {
			t.Errorf("%s: %s, want %s", stream, got, want)
		}
	}
	if got := exactName("<IFoo<A,B>-M>d__0[C]", "<IFoo<A,B>-M>d__0", []string{"N.Outer`1", "<IFoo<A,B>-M>d__0"}); got != "N.Outer<C>+<IFoo<A,B>-M>d__0" {
		t.Error(got)
	}
}
