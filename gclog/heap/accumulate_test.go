package heap_test

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// An account is what a program says about the objects that it made.
type account struct {
	Types []struct {
		Name         string
		Count, Bytes uint64
	}
	LeakCount, LeakBytesEach, LeakRetainedBytesOfArray uint64
	DeepListLength                                     uint64
	EventLeak                                          struct{ Subscribers uint64 }
}

func (k *account) typ(name string) (n heap.Count) {
	for _, t := range k.Types {
		if t.Name == name {
			n = heap.Count{Objects: t.Count, Bytes: t.Bytes}
		}
	}
	return n
}

// TestKnownSuspects finds what a program made to accumulate, with the numbers that it gives.
func TestKnownSuspects(t *testing.T) {
	for _, path := range captures(t, "*-graph.truth.json") {
		name := strings.TrimSuffix(filepath.Base(path), ".truth.json")
		t.Run(name, func(t *testing.T) {
			var want account
			if err := json.Unmarshal([]byte(text(t, path)), &want); err != nil {
				t.Fatal(err)
			}
			g := read(t, filepath.Join(filepath.Dir(path), name+".nettrace.gz"))
			d, p := g.Dominators(), g.Paths()
			total := uint64(0)
			for o := range d.All {
				total += g.Space(o)
			}
			large := d.Suspects(p, total/10)
			if len(large) != 2 || large[0].Holder.String() != "static Orders" || large[1].Holder.String() != "static Loh" {
				t.Fatalf("%+v", large)
			}
			orders, lines, products := want.typ("GcLoad.Graph.Order"), want.typ("GcLoad.Graph.OrderLine"), want.typ("GcLoad.Graph.Product")
			arrays, loh := want.typ("GcLoad.Graph.OrderLine[]"), want.typ("GcLoad.Graph.LohCell[]")
			if got := large[0].Below[0]; got.Objects != orders.Objects || got.Retained != orders.Bytes+lines.Bytes+arrays.Bytes {
				t.Errorf("orders: %+v", got)
			}
			if got := large[0].Below[2]; got.Objects != products.Objects || got.Retained != products.Bytes {
				t.Errorf("products: %+v", got)
			}
			if got := large[1].Below[0]; got.Objects != loh.Objects || loh.Bytes > 0 && got.Retained != loh.Bytes {
				t.Errorf("large arrays: %+v", got)
			}

			found := map[string]heap.Suspect{}
			for _, x := range d.Suspects(p, total/200) {
				if _, ok := found[x.Holder.String()]; !ok {
					found[x.Holder.String()] = x
				}
			}
			leak := found["static Items"]
			if got := typesOn(g, leak); got != "System.Collections.Generic.List`1[GcLoad.Graph.LeakedItem] GcLoad.Graph.LeakedItem[]" || leak.Cause != heap.CauseCollection ||
				leak.Retained != want.LeakRetainedBytesOfArray || leak.Below[0].Objects != want.LeakCount || leak.Below[0].Retained != want.LeakCount*want.LeakBytesEach {
				t.Errorf("leak: %s, %+v", got, leak)
			}
			list := found["static Head"]
			if nodes := want.typ("GcLoad.Graph.ListNode"); list.Cause != heap.CauseStructure || list.Objects != want.DeepListLength || list.Own != nodes.Bytes || !list.Dominated {
				t.Errorf("list: %+v", list)
			}
			event := found["static Publisher"]
			handlers := want.typ("GcLoad.Graph.ChangedHandler")
			if handlers.Bytes == 0 { // from .NET 11 on the program does not know how large a delegate is
				for _, w := range truthOf(t, path).Types {
					if w.Name == "GcLoad.Graph.ChangedHandler" {
						handlers.Bytes = w.Aligned
					}
				}
			}
			if event.Cause != heap.CauseHandlers || event.Below[0].Objects != want.EventLeak.Subscribers ||
				event.Below[0].Retained != handlers.Bytes/handlers.Objects*want.EventLeak.Subscribers+want.typ("GcLoad.Graph.Subscriber").Bytes {
				t.Errorf("event: %+v", event)
			}
		})
	}
}

// typesOn returns the types on the path to a suspect.
func typesOn(g *heap.Graph, x heap.Suspect) string {
	var list []string
	for _, step := range x.Path {
		list = append(list, g.Types[step.Type].Name)
	}
	return strings.Join(list, " ")
}
