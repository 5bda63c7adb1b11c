package heap

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) inspectCommand() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "look for known kinds of waste and leaks",
		ArgsUsage: "FILE",
		Description: `Runs detectors: strings, sparse arrays, collections that are too large, events with many
subscribers, async methods that have not ended, timers, objects that wait for their
finalizers, pinned objects and fragmentation, boxed values, types that are loaded several
times, and others. Those that find nothing are silent, but are listed in JSON. Most report
what has at least 1 % of what is reachable (--min). docs/heap.md explains each.

Examples:
   gclog heap inspect app.nettrace
   gclog heap inspect app.nettrace --min 5M --top 20
   gclog heap inspect app.nettrace -f json | jq '.detectors[0].rows'`,
		Flags:  fileFlags(),
		Action: results.Action(p.Run, results.Lists, p.inspect),
	}
}

const (
	inspectShare = 0.01 // the default of --min
	inspectRows  = 5    // of a detector in a table
)

func (p *commands) inspect(c *cli.Context, how string) error {
	h, d, err := p.readReachable(c, how, inspectShare)
	if err != nil {
		return err
	}
	r := inspectReport{reachableHeap: h}
	if !c.IsSet("top") && r.format == "text" {
		r.top = inspectRows
	}
	r.list = d.Inspect(r.g.Paths(), r.Min)
	for i := range r.list {
		r.list[i].Rows = slices.DeleteFunc(r.list[i].Rows, func(x heap.Detail) bool { return !r.keeps(&x) })
	}
	switch r.format {
	case "json":
		return p.PrintJSON(r.json())
	case "csv":
		var rows []inspectRow
		for i := range r.list {
			rows = append(rows, r.rows(&r.list[i])...)
		}
		return lists.PrintCSV(p.Run, inspectColumns, rows)
	}
	width, _ := screen.Size(p.Unfiltered)
	return p.Write(func(w io.Writer) error {
		r.write(w, width, p.PageWidth())
		return nil
	})
}

// An inspectReport prints what detectors found.
type inspectReport struct {
	*reachableHeap
	list []heap.Detection
}

// keeps reports whether a row matches --filter.
func (r *inspectReport) keeps(x *heap.Detail) bool {
	return r.matches(r.typ(x.Type)) || r.matches(r.typ(x.Other)) || x.Name != "" && r.matches(x.Name) ||
		x.Chain != nil && r.keepsChain(x.Chain)
}

// typ returns the exact name of a type, or "".
func (r *inspectReport) typ(i int) string {
	if i == heap.NoType {
		return ""
	}
	return r.g.Types[i].String()
}

func (r *inspectReport) write(w io.Writer, width, page int) {
	fmt.Fprintf(w, "%s in %s are reachable\n",
		view.Counted(r.reachable.Objects, "object"), formats.SizeText(int64(r.reachable.Bytes)))
	found := false
	for i := range r.list {
		d := &r.list[i]
		about := detectors[d.Detector]
		if len(d.Rows) == 0 {
			continue
		}
		found = true
		fmt.Fprintf(w, "\n%s\n", titleOf(d.Detector))
		view.Wrapped(w, page, 2, about.finding(r, d))
		lists.TableOf(about.columns, r.rows(d)).Print(w, width)
		r.writeChains(w, page, lists.Cut(d.Rows, r.top))
		view.Wrapped(w, page, 2, adviceOf(d.Detector))
	}
	if !found {
		fmt.Fprintf(w, "  no detector has found anything%s\n", r.that())
	}
	r.writeMissing(w, page)
}

// writeMissing says which detectors could not look, and why.
func (r *inspectReport) writeMissing(w io.Writer, page int) {
	var lacks []view.Lack
	for i := range r.list {
		if d := &r.list[i]; d.Missing != "" {
			lacks = view.AddLack(lacks, d.Missing, titleOf(d.Detector))
		}
	}
	for _, l := range lacks {
		fmt.Fprintln(w)
		view.Wrapped(w, page, 0,
			fmt.Sprintf("Not evaluated, because the snapshot lacks %s: %s", l.Why, strings.Join(l.Names, ", ")))
	}
}

// An inspectRow is a row of a detector.
type inspectRow struct {
	*heap.Detail
	r        *inspectReport
	detector heap.Detector
}

// rows returns the rows of a detector that are listed.
func (r *inspectReport) rows(d *heap.Detection) (list []inspectRow) {
	for i := range lists.Cut(d.Rows, r.top) {
		list = append(list, inspectRow{&d.Rows[i], r, d.Detector})
	}
	return list
}

type inspectColumn = lists.Column[inspectRow]

// sparse is a column that only some detectors have.
func sparse(c inspectColumn) inspectColumn {
	c.Sparse = true
	return c
}

