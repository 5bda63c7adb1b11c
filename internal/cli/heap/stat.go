package heap

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) statCommand() *cli.Command {
	return &cli.Command{
		Name:      "stat",
		Aliases:   []string{"histo"},
		Usage:     "count the objects of each type",
		ArgsUsage: "FILE|PID|NAME",
		Description: `Reads the file once, in little memory. Given a process, it takes a snapshot, which
pauses the program (gclog heap snapshot --help), and writes no file. Bytes are rounded up
to the pointer size, as the heap is; raw_bytes in JSON are not. Generations are those
before the collection of the snapshot, which has promoted what is left.

Examples:
   gclog heap stat app.nettrace
   gclog heap stat 4711                            of a running process
   gclog heap stat app.nettrace --by generation
   gclog heap stat app.nettrace --assemblies /app  with the outer classes of types
   gclog heap stat app.nettrace --filter '^MyApp\.' --min 1M
   gclog heap stat app.nettrace -f json | jq '.types[0]'`,
		Flags: flags.Join(subject.Flags(), fileFlags(
			&cli.StringFlag{
				Name:  "by",
				Value: "type",
				Usage: "`WHAT` to count by: type, module, namespace or generation",
			},
		)),
		Action: results.Action(p.Run, results.Lists, p.stat),
	}
}

// A statRow is a line of heap stat: a type, or a group of types.
type statRow struct {
	name   string
	module uint64
	heap.TypeCount
}

// statGCPercent keeps the memory of heap stat small: it allocates little.
const statGCPercent = 40

func (p *commands) stat(c *cli.Context, how string) error {
	l, err := readHeapFlags(c, how)
	if err != nil {
		return err
	}
	by := c.String("by")
	switch by {
	case "type", "module", "namespace", "generation":
	default:
		return exit.Usagef("--by %s: it must be type, module, namespace or generation", by)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(statGCPercent))
	h, err := p.histogram(c, &l)
	if h == nil {
		return err
	}
	l.MinOf(h.Total().Bytes)
	rows := statRows(h, by)
	rows = slices.DeleteFunc(rows, func(r statRow) bool { return !l.keeps(r.name, r.Bytes) })
	shown := lists.Cut(rows, l.top)
	columns := statColumns(h, &l, by)
	var written error
	switch l.format {
	case "json":
		written = p.PrintJSON(newStatJSON(h, by, lists.Objects(columns, shown)))
	case "csv":
		written = lists.PrintCSV(p.Run, columns, shown)
	default:
		width, _ := screen.Size(p.Unfiltered)
		written = p.Write(func(w io.Writer) error {
			writeStatHead(w, h, &l, by, len(shown), len(rows))
			if len(rows) > 0 {
				lists.TableOf(columns, shown).Print(w, width)
			}
			return nil
		})
	}
	return cmp.Or(err, written)
}

// histogram returns the counts of the file or of the process that the arguments name.
func (p *commands) histogram(c *cli.Context, l *selection) (*heap.Histogram, error) {
	files, ch, err := subject.Whole(c, c.Args().Slice())
	switch {
	case err != nil:
		return nil, err
	case len(files) == 0 && ch.Made():
		ctx, _, release := p.Signals(c.Context)
		defer release()
		return p.histogramOf(ctx, ch, usualSocket(c), &l.naming)
	}
	name, err := fileOf(c)
	if err != nil {
		return nil, err
	}
	return p.readHistogram(name, &l.naming)
}

// statRows counts the objects of a heap by type, module, namespace or generation.
func statRows(h *heap.Histogram, by string) (rows []statRow) {
	switch by {
	case "type":
		rows = rowsByType(h, true, (*heap.Type).String)
	case "module":
		rows = rowsByType(h, false, func(t *heap.Type) string { return h.Modules.Base(t.Module) })
	case "namespace":
		rows = rowsByType(h, false, namespace)
	case "generation":
		return rowsByGeneration(h)
	}
	slices.SortStableFunc(rows, func(a, b statRow) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return rows
}

// namespace returns the namespace of a type. Without its assembly a nested type has none.
func namespace(t *heap.Type) string {
	name := t.String()
	if i := strings.IndexAny(name, "[<+"); i >= 0 {
		name = name[:i]
	}
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		return name[:i]
	}
	return "(none, or of a nested type)"
}

// rowsByType groups the types by name. Types of different modules with the same name are different
// types.
func rowsByType(h *heap.Histogram, modules bool, name func(*heap.Type) string) (rows []statRow) {
	type key struct {
		name   string
		module uint64
		token  uint32
		layout uint64 // the id of a type that shares its name with others of its module
	}
	index := map[key]int{}
	for i := range h.Types {
		if h.Counts[i].Objects == 0 {
			continue
		}
		k := key{name: name(&h.Types[i])}
		if modules {
			k.module, k.token = h.Types[i].Module, h.Types[i].Token
			if h.Types[i].Layout != 0 {
				k.layout = h.Types[i].ID
			}
		}
		at, ok := index[k]
		if !ok {
			at = len(rows)
			index[k] = at
			rows = append(rows, statRow{name: k.name, module: k.module})
		}
		rows[at].Merge(&h.Counts[i])
	}
	return rows
}

