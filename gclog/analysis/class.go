package analysis

import "github.com/gclog/gclog/gclog"

// A Class is a class of collections and pauses.
type Class uint8

// The classes. A demoted background collection is a blocking gen2.
const (
	ClassGen0       Class = iota // blocking, including foreground ones
	ClassGen1                    // the same
	ClassGen2                    // blocking
	ClassBackground              // gen2, mostly while the program runs
	ClassNone                    // pauses without a collection
	ClassAll
	Classes // the number of classes
)

var classNames = [Classes]string{"gen0", "gen1", "gen2.blocking", "background", "none", "all"}

// String returns the name of the class, as used in the names of metrics.
func (c Class) String() string { return classNames[c] }

// ClassOf returns the class of a collection, and of its pauses; nil has none.
func ClassOf(d *gclog.GCDetails) Class {
	switch {
	case d == nil:
		return ClassNone
	case d.Kind == gclog.KindBackground:
		return ClassBackground
	}
	return ClassGen0 + Class(max(gclog.Gen0, min(d.Generation, gclog.Gen2)))
}

// Describe returns the name of the class in words.
func (c Class) Describe() string {
	return [Classes]string{"gen0", "gen1", "blocking gen2", "background", "without a collection", "all"}[c]
}

// collections names the collections of the class in sentences.
func (c Class) collections() string {
	if c >= ClassNone {
		return "collections"
	}
	return c.Describe() + " collections"
}

// pauses names the pauses of the class.
func (c Class) pauses() string {
	switch c {
	case ClassNone:
		return "pauses without a collection"
	case ClassAll:
		return "pauses"
	}
	return c.Describe() + " pauses"
}
