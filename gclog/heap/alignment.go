package heap

import (
	"cmp"
	"slices"
)

// An alignment explains a sequence of static fields by the fields of assemblies. The sequence is
// made of blocks: each has fields of one assembly, in ascending order. Some fields may remain
// unexplained, because nobody knows their assembly.
//
// The best explanations are those with the most explained fields in the fewest blocks. There may be
// many; what all of them agree on is certain.
type alignment struct {
	len        int
	candidates []candidate
}

// A candidate is a field that may be the one at a place of the sequence.
type candidate struct {
	at, assembly, row int
	owner             uint32 // what declares the field
	prefix, suffix    score  // of the best explanations that end and begin with it
}

// A score rates explanations. Of equal ones, far is the farthest place of what follows.
type score struct{ value, far int }

const (
	gain = 2 // for each field that is explained
	cost = 1 // for each block: less than gain, so that a block may be a single field
)

func (s score) less(t score) bool {
	return s.value < t.value || s.value == t.value && s.far < t.far
}

func better(s, t score) score {
	if s.less(t) {
		return t
	}
	return s
}

// certain returns the fields that all best explanations have at the same place. A field at the
// beginning or the end of a block may be one of an unknown assembly: it must be the only candidate,
// or further out there must be a field that is.
func (x *alignment) certain() []candidate {
	slices.SortFunc(x.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.assembly, b.assembly), cmp.Compare(a.row, b.row))
	})
	x.rate(func(c *candidate) *score { return &c.prefix }, 1)
	x.rate(func(c *candidate) *score { return &c.suffix }, -1)
	best := 0
	for i := range x.candidates {
		best = max(best, x.candidates[i].total())
	}
	far := -1 // how far the best explanations go from what precedes a place
	for i := range x.candidates {
		if c := &x.candidates[i]; c.total() == best && c.suffix.value-cost == best {
			far = max(far, c.at)
		}
	}
	var list []candidate
	anchors := map[int][2]int{} // first and last place of each assembly that is beyond doubt
	for group := range x.groups() {
		var only *candidate
		n, next := 0, far
		for i := range group {
			if c := &group[i]; c.total() == best {
				only = c
				n++
				next = max(next, c.suffix.far)
			}
		}
		if n == 1 && far <= only.at {
			list = append(list, *only)
			if len(group) == 1 {
				a, ok := anchors[only.assembly]
				if !ok {
					a[0] = only.at
				}
				a[1] = only.at
				anchors[only.assembly] = a
			}
		}
		far = next
	}
	return slices.DeleteFunc(list, func(c candidate) bool {
		a, ok := anchors[c.assembly]
		return !ok || c.at < a[0] || c.at > a[1]
	})
}

// total is the score of the best explanations that contain the candidate.
func (c *candidate) total() int { return c.prefix.value - cost + c.suffix.value - gain }

// groups returns the candidates of each place.
func (x *alignment) groups() func(yield func([]candidate) bool) {
	return func(yield func([]candidate) bool) {
		for from := 0; from < len(x.candidates); {
			to := from + 1
			for to < len(x.candidates) && x.candidates[to].at == x.candidates[from].at {
				to++
			}
			if !yield(x.candidates[from:to]) {
				return
			}
			from = to
		}
	}
}

// rate computes the best score of each candidate with what precedes it (direction 1) or follows it
// (-1).
func (x *alignment) rate(of func(*candidate) *score, direction int) {
	trees := x.trees()
	groups := slices.Collect(x.groups())
	if direction < 0 {
		slices.Reverse(groups)
	}
	var top topTwo
	for _, group := range groups {
		for i := range group {
			c := &group[i]
			s := score{0, x.len} // nothing else is explained
			s = better(s, trees[c.assembly].best(c.row, direction))
			if t, ok := top.except(c.assembly); ok {
				s = better(s, score{t.value - cost, t.far})
			}
			*of(c) = score{s.value + gain, s.far}
		}
		for i := range group {
			c := &group[i]
			s := score{of(c).value, c.at}
			trees[c.assembly].add(c.row, direction, s)
			top.add(c.assembly, s)
		}
	}
}

// A topTwo is the best score of any assembly, and the best of the others.
type topTwo struct {
	first, second       score
	assembly            int
	hasFirst, hasSecond bool
}

func (t *topTwo) add(assembly int, s score) {
	switch {
	case !t.hasFirst:
		t.first, t.assembly, t.hasFirst = s, assembly, true
	case assembly == t.assembly:
		t.first = better(t.first, s)
	case t.first.less(s):
		t.second, t.hasSecond = t.first, true
		t.first, t.assembly = s, assembly
	case !t.hasSecond || t.second.less(s):
		t.second, t.hasSecond = s, true
	}
}

// except returns the best score of the assemblies but one.
func (t *topTwo) except(assembly int) (score, bool) {
	if assembly == t.assembly {
		return t.second, t.hasSecond
	}
	return t.first, t.hasFirst
}

// A rowTree finds the best score of the fields before or after a row (a Fenwick tree).
type rowTree struct {
	rows   []int // ascending
	scores []score
}

// trees returns an empty tree for each assembly.
func (x *alignment) trees() []rowTree {
	var trees []rowTree
	for i := range x.candidates {
		c := &x.candidates[i]
		for len(trees) <= c.assembly {
			trees = append(trees, rowTree{})
		}
		trees[c.assembly].rows = append(trees[c.assembly].rows, c.row)
	}
	for i := range trees {
		t := &trees[i]
		slices.Sort(t.rows)
		t.rows = slices.Compact(t.rows)
		t.scores = make([]score, len(t.rows)+1)
	}
	return trees
}

// place returns the place of a row, counted from 1 and from the end for direction -1.
func (t *rowTree) place(row, direction int) int {
	i, _ := slices.BinarySearch(t.rows, row)
	if direction < 0 {
		return len(t.rows) - i
	}
	return i + 1
}

// best returns the best score of the rows before a row, in a direction.
func (t *rowTree) best(row, direction int) (s score) {
	for i := t.place(row, direction) - 1; i > 0; i -= i & -i {
		s = better(s, t.scores[i])
	}
	return s
}

func (t *rowTree) add(row, direction int, s score) {
	for i := t.place(row, direction); i < len(t.scores); i += i & -i {
		t.scores[i] = better(t.scores[i], s)
	}
}
