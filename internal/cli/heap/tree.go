package heap

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) treeCommand() *cli.Command {
	return &cli.Command{
		Name:      "tree",
		Usage:     "what retains what: the dominator tree, from the roots down",
		ArgsUsage: "FILE",
		Description: `Below each object is what only it keeps alive. Objects of one type are one line if they
are small, or many; so is a list. What retains less than 1 % is left out (--min). With
--filter the tree begins with the objects whose type matches: what do sessions retain?

Examples:
   gclog heap tree app.nettrace
   gclog heap tree app.nettrace --depth 3 --min 5%
   gclog heap tree app.nettrace --filter '^MyApp\.Session$'
   gclog heap tree app.nettrace -f json | jq '.tree[0].below'`,
		Flags: fileFlags(
			&cli.IntFlag{Name: "depth", Value: 10, Usage: "list at most `N` levels, 1 to 100"},
		),
		Action: results.Action(p.Run, results.Lists, p.tree),
	}
}

const (
	treeShare = 0.01  // the default of --min
	treeDepth = 100   // readers of JSON have limits
	treeNodes = 10000 // of a whole tree
)

func (p *commands) tree(c *cli.Context, how string) error {
	depth := c.Int("depth")
	if depth < 1 || depth > treeDepth {
		return exit.Usagef("--depth %d: it must be from 1 to %d", depth, treeDepth)
	}
	h, d, err := p.readReachable(c, how, treeShare)
	if err != nil {
		return err
	}
	r := treeReport{reachableHeap: h}
	var from func(heap.Object) bool
	if c.String("filter") != "" {
		matches := make([]bool, len(r.g.Types))
		for i := range r.g.Types {
			matches[i] = r.matches(r.g.Types[i].String())
		}
		from = func(o heap.Object) bool { return matches[r.g.Type(o)] }
	}
	r.root = d.Tree(r.g.Paths(), from, heap.TreeLimits{Depth: depth, Least: r.Min, Siblings: r.top, Nodes: treeNodes})
	switch r.format {
	case "json":
		return p.PrintJSON(r.json())
	case "csv":
		type row struct {
			depth int
			*heap.TreeNode
		}
		var rows []row
		r.each(func(depth int, n *heap.TreeNode) { rows = append(rows, row{depth, n}) }, func(int, *heap.TreeNode) {})
		return lists.PrintCSV(p.Run, []lists.Column[row]{
			{CSV: "depth", Value: func(x *row) any { return x.depth }},
			{CSV: "address", Value: func(x *row) any { return addressOf(r.g, x.Object) }},
			{CSV: "root", Value: func(x *row) any { return x.Holder }},
			{CSV: "type", Value: func(x *row) any { return r.g.Types[x.Type].String() }},
			{CSV: "objects", Value: func(x *row) any { return x.Objects }},
			{CSV: "bytes", Value: func(x *row) any { return x.Bytes }},
			{CSV: "retained_bytes", Value: func(x *row) any { return x.Retained }},
		}, rows)
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		r.write(w, width)
		return nil
	})
}

// A treeReport prints a dominator tree.
type treeReport struct {
	*reachableHeap
	root *heap.TreeNode
}

// each calls f for each node below the root, those above before those below, and after the last one
// below each node for what is left out there.
func (r *treeReport) each(f func(depth int, n *heap.TreeNode), rest func(depth int, n *heap.TreeNode)) {
	type step struct {
		depth int
		n     *heap.TreeNode
		rest  bool
	}
	todo := []step{{-1, r.root, false}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if s.rest {
			rest(s.depth, s.n)
			continue
		}
		if s.depth >= 0 {
			f(s.depth, s.n)
		}
		if s.n.Others.Objects > 0 {
			todo = append(todo, step{s.depth + 1, s.n, true})
		}
		for _, b := range slices.Backward(s.n.Below) {
			todo = append(todo, step{s.depth + 1, b, false})
		}
	}
}

func (r *treeReport) write(w io.Writer, width int) {
	fmt.Fprintf(w, "%s in %s are reachable\n",
		view.Counted(r.reachable.Objects, "object"), formats.SizeText(int64(r.reachable.Bytes)))
	if len(r.root.Below) == 0 {
		fmt.Fprintln(w, r.none("object", "retains"))
		return
	}
	t := &view.Table{Columns: []screen.Column{
		{Title: "retained", Right: true},
		{Title: "share", Right: true, Rank: 1},
		{Title: "objects", Right: true},
		{Title: "type", Cut: true, Width: 20},
	}}
	const deepest = 30 // indents
	row := func(depth int, objects, retained uint64, text string) {
		share := fmt.Sprintf("%.1f %%", 100*r.shareOf(retained))
		t.Add(formats.SizeText(int64(retained)), share, strconv.FormatUint(objects, 10),
			strings.Repeat("  ", min(depth, deepest))+text)
	}
	r.each(func(depth int, n *heap.TreeNode) {
		text := r.name(r.g.Types[n.Type].String())
		if n.Holder != "" {
			text = view.Clean(n.Holder) + ": " + text
		}
		switch {
		case n.Repeated > 1:
			text += fmt.Sprintf(" (a chain of up to %d)", n.Repeated)
		case n.Object != heap.NoObject:
			text += fmt.Sprintf(" 0x%x", r.g.Address(n.Object))
		}
		row(depth, n.Objects, n.Retained, text)
	}, func(depth int, n *heap.TreeNode) {
		if n.Others.Retained >= r.Min {
			row(depth, n.Others.Objects, n.Others.Retained, "others")
		}
	})
	t.Print(w, width)
}

type treeJSON struct {
	Complete  bool           `json:"complete"`
	Reachable countJSON      `json:"reachable"`
	Least     uint64         `json:"least_bytes"`
	Tree      []treeNodeJSON `json:"tree"`
	Others    treeRestJSON   `json:"others"`
}

type treeNodeJSON struct {
	Address  string         `json:"address,omitempty"` // of a single object, or the first one of a chain
	Name     string         `json:"name"`
	Objects  uint64         `json:"objects"`
	Repeated int            `json:"repeated"`
	Bytes    uint64         `json:"bytes"`
	Retained uint64         `json:"retained_bytes"`
	Root     string         `json:"root,omitempty"`
	Below    []treeNodeJSON `json:"below"`
	Others   treeRestJSON   `json:"others"`
}

// treeRestJSON is what the tree leaves out: objects without those that they dominate.
type treeRestJSON struct {
	Objects  uint64 `json:"objects"`
	Retained uint64 `json:"retained_bytes"`
}

func (r *treeReport) json() *treeJSON {
	root := r.nodeJSON(r.root)
	return &treeJSON{
		Complete:  r.g.Walk.Complete(),
		Reachable: countJSON(r.reachable),
		Least:     r.Min,
		Tree:      root.Below,
		Others:    root.Others,
	}
}

// nodeJSON is recursive: --depth limits the tree.
func (r *treeReport) nodeJSON(n *heap.TreeNode) treeNodeJSON {
	x := treeNodeJSON{
		Address: addressOf(r.g, n.Object), Objects: n.Objects, Repeated: n.Repeated, Bytes: n.Bytes,
		Retained: n.Retained, Root: n.Holder, Below: []treeNodeJSON{}, Others: treeRestJSON(n.Others),
	}
	if n != r.root {
		x.Name = r.g.Types[n.Type].String()
	}
	for _, b := range n.Below {
		x.Below = append(x.Below, r.nodeJSON(b))
	}
	return x
}
