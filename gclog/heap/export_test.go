package heap

// NewCounter returns a Builder that counts objects, for events that no stream brings.
func NewCounter(pointerSize int) *Builder {
	b := NewBuilder(pointerSize)
	b.count()
	return b
}

// Counts returns what it has counted.
func (b *Builder) Counts() (*Histogram, error) { return b.histogram() }
