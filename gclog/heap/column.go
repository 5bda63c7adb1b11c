package heap

// A column is a list that grows without copying what it holds.
type column[T any] struct {
	chunks [][]T
	n      int
}

const chunkLen = 1 << 16

func (c *column[T]) add(v T) {
	last := len(c.chunks) - 1
	if last < 0 || len(c.chunks[last]) == cap(c.chunks[last]) {
		c.chunks = append(c.chunks, make([]T, 0, chunkLen))
		last++
	}
	c.chunks[last] = append(c.chunks[last], v)
	c.n++
}

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
