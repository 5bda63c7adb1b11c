package heap

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) rootsCommand() *cli.Command {
	return &cli.Command{
		Name:      "roots",
		Usage:     "why objects are alive: the shortest paths from the roots to them",
		ArgsUsage: "FILE TYPE|0xADDRESS",
		Description: `The shortest paths to all objects of a type are merged: each line is a step, with the
number of objects at its end. If objects are kept alive by several roots, all of these are
listed after that, each with the shortest path from it and the number of objects that it
reaches. --filter chooses paths by the types on them or what holds them. A root is a
static field, a local variable or parameter (stack), a handle, or the queue of objects that
wait for their finalizer.

Examples:
   gclog heap roots app.nettrace MyApp.Session
   gclog heap roots app.nettrace 0x7ef817c09918
   gclog heap roots app.nettrace MyApp.Session -f json`,
		Flags:  fileFlags(),
		Action: results.Action(p.Run, results.Lists, p.roots),
	}
}

func (p *commands) roots(c *cli.Context, how string) error {
	l, err := readHeapFlags(c, how)
	if err != nil {
		return err
	}
	if c.Args().Len() != 2 {
		return exit.Usagef(
			"heap roots needs a file, and a type or an address: see gclog heap roots --help")
	}
	g, _, err := p.readGraph(c.Args().First(), &l.naming)
	if err != nil {
		return err
	}
	targets, err := targetsOf(g, c.Args().Get(1))
	if err != nil {
		return err
	}
	paths := g.Paths()
	list, unreachable := paths.Merge(targets)
	roots := newRootSet(paths, targets, list)
	l.MinOf(g.Histogram().Total().Bytes)
	list = slices.DeleteFunc(list, func(b *heap.Branch) bool { return b.Targets.Bytes < l.Min || !l.matchesPath(g, b) })
	roots.narrow(&l, g)
	switch l.format {
	case "json":
		return p.PrintJSON(struct {
			Complete    bool           `json:"complete"`
			Unreachable countJSON      `json:"unreachable"`
			Paths       []branchJSON   `json:"paths"`
			Roots       []rootPathJSON `json:"roots"`
			MoreRoots   int            `json:"more_roots"`
		}{
			g.Walk.Complete(), countJSON(unreachable.Count), branchesJSON(g, lists.Cut(list, l.top)),
			rootsJSON(g, lists.Cut(roots.list, l.top)), roots.all - len(lists.Cut(roots.list, l.top)),
		})
	case "csv":
		return lists.PrintCSV(p.Run, []lists.Column[branchJSON]{
			{CSV: "depth", Value: func(b *branchJSON) any { return b.Depth }},
			{CSV: "root", Value: func(b *branchJSON) any { return b.Root }},
			{CSV: "type", Value: func(b *branchJSON) any { return b.Name }},
			{CSV: "objects", Value: func(b *branchJSON) any { return b.Objects }},
			{CSV: "bytes", Value: func(b *branchJSON) any { return b.Bytes }},
		}, branchesJSON(g, lists.Cut(list, l.top)))
	}
	width, _ := screen.Size(p.Unfiltered)
	top := rootRows
	if c.IsSet("top") {
		top = l.top
	}
	return p.Write(func(w io.Writer) error {
		if len(list) > 0 {
			writeBranches(w, width, &l, g, lists.Cut(list, l.top))
		} else if l.narrows() {
			fmt.Fprintln(w, l.none("path", "leads to"))
		}
		if roots.several && len(roots.list) > 1 {
			roots.write(w, width, &l, g, top)
		}
		if unreachable.Objects > 0 {
			fmt.Fprintf(w, "%s (%s) are reachable from no root: %s\n", view.Counted(unreachable.Objects, "object"),
				formats.SizeText(int64(unreachable.Bytes)), whyUnreachable(&unreachable))
		}
		return nil
	})
}

