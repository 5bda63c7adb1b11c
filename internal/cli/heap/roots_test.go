package heap

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

func TestWhyUnreachable(t *testing.T) {
	for _, c := range []struct {
		of   map[heap.Generation]uint64
		want string
	}{
		{map[heap.Generation]uint64{heap.Frozen: 3}, "frozen, as string literals are"},
		{map[heap.Generation]uint64{heap.UnknownGeneration: 3}, "frozen, as string literals are, or dead; the snapshot has no generations, which would say so"},
		{map[heap.Generation]uint64{heap.Gen0: 2, heap.Gen2: 1}, "they are dead, or the snapshot lacks what holds them"},
		{map[heap.Generation]uint64{heap.Gen2: 2, heap.Frozen: 5}, "5 are frozen, as string literals are; the others are dead, or the snapshot lacks what holds them"},
	} {
		var n heap.TypeCount
		for generation, objects := range c.of {
			n.Objects += objects
			n.Generations[generation].Objects = objects
		}
		if got := whyUnreachable(&n); got != c.want {
			t.Errorf("%v: %s, want %s", c.of, got, c.want)
		}
	}
}

// TestEvents: where an object refers to the subscribers of an event, the path names the event.
func TestEvents(t *testing.T) {
	g := &heap.Graph{Types: []heap.Type{
		{Name: "Shop.Bus", Exact: "Shop.Bus", Events: []heap.Event{{Name: "Changed\x1b[2J", Delegate: "System.EventHandler"}}},
		{Name: "System.EventHandler", Exact: "System.EventHandler"},
		{Name: "Shop.Page", Exact: "Shop.Page"},
	}}
	page := &heap.Branch{Type: 2}
	handler := &heap.Branch{Type: 1, Repeated: 2, Below: []*heap.Branch{page}}
	bus := &heap.Branch{Type: 0, Holder: "static Shop.App.Bus", Below: []*heap.Branch{handler}}
	var out bytes.Buffer
	writeBranches(&out, 80, &selection{}, g, []*heap.Branch{bus})
	if want := "System.EventHandler (event Changed\ufffd[2J) (a chain of up to 2)"; !strings.Contains(out.String(), want) || strings.Count(out.String(), "event") != 1 {
		t.Errorf("%s\nwant %s", out.String(), want)
	}
	static := heap.Static{Field: "Bus", Declaring: "Shop.App"}
	steps := pathSteps(&naming{}, g, heap.Holder{Static: &static}, []heap.Step{{Type: 0, Repeated: 1}, {Type: 1, Repeated: 1}, {Type: 2, Repeated: 1}})
	if len(steps) != 3 || !strings.Contains(steps[1].text, "(event Changed") || strings.Contains(steps[2].text, "event") {
		t.Errorf("%v", steps)
	}
	l := leak{held: []*heap.Branch{bus}}
	if got := strings.Join(l.lines(&selection{}, g), "\n"); !strings.Contains(got, "System.EventHandler (event Changed") {
		t.Errorf("%s", got)
	}
	rows := branchesJSON(g, []*heap.Branch{bus})
	if len(rows) != 3 || rows[0].Event != "" || rows[1].Event != "Changed\x1b[2J" || rows[2].Event != "" {
		t.Errorf("%+v", rows)
	}
}
