package cli

import (
	"fmt"
	"io"
	"slices"
	"strconv"

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
three and more, a type that grew every time is marked: that is how a leak looks.
--min is the least growth to list; types that shrank are in JSON and csv.

Examples:
   gclog heap diff monday.nettrace friday.nettrace
   gclog heap diff 1.nettrace 2.nettrace 3.nettrace --min 1M
   gclog heap diff a.nettrace b.nettrace -o csv > growth.csv`,
		Flags:  heapFlags(),
		Action: p.heapDiff,
	}
}

func (p *program) heapDiff(c *cli.Context) error {
	l, err := readHeapFlags(c)
	if err != nil {
		return err
	}
	names := c.Args().Slice()
	if len(names) < 2 {
		return usagef("heap diff needs two files or more (gclog heap diff --help shows what there is)")
	}
	var list []*heap.Histogram
	for _, name := range names {
		h, err := p.readHistogram(name, &l.assemblies)
		if err != nil {
			return err // a comparison with a part would report growth that there is not
		}
		list = append(list, h)
	}
	l.minOf(list[len(list)-1].Total().Bytes)
	rows := slices.DeleteFunc(heap.Compare(list...), func(g heap.Growth) bool {
		if l.format == "table" && g.Bytes() <= 0 && g.Objects() <= 0 || g.Bytes() < int64(l.min) && c.IsSet("min") {
			return true
		}
		return !l.matches(g.Name)
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
			out = append(out, []string{g.Name, strconv.FormatInt(g.Objects(), 10), strconv.FormatInt(g.Bytes(), 10), strconv.FormatUint(last.Objects, 10), strconv.FormatUint(last.Bytes, 10)})
		}
		return p.writeCSV([]string{"type", "objects_diff", "bytes_diff", "objects", "bytes"}, out)
	}
	width, _ := screen.Size(p.stdout)
	return p.write(func(w io.Writer) error {
		writeDiff(w, width, &l, list, shown, len(rows))
		return nil
	})
}

func writeDiff(w io.Writer, width int, l *heapList, list []*heap.Histogram, rows []heap.Growth, all int) {
	first, last := list[0].Total(), list[len(list)-1].Total()
	fmt.Fprintf(w, "%s to %s, %s to %s", formats.SizeText(int64(first.Bytes)), formats.SizeText(int64(last.Bytes)), counted(first.Objects, "object"), strconv.FormatUint(last.Objects, 10))
	if all > len(rows) {
		fmt.Fprintf(w, "; the first %d of %s that grew", len(rows), counted(uint64(all), "type"))
	}
	fmt.Fprintln(w)
	if all == 0 {
		fmt.Fprintln(w, "  no type grew")
		return
	}
	t := &table{columns: []screen.Column{{Title: "objects", Right: true}, {Title: "bytes", Right: true}, {Title: "now", Right: true, Rank: 1}, {Title: "", Rank: 2}, {Title: "type", Cut: true, Width: 20}}}
	for i := range rows {
		g := &rows[i]
		mark := ""
		switch {
		case g.Counts[0].Objects == 0:
			mark = "new"
		case len(g.Counts) > 2 && g.Always():
			mark = "every time"
		}
		t.add(fmt.Sprintf("%+d", g.Objects()), signedSize(g.Bytes()), formats.SizeText(int64(g.Counts[len(g.Counts)-1].Bytes)), mark, l.name(g.Name))
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
	x := growthJSON{Name: g.Name, Objects: g.Objects(), Bytes: g.Bytes(), Always: g.Always(), Slope: float64(g.Bytes()) / float64(len(g.Counts)-1)}
	for _, n := range g.Counts {
		x.Counts = append(x.Counts, countJSON(n))
	}
	return x
}
