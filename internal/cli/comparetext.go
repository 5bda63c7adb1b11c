package cli

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// A comparisonText is a comparison for people: what differs first.
type comparisonText struct {
	bytes.Buffer
	x     *compared
	width int
	paint func(screen.Style, string) string
}

func (p *program) printComparison(x *compared, verdicts []verdict) error {
	t := &comparisonText{x: x, width: screen.TextWidth(p.stdout), paint: screen.Painter(screen.Colored(p.stdout))}
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
	if _, err := t.WriteTo(p.out); err != nil || len(verdicts) == 0 {
		return err
	}
	return p.printVerdictLines(verdicts)
}

var verdictOrder = [...]analysis.Outcome{analysis.Worse, analysis.Better, analysis.NoDifference, analysis.TooLittleData}

var verdictTitles = [...]string{analysis.Worse: "Worse", analysis.Better: "Better", analysis.NoDifference: "No detectable difference", analysis.TooLittleData: "Too little data"}

var verdictStyles = map[analysis.Outcome]screen.Style{analysis.Worse: screen.Failure, analysis.Better: screen.Good}

// side prints what one side is.
func (t *comparisonText) side(side int) {
	g := t.x.sides[side]
	name := oneLine(g.name)
	if n := len(g.runs); n > 1 {
		name += fmt.Sprintf(" (%d runs)", n)
	}
	fmt.Fprintf(t, "%s  %s\n", t.paint(screen.Heading, sideNames[side]), name)
	var seen []string
	for _, r := range g.runs {
		text := runtimeText(r.h.Process)
		if name := programName(r.h.Process); name != "" {
			text = name + ", " + text
		}
		if len(seen) == 0 || seen[len(seen)-1] != text {
			seen = append(seen, text)
		}
	}
	const most = 3
	for i, text := range seen {
		if i == most {
			wrapped(t, t.width, 3, fmt.Sprintf("and %d more", len(seen)-most))
			break
		}
		wrapped(t, t.width, 3, oneLine(text))
	}
	n, observed := uint64(0), 0.0
	for _, r := range g.runs {
		s := r.s.Summary()
		n += s.Classes[analysis.ClassAll].Pauses.Count
		observed += s.Duration.Value
	}
	wrapped(t, t.width, 3, fmt.Sprintf("%s in %s", counted(n, "pause"), analysis.Number{Value: observed, Unit: "ns"}.Text()))
}

// metrics prints the metrics that were compared, in a table for each verdict.
func (t *comparisonText) metrics() {
	x := newTable("", "A", "B", "change", "95 % interval")
	titles := map[int]analysis.Outcome{} // by the row before which they are
	for _, v := range verdictOrder {
		titles[len(x.rows)] = v
		for _, d := range t.x.result.Differences {
			if v == analysis.TooLittleData && d.Verdict == v && (d.A.Known() || d.B.Known()) && !d.Empty {
				x.add(d.Name, perMinute(d.A), perMinute(d.B), "", "")
			} else if v == d.Verdict && v != analysis.TooLittleData {
				x.add(d.Name, perMinute(d.A), perMinute(d.B), changeText(d.Change), changeText(d.Low)+" to "+changeText(d.High))
			}
		}
	}
	if len(x.rows) == 0 {
		return
	}
	fmt.Fprintln(t)
	var b bytes.Buffer
	x.print(&b, t.width)
	row := -1
	for line := range strings.Lines(b.String()) {
		if v, ok := titles[row]; ok && row >= 0 {
			fmt.Fprintf(t, "%s\n", t.paint(verdictStyles[v], verdictTitles[v]))
		}
		t.WriteString(line)
		row++
	}
}

// perMinute formats a number for a table.
func perMinute(n analysis.Number) string { return strings.Replace(n.Text(), " per minute", "/min", 1) }

// changeText formats a change with its sign.
func changeText(n analysis.Number) string {
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
	var lacks []lack
	for _, d := range t.x.result.Differences {
		if d.Verdict == analysis.TooLittleData && !d.Empty {
			lacks = addLack(lacks, d.Why, d.Name)
		}
	}
	if len(lacks) == 0 {
		return
	}
	fmt.Fprintf(t, "\n%s\n", "Why there is too little data")
	for _, l := range lacks {
		hanging(t, t.width, 4, "  ", strings.Join(l.names, ", ")+": "+oneLine(l.why))
	}
}

// findings prints what was found on one side only.
func (t *comparisonText) findings() {
	f := &t.x.findings
	fmt.Fprintf(t, "\n%s %d new in B, %d gone, %d in both\n", t.paint(screen.Heading, "Findings:"), len(f.added), len(f.gone), len(f.both))
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
			wrapped(&b, t.width, 2, fmt.Sprintf("%s %s %s", part.name, severity, text))
			t.WriteString(strings.Replace(b.String(), severity, t.paint(view.OfSeverity(x.latest.Severity).Style, severity), 1))
			wrapped(t, t.width, 4, oneLine(x.latest.Text))
		}
	}
}

// method prints what the intervals are based on.
func (t *comparisonText) method() {
	r := t.x.result
	if !slices.ContainsFunc(r.Differences, func(d analysis.Difference) bool { return d.Verdict != analysis.TooLittleData }) {
		return
	}
	text := fmt.Sprintf("All intervals hold together with a probability of %d %%; from %d blocks of %s in A and %d of %s in B.",
		analysis.Confidence, r.Blocks[0], r.BlockTime[0].Text(), r.Blocks[1], r.BlockTime[1].Text())
	if r.WholeRuns {
		text = fmt.Sprintf("All intervals hold together with a probability of %d %%; from %d runs in A and %d in B.", analysis.Confidence, r.Blocks[0], r.Blocks[1])
	}
	fmt.Fprintln(t)
	wrapped(t, t.width, 0, text)
}
