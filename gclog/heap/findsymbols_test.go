package heap

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/elffile"
)

// nativeTypes are those of a program that is loaded at an address: a class, an array of it, and one whose
// objects have static fields.
func nativeTypes() []Type {
	const module = 0x7f0000000000
	native := func(offset uint32, flags uint32, parameters ...uint64) Type {
		return Type{ID: module + uint64(offset), Module: module, Token: offset, Definition: offset, Flags: flags, Parameters: parameters}
	}
	return []Type{native(0x100, 0x10), native(0x200, 0x18, module+0x100), native(0x300, 0x10)}
}

// nativeProgram is the program of these types.
func nativeProgram() *elffile.Program {
	return &elffile.Program{Class: elf.ELFCLASS64, BuildID: "abcd", Link: "shop.dbg", Symbols: []elffile.Symbol{
		{At: 0x100, Name: elffile.Type("Shop_Order")},
		{At: 0x200, Name: elffile.Type("__Array<Shop_Order>")},
		{At: 0x300, Name: "__GCStaticEEType_01"},
		{At: 0x500, Name: "__GCSTATICSShop_Cache"},
		{At: 0x400, Name: "__GCSTATICSShop_Order"},
	}}
}

// stripped returns a program without its symbols.
func stripped(p *elffile.Program) *elffile.Program {
	without := *p
	without.Symbols = nil
	return &without
}

func writeProgram(t *testing.T, path string, p *elffile.Program) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, p.Bytes(), 0o700); err != nil {
		t.Fatal(err)
	}
}

const (
	nativeNamed  = "Order Order[] <static fields>"
	nativeNumber = "NativeAOT type 0x100 NativeAOT type 0x100[] NativeAOT type 0x300"
)

// TestFindSymbols: the symbols of a program are in the program, or where it says that they are. What is of
// another build is not used, and what is no program does no harm.
func TestFindSymbols(t *testing.T) {
	p := nativeProgram()
	other, fewer, moved := *p, *p, *p
	other.BuildID = "efgh"
	fewer.Symbols = p.Symbols[:2]
	moved.Symbols = slices.Clone(p.Symbols)
	moved.Symbols[0].Name = elffile.Type("Shop_Other")
	away := *p
	away.Link = "../shop.dbg"
	for name, c := range map[string]struct {
		files   map[string]*elffile.Program
		program bool // the process is running
		symbols []string
		want    string
		note    string
	}{
		"in the program":                   {files: map[string]*elffile.Program{"shop": p}, program: true, want: nativeNamed},
		"next to it":                       {files: map[string]*elffile.Program{"shop": stripped(p), "shop.dbg": p}, program: true, want: nativeNamed},
		"in .debug":                        {files: map[string]*elffile.Program{"shop": stripped(p), ".debug/shop.dbg": p}, program: true, want: nativeNamed},
		"nowhere":                          {files: map[string]*elffile.Program{"shop": stripped(p)}, program: true, want: nativeNumber},
		"of another build":                 {files: map[string]*elffile.Program{"shop": stripped(p), "shop.dbg": &other}, program: true, want: nativeNumber},
		"elsewhere":                        {files: map[string]*elffile.Program{"app/shop": stripped(&away), "shop.dbg": p}, program: true, want: nativeNumber},
		"without one of the types":         {files: map[string]*elffile.Program{"shop": &fewer}, program: true, want: nativeNumber},
		"given":                            {files: map[string]*elffile.Program{"a": p}, symbols: []string{"a"}, want: nativeNamed},
		"in a folder":                      {files: map[string]*elffile.Program{"x/a.dbg": &fewer, "x/b.dbg": p, "x/c.txt": &moved}, symbols: []string{"x"}, want: nativeNamed},
		"two in a folder":                  {files: map[string]*elffile.Program{"x/a.dbg": &moved, "x/b.dbg": p}, symbols: []string{"x"}, want: nativeNumber},
		"given, of another build":          {files: map[string]*elffile.Program{"shop": stripped(p), "a.dbg": &other}, program: true, symbols: []string{"a.dbg"}, want: nativeNumber},
		"given, although there is another": {files: map[string]*elffile.Program{"shop": stripped(p), "a.dbg": p}, program: true, symbols: []string{"a.dbg"}, want: nativeNamed},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, p := range c.files {
				writeProgram(t, filepath.Join(dir, path), p)
			}
			a := &Assemblies{Notify: func(s string) { t.Error(s) }}
			program := filepath.Join(dir, "shop")
			if name == "elsewhere" {
				program = filepath.Join(dir, "app", "shop")
			}
			if c.program {
				a.Add(program)
			}
			for _, path := range c.symbols {
				if err := a.AddSymbols(filepath.Join(dir, path)); err != nil {
					t.Fatal(err)
				}
			}
			types, modules := nativeTypes(), Modules{}
			a.Resolve(t.Context(), types, modules)
			if got := nativeNames(types); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
			if Nameless(types) == (c.want == nativeNamed) || (modules[types[0].Module] != "") != (c.want == nativeNamed) {
				t.Errorf("nameless: %v; modules: %v", Nameless(types), modules)
			}
			if c.program && !slices.Contains(a.LookedFor(), program) {
				t.Errorf("it has looked in %q", a.LookedFor())
			}
		})
	}
	if err := new(Assemblies).AddSymbols(filepath.Join(t.TempDir(), "missing")); err != nil {
		t.Logf("a missing file: %v", err)
	} else {
		t.Error("a missing file is no error")
	}
}

