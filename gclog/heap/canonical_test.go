package heap

import (
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/recordings"
)

var arity = regexp.MustCompile("`[0-9]+")

// lessArity is a name of the stream without what dotnet-gcdump removes for good.
func lessArity(stream string) string { return arity.ReplaceAllString(stream, "") }

// dotnetName is a name of the stream as dotnet-gcdump writes it.
func dotnetName(stream string) string {
	return strings.NewReplacer("<>", "[]").Replace(strings.NewReplacer("[", "<", "]", ">").Replace(lessArity(stream)))
}

func TestCanonicalName(t *testing.T) {
	for name, want := range map[string]string{
		"System.String":                         "System.String",
		"Shop.Grid<,>":                          "Shop.Grid[,]",
		"Shop.Grid<,,>[]<*>[][,]":               "Shop.Grid[,,][][*][][,]",
		"Entry<System.String,Shop.Grid<,>[]>[]": "Entry<System.String, Shop.Grid[,][]>[]",
		"[]c":                                   "<>c",
		"Shop.Cart+[]c[]":                       "Shop.Cart+<>c[]",
		"[]f__AnonymousType0<System.Int32,[]c>": "<>f__AnonymousType0<System.Int32, <>c>",
		"<Load>d__5":                            "<Load>d__5",
		`<IMap\,<A\,B>.Get>d__5`:                `<IMap\,<A\,B>.Get>d__5`,
		"System.Collections.Generic.Dictionary<System.String, Shop.Cart>+Entry[,][]": "System.Collections.Generic.Dictionary<System.String, Shop.Cart>+Entry[,][]", // of PerfView and ClrMD
		"A<B,   C>": "A<B, C>",
		"[":         "[",
		"<":         "<",
		"A<,":       "A<, ",
		`A\`:        `A\`,
		"[]":        "[]",
		"":          "",
	} {
		if got := canonicalName(name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
		if got := canonicalName(want); got != want {
			t.Errorf("%s: %s the second time", want, got)
		}
	}
}

func TestBareName(t *testing.T) {
	for exact, want := range map[string]string{
		"System.String": "System.String",
		"System.Collections.Generic.Dictionary<System.String, Shop.Cart>+Entry[,][]": "Entry[System.String,Shop.Cart][,][]",
		"A<B+C<D>, E<F>+G>+H<I>": "H[B+C[D],E+G[F],I]",
		"Shop.Cart+<>c":          "<>c",
		"Shop.Map`2+Entry`1":     "Entry",
		"unknown type 0x1":       "unknown type 0x1",
		"A<B":                    "A<B",
	} {
		if got := bareName(exact); got != want {
			t.Errorf("%s: %s, want %s", exact, got, want)
		}
	}
}

// TestDotnetNames: what dotnet-gcdump makes of the names of recordings is undone, but for what it has
// removed.
func TestDotnetNames(t *testing.T) {
	for _, tr := range recordings.Traces(t, "heap-traces") {
		for _, typ := range graphOf(t, tr.Path).Types {
			bare := lessArity(typ.Name)
			got := canonicalName(dotnetName(typ.Name))
			if want := exactName(bare, "", nil); got != want || bareName(got) != bare {
				t.Errorf("%s: %s is %s (%s), want %s", tr.Name, typ.Name, got, bareName(got), want)
			}
		}
	}
}
