package heap

import (
	"fmt"
	"io"
	"math"
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

func (p *commands) diffCommand() *cli.Command {
	return &cli.Command{
		Name:      "diff",
		Usage:     "compare snapshots: what grew, and what is new",
		ArgsUsage: "FILE FILE...",
		Description: `Compares the last snapshot with the first, type by type, the largest growth first. With
three and more, it also prints by how much a type grows from one to the next (the slope of
the line that fits best), and marks those that grew every time: that is how a leak looks.
Types of which nothing is left come last. --min is the least growth, or loss, to list;
other types that shrank are in JSON and csv.

Examples:
   gclog heap diff monday.nettrace friday.nettrace
   gclog heap diff 1.nettrace 2.nettrace 3.nettrace --min 1M
   gclog heap diff a.nettrace b.nettrace -f csv > growth.csv`,
		Flags:  fileFlags(),
		Action: results.Action(p.Run, results.Lists, p.diff),
	}
}

func (p *commands) diff(c *cli.Context, how string) error {
	l, err := readHeapFlags(c, how)
	if err != nil {
		return err
	}
	names := c.Args().Slice()
	if len(names) < 2 {
		return exit.Usagef("heap diff needs two files or more: see gclog heap diff --help")
	}
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return exit.Usagef("heap diff - -: standard input is one snapshot; give a file for the other one")
	}
	var list []*heap.Histogram
	for _, name := range names {
		h, err := p.readHistogram(name, &l.naming)
		if err != nil {
			return err // a comparison with a part would report growth that there is not
		}
		list = append(list, h)
	}
	if warning := differentPrograms(names, list); warning != "" {
		p.UI.Say(warning)
	}
	l.MinOf(list[len(list)-1].Total().Bytes)
	all := slices.DeleteFunc(heap.Compare(list...), func(g heap.Growth) bool { return !l.matches(g.Name) })
	rows := slices.DeleteFunc(slices.Clone(all), func(g heap.Growth) bool {
		return l.format == "text" && g.Bytes() <= 0 && g.Objects() <= 0 || g.Bytes() < int64(l.Min) && c.IsSet("min")
	})
	shown := lists.Cut(rows, l.top)
	columns := growthColumns(&l, len(list) > 2)
	switch l.format {
	case "json":
		return p.PrintJSON(lists.Objects(columns, shown))
	case "csv":
		return lists.PrintCSV(p.Run, columns, shown)
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		writeDiff(w, width, &l, list, shown, len(rows))
		top := vanishedRows
		if c.IsSet("top") {
			top = l.top
		}
		writeVanished(w, width, &l, vanished(all, l.Min), top)
		return nil
	})
}

// vanished returns the types of which nothing is left, those that had most first.
func vanished(all []heap.Growth, least uint64) (rows []heap.Growth) {
	for _, g := range slices.Backward(all) {
		first, last := g.Counts[0], g.Counts[len(g.Counts)-1]
		if first.Objects > 0 && last.Objects == 0 && first.Bytes >= least {
			rows = append(rows, g)
		}
	}
	return rows
}

// vanishedRows is how many types that vanished are in a table unless --top says otherwise.
const vanishedRows = 5

func writeVanished(w io.Writer, width int, l *selection, rows []heap.Growth, top int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprint(w, "\nVanished")
	if len(rows) > top {
		fmt.Fprintf(w, ", %s", firstOf(top, len(rows)))
	}
	fmt.Fprintln(w, ":")
	lists.TableOf(growthColumns(l, false)[:3], rows[:min(len(rows), top)]).Print(w, width)
}

func writeDiff(w io.Writer, width int, l *selection, list []*heap.Histogram, rows []heap.Growth, all int) {
	first, last := list[0].Total(), list[len(list)-1].Total()
	fmt.Fprintf(w, "%s to %s, %s to %s", formats.SizeText(int64(first.Bytes)), formats.SizeText(int64(last.Bytes)),
		view.Counted(first.Objects, "object"), strconv.FormatUint(last.Objects, 10))
	if all > len(rows) {
		fmt.Fprintf(w, "; %s that grew", firstOf(len(rows), all))
	}
	fmt.Fprintln(w)
	if all == 0 {
		fmt.Fprintf(w, "  no type%s grew\n", l.that())
		return
	}
	lists.TableOf(growthColumns(l, len(list) > 2), rows).Print(w, width)
}

// growthColumns are the columns of what grew; the first three are those of what vanished, too.
func growthColumns(l *selection, series bool) []lists.Column[heap.Growth] {
	last := func(g *heap.Growth) heap.Count { return g.Counts[len(g.Counts)-1] }
	marks := func(g *heap.Growth) string {
		var list []string
		if g.Counts[0].Objects == 0 {
			list = append(list, "new")
		}
		if series && g.Always() {
			list = append(list, "every time")
		}
		return strings.Join(list, ", ")
	}
	slope := lists.Column[heap.Growth]{
		Column: screen.Column{Title: "per snapshot", Right: true},
		CSV:    "bytes_per_snapshot", JSON: "bytes_per_snapshot", Value: func(g *heap.Growth) any { return g.Slope() },
	}
	if series {
		slope.Text = func(g *heap.Growth) string { return signedSize(int64(math.Round(g.Slope()))) }
	}
	return []lists.Column[heap.Growth]{
		lists.Names("type", "type", "name", l.name, func(g *heap.Growth) string { return g.Name }),
		{
			Column: screen.Column{Title: "objects", Right: true}, CSV: "objects_diff", JSON: "objects",
			Text:  func(g *heap.Growth) string { return fmt.Sprintf("%+d", g.Objects()) },
			Value: func(g *heap.Growth) any { return g.Objects() },
		},
		{
			Column: screen.Column{Title: "bytes", Right: true}, CSV: "bytes_diff", JSON: "bytes",
			Text:  func(g *heap.Growth) string { return signedSize(g.Bytes()) },
			Value: func(g *heap.Growth) any { return g.Bytes() },
		},
		{CSV: "objects", Value: func(g *heap.Growth) any { return last(g).Objects }},
		{CSV: "bytes", Value: func(g *heap.Growth) any { return last(g).Bytes }},
		slope,
		lists.Size("now", "", "", func(g *heap.Growth) uint64 { return last(g).Bytes }).Ranked(1),
		{Column: screen.Column{Rank: 2}, Text: marks},
		{CSV: "grew_every_time", JSON: "grew_every_time", Value: func(g *heap.Growth) any { return g.Always() }},
		{JSON: "snapshots", Value: func(g *heap.Growth) any {
			var counts []countJSON
			for _, n := range g.Counts {
				counts = append(counts, countJSON(n))
			}
			return counts
		}},
	}
}

func signedSize(n int64) string {
	if n < 0 {
		return "-" + formats.SizeText(-n)
	}
	return "+" + formats.SizeText(n)
}