// TestNativeAssemblies: where the assemblies of a program are at hand, they say which underscore is what.
func TestNativeAssemblies(t *testing.T) {
	p := nativeProgram()
	p.Symbols[0].Name = elffile.Type("tiny_N_Plain_Deep_Deeper")
	p.Symbols[1].Name = elffile.Type("__Array<tiny_N_Outer_1_Inner_1<String__Int32>>")
	p.Symbols = append(p.Symbols, elffile.Symbol{At: 0x600, Name: elffile.Type("tiny_N_Outer_1_Inner_1")})
	assembly, dir := tiny(t, "tiny.dll")
	writeProgram(t, filepath.Join(dir, "shop"), p)
	for with, want := range map[bool]string{
		false: "N.Plain.Deep.Deeper N.Outer<System.String>+Inner<System.Int32>[] <static fields>",
		true:  "N.Plain+Deep+Deeper N.Outer<System.String>+Inner<System.Int32>[] <static fields>",
	} {
		a := &Assemblies{}
		if err := a.AddSymbols(filepath.Join(dir, "shop")); err != nil {
			t.Fatal(err)
		}
		if with {
			a.Add(assembly)
		}
		types := nativeTypes()
		a.Resolve(t.Context(), types, nil)
		if got := nativeNames(types); got != want {
			t.Errorf("with assemblies %v: %s, want %s", with, got, want)
		}
	}
}

