// Package analysis tells what a history of records says: how often and how long
// the program stood, how much of the time, how large the heap was ([Statistics]), what
// of that is not as it should be ([Findings]), and why a collection was as it was
// ([Explain]).
//
// Everything in it observes records as package gclog tells them ([gclog.Observer]),
// live or from a file, and is told with Begin and End how long the session lasted:
// shares and rates refer to that time and not to the time between the first
// collection and the last. A [Window] looks at a part of it.
//
// # Units
//
// Times are int64 nanoseconds since the sync point of the stream. What is computed
// is a [Number]: nanoseconds, bytes, percent or a count, as its metric says. A Number
// that is not known says why; it is never 0 instead.
//
// # Percentiles
//
// A percentile is the nearest rank of what was seen: the smallest value that at
// least p of 100 values do not exceed, the ⌈n·p/100⌉-th of n in order. It is always
// a value that occurred; of 20 pauses p99.9 is the longest.
//
// # Memory
//
// [Statistics] keeps 24 bytes for each pause, for exact numbers; with Live it keeps
// histograms, and its memory does not grow. [Findings] take 180 KB, of a live process
// 300 KB, however long it runs. With allocation ticks they take more, for the names of
// types: of 1024 types at most, with names of 128 characters, which makes 620 KB in all,
// of a live process 1.2 MB. [Peers], which [Explain] compares a collection with, keeps
// 16 bytes for each collection. Nothing keeps what an Observer is given.
package analysis
