package heap

import (
	"github.com/gclog/gclog/gclog/heap"
	"github.com/urfave/cli/v2"
)

// A reachableHeap is the graph of a file, and how much of it is reachable.
type reachableHeap struct {
	*selection
	g         *heap.Graph
	reachable heap.Count
}

// readReachable reads a file for a command whose --min is by default a share of what is reachable.
func (p *commands) readReachable(c *cli.Context, how string, share float64) (*reachableHeap, *heap.Dominators, error) {
	l, err := readHeapFlags(c, how)
	if err != nil {
		return nil, nil, err
	}
	if !c.IsSet("min") {
		l.Share = share
	}
	name, err := fileOf(c)
	if err != nil {
		return nil, nil, err
	}
	g, _, err := p.readGraph(name, &l.naming)
	if err != nil {
		return nil, nil, err // without references there is little to say
	}
	d := g.Dominators()
	return reachableIn(&l, g, d), d, nil
}

func reachableIn(l *selection, g *heap.Graph, d *heap.Dominators) *reachableHeap {
	h := &reachableHeap{selection: l, g: g}
	for o := range d.All {
		h.reachable.Objects++
		h.reachable.Bytes += g.Space(o)
	}
	l.MinOf(h.reachable.Bytes)
	return h
}

// shareOf returns the share of what is reachable, from 0 to 1.
func (h *reachableHeap) shareOf(bytes uint64) float64 {
	return float64(bytes) / float64(max(h.reachable.Bytes, 1))
}
