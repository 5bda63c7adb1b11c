package nativeaot_test

import (
	"debug/elf"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap/ecma335"
	"github.com/gclog/gclog/gclog/heap/nativeaot"
	"github.com/gclog/gclog/internal/testing/elffile"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
)

// TestNames: names as ClrMD writes them, of the texts in symbols.
func TestNames(t *testing.T) {
	s := symbolsOf(t,
		elffile.Type("Shop__Module_"), elffile.Type("Shop_Orders_Order"), elffile.Type("Shop_Orders_Outer_1"), elffile.Type("Shop_Program"), elffile.Type("Shop_Program___c"),
		"Shop_Orders_Tools__Count", "Shop_Orders_Maker___ctor", "Shop_Orders_Changed__InvokeMulticastThunk", "Shop_Orders___Native__Call",
		elffile.Type("Boxed_Shop_Orders_Cell"), elffile.Type("S_P_CoreLib_System_Collections_Generic_Dictionary_2"), elffile.Type("Shop_Orders_Changed"),
	)
	for text, want := range map[string]string{
		"String": "System.String", "Object": "System.Object", "UInt8": "System.Byte", "Bool": "System.Boolean", "Single": "System.Single",
		"Shop_Orders_Order":             "Orders.Order",
		"Shop_Orders_Order_Line":        "Orders.Order+Line",
		"Shop_Orders_Tools_Part":        "Orders.Tools+Part", // its outer class only has a method
		"Shop_Orders_Maker_Part":        "Orders.Maker+Part",
		"Shop_Orders___Native":          "Orders.__Native",
		"Shop_Lost":                     "Lost",
		"__Array<Shop_Orders_Order>":    "Orders.Order[]",
		"__Array<__Array<Int32>>":       "System.Int32[][]",
		"__MDArray<Shop_Orders_Cell,2>": "Orders.Cell[,]",
		"__Array<__MDArray<Int64,3>>":   "System.Int64[,,][]",
		"__MDArray<Int64,1>":            "System.Int64[*]",
		"Char<Pointer>":                 "System.Char*",
		"S_P_CoreLib_System_Collections_Generic_List_1<Shop_Orders_Order>":                 "System.Collections.Generic.List<Orders.Order>",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2<String__Shop_Orders_Order>":   "System.Collections.Generic.Dictionary<System.String, Orders.Order>",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2_Entry<Int32____Array<UInt8>>": "System.Collections.Generic.Dictionary<System.Int32, System.Byte[]>+Entry",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2_ValueCollection<Int32,Int32>": "System.Collections.Generic.Dictionary<System.Int32, System.Int32>+ValueCollection",
		"Shop_Orders_Outer_1_Inner_1<String__Int32>":                                       "Orders.Outer<System.String>+Inner<System.Int32>",
		"System_Text_Json_System_Text_Json_JsonDocument":                                   "System.Text.Json.JsonDocument",
		"System_Diagnostics_DiagnosticSource_System_Diagnostics_Metrics_Meter":             "System.Diagnostics.Metrics.Meter",
		"Microsoft_Extensions_Http_Microsoft_Extensions_Http_Logging_Scope":                "Microsoft.Extensions.Http.Logging.Scope",
		"S_P_Xml_Linq_System_Xml_Linq_XElement":                                            "System.Xml.Linq.XElement",
		"S_P_CoreLib_Interop_Sys_FileStatus":                                               "Interop+Sys+FileStatus",
		"Acme_Tools_Acme_Tools_Hammer":                                                     "Acme.Tools.Hammer",
		"Shop_Program___c":                                                                 "Program+<>c",
		"Shop_Program___c__DisplayClass3_0":                                                "Program+<>c__DisplayClass3_0",
		"Shop_Orders_Outer_1___c__DisplayClass1_10<String>":                                "Orders.Outer<System.String>+<>c__DisplayClass1_10",
		"Shop_Program___c__21_1<UInt8>":                                                    "Program+<>c__21<System.Byte>",
		"Shop_Program___O":                                                                 "Program+<>O",
		"Shop_Program__Load_d__5":                                                          "Program+<Load>d__5",
		"Shop_Orders_Unknown__Load_d__5":                                                   "Orders.Unknown+<Load>d__5",
		"Shop_Program___Main___d__0":                                                       "Program+<<Main>$>d__0",
		"Shop_Program___Load_g__Local_3_0_d":                                               "Program+<<Load>g__Local|3_0>d",
		"Shop_Program___c___Load_b__3_0_d":                                                 "Program+<>c+<<Load>b__3_0>d",
		"Shop___f__AnonymousType0_2<String__Int32>":                                        "<>f__AnonymousType0<System.String, System.Int32>",
		"Shop__PrivateImplementationDetails_":                                              "<PrivateImplementationDetails>",
		"S_P_CoreLib_System_Runtime_CompilerServices_AsyncTaskMethodBuilder_1_AsyncStateMachineBox_1<S_P_CoreLib_System_Threading_Tasks_VoidTaskResult__Shop_Program__Load_d__5>": "System.Runtime.CompilerServices.AsyncTaskMethodBuilder<System.Threading.Tasks.VoidTaskResult>+AsyncStateMachineBox<Program+<Load>d__5>",
	} {
		got, ok := s.Name(text)
		if !ok || got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "<", "a<", "<Int32>", "__Array<>", "__MDArray<Int32>", "__MDArray<Int32,99>", "a<b", strings.Repeat("__Array<", 200) + "Int32" + strings.Repeat(">", 200)} {
		if got, ok := s.Name(text); ok {
			t.Errorf("%.20q is %q", text, got)
		}
	}
	for text, want := range map[string]nativeaot.Type{
		"Boxed_Shop_Orders_Cell":     {Exact: "Orders.Cell", Element: 0x11},
		"Boxed_Int32":                {Exact: "System.Int32", Element: 0x08},
		"String":                     {Exact: "System.String", Element: 0x0e},
		"__Array<Shop_Orders_Order>": {Exact: "Orders.Order[]"},
		"Shop_Orders_Changed":        {Exact: "Orders.Changed", Element: 0x12, Delegate: true},
	} {
		if got, ok := s.Type(elffile.Type(text)); !ok || got != want {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
	for _, symbol := range []string{"", "x", "_ZTV", "_ZTV3ab", "_ZTV0", "_ZTVa"} {
		if got, ok := s.Type(symbol); ok {
			t.Errorf("%q: %+v", symbol, got)
		}
	}
}

// TestUnknownAssembly: the name of an assembly that nothing shows is one word, and those of its types that
// are arguments are known by their own symbols.
func TestUnknownAssembly(t *testing.T) {
	s := symbolsOf(t, elffile.Type("App_Shop_Order"), elffile.Type("Acme_Tools_Acme_Tools_Hammer"), elffile.Type("Acme_Tools_Handle"))
	for text, want := range map[string]string{
		"App_Shop_Order": "Shop.Order",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2<String__App_Shop_Order>":                     "System.Collections.Generic.Dictionary<System.String, Shop.Order>",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2<App_Shop_Order__App_Shop_Order>":             "System.Collections.Generic.Dictionary<Shop.Order, Shop.Order>",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2<App_Shop_Lost__Acme_Tools_Handle>":           "System.Collections.Generic.Dictionary<Shop.Lost, Handle>",
		"S_P_CoreLib_System_Collections_Generic_Dictionary_2<Acme_Tools_Handle__Acme_Tools_Acme_Tools_X>": "System.Collections.Generic.Dictionary<Handle, Acme.Tools.X>",
		"Acme_Tools_Handle": "Handle",
	} {
		if got, ok := s.Name(text); !ok || got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	p := open(t, (&elffile.Program{Class: elf.ELFCLASS64, Symbols: []elffile.Symbol{{At: 0x100, Name: elffile.Type("Shop_Api_Program")}}}).Bytes())
	for _, program := range []string{"Shop.Api", "Shop"} {
		s, err := p.Symbols(all, program)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := s.Name("Shop_Api_Program"); got != map[string]string{"Shop.Api": "Program", "Shop": "Api.Program"}[program] {
			t.Errorf("the program %s has the class %s", program, got)
		}
	}
}

var punctuation = regexp.MustCompile(`[^0-9A-Za-z]`)

// TestDefinitions holds the names of all types in the symbols of a real program against the metadata of
// the same program and of the library: no name may differ from one there only in its punctuation.
func TestDefinitions(t *testing.T) {
	extent.NeedFull(t)
	defined, texts, paths := map[string]bool{}, map[string]string{}, map[string][][]string{}
	core, err := gcload.SharedNamed("net11")
	if err != nil {
		t.Fatal(err)
	}
	native, err := gcload.SharedNamed("aot11")
	if err != nil {
		t.Fatal(err)
	}
	if core == nil || native == nil {
		t.Skip("no folder of shared recordings: set GCLOG_SHARED to its path")
	}
	for _, r := range []*gcload.Runtime{core, native} {
		if err := r.Unpack(); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"gcload.dll", "System.Private.CoreLib.dll"} {
		x, err := ecma335.Open(opened(t, filepath.Join(core.Dir(), file)))
		if err != nil {
			t.Fatal(err)
		}
		const typeDef = 0x02000000
		for row := uint32(1); ; row++ {
			path, err := x.Path(typeDef | row)
			if err != nil {
				break
			}
			var classes []string
			for i := range path {
				classes = append(classes, ecma335.FullName(path[i:i+1]))
			}
			paths[file] = append(paths[file], classes)
			name := ecma335.FullName(path)
			defined[name] = true
			texts[punctuation.ReplaceAllString(name, "_")] = name
		}
	}
	// Of these the program has no class or method but those of classes nested in them.
	unseen := map[string]string{}
	for text, name := range texts {
		if strings.HasPrefix(name, "System.Random+") || strings.HasPrefix(name, "<PrivateImplementationDetails>+") {
			unseen[text] = name
			delete(texts, text)
		}
	}
	p, err := nativeaot.Open(opened(t, filepath.Join(native.Dir(), "gcload.dbg")))
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Symbols(all)
	if err != nil {
		t.Fatal(err)
	}
	compareDefinitions(t, s, defined, texts)

	// The metadata itself leaves nothing open.
	for file, all := range paths {
		for _, path := range all {
			s.Define(strings.TrimSuffix(file, ".dll"), path)
		}
	}
	maps.Copy(texts, unseen)
	compareDefinitions(t, s, defined, texts)
}

// compareDefinitions compares the names of definitions with those in metadata.
func compareDefinitions(t *testing.T, s *nativeaot.Symbols, defined map[string]bool, texts map[string]string) {
	t.Helper()
	equal, others := 0, 0
	for _, symbol := range s.Types {
		x, ok := s.Type(symbol)
		if !ok {
			if !strings.Contains(symbol, "__FnPtr") {
				t.Errorf("%s has no name", symbol)
			}
			continue
		}
		name := definitionOf(x.Exact)
		switch want := texts[punctuation.ReplaceAllString(name, "_")]; {
		case defined[name]:
			equal++
		case want != "" && strings.Contains(name, "`") == strings.Contains(want, "`"):
			t.Errorf("%s is %s, want %s", symbol, name, want)
		default: // the library of NativeAOT has classes of its own
			others++
		}
	}
	if equal < 2500 || others > 1200 {
		t.Errorf("%d names are in the metadata, %d are not", equal, others)
	}
	t.Logf("%d names are in the metadata, %d are not", equal, others)
}

// opened opens a file for the test.
func opened(t *testing.T, path string) (*os.File, int64) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return f, info.Size()
}

// definitionOf returns the name of the definition of a type: without arguments, but with their numbers.
func definitionOf(exact string) string {
	exact = strings.TrimRight(exact, "[],*&")
	var s strings.Builder
	for i := 0; i < len(exact); i++ {
		made := i == 0 || exact[i-1] == '+' || exact[i-1] == '.' // a name of the compiler's: <>c
		if exact[i] != '<' {
			s.WriteByte(exact[i])
			continue
		}
		from, open, n := i, 0, 1
		for ; ; i++ {
			switch exact[i] {
			case '<':
				open++
			case '>':
				open--
			case ',':
				if open == 1 {
					n++
				}
			}
			if open == 0 {
				break
			}
		}
		if made {
			s.WriteString(exact[from : i+1])
		} else {
			s.WriteString("`" + string(rune('0'+n)))
		}
	}
	return s.String()
}