// whyUnreachable says why objects are in a snapshot that are reachable from no root. Only their
// generations show it.
func whyUnreachable(n *heap.TypeCount) string {
	switch frozen := n.Generations[heap.Frozen].Objects; {
	case frozen == n.Objects:
		return "frozen, as string literals are"
	case n.Generations[heap.UnknownGeneration].Objects == n.Objects:
		return "frozen, as string literals are, or dead; the snapshot has no generations, which would say so"
	case frozen == 0:
		return "they are dead, or the snapshot lacks what holds them"
	default:
		return fmt.Sprintf(
			"%d are frozen, as string literals are; the others are dead, or the snapshot lacks what holds them", frozen)
	}
}

// matchesPath reports whether a type on the paths of a branch matches, or what holds them.
func (l *selection) matchesPath(g *heap.Graph, top *heap.Branch) (found bool) {
	eachBranch([]*heap.Branch{top}, func(_ int, b *heap.Branch) {
		found = found || l.filter.MatchString(b.Holder) || l.matches(g.Types[b.Type].String())
	})
	return found
}

// targetsOf returns a function that reports whether an object is the one at an address, or of a
// type.
func targetsOf(g *heap.Graph, what string) (func(heap.Object) bool, error) {
	if text, ok := strings.CutPrefix(what, "0x"); ok {
		at, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return nil, exit.Usagef("%s is not an address", what)
		}
		o, ok := g.At(at)
		if !ok {
			return nil, exit.Usagef("there is no object at %s%s", what, nearestObject(g, at))
		}
		return func(x heap.Object) bool { return x == o }, nil
	}
	of := make([]bool, len(g.Types))
	var names []string
	for i := range g.Types {
		exact := g.Types[i].String()
		of[i] = exact == what || heap.Readable(exact) == what || g.Types[i].Layout != 0 && g.Types[i].Name == what
		names = append(names, g.Types[i].String())
	}
	if !slices.Contains(of, true) {
		return nil, exit.Usagef("there is no type %s%s", what, nearestTypes(what, names))
	}
	return func(x heap.Object) bool { return of[g.Type(x)] }, nil
}

// nearestObject proposes an object for an address where none begins, as the end of a sentence.
func nearestObject(g *heap.Graph, at uint64) string {
	o, ok := g.Nearest(at)
	if !ok {
		return ""
	}
	word := "the nearest one is"
	if first := g.Address(o); at > first && at-first < g.Size(o) {
		word = "it is inside"
	}
	return fmt.Sprintf(": %s 0x%x (%s)", word, g.Address(o), view.OneLine(g.Types[g.Type(o)].String()))
}

