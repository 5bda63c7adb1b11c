package heap

// A column is a list that grows without copying what it holds.
type column[T any] struct {
	chunks [][]T
	n      int
}

const chunkLen = 1 << 16

// reserve makes room for a number of values at once if there are none yet.
func (c *column[T]) reserve(n int) {
	if len(c.chunks) == 0 {
		c.chunks = append(c.chunks, make([]T, 0, n))
	}
}

func (c *column[T]) add(v T) { c.grow(1)[0] = v }

// grow appends up to n values, at least one, and returns them for the caller to set. Columns that
// grow in the same way return the same number.
func (c *column[T]) grow(n int) []T {
	last := len(c.chunks) - 1
	if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
		c.chunks = append(c.chunks, make([]T, 0, chunkLen))
		last++
	}
	chunk := c.chunks[last]
	from := len(chunk)
	n = min(n, cap(chunk)-from)
	c.chunks[last] = chunk[:from+n]
	c.n += n
	return c.chunks[last][from:]
}

// at returns a value of a column without reserved room.
func (c *column[T]) at(i int) *T { return &c.chunks[i/chunkLen][i%chunkLen] }

// flat returns all values in one slice and empties the column.
func (c *column[T]) flat() []T {
	var all []T
	if len(c.chunks) == 1 {
		all = c.chunks[0]
	} else {
		all = make([]T, 0, c.n)
		for i, chunk := range c.chunks {
			all = append(all, chunk...)
			c.chunks[i] = nil
		}
	}
	*c = column[T]{}
	return all
}
