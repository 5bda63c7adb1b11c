package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/urfave/cli/v2"
)

func (p *program) heapRetainedCommand() *cli.Command {
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
		Flags:  heapFlags(),
		Action: p.result(listFormats, p.heapRetained),
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

func (p *program) heapRetained(c *cli.Context, how string) error {
	h, d, err := p.readReachable(c, how, 0)
	if err != nil {
		return err
	}
	l, g := h.heapList, h.g
	groups := slices.DeleteFunc(retainedGroups(g, d), func(x retainedGroup) bool { return !l.keeps(x.name, x.retained) })
	const mostObjects = 100 // in JSON
	objects := retainedObjects(g, d, l, cmp.Or(l.top, mostObjects))
	switch l.format {
	case "json":
		return p.printJSON(newRetainedJSON(g, d, cut(l, groups), objects))
	case "csv":
		var rows [][]string
		for _, x := range cut(l, groups) {
			rows = append(rows, []string{x.name, strconv.FormatUint(x.Objects, 10), strconv.FormatUint(x.Bytes, 10), strconv.FormatUint(x.retained, 10)})
		}
		return p.writeCSV([]string{"type", "objects", "bytes", "retained_bytes"}, rows)
	}
	width, _ := screen.Size(p.stdout)
	return p.write(func(w io.Writer) error {
		writeRetained(w, width, l, g, d, cut(l, groups), objects)
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
func retainedObjects(g *heap.Graph, d *heap.Dominators, l *heapList, n int) []retainedObject {
	head := make([]heap.Object, g.Len()) // of the chain that an object is in; itself: it is the first
	chains := map[heap.Object]int{}      // objects in them without the first
	var list []retainedObject
	for o := range d.All {
		head[o] = o
		retained := d.Retained(o)
		if above := d.Dominator(o); above != heap.NoObject && g.Type(above) == g.Type(o) && 2*retained >= d.Retained(above) {
			head[o] = head[above]
			chains[head[o]]++
			continue
		}
		if len(list) == n && retained <= d.Retained(list[n-1].object) || !l.keeps(g.Types[g.Type(o)].String(), retained) {
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

func writeRetained(w io.Writer, width int, l *heapList, g *heap.Graph, d *heap.Dominators, groups []retainedGroup, objects []retainedObject) {
	if len(groups) == 0 {
		fmt.Fprintln(w, l.none("type", "retains"))
		return
	}
	fmt.Fprintln(w, "By type")
	t := &table{columns: []screen.Column{{Title: "retained", Right: true}, {Title: "objects", Right: true}, {Title: "bytes", Right: true, Rank: 1}, {Title: "type", Cut: true, Width: 20}}}
	for _, x := range groups {
		t.add(formats.SizeText(int64(x.retained)), strconv.FormatUint(x.Objects, 10), formats.SizeText(int64(x.Bytes)), l.name(x.name))
	}
	t.print(w, width)
	fmt.Fprintln(w, "\nBy object")
	if len(objects) == 0 {
		fmt.Fprintln(w, l.none("object", "retains"))
		return
	}
	t = &table{columns: []screen.Column{{Title: "retained", Right: true}, {Title: "bytes", Right: true, Rank: 1}, {Title: "address"}, {Title: "chain", Right: true, Rank: 2}, {Title: "type", Cut: true, Width: 20}}}
	for _, x := range objects {
		chain := ""
		if x.collapsed > 0 {
			chain = "of " + strconv.Itoa(x.collapsed+1)
		}
		t.add(formats.SizeText(int64(d.Retained(x.object))), formats.SizeText(int64(g.Space(x.object))), fmt.Sprintf("0x%x", g.Address(x.object)), chain, l.name(g.Types[g.Type(x.object)].String()))
	}
	t.print(w, width)
}

type retainedJSON struct {
	Complete    bool                 `json:"complete"`
	Unreachable countJSON            `json:"unreachable"`
	Groups      []retainedGroupJSON  `json:"groups"`
	Objects     []retainedObjectJSON `json:"objects"`
}

type retainedGroupJSON struct {
	Name string `json:"name"`
	countJSON
	Retained uint64 `json:"retained_bytes"`
}

type retainedObjectJSON struct {
	Address   string  `json:"address"`
	Name      string  `json:"name"`
	Bytes     uint64  `json:"bytes"`
	Retained  uint64  `json:"retained_bytes"`
	Dominator *string `json:"dominator"` // null: no single object
	Collapsed int     `json:"collapsed"`
}

func newRetainedJSON(g *heap.Graph, d *heap.Dominators, groups []retainedGroup, objects []retainedObject) *retainedJSON {
	x := &retainedJSON{Complete: g.Walk.Complete(), Unreachable: countJSON(g.Unreachable()), Groups: []retainedGroupJSON{}, Objects: []retainedObjectJSON{}}
	for _, r := range groups {
		x.Groups = append(x.Groups, retainedGroupJSON{r.name, countJSON(r.Count), r.retained})
	}
	for _, r := range objects {
		row := retainedObjectJSON{Address: fmt.Sprintf("0x%x", g.Address(r.object)), Name: g.Types[g.Type(r.object)].String(), Bytes: g.Space(r.object), Retained: d.Retained(r.object), Collapsed: r.collapsed}
		if above := d.Dominator(r.object); above != heap.NoObject {
			at := fmt.Sprintf("0x%x", g.Address(above))
			row.Dominator = &at
		}
		x.Objects = append(x.Objects, row)
	}
	return x
}
