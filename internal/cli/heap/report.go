package heap

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/lists"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/report"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/internal/view"
)

// The heap snapshots of a report.

const (
	reportTypes  = 2000 // in the table of types
	reportNodes  = 1500 // of the icicle
	reportDepth  = 40
	reportGrowth = 500
	reportRoots  = 40
)

// SplitSnapshots returns which of the files are heap snapshots. A file that cannot be read is left to
// the commands for histories, whose messages fit.
func SplitSnapshots(names []string) (histories, snapshots []string) {
	for _, name := range names {
		if IsSnapshot(name) {
			snapshots = append(snapshots, name)
		} else {
			histories = append(histories, name)
		}
	}
	return histories, snapshots
}

// IsSnapshot reports whether a file has the name of a heap snapshot.
func IsSnapshot(name string) bool {
	if name == "-" {
		return false
	}
	f, regular, err := history.OpenFile(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if !regular {
		return false
	}
	var read atomic.Int64
	content, err := unpack.Reader(f, &read, unpack.LimitKept)
	return err == nil && heap.IsDump(bufio.NewReaderSize(content, 4096))
}

// reportSnapshots reads heap snapshots. Each but the first is compared with the one before.
func (p *commands) reportSnapshots(names []string) (list []*report.Snapshot, err error) {
	l := &selection{Least: lists.Least{Share: suspectShare}}
	var before *heap.Histogram
	for _, name := range names {
		g, info, problem := p.readGraph(name, &l.naming)
		if g == nil {
			return nil, problem
		}
		err = errors.Join(err, problem)
		s := &report.Snapshot{Name: subject.InputName(name), Time: info.Time}
		if problem != nil {
			s.Incomplete = problem.Error()
		}
		h := g.Histogram()
		p.describeSnapshot(s, l, g, info, h)
		if before != nil {
			last := list[len(list)-1]
			s.Before = last.Name
			if last.PID != 0 && s.PID != 0 && last.PID != s.PID {
				s.Before += fmt.Sprintf(", which is of process %d", last.PID)
			}
			for _, x := range heap.Compare(before, h) {
				if x.Bytes() != 0 || x.Objects() != 0 {
					s.Growth = append(s.Growth, report.Growth{
						Name:    l.name(x.Name),
						Objects: x.Objects(),
						Bytes:   x.Bytes(),
						Now:     x.Counts[1].Bytes,
					})
				}
			}
			slices.SortStableFunc(s.Growth, func(a, b report.Growth) int { return cmp.Compare(b.Bytes, a.Bytes) })
			s.Growth = s.Growth[:min(len(s.Growth), reportGrowth)]
		}
		before = h
		list = append(list, s)
	}
	return list, err
}

func (p *commands) describeSnapshot(
	s *report.Snapshot, l *selection, g *heap.Graph, info *heap.DumpInfo, h *heap.Histogram,
) {
	total := h.Total()
	add := func(name, text string) {
		if text != "" {
			s.Facts = append(s.Facts, report.Fact{Name: name, Text: view.Clean(text)})
		}
	}
	add("file", s.Name)
	s.Process, s.PID = cmp.Or(g.Process.Name, info.Process), int64(cmp.Or(g.Process.ID, info.ProcessID))
	add("program", s.Process)
	if s.PID != 0 {
		add("pid", strconv.FormatInt(s.PID, 10))
	}
	if !s.Time.IsZero() {
		add("taken", history.TimeText(s.Time.UTC()))
	}
	add("heap", view.Counted(total.Objects, "object")+" in "+formats.SizeText(int64(total.Bytes)))
	largest := uint64(1)
	for _, c := range total.Generations {
		largest = max(largest, c.Bytes)
	}
	for i, c := range total.Generations {
		if c.Objects > 0 {
			s.Generations = append(s.Generations, report.Bytes{
				Name:    heap.Generation(i).String(),
				Text:    formats.SizeText(int64(c.Bytes)),
				Objects: c.Objects,
				Width:   100 * float64(c.Bytes) / float64(largest),
			})
		}
	}
	var retained []uint64
	if s.Incomplete == "" {
		retained = p.describeReferences(s, l, g)
	}
	for i, c := range h.Counts {
		if c.Objects == 0 {
			continue
		}
		t := report.Type{Name: l.name(g.Types[i].String()), Objects: c.Objects, Bytes: c.Bytes}
		if retained != nil {
			t.Retained = retained[i]
		}
		s.Types = append(s.Types, t)
	}
	slices.SortStableFunc(s.Types, func(a, b report.Type) int {
		return cmp.Or(cmp.Compare(b.Retained, a.Retained), cmp.Compare(b.Bytes, a.Bytes))
	})
	s.Types = s.Types[:min(len(s.Types), reportTypes)]
}

// describeReferences describes what depends on the references of the objects, and returns what each
// type retains.
func (p *commands) describeReferences(s *report.Snapshot, l *selection, g *heap.Graph) []uint64 {
	d := g.Dominators()
	paths := g.Paths()
	all := reachableIn(l, g, d)
	there := all.reachable
	s.Facts = append(s.Facts, report.Fact{
		Name: "reachable",
		Text: view.Counted(there.Objects, "object") + " in " + formats.SizeText(int64(there.Bytes)),
	})
	least := max(1, there.Bytes/1000)
	tree := d.Tree(paths, nil, heap.TreeLimits{Depth: reportDepth, Least: least, Nodes: reportNodes})
	s.Tree = reportTree(l, g, tree)
	s.Roots = report.Grid{Caption: "What the roots hold", Head: []string{"retained", "objects", "root", "type"}}
	for _, n := range tree.Below[:min(len(tree.Below), reportRoots)] {
		s.Roots.Rows = append(s.Roots.Rows, []string{
			formats.SizeText(int64(n.Retained)), strconv.FormatUint(n.Objects, 10),
			cmp.Or(view.Clean(n.Holder), "several roots"), l.name(g.Types[n.Type].String()),
		})
	}
	r := suspectReport{reachableHeap: all, list: d.Suspects(paths, l.Min)}
	for i := range r.list {
		s.Suspects = append(s.Suspects, r.reported(&r.list[i]))
	}
	return d.RetainedByType()
}

// reported returns a suspect for a page.
func (r *suspectReport) reported(s *heap.Suspect) report.Suspect {
	x := report.Suspect{Text: r.what(s), Advice: r.advice(s), Held: r.held(s)}
	for _, y := range r.steps(s) {
		x.Path = append(x.Path, y.text)
	}
	x.Below = report.Grid{Caption: "What accumulates", Head: []string{"retained", "objects", "type"}}
	for _, b := range s.Below[:min(len(s.Below), suspectRows)] {
		x.Below.Rows = append(x.Below.Rows,
			[]string{formats.SizeText(int64(b.Retained)), strconv.FormatUint(b.Objects, 10), r.shown(b.Type)})
	}
	return x
}

// reportTree returns a tree for the icicle.
func reportTree(l *selection, g *heap.Graph, root *heap.TreeNode) *report.Node {
	top := &report.Node{Name: "all roots", Bytes: root.Retained}
	type pair struct {
		from *heap.TreeNode
		to   *report.Node
	}
	todo := []pair{{root, top}}
	for i := 0; i < len(todo); i++ {
		for _, n := range todo[i].from.Below {
			name := l.name(g.Types[n.Type].String())
			if n.Holder != "" {
				name = view.Clean(n.Holder) + ": " + name
			}
			if n.Repeated > 1 {
				name += fmt.Sprintf(" (a chain of up to %d)", n.Repeated)
			}
			to := &report.Node{Name: strings.TrimSpace(name), Count: n.Objects, Bytes: n.Retained}
			todo[i].to.Below = append(todo[i].to.Below, to)
			todo = append(todo, pair{n, to})
		}
	}
	return top
}
