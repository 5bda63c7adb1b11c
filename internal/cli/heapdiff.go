package cli

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
	"github.com/urfave/cli/v2"
)

func (p *program) heapDiffCommand() *cli.Command {
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
		Flags:  heapFlags(),
		Action: p.result(listFormats, p.heapDiff),
	}
}

func (p *program) heapDiff(c *cli.Context, how string) error {
	l, err := readHeapFlags(c, how)
	if err != nil {
		return err
	}
	names := c.Args().Slice()
	if len(names) < 2 {
		return usagef("heap diff needs two files or more (gclog heap diff --help shows what there is)")
	}
	if i := slices.Index(names, "-"); i >= 0 && slices.Contains(names[i+1:], "-") {
		return usagef("heap diff - -: standard input is one snapshot; give a file for the other one")
	}
	var list []*heap.Histogram
	for _, name := range names {
		h, err := p.readHistogram(name, &l.heapNames)
		if err != nil {
			return err // a comparison with a part would report growth that there is not
		}
		list = append(list, h)
	}
	if warning := differentPrograms(names, list); warning != "" {
		p.ui.say(warning)
	}
	l.minOf(list[len(list)-1].Total().Bytes)
	all := slices.DeleteFunc(heap.Compare(list...), func(g heap.Growth) bool { return !l.matches(g.Name) })
	rows := slices.DeleteFunc(slices.Clone(all), func(g heap.Growth) bool {
		return l.format == "text" && g.Bytes() <= 0 && g.Objects() <= 0 || g.Bytes() < int64(l.min) && c.IsSet("min")
	})
	shown := cut(&l, rows)
	switch l.format {
	case "json":
		out := []growthJSON{}
		for i := range shown {
			out = append(out, newGrowthJSON(&shown[i]))
		}
		return p.printJSON(out)
	case "csv":
		var out [][]string
		for i := range shown {
			g := &shown[i]
			last := g.Counts[len(g.Counts)-1]
			out = append(out, []string{
				g.Name, strconv.FormatInt(g.Objects(), 10), strconv.FormatInt(g.Bytes(), 10), strconv.FormatUint(last.Objects, 10), strconv.FormatUint(last.Bytes, 10),
				strconv.FormatFloat(g.Slope(), 'f', -1, 64), strconv.FormatBool(g.Always()),
			})
		}
		return p.writeCSV([]string{"type", "objects_diff", "bytes_diff", "objects", "bytes", "bytes_per_snapshot", "grew_every_time"}, out)
	}
	width, _ := screen.Size(p.stdout)
	return p.write(func(w io.Writer) error {
		writeDiff(w, width, &l, list, shown, len(rows))
		top := vanishedRows
		if c.IsSet("top") {
			top = l.top
		}
		writeVanished(w, width, &l, vanished(all, l.min), top)
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

func writeVanished(w io.Writer, width int, l *heapList, rows []heap.Growth, top int) {
	if len(rows) == 0 {
		return
	}
	fmt.Fprint(w, "\nVanished")
	if len(rows) > top {
		fmt.Fprintf(w, ", %s", firstOf(top, len(rows)))
	}
	fmt.Fprintln(w, ":")
	t := &table{columns: []screen.Column{{Title: "objects", Right: true}, {Title: "bytes", Right: true}, {Title: "type", Cut: true, Width: 20}}}
	for i := range rows[:min(len(rows), top)] {
		g := &rows[i]
		t.add(fmt.Sprintf("%+d", g.Objects()), signedSize(g.Bytes()), l.name(g.Name))
	}
	t.print(w, width)
}

func writeDiff(w io.Writer, width int, l *heapList, list []*heap.Histogram, rows []heap.Growth, all int) {
	first, last := list[0].Total(), list[len(list)-1].Total()
	fmt.Fprintf(w, "%s to %s, %s to %s", formats.SizeText(int64(first.Bytes)), formats.SizeText(int64(last.Bytes)), counted(first.Objects, "object"), strconv.FormatUint(last.Objects, 10))
	if all > len(rows) {
		fmt.Fprintf(w, "; %s that grew", firstOf(len(rows), all))
	}
	fmt.Fprintln(w)
	if all == 0 {
		fmt.Fprintf(w, "  no type%s grew\n", l.that())
		return
	}
	series := len(list) > 2
	columns := []screen.Column{{Title: "objects", Right: true}, {Title: "bytes", Right: true}}
	if series {
		columns = append(columns, screen.Column{Title: "per snapshot", Right: true})
	}
	t := &table{columns: append(columns, screen.Column{Title: "now", Right: true, Rank: 1}, screen.Column{Rank: 2}, screen.Column{Title: "type", Cut: true, Width: 20})}
	for i := range rows {
		g := &rows[i]
		cells := []string{fmt.Sprintf("%+d", g.Objects()), signedSize(g.Bytes())}
		var marks []string
		if g.Counts[0].Objects == 0 {
			marks = append(marks, "new")
		}
		if series {
			cells = append(cells, signedSize(int64(math.Round(g.Slope()))))
			if g.Always() {
				marks = append(marks, "every time")
			}
		}
		t.add(append(cells, formats.SizeText(int64(g.Counts[len(g.Counts)-1].Bytes)), strings.Join(marks, ", "), l.name(g.Name))...)
	}
	t.print(w, width)
}

func signedSize(n int64) string {
	if n < 0 {
		return "-" + formats.SizeText(-n)
	}
	return "+" + formats.SizeText(n)
}

type growthJSON struct {
	Name    string      `json:"name"`
	Objects int64       `json:"objects"` // last - first
	Bytes   int64       `json:"bytes"`
	Always  bool        `json:"grew_every_time"`
	Slope   float64     `json:"bytes_per_snapshot"`
	Counts  []countJSON `json:"snapshots"`
}

func newGrowthJSON(g *heap.Growth) growthJSON {
	x := growthJSON{Name: g.Name, Objects: g.Objects(), Bytes: g.Bytes(), Always: g.Always(), Slope: g.Slope()}
	for _, n := range g.Counts {
		x.Counts = append(x.Counts, countJSON(n))
	}
	return x
}
