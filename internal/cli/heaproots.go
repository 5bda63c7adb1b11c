package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/urfave/cli/v2"
)

func (p *program) heapRootsCommand() *cli.Command {
	return &cli.Command{
		Name:      "roots",
		Usage:     "why objects are alive: the shortest paths from the roots to them",
		ArgsUsage: "FILE TYPE|0xADDRESS",
		Description: `The paths to all objects of a type are merged: each line is a step, with the number of
objects at its end. --filter chooses paths by the types on them or what holds them. A
root is a static field, a local variable or parameter (stack), a handle, or the queue of
objects that wait for their finalizer.

Examples:
   gclog heap roots app.nettrace MyApp.Session
   gclog heap roots app.nettrace 0x7ef817c09918
   gclog heap roots app.nettrace MyApp.Session -o json`,
		Flags:  heapFlags(),
		Action: p.heapRoots,
	}
}

func (p *program) heapRoots(c *cli.Context) error {
	l, err := readHeapFlags(c)
	if err != nil {
		return err
	}
	if c.Args().Len() != 2 {
		return usagef("heap roots needs a file, and a type or an address (gclog heap roots --help shows what there is)")
	}
	g, _, err := p.readGraph(c.Args().First(), &l.assemblies)
	if err != nil {
		return err
	}
	targets, err := heapTargets(g, c.Args().Get(1))
	if err != nil {
		return err
	}
	list, unreachable := g.Paths().Merge(targets)
	l.minOf(g.Histogram().Total().Bytes)
	list = slices.DeleteFunc(list, func(b *heap.Branch) bool { return b.Targets.Bytes < l.min || !l.matchesPath(g, b) })
	switch l.format {
	case "json":
		return p.printJSON(struct {
			Complete    bool         `json:"complete"`
			Unreachable countJSON    `json:"unreachable"`
			Paths       []branchJSON `json:"paths"`
		}{g.Walk.Complete(), countJSON(unreachable), branchesJSON(g, cut(&l, list))})
	case "csv":
		var rows [][]string
		eachBranch(cut(&l, list), func(depth int, b *heap.Branch) {
			rows = append(rows, []string{strconv.Itoa(depth), b.Holder, g.Types[b.Type].String(), strconv.FormatUint(b.Targets.Objects, 10), strconv.FormatUint(b.Targets.Bytes, 10)})
		})
		return p.writeCSV([]string{"depth", "root", "type", "objects", "bytes"}, rows)
	}
	width, _ := screen.Size(p.stdout)
	return p.write(func(w io.Writer) error {
		if len(list) > 0 {
			writeBranches(w, width, &l, g, cut(&l, list))
		} else if l.narrows() {
			fmt.Fprintln(w, l.none("path", "leads to"))
		}
		if unreachable.Objects > 0 {
			fmt.Fprintf(w, "%s (%s) are reachable from no root: frozen, as string literals are\n", counted(unreachable.Objects, "object"), formats.SizeText(int64(unreachable.Bytes)))
		}
		return nil
	})
}

// matchesPath reports whether a type on the paths of a branch matches, or what holds them.
func (l *heapList) matchesPath(g *heap.Graph, top *heap.Branch) (found bool) {
	eachBranch([]*heap.Branch{top}, func(_ int, b *heap.Branch) {
		found = found || l.filter.MatchString(b.Holder) || l.matches(g.Types[b.Type].String())
	})
	return found
}

// heapTargets returns a function that reports whether an object is the one at an address, or of a
// type.
func heapTargets(g *heap.Graph, what string) (func(heap.Object) bool, error) {
	if text, ok := strings.CutPrefix(what, "0x"); ok {
		at, err := strconv.ParseUint(text, 16, 64)
		if err != nil {
			return nil, usagef("%s is not an address", what)
		}
		o, ok := g.At(at)
		if !ok {
			return nil, usagef("there is no object at %s%s", what, nearestObject(g, at))
		}
		return func(x heap.Object) bool { return x == o }, nil
	}
	of := make([]bool, len(g.Types))
	var names []string
	for i := range g.Types {
		exact := g.Types[i].String()
		of[i] = exact == what || heap.Readable(exact) == what
		names = append(names, g.Types[i].String())
	}
	if !slices.Contains(of, true) {
		return nil, usagef("there is no type %s%s", what, nearestTypes(what, names))
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
	return fmt.Sprintf(": %s 0x%x (%s)", word, g.Address(o), oneLine(g.Types[g.Type(o)].String()))
}

// nearestTypes proposes types for a name that none has, as the end of a sentence.
func nearestTypes(what string, names []string) string {
	var near []string
	for _, name := range spelling.Near(what, names) {
		if name = oneLine(shorten(name, 200)); len(near) < nearMost && !slices.Contains(near, name) {
			near = append(near, name)
		}
	}
	if len(near) == 0 {
		return ""
	}
	return ", did you mean " + strings.Join(near, " or ") + "?"
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

func writeBranches(w io.Writer, width int, l *heapList, g *heap.Graph, list []*heap.Branch) {
	const deepest = 16 // indents
	t := &table{columns: []screen.Column{{Title: "objects", Right: true}, {Title: "bytes", Right: true}, {Title: "path", Cut: true, Width: 20}}}
	eachBranch(list, func(depth int, b *heap.Branch) {
		name := strings.Repeat("  ", min(depth, deepest)) + l.name(g.Types[b.Type].String())
		if b.Holder != "" {
			name = clean(b.Holder) + ": " + name
		}
		if b.Repeated > 1 {
			name += fmt.Sprintf(" (a chain of up to %d)", b.Repeated)
		}
		t.add(strconv.FormatUint(b.Targets.Objects, 10), formats.SizeText(int64(b.Targets.Bytes)), name)
	})
	t.print(w, width)
}

type branchJSON struct {
	Root     string `json:"root,omitempty"` // of the first step
	Name     string `json:"name"`
	Repeated int    `json:"repeated"`
	countJSON
	Depth int `json:"depth"`
}

// branchesJSON lists the branches with their depth: nested JSON may be too deep for its readers.
func branchesJSON(g *heap.Graph, list []*heap.Branch) []branchJSON {
	rows := []branchJSON{}
	eachBranch(list, func(depth int, b *heap.Branch) {
		rows = append(rows, branchJSON{b.Holder, g.Types[b.Type].String(), b.Repeated, countJSON(b.Targets), depth})
	})
	return rows
}
