package report

import (
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/view"
)

// A table has the columns of collections, or of pauses. Rows are added one by one; if there are too
// many, it keeps those with the maximums.
type table struct {
	columns []column
	values  [][]int64 // by column; unknown if it is not known, for names their number plus 1
	names   []names   // by column
	ids     []int     // by row: the number of rows added before it
	added   int

	limit   int   // of rows when it is finished
	maximum []int // columns whose maximums thinning keeps
	width   int   // thinning keeps the maximums of each so many added rows
	// keep returns the ids of rows that thinning keeps in any case; nil: none.
	keep func() map[int]bool
}

// unknown is a value that is not known.
const unknown = math.MinInt64

// names numbers the names in a column.
type names struct {
	list  []string
	index map[string]int
}

// mostNames is how many names a column may have. The number of reasons and of conditions that occur
// together is limited by the runtime; a hostile stream has more.
const mostNames = 4096

func (n *names) number(name string) int64 {
	if name == "" {
		return unknown
	}
	i, ok := n.index[name]
	if !ok {
		if len(n.list) == mostNames {
			return unknown
		}
		if n.index == nil {
			n.index = map[string]int{}
		}
		i = len(n.list)
		n.list = append(n.list, name)
		n.index[name] = i
	}
	return int64(i)
}

func newTable(columns []column, limit int, maximum ...string) *table {
	t := &table{
		columns: columns,
		limit:   limit,
		width:   1,
		values:  make([][]int64, len(columns)),
		names:   make([]names, len(columns)),
	}
	for _, key := range maximum {
		t.maximum = append(t.maximum, t.column(key))
	}
	return t
}

// column returns the index of a column.
func (t *table) column(key string) int {
	return slices.IndexFunc(t.columns, func(c column) bool { return c.Key == key })
}

func (t *table) rows() int { return len(t.ids) }

// add adds a collection, and returns its id.
func (t *table) add(d *gclog.GCDetails) (id int) {
	t.makeRoom()
	for i := range t.columns {
		c := &t.columns[i]
		v := int64(unknown)
		if c.text != nil {
			v = t.names[i].number(view.OneLine(c.text(d)))
		} else if x, known := c.value(d); known {
			v = x
		}
		t.values[i] = append(t.values[i], v)
	}
	return t.count()
}

// addValues adds a row with these values, one for each column.
func (t *table) addValues(values ...int64) {
	t.makeRoom()
	for i, v := range values {
		t.values[i] = append(t.values[i], v)
	}
	t.count()
}

// count counts a row whose values were added.
func (t *table) count() (id int) {
	id = t.added
	t.added++
	t.ids = append(t.ids, id)
	return id
}

// makeRoom thins the table if it has twice as many rows as it should.
func (t *table) makeRoom() {
	if len(t.ids) >= 2*t.limit {
		t.finish()
	}
}

// finish thins the table to its limit, or as far as that is possible. The rows that were added since
// the last time are thinned like the others before the groups become larger.
func (t *table) finish() {
	if len(t.ids) > t.limit && t.width > 1 {
		t.thin()
	}
	for len(t.ids) > t.limit && t.width < t.added {
		t.width *= 2
		t.thin()
	}
}

// thin keeps of each group of rows those with a maximum. The groups of all rows have the same width,
// so that the rows that are left are spread evenly, whenever they were added.
func (t *table) thin() {
	var keep map[int]bool
	if t.keep != nil {
		keep = t.keep()
	}
	kept := 0
	best := make([]int, len(t.maximum))
	for from := 0; from < len(t.ids); {
		to := from + 1
		for to < len(t.ids) && t.ids[to]/t.width == t.ids[from]/t.width {
			to++
		}
		for k, c := range t.maximum {
			best[k] = from
			for i := from + 1; i < to; i++ {
				if t.values[c][i] > t.values[c][best[k]] {
					best[k] = i
				}
			}
		}
		for i := from; i < to; i++ {
			if slices.Contains(best, i) || keep[t.ids[i]] {
				for c := range t.values {
					t.values[c][kept] = t.values[c][i]
				}
				t.ids[kept] = t.ids[i]
				kept++
			}
		}
		from = to
	}
	for c := range t.values {
		t.values[c] = t.values[c][:kept]
	}
	t.ids = t.ids[:kept]
}

// sort puts the rows into the order of a column.
func (t *table) sort(key string) {
	by := t.values[t.column(key)]
	if slices.IsSorted(by) {
		return
	}
	order := make([]int, len(t.ids))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case by[a] < by[b]:
			return -1
		case by[a] > by[b]:
			return 1
		}
		return 0
	})
	apply := func(list []int64) []int64 {
		out := make([]int64, len(list))
		for i, o := range order {
			out[i] = list[o]
		}
		return out
	}
	for c := range t.values {
		t.values[c] = apply(t.values[c])
	}
	ids := make([]int, len(t.ids))
	for i, o := range order {
		ids[i] = t.ids[o]
	}
	t.ids = ids
}
