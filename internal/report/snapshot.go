package report

import (
	"time"

	"github.com/gclog/gclog/internal/view"
)

// A Snapshot is a heap snapshot in a page.
type Snapshot struct {
	Name       string    // of the file
	Time       time.Time // zero: unknown
	Facts      []Fact
	Incomplete string // what it lacks; "": nothing
	// Generations are those before the collection of the snapshot.
	Generations []Bytes
	Suspects    []Suspect
	Roots       Grid // what the roots hold
	// Before is the name of the snapshot that Growth compares with, "" if there is none.
	Before string

	Tree   *Node
	Types  []Type
	Growth []Growth
}

// Bytes is a part of the heap.
type Bytes struct {
	Name, Text string
	Objects    uint64
	Width      float64 // relative to the largest part, 0 to 100
}

// A Suspect is a place where memory accumulates, in sentences.
type Suspect struct {
	Text, Held string
	Path       []string
	Below      Grid
	Advice     string
}

// A Node is a part of the dominator tree.
type Node struct {
	Name     string  `json:"name"`
	Objects  uint64  `json:"objects"`
	Retained uint64  `json:"retained"` // bytes
	Others   uint64  `json:"others,omitempty"`
	Below    []*Node `json:"below,omitempty"`
}

// A Type is a row of the table of types. Sizes are bytes.
type Type struct {
	Name     string
	Objects  uint64
	Bytes    uint64
	Retained uint64
}

// Growth is how a type differs from the snapshot before.
type Growth struct {
	Name           string
	Objects, Bytes int64 // more than before
	Now            uint64
}

// snapshotData is what the scripts know about a snapshot: rows are lists, for their size.
type snapshotData struct {
	Tree   *Node    `json:"tree,omitempty"`
	Types  [][4]any `json:"types"`
	Growth [][4]any `json:"growth"`
}

func newSnapshotData(s *Snapshot) snapshotData {
	x := snapshotData{Tree: s.Tree, Types: [][4]any{}, Growth: [][4]any{}}
	for _, t := range s.Types {
		x.Types = append(x.Types, [4]any{t.Name, t.Objects, t.Bytes, t.Retained})
	}
	for _, g := range s.Growth {
		x.Growth = append(x.Growth, [4]any{g.Name, g.Objects, g.Bytes, g.Now})
	}
	return x
}

// clean cleans all texts.
func (s *Snapshot) clean() {
	for _, text := range []*string{&s.Name, &s.Incomplete, &s.Before} {
		*text = view.OneLine(*text)
	}
	for i := range s.Facts {
		s.Facts[i].Text = view.OneLine(s.Facts[i].Text)
	}
	s.Roots.clean()
	for i := range s.Suspects {
		x := &s.Suspects[i]
		x.Text, x.Held, x.Advice = view.OneLine(x.Text), view.OneLine(x.Held), view.OneLine(x.Advice)
		for k := range x.Path {
			x.Path[k] = view.OneLine(x.Path[k])
		}
		x.Below.clean()
	}
	for i := range s.Types {
		s.Types[i].Name = view.OneLine(s.Types[i].Name)
	}
	for i := range s.Growth {
		s.Growth[i].Name = view.OneLine(s.Growth[i].Name)
	}
	var todo []*Node // nothing is recursive: a program decides the depth
	if s.Tree != nil {
		todo = append(todo, s.Tree)
	}
	for i := 0; i < len(todo); i++ {
		todo[i].Name = view.OneLine(todo[i].Name)
		todo = append(todo, todo[i].Below...)
	}
}

func (g *Grid) clean() {
	for _, row := range g.Rows {
		for i := range row {
			row[i] = view.OneLine(row[i])
		}
	}
}
