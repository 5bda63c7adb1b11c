package view

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// StartOf returns when a collection began, as far as that is known.
func StartOf(d *gclog.GCDetails) int64 {
	if d.Flaws&gclog.FlawNoStart == 0 {
		return d.Start
	}
	return d.PauseStart()
}

// An explanationPage is where an explanation is printed.
type explanationPage struct {
	out   io.Writer
	width int
	paint func(screen.Style, string) string
}

// PageWidth is how wide a page of sentences is, at most.
const PageWidth = 100

// PrintExplanation prints the explanation of a collection.
func PrintExplanation(
	out io.Writer, width int, paint func(screen.Style, string) string, d *gclog.GCDetails, e *analysis.Explanation,
) {
	p := explanationPage{out, width, paint}
	for line := range strings.Lines(string(screen.Wrap(nil, OneLine(e.Title), p.width, 0))) {
		fmt.Fprintln(p.out, p.heading(strings.TrimSuffix(line, "\n")))
	}
	p.statements(e.What)
	p.section("Why it happened", e.Trigger)
	p.section(whyText(d), e.Generation)
	p.section("Where the pause went", e.Pause)
	p.printParts(d, e)
	p.printRoots(e.Roots)
	p.section("What it achieved", e.Result)
	p.printSizes(e.Sizes)
	p.section("How it compares", e.Comparison)
	if len(e.Unknown) == 0 {
		return
	}
	fmt.Fprintf(p.out, "\n%s\n", p.heading("Unknown (n/a)"))
	for _, u := range e.Unknown {
		p.paragraph(OneLine(strings.Join(u.What, ", ") + ": " + u.Why))
	}
}

// whyText is the heading of the section about the generation and the kind, as far as these are
// known.
func whyText(d *gclog.GCDetails) string {
	text := "Why " + d.GenerationName()
	if !d.KindKnown() {
		return text
	}
	kinds := map[gclog.Kind]string{
		gclog.KindBlocking:   "blocking",
		gclog.KindBackground: "in the background",
		gclog.KindForeground: "in the foreground",
	}
	return text + ", and why " + kinds[d.Kind]
}

func (p *explanationPage) heading(s string) string {
	return p.paint(screen.Heading, OneLine(s))
}

// section prints sentences below a heading, if there are any.
func (p *explanationPage) section(title string, list []analysis.Statement) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(p.out, "\n%s\n", p.heading(title))
	p.statements(list)
}

func (p *explanationPage) statements(list []analysis.Statement) {
	for _, s := range list {
		p.paragraph(OneLine(s.Text))
	}
}

func (p *explanationPage) paragraph(text string) { Wrapped(p.out, p.width, 2, text) }

// printParts prints where the pause went: each part's duration and share of the pause.
func (p *explanationPage) printParts(d *gclog.GCDetails, e *analysis.Explanation) {
	t := NewTable("while the program ran:", "", "")
	if len(e.Parts) > 0 {
		t = NewTable("", "ms", "of the pause")
		addParts(t, e.Parts, "", d.Pause())
		t.Add("total", partText(float64(d.Pause())), shareOf(float64(d.Pause()), d.Pause()))
	}
	if len(e.Phases) > 0 {
		if len(e.Parts) > 0 {
			t.Add("while the program ran:", "", "")
		}
		addParts(t, e.Phases, "  ", 0)
	}
	if len(t.Rows) > 0 {
		fmt.Fprintln(p.out)
		t.Print(p.out, p.width)
	}
}

// addParts adds a row for each part, followed by the parts within it. Shares are of whole; 0: there
// are none.
func addParts(t *Table, parts []analysis.Part, indent string, whole int64) {
	for _, x := range parts {
		ms, share := "n/a", "n/a"
		if x.Time.Known() {
			ms, share = partText(x.Time.Value), shareOf(x.Time.Value, whole)
		}
		if whole == 0 {
			share = ""
		}
		t.Add(indent+x.Name, ms, share)
		addParts(t, x.Parts, indent+"  ", whole)
	}
}

// partText formats nanoseconds as milliseconds, always with the same number of decimals.
func partText(ns float64) string { return strconv.FormatFloat(ns/1e6, 'f', 3, 64) }

func shareOf(part float64, whole int64) string {
	if whole <= 0 {
		return ""
	}
	return strconv.FormatFloat(100*part/float64(whole), 'f', 1, 64) + " %"
}

// printRoots prints the roots that objects were marked from. The columns of heaps are for server
// GC.
func (p *explanationPage) printRoots(roots []analysis.Root) {
	if len(roots) == 0 {
		return
	}
	heaps := false
	for _, r := range roots {
		heaps = heaps || r.Imbalance.Known()
	}
	head := []string{"marked from", "ms"}
	if heaps {
		head = append(head, "slowest heap", "of the mean")
	}
	t := NewTable(append(head, "promoted")...)
	for _, r := range roots {
		row := []string{r.Name, partText(r.Longest.Value)}
		if heaps {
			heap, mean := "n/a", "n/a"
			if r.Heap != nil {
				heap = strconv.Itoa(*r.Heap)
			}
			if r.Imbalance.Known() {
				mean = strconv.FormatFloat(100*r.Imbalance.Value, 'f', 0, 64) + " %"
			}
			row = append(row, heap, mean)
		}
		t.Add(append(row, r.Promoted.Text())...)
	}
	fmt.Fprintln(p.out)
	t.Print(p.out, p.width)
}

// printSizes prints how the generations changed.
func (p *explanationPage) printSizes(sizes []analysis.Size) {
	if len(sizes) == 0 {
		return
	}
	t := NewTable("", "before", "after", "free after", "promoted", "survived", "next budget")
	for _, s := range sizes {
		row := []string{s.Name, s.Before.Text(), s.After.Text(), s.Free.Text()}
		if s.Collected {
			survival := s.Survival.Text()
			if !s.Survival.Known() && s.Promoted.Known() && s.Promoted.Value == 0 {
				survival = "-" // it was empty
			}
			row = append(row, s.Promoted.Text(), survival, s.Budget.Text())
		} else {
			row = append(row, "-", "-", "-")
		}
		t.Add(row...)
	}
	fmt.Fprintln(p.out)
	t.Print(p.out, p.width)
}
