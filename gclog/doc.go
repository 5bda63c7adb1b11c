// Package gclog turns the garbage collection events of a .NET process into
// records: one [GCDetails] per collection, one [Pause] per time that the program
// stood for one, one [Phase] per concurrent phase, one [Gap] where something is
// missing.
//
// A [Reducer] does that for one process, from typed events in time order. It
// does not care where they come from. [Processes] does it for a stream of package
// parse, with one Reducer for each process in it. What they find they tell an
// [Observer].
//
// # Which event belongs to which collection
//
// The runtime's events carry little that ties them together; docs/reduction.md
// has the rules and what showed them. In short, and in this order:
//
//  1. The four events of a suspension come from one thread. Only suspensions for
//     the GC's sake count, reasons 1 and 6.
//  2. GCStart belongs to the suspension that stands; a suspension without any is a
//     pause of the background collection, or of none.
//  3. GCEnd is matched by number, GCHeapStats to the last GCEnd of its thread,
//     GCGlobalHeapHistory by its concurrent bit and generation, GCPerHeapHistory
//     to the last GCGlobalHeapHistory of its thread.
//  4. Everything else belongs to the blocking collection that has not ended, else
//     to the background one.
//  5. A suspension is divided among the collections in it, so that the pauses add
//     up to the suspensions.
//
// # Units
//
// Times are int64 nanoseconds since the sync point of the stream, durations
// int64 nanoseconds, sizes uint64 bytes. What may be unknown has a flag beside
// it; no number is made up.
//
// # Memory
//
// The state of a Reducer is bounded by the number of heaps, and does not grow
// with time. Records belong to the Reducer and are valid during the call of the
// Observer; Clone and CopyFrom keep them.
package gclog
