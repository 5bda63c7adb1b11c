package report

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// An Input is a history with what was computed from it, or heap snapshots, or both. Without a
// history Records is nil.
type Input struct {
	Source  string // the name of the file, or the process
	Command string // a command that explains the collection whose number is appended; "": none can
	Facts   []Fact // facts about the process
	Version string // of gclog

	Process      *gclog.Process
	Format       string // of a log; "" for recordings and running processes
	Begin        int64  // of what was observed
	Summary      *analysis.Summary
	Verdict      string // a sentence
	Findings     []analysis.Finding
	NotEvaluated []analysis.NotEvaluated
	Records      *Recorder
	Snapshots    []*Snapshot
	Stacks       *Stacks // nil: there are no call stacks
}

// A Fact is a name and a value in the head of a page.
type Fact struct{ Name, Text string }

// Data is what a report says: plain data for the templates.
type Data struct {
	Title    string
	Source   string
	History  bool // there is one: otherwise only snapshots
	Version  string
	Facts    []Fact
	Verdict  string
	Tiles    []Tile
	Findings []Finding
	// NotEvaluated are the rules without a result, by the reason.
	NotEvaluated []Lack
	// Classes are the tables by class: pauses, collections, sizes.
	Classes    []Grid
	Worst      []Share // windows with the largest share of pauses
	MMU        []Share // minimum mutator utilization
	Histogram  *Histogram
	Reasons    []Bar
	Conditions []Bar
	// NoConditions says why Conditions is empty.
	NoConditions string
	Figures      map[string]*Figure // the charts, by name
	Static       Grid               // collections, before the scripts have run
	// Thinned says how many of how many collections the table and the charts show; "" for all.
	Thinned   string
	Snapshots []*Snapshot
	Stacks    *Stacks
	Collected uint64 // collections in all

	page   pageData
	tables []byte
	told   []byte // explanations
}

// A Tile is a number of the first screen.
type Tile struct {
	Name, Value string
	Notes       []string
	Tone        string // "", "good", "warning", "error": never without words
	Trend       *Trend
	Href        string // the section with more
}

// A Finding is a problem with links to its collections.
type Finding struct {
	Rule, Severity, Title, Text string
	Explanation, Advice         string
	GCs                         []uint32
}

// A Lack is a reason for which something is unknown.
type Lack struct {
	Why   string
	Names []string
}

// A Grid is a table with a head.
type Grid struct {
	Caption string
	Head    []string
	Rows    [][]string
}

// A Share is the share of a time.
type Share struct {
	Length, Text, At string
	From, To         int64 // the window; equal: unknown
	Known            bool
	Percent          float64
}

// A Bar is a number of collections with something in common.
type Bar struct {
	Name    string
	Count   uint64
	Percent float64 // of all collections
	Width   float64 // relative to the longest bar, 0 to 100
}

// New computes what a report says.
func New(in *Input) *Data {
	d := &Data{
		Title:     title(in),
		Source:    view.OneLine(in.Source),
		Version:   in.Version,
		Snapshots: in.Snapshots,
		page:      pageData{Snapshots: len(in.Snapshots)},
	}
	for _, f := range in.Facts {
		d.Facts = append(d.Facts, Fact{f.Name, view.OneLine(f.Text)})
	}
	for _, s := range in.Snapshots {
		if in.Process != nil {
			s.Other = s.other(in.Process)
		}
		s.clean()
	}
	if in.Records != nil {
		d.History, d.Verdict = true, view.OneLine(in.Verdict)
		d.history(in)
		if in.Stacks != nil {
			in.Stacks.clean()
			d.Stacks, d.page.Stacks = in.Stacks, in.Stacks.Tree != nil
		}
	}
	return d
}

