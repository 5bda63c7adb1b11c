package callers

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog/stacks"
	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/report"
	"github.com/gclog/gclog/internal/view"
)

// The call stacks of a report.

// Limits of what a report has of them.
const (
	reportRows  = 50
	reportBoxes = 1500
	reportDepth = 60
	reportShare = 1000 // a box has at least this part of the whole
)

// Report returns what a profile says for a report, nil if that is nothing.
func Report(x *stacks.Profile) *report.Stacks {
	l := &stackList{View: callers.View{Profile: x, Own: true}}
	s := &report.Stacks{}
	named := 2*x.Names.Unnamed < x.Names.Frames
	if calls := l.Calls(false); len(calls) > 0 && named {
		all := sumOfCalls(calls)
		s.Requested = fmt.Sprintf("%s asked for, which paused the program for %s.",
			view.Counted(all.Count, "collection"), pauseText(all.Paused))
		s.Callers = report.Grid{
			Caption: "Who asks for collections", Head: []string{"count", "paused", "longest", "call", "caller"},
		}
		for _, r := range calls[:min(len(calls), reportRows)] {
			s.Callers.Rows = append(s.Callers.Rows, []string{
				strconv.FormatUint(r.Count, 10), pauseText(r.Paused), pauseText(r.Longest), r.Call, r.Caller,
			})
		}
	}
	if x.Source != stacks.None && x.Total.Bytes > 0 {
		s.Allocated = strings.ReplaceAll(l.head(callers.ByPath, 0, 0), "\n", ". ") + "."
	}
	if s.Allocated != "" && !x.Nameless() {
		s.Types = l.grid("What is allocated", callers.ByType)
	}
	if s.Allocated != "" && named {
		s.Paths = l.grid("Where it is allocated", callers.ByPath)
		s.Tree = boxes(callers.Tree(l.Rows(callers.ByPath), func(n *callers.Node) bool {
			return n.Bytes > 0 && n.Bytes*reportShare >= x.Total.Bytes
		}))
	}
	switch {
	case s.Allocated == "" && s.Requested == "":
		return nil
	case x.HasStacks() && !named:
		s.Notes = append(s.Notes, "The names of most methods are missing, so that it is unknown who allocates: gclog "+
			"record PID --stacks makes a recording that has them.")
	}
	if x.Lost > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("The runtime dropped %s: this is not representative.",
			view.Counted(x.Lost, "event")))
	}
	return s
}

// grid returns the first rows of a list of allocations.
func (l *stackList) grid(caption, by string) report.Grid {
	g := report.Grid{Caption: caption, Head: []string{"share", "per second", "bytes", "events", by}}
	rows := slices.DeleteFunc(l.Rows(by), func(r callers.Row) bool { return !r.Enough() })
	for i := range rows[:min(len(rows), reportRows)] {
		r := &rows[i]
		name := r.Name
		if by == callers.ByPath {
			name = callers.Outwards(r.Path)
		}
		g.Rows = append(g.Rows, []string{
			l.ShareText(r.Estimate), callers.RateText(r.Bytes, l.Profile.Duration), formats.SizeText(int64(r.Bytes)),
			strconv.FormatUint(r.Events, 10), name,
		})
	}
	return g
}

// boxes returns a tree for the icicle. It has at most reportBoxes boxes, the outermost ones first; the methods that are
// left out are merged into one box of their caller.
func boxes(root *callers.Node) *report.Node {
	type pair struct {
		from  *callers.Node
		to    *report.Node
		depth int
	}
	top := &report.Node{}
	todo := []pair{{root, top, 0}}
	for i := 0; i < len(todo); i++ {
		x := todo[i]
		x.to.Name, x.to.Count, x.to.Bytes = x.from.Name, x.from.Events, uint64(max(0, x.from.Bytes))
		other := x.from.Other
		for _, c := range x.from.Calls {
			if len(todo) >= reportBoxes || x.depth >= reportDepth {
				other.Add(c.Estimate)
				continue
			}
			to := &report.Node{}
			x.to.Below = append(x.to.Below, to)
			todo = append(todo, pair{c, to, x.depth + 1})
		}
		if other.Bytes > 0 {
			rest := &report.Node{Name: "other", Count: other.Events, Bytes: uint64(other.Bytes)}
			x.to.Below = append(x.to.Below, rest)
		}
	}
	top.Name = cmp.Or(top.Name, "all threads")
	return top
}
