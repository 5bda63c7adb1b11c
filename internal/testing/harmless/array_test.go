package harmless

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// strength is the number of factors whose values a covering array combines completely.
const strength = 3

// A triple is one value of each of three factors, encoded as a number.
type triple uint32

// tripleCount is more than any triple: a factor and a value have four bits each.
const tripleCount triple = 1 << (strength * 8)

// triples returns the triples of a row.
func triples(row []int) (list []triple) {
	for i := range row {
		for j := range i {
			for k := range j {
				var t triple
				for _, factor := range []int{i, j, k} {
					t = t<<8 | triple(factor<<4|row[factor])
				}
				list = append(list, t)
			}
		}
	}
	return list
}

// A coverage is the set of triples that are covered.
type coverage struct {
	has   []bool
	count int
}

func newCoverage() *coverage { return &coverage{has: make([]bool, tripleCount)} }

func (c *coverage) add(list []triple) {
	for _, t := range list {
		if !c.has[t] {
			c.has[t] = true
			c.count++
		}
	}
}

// lacks returns how many triples of a list are not covered.
func (c *coverage) lacks(list []triple) (n int) {
	for _, t := range list {
		if !c.has[t] {
			n++
		}
	}
	return n
}

// cover returns rows that together contain every triple of the given rows, starting with those that
// add most. Which of the many possible sets it returns depends only on the seed.
func cover(rows [][]int, seed uint64) (chosen [][]int) {
	covered := newCoverage()
	lists := make([][]triple, len(rows))
	for i, row := range rows {
		lists[i] = triples(row)
	}
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(rows))
	// What a row adds never grows: a row that adds less than wanted now is checked again when less
	// is wanted.
	for want := len(lists[0]); want > 0; want-- {
		for _, i := range order {
			if covered.lacks(lists[i]) >= want {
				chosen = append(chosen, rows[i])
				covered.add(lists[i])
			}
		}
	}
	return chosen
}

// every returns all combinations of one value per factor; sizes are the numbers of values.
func every(sizes []int) [][]int {
	if len(sizes) == 0 {
		return [][]int{nil}
	}
	var list [][]int
	for _, row := range every(sizes[:len(sizes)-1]) {
		for v := range sizes[len(sizes)-1] {
			list = append(list, append(slices.Clone(row), v))
		}
	}
	return list
}

// A matrix contains the possible cells of some runtimes, as rows of indices of values.
type matrix struct {
	factors  []factor
	possible [][]int
	excluded map[string]int // by reason
}

// newMatrix returns the matrix of the runtimes with these names.
func newMatrix(runtimes []string) *matrix {
	m := &matrix{factors: factors(), excluded: map[string]int{}}
	var sizes []int
	for _, f := range m.factors {
		sizes = append(sizes, len(f.values))
	}
	for _, row := range every(sizes) {
		c := m.cell(row)
		switch reason := c.impossible(); {
		case !slices.Contains(runtimes, c.runtime):
		case reason != "":
			m.excluded[reason]++
		default:
			m.possible = append(m.possible, row)
		}
	}
	return m
}

func (m *matrix) cell(row []int) cell {
	v := func(i int) string { return m.factors[i].values[row[i]].name }
	return cell{v(0), v(1), v(2), v(3), v(4), v(5)}
}

// cells returns a covering array.
func (m *matrix) cells(seed uint64) (list []cell) {
	for _, row := range cover(m.possible, seed) {
		list = append(list, m.cell(row))
	}
	return list
}

// triples counts the triples of cells.
func (m *matrix) triples(cells []cell) int {
	covered := newCoverage()
	for _, c := range cells {
		covered.add(triples(m.row(c)))
	}
	return covered.count
}

func (m *matrix) row(c cell) (row []int) {
	for i, name := range []string{c.runtime, c.start, c.action, c.other, c.moment, c.ending} {
		row = append(row, slices.IndexFunc(m.factors[i].values, func(v value) bool { return v.name == name }))
	}
	return row
}

// allRuntimes returns the names of the values of the first factor.
func allRuntimes() (names []string) {
	for _, v := range factors()[0].values {
		names = append(names, v.name)
	}
	return names
}

// TestCover: the array contains each possible triple, and no impossible cell. The same seed gives
// the same array, another seed another array.
func TestCover(t *testing.T) {
	m := newMatrix(allRuntimes())
	possible := newCoverage()
	for _, row := range m.possible {
		possible.add(triples(row))
	}
	for _, seed := range []uint64{1, 2, 3} {
		cells := m.cells(seed)
		if n := m.triples(cells); n != possible.count {
			t.Errorf("seed %d: %d of %d possible triples are covered", seed, n, possible.count)
		}
		for i, c := range cells {
			if reason := c.impossible(); reason != "" || slices.Contains(cells[:i], c) {
				t.Errorf("seed %d: %s is twice in the array, or impossible: %s", seed, c, reason)
			}
			if again, err := parseCell(c.String()); again != c || err != nil {
				t.Errorf("%s is read as %s: %v", c, again, err)
			}
		}
		if seed == 1 {
			t.Logf("%d cells cover %d triples; %d of %d cells are possible", len(cells), possible.count, len(m.possible), len(m.possible)+sum(m.excluded))
		}
	}
	if slices.Equal(m.cells(1), m.cells(2)) || !slices.Equal(m.cells(1), m.cells(1)) {
		t.Error("the array does not depend on the seed alone")
	}
	for _, r := range rules() {
		if m.excluded[r.reason] == 0 {
			t.Errorf("this rule excludes nothing: %s", r.reason)
		}
		t.Logf("%5d cells are impossible: %s", m.excluded[r.reason], r.reason)
	}
}

func sum(m map[string]int) (n int) {
	for _, x := range m {
		n += x
	}
	return n
}
