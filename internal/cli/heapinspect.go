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
	"github.com/urfave/cli/v2"
)

func (p *program) heapInspectCommand() *cli.Command {
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
		Flags:  heapFlags(),
		Action: p.result(listFormats, p.heapInspect),
	}
}

const (
	inspectShare = 0.01 // the default of --min
	inspectRows  = 5    // of a detector in a table
)

func (p *program) heapInspect(c *cli.Context, how string) error {
	h, d, err := p.readReachable(c, how, inspectShare)
	if err != nil {
		return err
	}
	r := inspectReport{reachableHeap: h}
	if !c.IsSet("top") && r.format == "text" {
		r.top = inspectRows
	}
	r.list = d.Inspect(r.g.Paths(), r.min)
	for i := range r.list {
		r.list[i].Rows = slices.DeleteFunc(r.list[i].Rows, func(x heap.Detail) bool { return !r.keeps(&x) })
	}
	switch r.format {
	case "json":
		return p.printJSON(r.json())
	case "csv":
		return p.writeCSV(inspectColumns, r.csv())
	}
	width, _ := screen.Size(p.stdout)
	return p.write(func(w io.Writer) error {
		r.write(w, width, p.pageWidth())
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
	return r.matches(r.typ(x.Type)) || r.matches(r.typ(x.Other)) || x.Name != "" && r.matches(x.Name) || x.Chain != nil && r.keepsChain(x.Chain)
}

// typ returns the exact name of a type, or "".
func (r *inspectReport) typ(i int) string {
	if i == heap.NoType {
		return ""
	}
	return r.g.Types[i].String()
}

func (r *inspectReport) write(w io.Writer, width, page int) {
	fmt.Fprintf(w, "%s in %s are reachable\n", counted(r.reachable.Objects, "object"), formats.SizeText(int64(r.reachable.Bytes)))
	found := false
	for i := range r.list {
		d := &r.list[i]
		about := detectors[d.Detector]
		if len(d.Rows) == 0 {
			continue
		}
		found = true
		fmt.Fprintf(w, "\n%s\n", about.title)
		wrapped(w, page, 2, about.finding(r, d))
		rows := cut(r.heapList, d.Rows)
		r.table(about.columns, rows).print(w, width)
		r.writeChains(w, page, rows)
		wrapped(w, page, 2, about.advice)
	}
	if !found {
		fmt.Fprintf(w, "  no detector has found anything%s\n", r.that())
	}
	r.writeMissing(w, page)
}

// writeMissing says which detectors could not look, and why.
func (r *inspectReport) writeMissing(w io.Writer, page int) {
	var lacks []lack
	for i := range r.list {
		if d := &r.list[i]; d.Missing != "" {
			lacks = addLack(lacks, d.Missing, detectors[d.Detector].title)
		}
	}
	for _, l := range lacks {
		fmt.Fprintln(w)
		wrapped(w, page, 0, fmt.Sprintf("Not evaluated, because the snapshot lacks %s: %s", l.why, strings.Join(l.names, ", ")))
	}
}

// An inspectColumn is a column of the table of a detector.
type inspectColumn struct {
	screen.Column
	text func(r *inspectReport, x *heap.Detail) string
}

func numberColumn(title string, of func(*heap.Detail) uint64) inspectColumn {
	return inspectColumn{screen.Column{Title: title, Right: true}, func(_ *inspectReport, x *heap.Detail) string { return strconv.FormatUint(of(x), 10) }}
}

func sizeColumn(title string, of func(*heap.Detail) uint64) inspectColumn {
	return inspectColumn{screen.Column{Title: title, Right: true}, func(_ *inspectReport, x *heap.Detail) string { return formats.SizeText(int64(of(x))) }}
}

func objectsColumn(title string) inspectColumn {
	return numberColumn(title, func(x *heap.Detail) uint64 { return x.Objects })
}

func bytesColumn() inspectColumn {
	return sizeColumn("bytes", func(x *heap.Detail) uint64 { return x.Bytes })
}

func retainedColumn() inspectColumn {
	return sizeColumn("retained", func(x *heap.Detail) uint64 { return x.Retained })
}

func slotsColumn(title string) inspectColumn {
	return numberColumn(title, func(x *heap.Detail) uint64 { return x.Slots })
}

func usedColumn() inspectColumn {
	return numberColumn("used", func(x *heap.Detail) uint64 { return x.Used })
}

func wasteColumn(title string) inspectColumn {
	return sizeColumn(title, func(x *heap.Detail) uint64 { return x.Waste })
}

func textColumn(title string, of func(r *inspectReport, x *heap.Detail) string) inspectColumn {
	return inspectColumn{screen.Column{Title: title, Cut: true, Width: 18}, of}
}

func typeColumn(title string) inspectColumn {
	return textColumn(title, func(r *inspectReport, x *heap.Detail) string { return r.name(r.typ(x.Type)) })
}

func otherColumn(title string) inspectColumn {
	return textColumn(title, func(r *inspectReport, x *heap.Detail) string { return r.name(r.typ(x.Other)) })
}

func nameColumn(title string) inspectColumn {
	return textColumn(title, func(_ *inspectReport, x *heap.Detail) string { return x.Name })
}

func holderColumn() inspectColumn {
	return textColumn("held by", func(_ *inspectReport, x *heap.Detail) string { return clean(x.Holder) })
}

func addressColumn() inspectColumn {
	return inspectColumn{screen.Column{Title: "address"}, func(r *inspectReport, x *heap.Detail) string { return r.address(x) }}
}

func (r *inspectReport) address(x *heap.Detail) string {
	if x.Start != 0 {
		return fmt.Sprintf("0x%x", x.Start)
	}
	return addressOf(r.g, x.Object)
}

func (r *inspectReport) table(columns []inspectColumn, rows []heap.Detail) *table {
	t := &table{}
	for _, c := range columns {
		t.columns = append(t.columns, c.Column)
	}
	for i := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.text(r, &rows[i]))
		}
		t.add(cells...)
	}
	return t
}

