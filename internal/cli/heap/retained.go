package heap

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/urfave/cli/v2"
)

func (p *commands) retainedCommand() *cli.Command {
	return &cli.Command{
		Name:      "retained",
		Usage:     "what holds the most memory: the types and objects that retain most",
		ArgsUsage: "FILE",
		Description: `What an object retains is what would be free without it: its own bytes, and those of
all objects that only it keeps alive. What two objects share is retained by neither.
The objects of a chain, such as a linked list, are listed once, with their number.

Examples:
   gclog heap retained app.nettrace
   gclog heap retained app.nettrace --filter '^MyApp\.'
   gclog heap retained app.nettrace -f json | jq '.objects[0]'`,
		Flags:  fileFlags(),
		Action: results.Action(p.Run, results.Lists, p.retained),
	}
}

// A retainedGroup is what the objects of a type retain.
type retainedGroup struct {
	name string
	heap.Count
	retained uint64
}

// A retainedObject is what an object retains. collapsed is the number of objects of its type below
// it that retain nearly the same, as those of a list do.
type retainedObject struct {
	object    heap.Object
	collapsed int
}

func (p *commands) retained(c *cli.Context, how string) error {
	h, d, err := p.readReachable(c, how, 0)
	if err != nil {
		return err
	}
	l, g := h.selection, h.g
	groups := slices.DeleteFunc(retainedGroups(g, d),
		func(x retainedGroup) bool { return !l.keeps(x.name, x.retained) })
	const mostObjects = 100 // in JSON
	list := retainedObjects(g, d, l, cmp.Or(l.top, mostObjects))
	byType, byObject := retainedColumns(l), retainedObjectColumns(l, g, d)
	switch l.format {
	case "json":
		return p.PrintJSON(struct {
			Complete    bool           `json:"complete"`
			Unreachable countJSON      `json:"unreachable"`
			Groups      []lists.Object `json:"groups"`
			Objects     []lists.Object `json:"objects"`
		}{
			g.Walk.Complete(), countJSON(g.Unreachable()), lists.Objects(byType, lists.Cut(groups, l.top)),
			lists.Objects(byObject, list),
		})
	case "csv":
		return lists.PrintCSV(p.Run, byType, lists.Cut(groups, l.top))
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		if len(groups) == 0 {
			fmt.Fprintln(w, l.none("type", "retains"))
			return nil
		}
		fmt.Fprintln(w, "By type")
		lists.TableOf(byType, lists.Cut(groups, l.top)).Print(w, width)
		fmt.Fprintln(w, "\nBy object")
		if len(list) == 0 {
			fmt.Fprintln(w, l.none("object", "retains"))
			return nil
		}
		lists.TableOf(byObject, list).Print(w, width)
		return nil
	})
}

func retainedGroups(g *heap.Graph, d *heap.Dominators) []retainedGroup {
	list := make([]retainedGroup, len(g.Types))
	for i, bytes := range d.RetainedByType() {
		list[i] = retainedGroup{name: g.Types[i].String(), retained: bytes}
	}
	for o := range d.All {
		x := &list[g.Type(o)]
		x.Objects++
		x.Bytes += g.Space(o)
	}
	list = slices.DeleteFunc(list, func(x retainedGroup) bool { return x.Objects == 0 })
	slices.SortStableFunc(list, func(a, b retainedGroup) int { return cmp.Compare(b.retained, a.retained) })
	return list
}

// retainedObjects returns the n objects that retain most, without those of a chain except its first.
func retainedObjects(g *heap.Graph, d *heap.Dominators, l *selection, n int) []retainedObject {
	head := make([]heap.Object, g.Len()) // of the chain that an object is in; itself: it is the first
	chains := map[heap.Object]int{}      // objects in them without the first
	var list []retainedObject
	for o := range d.All {
		head[o] = o
		retained := d.Retained(o)
		above := d.Dominator(o)
		if above != heap.NoObject && g.Type(above) == g.Type(o) && 2*retained >= d.Retained(above) {
			head[o] = head[above]
			chains[head[o]]++
			continue
		}
		small := len(list) == n && retained <= d.Retained(list[n-1].object)
		if small || !l.keeps(g.Types[g.Type(o)].String(), retained) {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, retained, func(x retainedObject, retained uint64) int {
			if d.Retained(x.object) >= retained {
				return -1
			}
			return 1
		})
		list = slices.Insert(list[:min(len(list), n-1)], at, retainedObject{object: o})
	}
	for i := range list {
		list[i].collapsed = chains[list[i].object]
	}
	return list
}

func retainedColumns(l *selection) []lists.Column[retainedGroup] {
	return []lists.Column[retainedGroup]{
		lists.Names("type", "type", "name", l.name, func(x *retainedGroup) string { return x.name }),
		lists.Size("retained", "retained_bytes", "retained_bytes", func(x *retainedGroup) uint64 { return x.retained }),
		lists.Count("objects", "objects", "objects", func(x *retainedGroup) uint64 { return x.Objects }),
		lists.Size("bytes", "bytes", "bytes", func(x *retainedGroup) uint64 { return x.Bytes }).Ranked(1),
	}
}

func retainedObjectColumns(l *selection, g *heap.Graph, d *heap.Dominators) []lists.Column[retainedObject] {
	address := func(x *retainedObject) string { return addressOf(g, x.object) }
	return []lists.Column[retainedObject]{
		lists.Names("type", "", "name", l.name,
			func(x *retainedObject) string { return g.Types[g.Type(x.object)].String() }),
		lists.Size("retained", "", "retained_bytes", func(x *retainedObject) uint64 { return d.Retained(x.object) }),
		lists.Size("bytes", "", "bytes", func(x *retainedObject) uint64 { return g.Space(x.object) }).Ranked(1),
		{
			Column: screen.Column{Title: "address"}, JSON: "address",
			Text: address, Value: func(x *retainedObject) any { return address(x) },
		},
		{
			Column: screen.Column{Title: "chain", Right: true, Rank: 2}, JSON: "collapsed",
			Value: func(x *retainedObject) any { return x.collapsed },
			Text: func(x *retainedObject) string {
				if x.collapsed == 0 {
					return ""
				}
				return "of " + strconv.Itoa(x.collapsed+1)
			},
		},
		// null: no single object
		{JSON: "dominator", Value: func(x *retainedObject) any {
			if above := d.Dominator(x.object); above != heap.NoObject {
				return addressOf(g, above)
			}
			return json.RawMessage("null")
		}},
	}
}