// TestNativeNumbers: what has no symbols is its number in its module, if it has one.
func TestNativeNumbers(t *testing.T) {
	const module = 0x7f0000000000
	for want, x := range map[string]Type{
		"NativeAOT type 0x100":        {ID: module + 0x100, Module: module, Token: 0x100},
		"NativeAOT type 0x100[]":      {ID: module + 0x200, Module: module, Token: 0x200, Flags: 0x18, Parameters: []uint64{module + 0x100}},
		"NativeAOT type 0x100[,,]":    {ID: module + 0x200, Module: module, Token: 0x200, Flags: 0x318, Parameters: []uint64{module + 0x100}},
		"NativeAOT type 0x200":        {ID: module + 0x200, Module: module, Token: 0x200, Flags: 0x18, Parameters: []uint64{1}},
		"unknown type 0x7f0000000100": {ID: module + 0x100},
		"unknown type 0x7f0000000200": {ID: module + 0x200, Module: module, Token: 0x02000001}, // of another runtime
		"unknown type 0x7f0100000200": {ID: module + 1<<32 + 0x200, Module: module, Token: 0x200},
		"System.Object":               {ID: module + 0x100, Module: module, Token: 0x100, Name: "System.Object"},
	} {
		if got := x.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestNativeHostile: what a process has put in the place of its symbols leaves the types without names.
func TestNativeHostile(t *testing.T) {
	p := nativeProgram()
	for name, put := range map[string]func(path string) error{
		"a folder":       func(path string) error { return os.Mkdir(path, 0o700) },
		"a link":         func(path string) error { return os.Symlink("shop.dbg", path) },
		"a device":       func(path string) error { return os.Symlink(os.DevNull, path) },
		"a damaged file": func(path string) error { return os.WriteFile(path, p.Bytes()[:len(p.Bytes())-200], 0o600) },
		"a sparse file": func(path string) error {
			if err := os.WriteFile(path, p.Bytes(), 0o600); err != nil {
				return err
			}
			return os.Truncate(path, 4<<40)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			program, symbols := filepath.Join(dir, "shop"), filepath.Join(dir, "shop.dbg")
			writeProgram(t, program, stripped(p))
			if err := put(symbols); err != nil {
				t.Skip(err)
			}
			if info, err := os.Stat(symbols); name == "a sparse file" && (err != nil || onDisk(info) > 1<<20) {
				t.Skip("this file system does not say that the file is sparse")
			}
			var notes []string
			a := &Assemblies{Notify: func(s string) { notes = append(notes, s) }}
			a.Add(program)
			types := nativeTypes()
			a.Resolve(t.Context(), types, nil)
			if got := nativeNames(types); got != nativeNumber {
				t.Errorf("%s: %q", got, notes)
			}
			if usual := name == "a folder"; usual != (len(notes) == 0) || len(notes) > 0 && !strings.Contains(notes[0], symbols+" is left out: ") {
				t.Errorf("%q", notes)
			}
		})
	}
	// At a limit nothing is read any more.
	path := filepath.Join(t.TempDir(), "shop")
	writeProgram(t, path, p)
	read := 0
	a, _ := reader(func(n int) { read += n }, path)
	finish := a.begin(t.Context())
	a.reading.bytes = 200
	types := nativeTypes()
	a.resolve(types, nil)
	finish()
	if got := nativeNames(types); got != nativeNumber || read > 200 {
		t.Errorf("%s, %d bytes were read", got, read)
	}
}

// TestHoldStatics: the objects with the static fields of classes are in the order of their symbols.
func TestHoldStatics(t *testing.T) {
	path := filepath.Join(t.TempDir(), "shop")
	writeProgram(t, path, nativeProgram())
	a := &Assemblies{}
	a.Add(path)
	types := append(nativeTypes(), Type{ID: 0x7f0000000100, Name: "System.Object[]"})
	// An array of two objects with static fields, of which the second one has two; and an order.
	g := &Graph{
		PointerSize: 8, Types: types, address: []uint64{0x1000, 0x2000, 0x3000, 0x4000}, size: []uint32{40, 24, 40, 24},
		typ: []uint32{3, 2, 2, 0}, first: []uint32{0, 2, 3, 5, 5}, target: []Object{1, 2, 3, 3, 0},
		Roots: []Root{{Object: 0, Kind: RootHandle}},
	}
	g.index = newAddressIndex(g.address)
	g.Resolve(t.Context(), a)
	want := []Static{
		{Slot: 0x2008, Object: 3, Type: 0, Declaring: "Order"},
		{Slot: 0x3008, Object: 3, Type: 0, Declaring: "Cache"},
		{Slot: 0x3010, Object: 0, Type: 3, Declaring: "Cache"},
	}
	if !slices.Equal(g.Statics, want) {
		t.Errorf("%+v, want %+v", g.Statics, want)
	}
	h := Holder{Static: &g.Statics[0]}
	if h.String() != "static field of Order" || h.Name() != "Order" || h.Kind() != "static" {
		t.Errorf("%s, %s, %s", h, h.Name(), h.Kind())
	}
	g.Resolve(t.Context(), a) // again
	if len(g.Statics) != len(want) {
		t.Errorf("%d static fields", len(g.Statics))
	}
	if !g.LacksStackRoots() {
		t.Error("it has a root on the stack")
	}
}

// nativeNames returns the names of types.
func nativeNames(types []Type) string {
	var names []string
	for i := range types {
		names = append(names, types[i].String())
	}
	return strings.Join(names, " ")
}
