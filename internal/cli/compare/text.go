package compare

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/view"
)

// A comparisonText is a comparison for people: what differs first.
type comparisonText struct {
	bytes.Buffer
	x     *compared
	width int
	paint func(screen.Style, string) string
}

func (p *commands) printComparison(x *compared, verdicts []verdict) error {
	t := &comparisonText{
		x:     x,
		width: screen.TextWidth(p.Unfiltered),
		paint: screen.Painter(screen.Colored(p.Unfiltered)),
	}
	for side := range x.sides {
		t.side(side)
	}
	t.metrics()
	t.lacking()
	t.findings()
	t.method()
	if len(verdicts) > 0 {
		fmt.Fprintln(t)
	}
	if _, err := t.WriteTo(p.Out); err != nil || len(verdicts) == 0 {
		return err
	}
	return p.printVerdictLines(verdicts)
}

// VerdictOrder is the order in which verdicts are shown.
var VerdictOrder = [...]analysis.Outcome{analysis.Worse, analysis.Better, analysis.NoDifference, analysis.TooLittleData}

// VerdictTitles are the headings of verdicts.
var VerdictTitles = [...]string{
	analysis.Worse:         "Worse",
	analysis.Better:        "Better",
	analysis.NoDifference:  "No detectable difference",
	analysis.TooLittleData: "Too little data",
}

// VerdictStyles are the styles of verdicts that have one.
var VerdictStyles = map[analysis.Outcome]screen.Style{analysis.Worse: screen.Failure, analysis.Better: screen.Good}

// side prints what one side is.
func (t *comparisonText) side(side int) {
	g := t.x.sides[side]
	name := view.OneLine(g.name)
	if n := len(g.runs); n > 1 {
		name += fmt.Sprintf(" (%d runs)", n)
	}
	fmt.Fprintf(t, "%s  %s\n", t.paint(screen.Heading, sideNames[side]), name)
	var seen []string
	for _, r := range g.runs {
		text := assess.RuntimeText(r.History.Process)
		if name := programName(r.History.Process); name != "" {
			text = name + ", " + text
		}
		if len(seen) == 0 || seen[len(seen)-1] != text {
			seen = append(seen, text)
		}
	}
	const most = 3
	for i, text := range seen {
		if i == most {
			view.Wrapped(t, t.width, 3, fmt.Sprintf("and %d more", len(seen)-most))
			break
		}
		view.Wrapped(t, t.width, 3, view.OneLine(text))
	}
	n, observed := uint64(0), 0.0
	for _, r := range g.runs {
		s := r.Sample.Summary()
		n += s.Classes[analysis.ClassAll].Pauses.Count
		observed += s.Duration.Value
	}
	view.Wrapped(t, t.width, 3,
		fmt.Sprintf("%s in %s", view.Counted(n, "pause"), analysis.Number{Value: observed, Unit: "ns"}.Text()))
}

// metrics prints the metrics that were compared, in a table for each verdict.
func (t *comparisonText) metrics() {
	x := view.NewTable("", "A", "B", "change", "95 % interval")
	titles := map[int]analysis.Outcome{} // by the row before which they are
	for _, v := range VerdictOrder {
		titles[len(x.Rows)] = v
		for _, d := range t.x.result.Differences {
			if v == analysis.TooLittleData && d.Verdict == v && (d.A.Known() || d.B.Known()) && !d.Empty {
				x.Add(d.Name, perMinute(d.A), perMinute(d.B), "", "")
			} else if v == d.Verdict && v != analysis.TooLittleData {
				x.Add(d.Name, perMinute(d.A), perMinute(d.B), ChangeText(d.Change),
					ChangeText(d.Low)+" to "+ChangeText(d.High))
			}
		}
	}
	if len(x.Rows) == 0 {
		return
	}
	fmt.Fprintln(t)
	var b bytes.Buffer
	x.Print(&b, t.width)
	row := -1
	for line := range strings.Lines(b.String()) {
		if v, ok := titles[row]; ok && row >= 0 {
			fmt.Fprintf(t, "%s\n", t.paint(VerdictStyles[v], VerdictTitles[v]))
		}
		t.WriteString(line)
		row++
	}
}

// perMinute formats a number for a table.
func perMinute(n analysis.Number) string { return strings.Replace(n.Text(), " per minute", "/min", 1) }

// ChangeText formats a change with its sign.
func ChangeText(n analysis.Number) string {
	if n.Known() && n.Value >= 1000 { // of a rate that was 0, for example
		times := 1 + n.Value/100
		if times >= 1000 {
			return fmt.Sprintf("x%.0f", times)
		}
		return fmt.Sprintf("x%.3g", times)
	}
	if n.Known() && n.Value > 0 {
		return "+" + n.Text()
	}
	return n.Text()
}

// lacking prints the metrics with too little data, by reason.
func (t *comparisonText) lacking() {
	var lacks []view.Lack
	for _, d := range t.x.result.Differences {
		if d.Verdict == analysis.TooLittleData && !d.Empty {
			lacks = view.AddLack(lacks, d.Why, d.Name)
		}
	}
	if len(lacks) == 0 {
		return
	}
	fmt.Fprintf(t, "\n%s\n", "Why there is too little data")
	for _, l := range lacks {
		view.Hanging(t, t.width, 4, "  ", strings.Join(l.Names, ", ")+": "+view.OneLine(l.Why))
	}
}

// findings prints what was found on one side only.
func (t *comparisonText) findings() {
	f := &t.x.findings
	fmt.Fprintf(t, "\n%s %d new in B, %d gone, %d in both\n",
		t.paint(screen.Heading, "Findings:"), len(f.added), len(f.gone), len(f.both))
	for _, part := range []struct {
		name string
		side int
		list []changedFinding
	}{{"new", 1, f.added}, {"gone", 0, f.gone}} {
		for _, x := range part.list {
			text := fmt.Sprintf("%s (%s)", x.latest.Rule.Title, x.rule.ID)
			if n := len(t.x.sides[part.side].runs); n > 1 {
				text += ", in " + ofRuns(x.found[part.side], n, sideNames[part.side])
			}
			if doubt := x.doubt(t.x.sides); doubt != "" {
				text += ", " + doubt
			}
			severity := x.latest.Severity.String() + ":"
			var b bytes.Buffer
			view.Wrapped(&b, t.width, 2, fmt.Sprintf("%s %s %s", part.name, severity, text))
			t.WriteString(strings.Replace(b.String(), severity,
				t.paint(view.OfSeverity(x.latest.Severity).Style, severity), 1))
			view.Wrapped(t, t.width, 4, view.OneLine(x.latest.Text))
		}
	}
}

// method prints what the intervals are based on.
func (t *comparisonText) method() {
	r := t.x.result
	enough := func(d analysis.Difference) bool { return d.Verdict != analysis.TooLittleData }
	if !slices.ContainsFunc(r.Differences, enough) {
		return
	}
	text := fmt.Sprintf(
		"All intervals hold together with a probability of %d %%; from %d blocks of %s in A and %d of %s in B.",
		analysis.Confidence, r.Blocks[0], r.BlockTime[0].Text(), r.Blocks[1], r.BlockTime[1].Text())
	if r.WholeRuns {
		text = fmt.Sprintf("All intervals hold together with a probability of %d %%; from %d runs in A and %d in B.",
			analysis.Confidence, r.Blocks[0], r.Blocks[1])
	}
	fmt.Fprintln(t)
	view.Wrapped(t, t.width, 0, text)
}
