package callers

import (
	"cmp"
	"slices"

	"github.com/gclog/gclog/gclog/stacks"
)

// A Node is a frame in a tree of paths, with what was allocated in it and in what it called.
type Node struct {
	Name string
	stacks.Estimate
	Calls []*Node         // most bytes first
	Other stacks.Estimate // in calls that are not in Calls

	rows []*Row // through it
}

// Tree returns rows by path as a tree, without nodes for which keep is false and what they called. It has no more
// nodes than are kept: rows may have millions of frames.
func Tree(rows []Row, keep func(*Node) bool) *Node {
	root := &Node{}
	for i := range rows {
		root.add(&rows[i])
	}
	root.grow(0, keep)
	return root
}

func (n *Node) add(r *Row) {
	n.Add(r.Estimate)
	n.rows = append(n.rows, r)
}

// grow adds what a node calls, whose frames are at a depth of the paths.
func (n *Node) grow(depth int, keep func(*Node) bool) {
	index := map[string]*Node{}
	for _, r := range n.rows {
		if len(r.Path) <= depth {
			continue
		}
		name := r.Path[depth]
		next := index[name]
		if next == nil {
			next = &Node{Name: name}
			index[name] = next
			n.Calls = append(n.Calls, next)
		}
		next.add(r)
	}
	n.rows = nil
	n.Calls = slices.DeleteFunc(n.Calls, func(c *Node) bool {
		if keep(c) {
			return false
		}
		n.Other.Add(c.Estimate)
		return true
	})
	slices.SortStableFunc(n.Calls, func(a, b *Node) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, c := range n.Calls {
		c.grow(depth+1, keep)
	}
}

// Lines iterates over the tree from its root. A frame that did nothing but call another one is at the same
// depth as that.
func (n *Node) Lines(yield func(depth int, n *Node)) { n.lines(0, yield) }

func (n *Node) lines(depth int, yield func(depth int, n *Node)) {
	for _, c := range n.Calls {
		yield(depth, c)
		next := depth + 1
		if c.Events == n.Events && len(c.Calls) > 0 && c.Calls[0].Events == c.Events {
			next = depth
		}
		c.lines(next, yield)
	}
}
