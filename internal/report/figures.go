package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// A page shows tables, of the numbers of each chart and of the collections, until its scripts have run,
// and where they cannot. A script replaces both.

// A Figure is the place of a chart.
type Figure struct {
	Name    string // of the chart in charts.js
	Table   Grid
	Missing string // why there is no chart, instead of Table
	Lacking string // series that are not recorded, and where they are
}

const (
	staticRows        = 20  // of a chart
	staticCollections = 100 // pageRows in gctable.js: a page of them
)

// A line is a series of a chart.
type line struct{ key, title string }

// The series of the charts: those of charts.js.
var (
	heapLines = []line{
		{"heap.after", "after"},
		{"heap.peak", "before"},
		{"heap.committed", "committed"},
		{"process.memory.rss", "RSS"},
		{"process.cgroup.memory.usage", "cgroup"},
		{"process.cgroup.memory.limit", "cgroup limit"},
	}
	balanceLines = []line{
		{"imbalance.gen0", "gen0: most objects of a heap ÷ mean"},
		{"imbalance.survived", "survivors: most of a heap ÷ mean"},
	}
)

// generationLines returns a series for each generation.
func generationLines(of string) (list []line) {
	for g := range gclog.Generations {
		name := gclog.GenerationName(g)
		list = append(list, line{name + of, cmp.Or(map[string]string{"loh": "LOH", "poh": "POH"}[name], name)})
	}
	return list
}

// figures fills in the charts as tables, and why some of them are empty.
func (d *Data) figures(in *Input) {
	t := in.Records.gcs
	d.Figures = map[string]*Figure{"pauses": pausesFigure(in), "background": backgroundFigure(in)}
	for _, c := range []struct {
		name      string
		lines     []line
		what      string   // is shown
		contained []string // formats of logs that have it; nil: all
	}{
		{"heap", heapLines, "the size of the heap", nil},
		{"generations", generationLines(".after"), "the sizes of the generations", []string{"json", "csv", "unified"}},
		{"budgets", generationLines(".budget"), "allocation budgets", []string{"json"}},
		{
			"allocation",
			[]line{{"alloc_rate.bytes_per_s", "allocated per second while the program ran"}},
			"the allocation rate",
			[]string{"json"},
		},
		{"balance", balanceLines, "the balance of the heaps", []string{"json"}},
	} {
		f := &Figure{Name: c.name, Table: d.series(t, c.lines)}
		switch {
		case len(f.Table.Rows) > 0:
		case c.name == "allocation" && t.rows() == 1:
			f.Missing = "The allocation rate needs two collections."
		case c.name == "balance" && in.Process.HeapCount == 1:
			f.Missing = "There is one heap: only server GC has several."
		default:
			f.Missing = in.missing(c.what, c.contained)
		}
		d.Figures[c.name] = f
	}
	heap := d.Figures["heap"]
	if heap.Missing == "" {
		if in.Process.HasLimits && in.Process.Limits.HardLimit > 0 {
			limit := view.Text(float64(in.Process.Limits.HardLimit), "bytes")
			heap.Table.Rows = append(heap.Table.Rows, []string{"hard limit", limit, limit, limit, limit})
		}
		heap.Lacking = lacking(t)
	}
	d.NoConditions = in.noConditions()
	d.Static = staticTable(in)
}

// missing returns why no collection has something.
func (in *Input) missing(what string, contained []string) string {
	switch {
	case in.Records.gcs.rows() == 0:
		return "No collection was recorded."
	case in.Format != "" && contained != nil && !slices.Contains(contained, in.Format):
		return fmt.Sprintf("Logs in %s do not contain %s: recordings and logs in json do.", in.Format, what)
	}
	return fmt.Sprintf("None of the collections reports %s.", what)
}

// noConditions returns why there are no conditions for which generations were condemned.
func (in *Input) noConditions() string {
	if n := in.Records.condemned; n > 0 {
		return fmt.Sprintf("Conditions are recorded for %s; none was met.", plural(n, "collection"))
	}
	return in.missing("why a generation was condemned", []string{"json"})
}

// lacking says which of the sizes of the process and of the heap are not recorded.
func lacking(t *table) string {
	rss, committed := t.knows("process.memory.rss"), t.knows("heap.committed")
	switch {
	case !rss && !committed:
		return "Not recorded: RSS and committed. Live sessions and their logs in json and csv have the memory of the " +
			"process; .NET 8 and later report what is committed."
	case !rss:
		return "Not recorded: RSS. Live sessions and their logs in json and csv have the memory of the process."
	case !committed:
		return "Not recorded: committed. .NET 8 and later report it."
	}
	return ""
}

