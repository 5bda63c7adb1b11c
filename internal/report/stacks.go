package report

import (
	"fmt"
	"io"

	"github.com/gclog/gclog/internal/view"
)

// Stacks is what the call stacks of a recording say: who allocates, and who asks for collections.
type Stacks struct {
	Notes     []string // what it lacks
	Allocated string   // how much, and from what that is known; "": unknown
	Tree      *Node    // of calls; nil: unknown
	Types     Grid
	Paths     Grid
	Requested string // how many collections were asked for; "": none, or unknown
	Callers   Grid
}

// Outline returns the largest parts of the tree.
func (s *Stacks) Outline() Grid { return s.Tree.outline("bytes", "events", "method") }

// clean cleans all texts.
func (s *Stacks) clean() {
	for i := range s.Notes {
		s.Notes[i] = view.OneLine(s.Notes[i])
	}
	s.Tree.clean()
	s.Types.clean()
	s.Paths.clean()
	s.Callers.clean()
}

// markdown writes the tables.
func (s *Stacks) markdown(b io.Writer) {
	fmt.Fprint(b, "\n## Who allocates, and who asks for collections\n")
	for _, note := range s.Notes {
		fmt.Fprintf(b, "\n- note: %s\n", escaped(note))
	}
	for _, x := range []struct {
		says  string
		grids []Grid
	}{{s.Allocated, []Grid{s.Types, s.Paths}}, {s.Requested, []Grid{s.Callers}}} {
		if x.says != "" {
			fmt.Fprintf(b, "\n%s\n", escaped(x.says))
		}
		for _, g := range x.grids {
			if len(g.Rows) > 0 {
				fmt.Fprintf(b, "\n### %s\n\n", g.Caption)
				markdownTable(b, g.Head, g.Rows[:min(len(g.Rows), markdownRows)])
			}
		}
	}
}
