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
	Calls []*Node // most bytes first

	index map[string]*Node
}

// Tree returns rows by path as a tree.
func Tree(rows []Row) *Node {
	root := &Node{index: map[string]*Node{}}
	for i := range rows {
		at := root
		at.Add(rows[i].Estimate)
		for _, name := range rows[i].Path {
			next := at.index[name]
			if next == nil {
				next = &Node{Name: name, index: map[string]*Node{}}
				at.index[name] = next
				at.Calls = append(at.Calls, next)
			}
			at = next
			at.Add(rows[i].Estimate)
		}
	}
	root.sort()
	return root
}

func (n *Node) sort() {
	slices.SortStableFunc(n.Calls, func(a, b *Node) int { return cmp.Compare(b.Bytes, a.Bytes) })
	for _, c := range n.Calls {
		c.sort()
	}
}

// Lines iterates over the tree from its root, and leaves out nodes for which keep is false, with what
// they called. A frame that did nothing but call another one is at the same depth as that.
func (n *Node) Lines(keep func(*Node) bool, yield func(depth int, n *Node)) {
	n.lines(0, keep, yield)
}

func (n *Node) lines(depth int, keep func(*Node) bool, yield func(depth int, n *Node)) {
	for _, c := range n.Calls {
		if !keep(c) {
			continue
		}
		yield(depth, c)
		next := depth + 1
		if len(n.Calls) == 1 && len(c.Calls) == 1 && c.Calls[0].Events == c.Events {
			next = depth
		}
		c.lines(next, keep, yield)
	}
}
