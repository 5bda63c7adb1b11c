// Package gclog turns the garbage collection events of a .NET process into records: one [GCDetails]
// per collection, one [Pause] per interval during which the program was paused for one, one [Phase]
// per concurrent phase, one [Gap] where something is missing. Each is a [Record].
//
// A [Reducer] does that for one process, from typed events in time order, whatever their source.
// [Processes] does it for a stream of package parse, with one Reducer for each process in it. Both
// pass their results to an [Observer], a function that selects records with a type switch.
//
// # Which event belongs to which collection
//
// The runtime's events contain little that links them; docs/reduction.md has the rules and the
// evidence for them. In short, and in this order:
//
//  1. The four events of a suspension come from one thread. Only suspensions for the GC count,
//     those with reasons 1 and 6.
//  2. GCStart belongs to the suspension in effect; a suspension without one is a pause of the
//     background collection, or of no collection.
//  3. GCEnd is matched by number, GCHeapStats to the last GCEnd of its thread, GCGlobalHeapHistory
//     by its concurrent bit and generation, GCPerHeapHistory to the last GCGlobalHeapHistory of its
//     thread.
//  4. Everything else belongs to the blocking collection that has not ended or, if there is none,
//     to the background one.
//  5. A suspension is divided among the collections in it, so that the pauses add up to the
//     suspensions.
//
// # Units
//
// Times are int64 nanoseconds since the sync point of the stream, durations int64 nanoseconds,
// sizes uint64 bytes. A value that may be unknown comes with a flag; no number is made up.
//
// # Memory
//
// The state of a Reducer is bounded by the number of heaps, and does not grow with time. Records
// belong to the Reducer and are valid during the call of the Observer; a [Slot] keeps a copy.
package gclog
