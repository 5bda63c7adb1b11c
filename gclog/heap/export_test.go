package heap

import (
	"runtime/debug"
	"testing"
)

// RareGC makes collections rarer until the end of a test that allocates much and keeps little: half
// of its time would be theirs.
func RareGC(t *testing.T) {
	old := debug.SetGCPercent(400)
	t.Cleanup(func() { debug.SetGCPercent(old) })
}

// smallStack allows little stack until the end of a test, so that recursion as deep as a list is long
// ends it.
func smallStack(t *testing.T) {
	old := debug.SetMaxStack(8 << 20)
	t.Cleanup(func() { debug.SetMaxStack(old) })
}

// longList is the length of a list in the tests of that.
const longList = 1 << 19

// NewCounter returns a Builder that counts objects, for events that no stream brings.
func NewCounter(pointerSize int) *Builder {
	b := NewBuilder(pointerSize)
	b.count()
	return b
}

// Counts returns what it has counted.
func (b *Builder) Counts() (*Histogram, error) { return b.histogram() }
