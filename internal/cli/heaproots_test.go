package cli

import (
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

func TestWhyUnreachable(t *testing.T) {
	for _, c := range []struct {
		of   map[heap.Generation]uint64
		want string
	}{
		{map[heap.Generation]uint64{heap.Frozen: 3}, "frozen, as string literals are"},
		{map[heap.Generation]uint64{heap.UnknownGeneration: 3}, "frozen, as string literals are, or dead; the snapshot has no generations, which would say so"},
		{map[heap.Generation]uint64{heap.Gen0: 2, heap.Gen2: 1}, "they are dead, or the snapshot lacks what holds them"},
		{map[heap.Generation]uint64{heap.Gen2: 2, heap.Frozen: 5}, "5 are frozen, as string literals are; the others are dead, or the snapshot lacks what holds them"},
	} {
		var n heap.TypeCount
		for generation, objects := range c.of {
			n.Objects += objects
			n.Generations[generation].Objects = objects
		}
		if got := whyUnreachable(&n); got != c.want {
			t.Errorf("%v: %s, want %s", c.of, got, c.want)
		}
	}
}