// nearestTypes proposes types for a name that none has, as the end of a sentence: those with that name
// and another namespace or outer class, then those with a similar one.
func nearestTypes(what string, names []string) string {
	bySimple := map[string][]string{}
	for _, name := range names {
		simple := strings.ToLower(simpleName(name))
		bySimple[simple] = append(bySimple[simple], name)
	}
	for _, same := range bySimple { // arrays last
		slices.SortStableFunc(same, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	}
	wanted := strings.ToLower(simpleName(what))
	list := append(slices.Clone(bySimple[wanted]), spelling.Near(what, names)...)
	for _, simple := range spelling.Near(wanted, slices.Sorted(maps.Keys(bySimple))) {
		list = append(list, bySimple[simple]...)
	}
	var near []string
	for _, name := range list {
		if name = view.OneLine(view.Shorten(name, 200)); len(near) < subject.NearMost && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	if len(near) == 0 {
		return " (gclog heap stat lists those that there are)"
	}
	return ", did you mean " + strings.Join(near, " or ") + "?"
}

// simpleName returns the name of a type without namespace, outer classes, generic arguments and what
// makes an array of it.
func simpleName(name string) string {
	if end := strings.IndexAny(name, "<[`"); end > 0 { // <> begins names of the compiler
		name = name[:end]
	}
	return name[strings.LastIndexAny(name, ".+")+1:]
}

// eachBranch calls f for each branch, those above before those below. Nothing is recursive: the
// paths of a program decide the depth.
func eachBranch(list []*heap.Branch, f func(depth int, b *heap.Branch)) {
	type step struct {
		depth int
		b     *heap.Branch
	}
	var todo []step
	push := func(depth int, list []*heap.Branch) {
		for _, b := range slices.Backward(list) {
			todo = append(todo, step{depth, b})
		}
	}
	for push(0, list); len(todo) > 0; {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		f(x.depth, x.b)
		push(x.depth+1, x.b.Below)
	}
}

func pathTable() *view.Table {
	return &view.Table{Columns: []screen.Column{
		{Title: "objects", Right: true}, {Title: "bytes", Right: true}, {Title: "path", Cut: true, Width: 20},
	}}
}

// eventText returns the event for which an object of a type refers to another one, as the end of its
// line; "" if it is for none.
func eventText(g *heap.Graph, typ, referred int) string {
	if event := g.EventOf(typ, referred); event != "" {
		return " (event " + view.Clean(event) + ")"
	}
	return ""
}

func writeBranches(w io.Writer, width int, l *selection, g *heap.Graph, list []*heap.Branch) {
	const deepest = 16 // indents
	t := pathTable()
	var above []int // types of the branches above
	eachBranch(list, func(depth int, b *heap.Branch) {
		name := strings.Repeat("  ", min(depth, deepest)) + l.name(g.Types[b.Type].String())
		if b.Holder != "" {
			name = view.Clean(b.Holder) + ": " + name
		}
		above = append(above[:depth], b.Type)
		if depth > 0 && b.Holder == "" {
			name += eventText(g, above[depth-1], b.Type)
		}
		if b.Repeated > 1 {
			name += fmt.Sprintf(" (a chain of up to %d)", b.Repeated)
		}
		t.Add(strconv.FormatUint(b.Targets.Objects, 10), formats.SizeText(int64(b.Targets.Bytes)), name)
	})
	t.Print(w, width)
}

// rootSet are all roots of a set of objects.
type rootSet struct {
	list    []heap.RootPath
	all     int
	objects uint64 // that are reachable
	several bool   // some of them have more than one root
}

// newRootSet finds the roots of objects, the merged paths to which are known.
func newRootSet(p *heap.Paths, targets func(heap.Object) bool, merged []*heap.Branch) *rootSet {
	r := &rootSet{}
	r.list, r.all = p.Roots(targets)
	var each uint64
	for i := range r.list {
		each += r.list[i].Targets.Objects
	}
	for _, b := range merged {
		r.objects += b.Targets.Objects
	}
	r.several = each > r.objects
	return r
}

// narrow leaves out what the flags leave out.
func (r *rootSet) narrow(l *selection, g *heap.Graph) {
	before := len(r.list)
	r.list = slices.DeleteFunc(r.list, func(x heap.RootPath) bool {
		matches := l.filter.MatchString(x.Holder.String()) ||
			slices.ContainsFunc(x.Path, func(s heap.Step) bool { return l.matches(g.Types[s.Type].String()) })
		return x.Targets.Bytes < l.Min || !matches
	})
	r.all -= before - len(r.list)
}

// rootRows is how many roots a table has unless --top says otherwise: in many programs nearly
// everything can be reached from hundreds, which have most of the path in common.
const rootRows = 5

func (r *rootSet) write(w io.Writer, width int, l *selection, g *heap.Graph, top int) {
	shown, which, them := r.list[:min(len(r.list), top)], fmt.Sprintf("All %d", r.all), "them"
	switch n := len(shown); {
	case n == r.all:
	case n == 1:
		which = fmt.Sprintf("The first of %d", r.all)
	default:
		which = fmt.Sprintf("The first %d of %d", n, r.all)
	}
	if r.objects == 1 {
		them = "it"
	}
	fmt.Fprintf(w, "\nSeveral roots keep %s alive. %s, with the shortest path from each:\n", them, which)
	t := pathTable()
	for _, x := range shown {
		objects, bytes := strconv.FormatUint(x.Targets.Objects, 10), formats.SizeText(int64(x.Targets.Bytes))
		for _, step := range pathSteps(&l.naming, g, x.Holder, x.Path) {
			t.Add(objects, bytes, strings.Repeat("  ", step.indent)+step.text)
			objects, bytes = "", ""
		}
	}
	t.Print(w, width)
}

// A pathStep is a line of a path.
type pathStep struct {
	indent int
	text   string
}

// pathSteps returns the lines of a path: what holds it, with the first step, and then a line for each
// further step.
func pathSteps(n *naming, g *heap.Graph, h heap.Holder, path []heap.Step) (list []pathStep) {
	if len(path) == 0 {
		return nil
	}
	first, omitted, last := middle(path)
	step := func(indent, at int) {
		x := path[at]
		text := n.name(g.Types[x.Type].String())
		if at == 0 {
			text = view.Clean(h.String()) + ": " + text
		} else {
			text += eventText(g, path[at-1].Type, x.Type)
		}
		if x.Repeated > 1 {
			text += fmt.Sprintf(" (a chain of %d)", x.Repeated)
		}
		list = append(list, pathStep{indent, text})
	}
	for i := range first {
		step(i, i)
	}
	if omitted > 0 {
		list = append(list, pathStep{len(first), fmt.Sprintf("... %s ...", view.Counted(uint64(omitted), "step"))})
	}
	for i := range last {
		step(len(first)+1+i, len(first)+omitted+i)
	}
	return list
}

// pathEnd is how many steps at the beginning and at the end of a path are printed.
const pathEnd = 6

// middle splits a path that is too long for its readers.
func middle[T any](path []T) (first []T, omitted int, last []T) {
	if len(path) <= 2*pathEnd {
		return path, 0, nil
	}
	end := len(path) - pathEnd
	return path[:pathEnd], end - pathEnd, path[end:]
}

type rootPathJSON struct {
	Root   string `json:"root"`
	Kind   string `json:"kind"`
	Static string `json:"static,omitempty"`
	Method string `json:"method,omitempty"`
	countJSON
	Path []stepJSON `json:"path"`
}

func rootsJSON(g *heap.Graph, list []heap.RootPath) []rootPathJSON {
	rows := []rootPathJSON{}
	for _, x := range list {
		row := rootPathJSON{
			Root:      x.Holder.String(),
			Kind:      x.Holder.Kind(),
			Method:    x.Holder.Method,
			countJSON: countJSON(x.Targets),
		}
		if x.Holder.Static != nil {
			row.Static = x.Holder.Name()
		}
		for _, s := range x.Path {
			row.Path = append(row.Path, stepJSON{addressOf(g, s.Object), g.Types[s.Type].String(), s.Repeated, ""})
		}
		addEvents(g, row.Path, x.Path)
		rows = append(rows, row)
	}
	return rows
}

// addEvents adds the events to the steps of a path.
func addEvents(g *heap.Graph, steps []stepJSON, path []heap.Step) {
	for i := 1; i < len(path); i++ {
		steps[i].Event = g.EventOf(path[i-1].Type, path[i].Type)
	}
}

type branchJSON struct {
	Root     string `json:"root,omitempty"` // of the first step
	Name     string `json:"name"`
	Event    string `json:"event,omitempty"` // of the step above
	Repeated int    `json:"repeated"`
	countJSON
	Depth int `json:"depth"`
}

// branchesJSON lists the branches with their depth: nested JSON may be too deep for its readers.
func branchesJSON(g *heap.Graph, list []*heap.Branch) []branchJSON {
	rows := []branchJSON{}
	var above []int
	eachBranch(list, func(depth int, b *heap.Branch) {
		above = append(above[:depth], b.Type)
		row := branchJSON{
			Root:      b.Holder,
			Name:      g.Types[b.Type].String(),
			Repeated:  b.Repeated,
			countJSON: countJSON(b.Targets),
			Depth:     depth,
		}
		if depth > 0 && b.Holder == "" {
			row.Event = g.EventOf(above[depth-1], b.Type)
		}
		rows = append(rows, row)
	})
	return rows
}