// history computes what a report says about a history.
func (d *Data) history(in *Input) {
	s, r := in.Summary, in.Records
	d.Worst, d.MMU, d.Collected = shares(in.Process, s.Worst), shares(in.Process, s.Utilization),
		s.Classes[analysis.ClassAll].Count
	for i := range in.Findings {
		f := &in.Findings[i]
		d.Findings = append(d.Findings, Finding{
			f.Rule.ID, f.Severity.String(), f.Rule.Title, view.OneLine(f.Text), f.Rule.Explanation, f.Advice, f.GCs,
		})
	}
	for _, n := range in.NotEvaluated {
		d.NotEvaluated = addLack(d.NotEvaluated, view.OneLine(n.Why), n.Rule.ID)
	}
	for _, t := range []struct {
		caption string
		columns []view.ClassColumn
	}{{"Pauses", view.PauseColumns()}, {"Collections", view.CollectionColumns()}, {"Sizes", view.SizeColumns()}} {
		if g := classGrid(s, t.caption, t.columns); len(g.Rows) > 0 {
			d.Classes = append(d.Classes, g)
		}
	}
	d.Histogram = newHistogram(r, s)
	d.reasons(s, r)
	d.Tiles = tiles(in)
	d.records(in)
}

// title returns the name of the page.
func title(in *Input) string {
	if in.Process != nil {
		return view.OneLine(cmp.Or(in.Process.Service, in.Process.Name, filepath.Base(in.Source)))
	}
	return view.OneLine(filepath.Base(in.Snapshots[0].Name))
}

func addLack(list []Lack, why, name string) []Lack {
	i := slices.IndexFunc(list, func(l Lack) bool { return l.Why == why })
	if i < 0 {
		return append(list, Lack{why, []string{name}})
	}
	list[i].Names = append(list[i].Names, name)
	return list
}

// classGrid returns the table of a few numbers of each class that occurred, without the numbers that
// are unknown for all of them.
func classGrid(s *analysis.Summary, caption string, columns []view.ClassColumn) Grid {
	g := Grid{Caption: caption, Head: []string{"class"}}
	var there []analysis.Class
	for _, c := range [...]analysis.Class{
		analysis.ClassGen0, analysis.ClassGen1, analysis.ClassGen2,
		analysis.ClassBackground, analysis.ClassNone, analysis.ClassAll,
	} {
		if s.Classes[c].Count > 0 || s.Classes[c].Pauses.Count > 0 {
			there = append(there, c)
		}
	}
	columns = slices.DeleteFunc(slices.Clone(columns), func(c view.ClassColumn) bool {
		return !slices.ContainsFunc(there, func(class analysis.Class) bool { return c.Of(&s.Classes[class]).Known() })
	})
	for _, c := range columns {
		g.Head = append(g.Head, c.Title)
	}
	for _, class := range there {
		row := []string{view.ClassTitle(class)}
		for _, c := range columns {
			row = append(row, cell(c.Of(&s.Classes[class])))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}

// cell formats a number in a table: a dash if it is unknown.
func cell(n analysis.Number) string {
	if !n.Known() {
		return "–"
	}
	return n.Text()
}

func shares(p *gclog.Process, list []analysis.Share) (out []Share) {
	for _, s := range list {
		x := Share{Length: analysis.Number{Value: float64(s.Length), Unit: "ns"}.Text(), Text: s.Percent.Text()}
		if s.Percent.Known() {
			x.Known, x.Percent, x.From, x.To = true, s.Percent.Value, s.At, s.At+s.Length
			x.At = p.Time(s.At).Format("15:04:05.000")
		}
		out = append(out, x)
	}
	return out
}

// reasons fills in why collections were started and why their generation was chosen.
func (d *Data) reasons(s *analysis.Summary, r *Recorder) {
	for _, x := range s.Reasons {
		d.Reasons = append(d.Reasons, Bar{Name: x.Reason.String(), Count: x.Count})
	}
	for name, n := range r.conditions {
		d.Conditions = append(d.Conditions, Bar{Name: name, Count: n})
	}
	slices.SortFunc(d.Conditions, func(a, b Bar) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Name, b.Name))
	})
	for _, list := range [][]Bar{d.Reasons, d.Conditions} {
		for i := range list {
			list[i].Percent = 100 * float64(list[i].Count) / float64(max(1, d.Collected))
			list[i].Width = 100 * float64(list[i].Count) / float64(max(1, list[0].Count))
		}
	}
}