func rowsByGeneration(h *heap.Histogram) (rows []statRow) {
	for g := range heap.UnknownGeneration + 1 {
		row := statRow{name: g.String()}
		for i := range h.Counts {
			row.Objects += h.Counts[i].Generations[g].Objects
			row.Bytes += h.Counts[i].Generations[g].Bytes
		}
		if row.Objects > 0 {
			rows = append(rows, row)
		}
	}
	return rows
}

func writeStatHead(w io.Writer, h *heap.Histogram, l *selection, by string, shown, all int) {
	total := h.Total()
	if !h.Walk.Complete() {
		fmt.Fprint(w, "at least ")
	}
	fmt.Fprintf(w, "%s in %s", view.Counted(total.Objects, "object"), formats.SizeText(int64(total.Bytes)))
	if by == "type" && all > shown {
		fmt.Fprint(w, "; ", firstOf(shown, all))
	}
	fmt.Fprintln(w)
	if all == 0 {
		fmt.Fprintln(w, l.none(by, "has"))
	}
}

// statColumns are the columns of heap stat.
func statColumns(h *heap.Histogram, l *selection, by string) []lists.Column[statRow] {
	total, name := h.Total(), view.Clean
	if by == "type" {
		name = l.name
	}
	list := []lists.Column[statRow]{
		lists.Names(by, by, "name", name, func(r *statRow) string { return r.name }),
		lists.Count("objects", "objects", "objects", func(r *statRow) uint64 { return r.Objects }),
		lists.Size("bytes", "bytes", "bytes", func(r *statRow) uint64 { return r.Bytes }),
		{Column: screen.Column{Title: "share", Right: true, Rank: 1}, Text: func(r *statRow) string {
			if total.Bytes == 0 {
				return "-"
			}
			return fmt.Sprintf("%.1f %%", 100*float64(r.Bytes)/float64(total.Bytes))
		}},
	}
	if by == "generation" { // whose raw bytes are not counted
		return list
	}
	add := func(c lists.Column[statRow]) { list = append(list, c) }
	add(lists.Column[statRow]{
		CSV:    "raw_bytes",
		JSON:   "raw_bytes",
		Sparse: true,
		Value:  func(r *statRow) any { return r.RawBytes },
	})
	if by == "type" {
		add(lists.Column[statRow]{CSV: "module", JSON: "module", Value: func(r *statRow) any { return r.moduleIn(h) }})
	}
	add(lists.Column[statRow]{
		JSON:  "generations",
		Value: func(r *statRow) any { return newGenerationsJSON(&r.Generations) },
	})
	return list
}

// moduleIn returns the module of a type: its path, or else its id, or "" if it is unknown.
func (r *statRow) moduleIn(h *heap.Histogram) string {
	if r.module == 0 {
		return ""
	}
	return cmp.Or(h.Modules[r.module], fmt.Sprintf("0x%x", r.module))
}

type countJSON struct {
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

type statJSON struct {
	countJSON
	RawBytes    uint64         `json:"raw_bytes"`
	Unreachable *countJSON     `json:"unreachable"` // null: one pass cannot know it
	Complete    bool           `json:"complete"`
	Types       []lists.Object `json:"types,omitzero"`
	Groups      []lists.Object `json:"groups,omitzero"` // with --by
}

// generationsJSON has either all generations, or Unknown.
type generationsJSON struct {
	Gen0    *countJSON `json:"gen0,omitempty"`
	Gen1    *countJSON `json:"gen1,omitempty"`
	Gen2    *countJSON `json:"gen2,omitempty"`
	LOH     *countJSON `json:"loh,omitempty"`
	POH     *countJSON `json:"poh,omitempty"`
	Frozen  *countJSON `json:"frozen,omitempty"`
	Unknown *countJSON `json:"unknown,omitempty"`
}

func newGenerationsJSON(n *[heap.UnknownGeneration + 1]heap.Count) *generationsJSON {
	of := func(g heap.Generation) *countJSON {
		c := countJSON(n[g])
		return &c
	}
	if n[heap.UnknownGeneration].Objects > 0 {
		return &generationsJSON{Unknown: of(heap.UnknownGeneration)}
	}
	return &generationsJSON{
		Gen0:   of(heap.Gen0),
		Gen1:   of(heap.Gen1),
		Gen2:   of(heap.Gen2),
		LOH:    of(heap.LOH),
		POH:    of(heap.POH),
		Frozen: of(heap.Frozen),
	}
}

func newStatJSON(h *heap.Histogram, by string, rows []lists.Object) *statJSON {
	total := h.Total()
	x := &statJSON{countJSON: countJSON(total.Count), RawBytes: total.RawBytes, Complete: h.Walk.Complete()}
	if h.Unreachable != nil {
		n := countJSON(*h.Unreachable)
		x.Unreachable = &n
	}
	if by == "type" {
		x.Types = rows
	} else {
		x.Groups = rows
	}
	return x
}
