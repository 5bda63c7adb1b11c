package heap

import (
	"slices"
	"testing"
)

// TestEvents: the events of a class and of its base class are known by the class of their delegate, and
// a .gcdump file keeps them.
func TestEvents(t *testing.T) {
	path, _ := tiny(t, "tiny.dll")
	g := graphOf(t, "testdata/small.nettrace.gz")
	add := func(x Type) int {
		g.Types = append(g.Types, x)
		return len(g.Types) - 1
	}
	const module = 77
	publisher := add(Type{ID: 901, Module: module, Definition: 0x02000008, Name: "N.Publisher", Element: elementClass})
	special := add(Type{ID: 902, Module: module, Definition: 0x02000009, Name: "N.Special", Element: elementClass})
	array := add(Type{ID: 903, Module: module, Definition: 0x02000008, Name: "N.Publisher[]", Element: elementVector, Flags: typeArray})
	handler := add(Type{ID: 904, Name: "System.Handler`1[System.Int32]", Element: elementClass, Flags: typeDelegate})
	other := add(Type{ID: 905, Name: "System.EventHandler", Element: elementClass, Flags: typeDelegate})
	var a Assemblies
	a.Add(path)
	g.Resolve(t.Context(), &a)
	check := func(g *Graph) {
		t.Helper()
		for _, x := range []struct {
			typ, referred int
			want          string
		}{
			{publisher, handler, "Changed"},
			{special, handler, "Changed"},
			{publisher, other, ""},
			{array, handler, ""},
			{array, publisher, ""},
			{handler, publisher, ""},
		} {
			if got := g.EventOf(x.typ, x.referred); got != x.want {
				t.Errorf("the reference from %s to %s is for the event %q, want %q", g.Types[x.typ].String(), g.Types[x.referred].String(), got, x.want)
			}
		}
	}
	check(g)
	if want := []Event{{"Changed", "System.Handler"}}; !slices.Equal(g.Types[special].Events, want) {
		t.Errorf("the events are %v, want %v", g.Types[special].Events, want)
	}
	read, _ := readDump(t, writeDump(t, g, &DumpInfo{}))
	check(read)
	g.Types[publisher].Events = append(g.Types[publisher].Events, Event{"Closed", "System.Handler"})
	if got := g.EventOf(publisher, handler); got != "Changed or Closed" {
		t.Errorf("of two events of one class it is %q", got)
	}
}