// tiles returns the five numbers of the first screen.
func tiles(in *Input) []Tile {
	s := in.Summary
	all := &s.Classes[analysis.ClassAll]
	share := Tile{Name: "Paused", Value: s.Share.Text(), Href: "#pauses"}
	if !s.Share.Known() {
		share.Notes = append(share.Notes, s.Share.Why)
	} else {
		share.Notes = append(share.Notes, "of "+s.Duration.Text()+" observed")
	}
	for _, w := range s.Worst {
		if w.Percent.Known() {
			share.Notes = append(share.Notes, fmt.Sprintf("worst %s: %s",
				analysis.Number{Value: float64(w.Length), Unit: "ns"}.Text(), w.Percent.Text()))
			break
		}
	}
	pause := Tile{Name: "Longest pause", Value: all.Pauses.Max.Text(), Href: "#pauses"}
	if all.Pauses.P99.Known() {
		pause.Notes = append(pause.Notes, "p99 "+all.Pauses.P99.Text()+", median "+all.Pauses.P50.Text())
	} else if all.Pauses.P50.Known() {
		pause.Notes = append(pause.Notes, "median "+all.Pauses.P50.Text()+"; p99 needs 100 pauses")
	}
	pause.Notes = append(pause.Notes, plural(all.Pauses.Count, "pause"))

	heap := Tile{Name: "Heap after gen2", Value: s.Heap.LastGen2.Text(), Href: "#heap"}
	heap.Trend = gen2Trend(in.Records)
	switch t := heap.Trend; {
	case t != nil && !s.Heap.LastGen2.Known():
		heap.Value = view.Text(t.Last, "bytes")
		heap.Notes = append(heap.Notes, t.text(), s.Heap.LastGen2.Why)
	case t != nil:
		heap.Notes = append(heap.Notes, t.text())
	case !s.Heap.LastGen2.Known():
		heap.Value = s.Heap.Last.Text()
		heap.Name = "Heap after the latest GC"
		heap.Notes = append(heap.Notes, s.Heap.LastGen2.Why)
	}
	if s.Heap.Max.Known() {
		heap.Notes = append(heap.Notes, "at most "+s.Heap.Max.Text()+" before a collection")
	}
	rate := Tile{Name: "Allocation rate", Value: s.AllocationRate.Text(), Href: "#allocation"}
	if s.AllocationRate.Known() {
		rate.Notes = append(rate.Notes, s.Allocated.Text()+" in "+s.AllocationTime.Text())
	} else {
		rate.Notes = append(rate.Notes, s.AllocationRate.Why)
	}
	if all.AllocationRate.Max.Known() {
		rate.Notes = append(rate.Notes, "at most "+all.AllocationRate.Max.Text()+" between two collections")
	}
	return []Tile{share, pause, heap, rate, findingsTile(in.Findings)}
}

func findingsTile(list []analysis.Finding) Tile {
	t := Tile{Name: "Findings", Value: fmt.Sprint(len(list)), Href: "#findings", Tone: "good"}
	counts := map[analysis.Severity]uint64{}
	for i := range list {
		counts[list[i].Severity]++
	}
	for _, s := range []analysis.Severity{analysis.Error, analysis.Warning, analysis.Info} {
		switch n := counts[s]; {
		case n > 0 && s == analysis.Info:
			t.Notes = append(t.Notes, fmt.Sprintf("%d info", n))
		case n > 0:
			t.Notes = append(t.Notes, plural(n, s.String()))
		}
	}
	switch {
	case counts[analysis.Error] > 0:
		t.Tone = "error"
	case counts[analysis.Warning] > 0:
		t.Tone = "warning"
	}
	if len(list) == 0 {
		t.Notes = append(t.Notes, "no rule found a problem")
	}
	return t
}

// plural formats a number of things.
func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// millis formats nanoseconds as milliseconds, always with the same number of decimals.
func millis(ns float64) string { return strconv.FormatFloat(ns/1e6, 'f', 3, 64) }