var inspectColumns = []string{"detector", "kind", "type", "address", "objects", "bytes", "retained_bytes", "slots", "used", "unused_bytes", "pinned", "copies", "other", "root"}

func (r *inspectReport) csv() (rows [][]string) {
	number := func(n uint64) string { return strconv.FormatUint(n, 10) }
	for i := range r.list {
		d := &r.list[i]
		for k := range cut(r.heapList, d.Rows) {
			x := &d.Rows[k]
			rows = append(rows, []string{
				string(d.Detector), x.Name, r.typ(x.Type), r.address(x), number(x.Objects), number(x.Bytes), number(x.Retained), number(x.Slots),
				number(x.Used), number(x.Waste), number(x.Pinned), number(x.Copies), r.typ(x.Other), x.Holder,
			})
		}
	}
	return rows
}

type inspectJSON struct {
	Complete  bool            `json:"complete"`
	Reachable countJSON       `json:"reachable"`
	Least     uint64          `json:"least_bytes"`
	Detectors []detectionJSON `json:"detectors"`
}

type detectionJSON struct {
	ID      heap.Detector `json:"id"`
	Missing string        `json:"missing,omitempty"` // what the snapshot lacks
	Finding string        `json:"finding,omitempty"`
	Advice  string        `json:"advice,omitempty"`
	Rows    []detailJSON  `json:"rows"`
}

type detailJSON struct {
	Kind    string `json:"kind,omitempty"`
	Name    string `json:"name,omitempty"`
	Address string `json:"address,omitempty"`
	countJSON
	Retained uint64     `json:"retained_bytes,omitempty"`
	Slots    uint64     `json:"slots,omitempty"`
	Used     uint64     `json:"used,omitempty"`
	Waste    uint64     `json:"unused_bytes,omitempty"`
	Pinned   uint64     `json:"pinned,omitempty"`
	Copies   uint64     `json:"copies,omitempty"`
	Other    string     `json:"other,omitempty"`
	Root     string     `json:"root,omitempty"`
	Chain    *chainJSON `json:"chain,omitempty"` // of calls without a name
}

func (r *inspectReport) json() *inspectJSON {
	x := &inspectJSON{Complete: r.g.Walk.Complete(), Reachable: countJSON(r.reachable), Least: r.min}
	for i := range r.list {
		d := &r.list[i]
		row := detectionJSON{ID: d.Detector, Missing: d.Missing, Rows: []detailJSON{}}
		if len(d.Rows) > 0 {
			about := detectors[d.Detector]
			row.Finding, row.Advice = about.finding(r, d), about.advice
		}
		for k := range cut(r.heapList, d.Rows) {
			x := &d.Rows[k]
			row.Rows = append(row.Rows, detailJSON{
				Kind: x.Name, Name: r.typ(x.Type), Address: r.address(x), countJSON: countJSON(x.Count), Retained: x.Retained, Slots: x.Slots,
				Used: x.Used, Waste: x.Waste, Pinned: x.Pinned, Copies: x.Copies, Other: r.typ(x.Other), Root: x.Holder,
				Chain: r.chainJSON(x.Chain),
			})
		}
		x.Detectors = append(x.Detectors, row)
	}
	return x
}
