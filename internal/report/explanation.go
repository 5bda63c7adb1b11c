package report

import (
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// An explanation is what explain says about a collection, as texts.
type explanation struct {
	Title    string    `json:"title"`
	Sections []section `json:"sections"`
}

// A section is a heading with sentences, and a table.
type section struct {
	Title string     `json:"title,omitempty"`
	Texts []string   `json:"texts,omitempty"`
	Head  []string   `json:"head,omitempty"`
	Rows  [][]string `json:"rows,omitempty"`
}

func newExplanation(d *gclog.GCDetails, e *analysis.Explanation) *explanation {
	x := &explanation{Title: view.OneLine(e.Title)}
	add := func(title string, list []analysis.Statement) *section {
		s := section{Title: title}
		for _, y := range list {
			s.Texts = append(s.Texts, view.OneLine(y.Text))
		}
		x.Sections = append(x.Sections, s)
		return &x.Sections[len(x.Sections)-1]
	}
	add("", e.What)
	add("Why it happened", e.Trigger)
	add("Why this generation and kind", e.Generation)
	pause := add("Where the pause went", e.Pause)
	if len(e.Parts) > 0 {
		pause.Head = []string{"", "ms", "of the pause"}
		addParts(&pause.Rows, e.Parts, "", d.Pause())
	}
	if len(e.Phases) > 0 {
		s := add("While the program ran", nil)
		s.Head = []string{"", "ms"}
		addParts(&s.Rows, e.Phases, "", 0)
	}
	result := add("What it achieved", e.Result)
	for _, s := range e.Sizes {
		result.Head = []string{"", "before", "after", "free after", "promoted", "survived", "next budget"}
		result.Rows = append(result.Rows, []string{
			s.Name, cell(s.Before), cell(s.After), cell(s.Free), cell(s.Promoted), cell(s.Survival), cell(s.Budget),
		})
	}
	if len(e.Roots) > 0 {
		s := add("Marked from", nil)
		s.Head = []string{"", "ms", "promoted"}
		for _, r := range e.Roots {
			s.Rows = append(s.Rows, []string{r.Name, millis(r.Longest.Value), cell(r.Promoted)})
		}
	}
	add("How it compares", e.Comparison)
	if len(e.Unknown) > 0 {
		s := add("Unknown", nil)
		for _, u := range e.Unknown {
			s.Texts = append(s.Texts, view.OneLine(strings.Join(u.What, ", ")+": "+u.Why))
		}
	}
	return x
}

// addParts adds a row for each part, followed by those within it. Shares are of whole; 0: none.
func addParts(rows *[][]string, parts []analysis.Part, indent string, whole int64) {
	for _, p := range parts {
		row := []string{indent + p.Name, "–"}
		share := "–"
		if p.Time.Known() {
			row[1] = millis(p.Time.Value)
			if whole > 0 {
				share = analysis.Number{Value: 100 * p.Time.Value / float64(whole), Unit: "%"}.Text()
			}
		}
		if whole > 0 {
			row = append(row, share)
		}
		*rows = append(*rows, row)
		addParts(rows, p.Parts, indent+"\u2003", whole)
	}
}