func objectsColumn(title string) inspectColumn {
	return lists.Count(title, "objects", "objects", func(x *inspectRow) uint64 { return x.Objects })
}

func bytesColumn() inspectColumn {
	return lists.Size("bytes", "bytes", "bytes", func(x *inspectRow) uint64 { return x.Bytes })
}

func retainedColumn() inspectColumn {
	c := lists.Size("retained", "retained_bytes", "retained_bytes", func(x *inspectRow) uint64 { return x.Retained })
	return sparse(c)
}

func slotsColumn(title string) inspectColumn {
	return sparse(lists.Count(title, "slots", "slots", func(x *inspectRow) uint64 { return x.Slots }))
}

func usedColumn() inspectColumn {
	return sparse(lists.Count("used", "used", "used", func(x *inspectRow) uint64 { return x.Used }))
}

func wasteColumn(title string) inspectColumn {
	return sparse(lists.Size(title, "unused_bytes", "unused_bytes", func(x *inspectRow) uint64 { return x.Waste }))
}

func pinnedColumn() inspectColumn {
	return sparse(lists.Count("pinned", "pinned", "pinned", func(x *inspectRow) uint64 { return x.Pinned }))
}

func copiesColumn() inspectColumn {
	return sparse(lists.Count("copies", "copies", "copies", func(x *inspectRow) uint64 { return x.Copies }))
}

// wordsColumn is a column of text, which may be shown in another way than it is in csv and JSON.
func wordsColumn(title, csv, json string, exact, shown func(*inspectRow) string) inspectColumn {
	return inspectColumn{
		Column: screen.Column{Title: title, Cut: true, Width: 18}, CSV: csv, JSON: json, Sparse: true,
		Text: shown, Value: func(x *inspectRow) any { return exact(x) },
	}
}

func typeColumn(title string) inspectColumn {
	exact := func(x *inspectRow) string { return x.r.typ(x.Type) }
	return wordsColumn(title, "type", "name", exact, func(x *inspectRow) string { return x.r.name(exact(x)) })
}

func otherColumn(title string) inspectColumn {
	exact := func(x *inspectRow) string { return x.r.typ(x.Other) }
	return wordsColumn(title, "other", "other", exact, func(x *inspectRow) string { return x.r.name(exact(x)) })
}

func nameColumn(title string) inspectColumn {
	name := func(x *inspectRow) string { return x.Name }
	return wordsColumn(title, "kind", "kind", name, name)
}

func holderColumn() inspectColumn {
	exact := func(x *inspectRow) string { return x.Holder }
	return wordsColumn("held by", "root", "root", exact, func(x *inspectRow) string { return view.Clean(x.Holder) })
}

func addressColumn() inspectColumn {
	address := func(x *inspectRow) string {
		if x.Start != 0 {
			return fmt.Sprintf("0x%x", x.Start)
		}
		return addressOf(x.r.g, x.Object)
	}
	c := wordsColumn("address", "address", "address", address, address)
	c.Column = screen.Column{Title: c.Title}
	return c
}

// inspectColumns are the columns in csv and JSON.
var inspectColumns = []inspectColumn{
	{CSV: "detector", Value: func(x *inspectRow) any { return x.detector }},
	nameColumn(""), typeColumn(""), addressColumn(), objectsColumn(""), bytesColumn(), retainedColumn(),
	slotsColumn(""), usedColumn(), wasteColumn(""), pinnedColumn(), copiesColumn(), otherColumn(""), holderColumn(),
	{JSON: "chain", Value: func(x *inspectRow) any { return lists.Some(x.r.chainJSON(x.Chain)) }},
}

type inspectJSON struct {
	Complete  bool            `json:"complete"`
	Reachable countJSON       `json:"reachable"`
	Least     uint64          `json:"least_bytes"`
	Detectors []detectionJSON `json:"detectors"`
}

type detectionJSON struct {
	ID      heap.Detector  `json:"id"`
	Missing string         `json:"missing,omitempty"` // what the snapshot lacks
	Finding string         `json:"finding,omitempty"`
	Advice  string         `json:"advice,omitempty"`
	Rows    []lists.Object `json:"rows"`
}

func (r *inspectReport) json() *inspectJSON {
	x := &inspectJSON{Complete: r.g.Walk.Complete(), Reachable: countJSON(r.reachable), Least: r.Min}
	for i := range r.list {
		d := &r.list[i]
		row := detectionJSON{ID: d.Detector, Missing: d.Missing, Rows: lists.Objects(inspectColumns, r.rows(d))}
		if len(d.Rows) > 0 {
			about := detectors[d.Detector]
			row.Finding, row.Advice = about.finding(r, d), adviceOf(d.Detector)
		}
		x.Detectors = append(x.Detectors, row)
	}
	return x
}