// knows reports whether any row has a value in a column.
func (t *table) knows(key string) bool {
	return slices.ContainsFunc(t.values[t.column(key)], func(v int64) bool { return v != unknown })
}

// series returns the first, latest, least and greatest value of columns of the collections.
func (d *Data) series(t *table, lines []line) Grid {
	g := Grid{Head: []string{"", "first", "latest", "least", "most"}}
	for _, l := range lines {
		c := t.column(l.key)
		values := slices.DeleteFunc(slices.Clone(t.values[c]), func(v int64) bool { return v == unknown })
		if len(values) == 0 {
			continue
		}
		row := []string{l.title}
		for _, v := range []int64{values[0], values[len(values)-1], slices.Min(values), slices.Max(values)} {
			row = append(row, t.text(c, v, nil))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// text returns a value of a column as text.
func (t *table) text(column int, v int64, p *gclog.Process) string {
	c := &t.columns[column]
	switch {
	case v == unknown:
		return "–"
	case t.names[column].list != nil:
		return t.names[column].list[v]
	case c.Unit == "time":
		return p.Time(v).Format("15:04:05.000")
	case c.Unit == "flag":
		return [...]string{"no", "yes"}[min(max(v, 0), 1)]
	case c.Unit == "" && c.Scale <= 1:
		return fmt.Sprint(v)
	}
	return analysis.Number{Value: float64(v) / float64(max(1, c.Scale)), Unit: c.Unit}.Text()
}

// pausesFigure returns the longest pauses.
func pausesFigure(in *Input) *Figure {
	f := &Figure{
		Name:  "pauses",
		Table: Grid{Caption: "The longest pauses", Head: []string{"time", "paused", "class", "kind", "gc"}},
	}
	type pause struct {
		start, duration int64
		cells           []string
	}
	var list []pause
	gcs, others := in.Records.gcs, in.Records.pauses
	start, total := gcs.column("pause.start"), gcs.column("pause.total")
	class, number, kind := gcs.column("class"), gcs.column("number"), gcs.column("type")
	for i := range gcs.rows() {
		blocking := gcs.text(kind, gcs.values[kind][i], nil) != gclog.KindBackground.String()
		if blocking && gcs.values[start][i] != unknown {
			list = append(list, pause{
				gcs.values[start][i], gcs.values[total][i],
				[]string{
					gcs.text(class, gcs.values[class][i], nil), gclog.PauseBlocking.String(),
					gcs.text(number, gcs.values[number][i], nil),
				},
			})
		}
	}
	for i := range others.rows() {
		cell := func(key string) string {
			c := others.column(key)
			return others.text(c, others.values[c][i], nil)
		}
		list = append(list,
			pause{others.values[0][i], others.values[1][i], []string{cell("class"), cell("kind"), cell("number")}})
	}
	if len(list) == 0 {
		f.Missing = "No pause was recorded."
		return f
	}
	slices.SortStableFunc(list, func(a, b pause) int { return cmp.Compare(b.duration, a.duration) })
	for _, p := range list[:min(len(list), staticRows)] {
		f.Table.Rows = append(f.Table.Rows, append([]string{in.Process.Time(p.start).
			Format("15:04:05.000"), view.Text(float64(p.duration), "ns")}, p.cells...))
	}
	return f
}

// backgroundFigure returns the background collections that took longest.
func backgroundFigure(in *Input) *Figure {
	f := &Figure{Name: "background"}
	t := in.Records.gcs
	kind := t.column("type")
	rows := t.rowsWhere(
		func(i int) bool { return t.text(kind, t.values[kind][i], nil) == gclog.KindBackground.String() })
	switch {
	case len(rows) > 0:
		mark, sweep := t.column("background.concurrent_mark"), t.column("background.concurrent_sweep")
		took := func(i int) int64 { return max(0, t.values[mark][i]) + max(0, t.values[sweep][i]) }
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(took(b), took(a)) })
		f.Table = t.grid(in.Process, rows[:min(len(rows), staticRows)], "start", "number", "pause.total",
			"background.concurrent_mark", "background.concurrent_sweep")
		f.Table.Caption = "The longest background collections"
	case t.rows() == 0:
		f.Missing = "No collection was recorded."
	default:
		f.Missing = "No background collection ran."
	}
	return f
}

func (t *table) rowsWhere(test func(row int) bool) (rows []int) {
	for i := range t.rows() {
		if test(i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// grid returns columns of rows as text.
func (t *table) grid(p *gclog.Process, rows []int, keys ...string) (g Grid) {
	for _, key := range keys {
		g.Head = append(g.Head, t.columns[t.column(key)].Title)
	}
	for _, i := range rows {
		var row []string
		for _, key := range keys {
			c := t.column(key)
			row = append(row, t.text(c, t.values[c][i], p))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// staticTable returns the collections in the order of time: all if there are few, else those with the
// longest pauses.
func staticTable(in *Input) Grid {
	t := in.Records.gcs
	pause := t.values[t.column("pause.total")]
	rows := t.rowsWhere(func(int) bool { return true })
	caption := "All collections"
	if len(rows) > staticCollections {
		caption = fmt.Sprintf("The %d of %s collections with the longest pauses", staticCollections, thousands(t.added))
		slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(pause[b], pause[a]) })
		rows = rows[:staticCollections]
		slices.Sort(rows)
	}
	var keys []string
	for _, c := range t.columns {
		if c.Group == groupMain && c.Key != "class" && t.knows(c.Key) {
			keys = append(keys, c.Key)
		}
	}
	g := t.grid(in.Process, rows, keys...)
	g.Caption = caption
	return g
}

// mostOutlined and leastOutlined limit a tree as a table.
const (
	mostOutlined  = 40
	leastOutlined = 0.01 // of the whole
)

// Outline returns the largest parts of the tree of a snapshot, each below what retains it.
func (s *Snapshot) Outline() Grid { return s.Tree.outline("retained", "objects", "what") }

// outline returns the largest parts of a tree as a table.
func (n *Node) outline(head ...string) Grid {
	g := Grid{Caption: "The largest parts", Head: head}
	if n == nil {
		return g
	}
	type node struct {
		*Node
		depth int
	}
	todo := []node{{n, 0}}
	for len(todo) > 0 && len(g.Rows) < mostOutlined {
		x := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if x.depth > 0 {
			indent := strings.Repeat("\u2003", min(x.depth-1, 12))
			g.Rows = append(g.Rows, []string{
				view.Text(float64(x.Bytes), "bytes"), thousands(int(min(x.Count, math.MaxInt32))), indent + x.Name,
			})
		}
		for _, b := range slices.Backward(x.Below) {
			if float64(b.Bytes) >= leastOutlined*float64(n.Bytes) {
				todo = append(todo, node{b, x.depth + 1})
			}
		}
	}
	return g
}

// firstTypes is how many rows of a table of types the page shows at first: firstRows in heap.js.
const firstTypes = 50

// TypeRows returns the first rows of the table of types.
func (s *Snapshot) TypeRows() Grid {
	g := Grid{Caption: s.first(len(s.Types), "type"), Head: []string{"objects", "bytes"}}
	if s.Tree != nil {
		g.Head = append(g.Head, "retained")
	}
	g.Head = append(g.Head, "type")
	for _, t := range s.Types[:min(len(s.Types), firstTypes)] {
		row := []string{thousands(int(t.Objects)), view.Text(float64(t.Bytes), "bytes")}
		if s.Tree != nil {
			row = append(row, view.Text(float64(t.Retained), "bytes"))
		}
		g.Rows = append(g.Rows, append(row, t.Name))
	}
	return g
}

// GrowthRows returns the first rows of the table of differences.
func (s *Snapshot) GrowthRows() Grid {
	g := Grid{
		Caption: s.first(len(s.Growth), "difference"),
		Head:    []string{"objects more", "bytes more", "bytes now", "type"},
	}
	sign := func(n int64, text string) string {
		if n > 0 {
			return "+" + text
		}
		return text
	}
	for _, x := range s.Growth[:min(len(s.Growth), firstTypes)] {
		g.Rows = append(g.Rows, []string{
			sign(x.Objects, fmt.Sprint(x.Objects)), sign(x.Bytes, view.Text(float64(x.Bytes), "bytes")),
			view.Text(float64(x.Now), "bytes"), x.Name,
		})
	}
	return g
}

func (s *Snapshot) first(n int, what string) string {
	if n <= firstTypes {
		return plural(uint64(n), what)
	}
	return fmt.Sprintf("The first %d of %s", firstTypes, plural(uint64(n), what))
}
