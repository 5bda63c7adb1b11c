package heap

import (
	"math/rand/v2"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// allBest returns the best score of any explanation, and what all of the best have in common, by
// trying all of them.
func (x *alignment) allBest() (best int, common map[candidate]bool) {
	var path []candidate
	var try func(at, score int)
	try = func(at, score int) {
		if at == x.len {
			if score > best {
				best, common = score, nil
			}
			if score == best {
				now := map[candidate]bool{}
				for _, c := range path {
					if common == nil || common[c] {
						now[c] = true
					}
				}
				common = now
			}
			return
		}
		try(at+1, score)
		for _, c := range x.candidates {
			if c.at != at {
				continue
			}
			next := score + gain
			if len(path) == 0 || path[len(path)-1].assembly != c.assembly {
				next -= cost
			} else if path[len(path)-1].row >= c.row {
				continue
			}
			path = append(path, c)
			try(at+1, next)
			path = path[:len(path)-1]
		}
	}
	try(0, 0)
	return best, common
}

// anchored removes what is not between fields that are the only candidates.
func (x *alignment) anchored(common map[candidate]bool) map[candidate]bool {
	count := map[int]int{}
	for _, c := range x.candidates {
		count[c.at]++
	}
	kept := map[candidate]bool{}
	for c := range common {
		before, after := false, false
		for a := range common {
			if a.assembly == c.assembly && count[a.at] == 1 {
				before = before || a.at <= c.at
				after = after || a.at >= c.at
			}
		}
		if before && after {
			kept[c] = true
		}
	}
	return kept
}

// TestAlignment compares the search with all explanations of small sequences.
func TestAlignment(t *testing.T) {
	named := 0
	for seed := range uint64(4000) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := alignment{len: 1 + r.IntN(7)}
		rows := 1 + r.IntN(9)
		for at := range x.len {
			for range r.IntN(4) {
				c := candidate{at: at, assembly: r.IntN(3), row: 1 + r.IntN(rows)}
				c.owner = uint32(c.row)
				x.candidates = append(x.candidates, c)
			}
		}
		seen := map[candidate]bool{}
		var unique []candidate
		for _, c := range x.candidates {
			if !seen[c] {
				seen[c] = true
				unique = append(unique, c)
			}
		}
		x.candidates = unique
		_, common := x.allBest()
		want := x.anchored(common)
		got := map[candidate]bool{}
		for _, c := range x.certain() {
			got[candidate{at: c.at, assembly: c.assembly, row: c.row, owner: c.owner}] = true
		}
		if len(got) != len(want) {
			t.Fatalf("seed %d: %v, want %v, of %v", seed, got, want, x.candidates)
		}
		for c := range want {
			if !got[c] {
				t.Fatalf("seed %d: %v is missing", seed, c)
			}
			named++
		}
	}
	if named < 1000 {
		t.Errorf("only %d fields were certain", named)
	}
}

// TestAlignmentOfMany takes no more than a moment for many fields of the same name.
func TestAlignmentOfMany(t *testing.T) {
	extent.Long(t)
	const fields, same = 300, 1000
	x := alignment{len: fields}
	for at := range fields {
		for row := range same {
			x.candidates = append(x.candidates, candidate{at: at, assembly: row % 3, row: row})
		}
	}
	if list := x.certain(); len(list) != 0 {
		t.Error(len(list))
	}
}
