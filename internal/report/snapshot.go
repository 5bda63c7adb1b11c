package report

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/view"
)

// A Snapshot is a heap snapshot in a page.
type Snapshot struct {
	Name       string    // of the file
	Time       time.Time // zero: unknown
	Process    string    // the name of its program; "": unknown
	PID        int64     // 0: unknown
	Facts      []Fact
	Incomplete string // what the snapshot lacks; "": nothing
	// Other says that it is not of the process of the history, "" if it is, or may be.
	Other string
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

// A Node is a box of an icicle: a part of the dominator tree, or a method in a tree of calls.
type Node struct {
	Name  string  `json:"name"`
	Count uint64  `json:"count"` // of objects, or of events
	Bytes uint64  `json:"bytes"` // with what is below
	Below []*Node `json:"below,omitempty"`
}

// clean cleans all names. It is not recursive: a program decides the depth.
func (n *Node) clean() {
	if n == nil {
		return
	}
	todo := []*Node{n}
	for i := 0; i < len(todo); i++ {
		todo[i].Name = view.OneLine(todo[i].Name)
		todo = append(todo, todo[i].Below...)
	}
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

// other returns a sentence if a snapshot is not of this process. The same process may have two pids, in
// two pid namespaces: so both are named, and nothing is refused.
func (s *Snapshot) other(p *gclog.Process) string {
	of := func(name string, pid int64) string {
		if name == "" {
			return fmt.Sprintf("process %d", pid)
		}
		return fmt.Sprintf("process %d (%s)", pid, name)
	}
	switch {
	case s.PID != 0 && p.ID != 0 && s.PID != p.ID:
		return fmt.Sprintf("This snapshot is of %s, the log of %s.", of(s.Process, s.PID), of(p.Name, p.ID))
	case !s.Time.IsZero() && s.Time.Before(p.Started):
		return fmt.Sprintf(
			"This snapshot was taken before the process of the log was started, at %s: it is of an earlier one.",
			p.Started.In(p.Sync.Location()).Format("2006-01-02 15:04:05 MST"))
	}
	return ""
}

// clean cleans all texts.
func (s *Snapshot) clean() {
	for _, text := range []*string{&s.Name, &s.Process, &s.Incomplete, &s.Other, &s.Before} {
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
	s.Tree.clean()
}

func (g *Grid) clean() {
	for _, row := range g.Rows {
		for i := range row {
			row[i] = view.OneLine(row[i])
		}
	}
}
