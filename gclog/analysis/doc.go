// Package analysis computes statistics of a sequence of GC records: how often and how long the
// program was paused, what share of the time, and how large the heap was ([Statistics]). It reports
// problems ([Findings]), and explains single collections ([Explain]).
//
// Its types observe the records that package gclog emits ([gclog.Observer]), live or from a file.
// A [gclog.Start] and a [gclog.End] report how long each session lasted: shares and rates refer to that time, not to
// the time from the first collection to the last. A [Window] selects a part of it.
//
// # Units
//
// Times are int64 nanoseconds since the sync point of the stream. Results are [Number] values with
// a unit. A Number that is unknown contains the reason; it is never 0 instead.
//
// # Percentiles
//
// A percentile is a nearest rank: the smallest value that at least p of 100 values do not exceed,
// the ⌈n·p/100⌉-th of n in order. It is always a value that occurred.
//
// # Memory
//
// [Statistics] keeps 24 bytes per pause, for exact numbers; with Live it keeps histograms, and its
// memory does not grow. [Findings] take 200 KB, or 300 KB for a live process, however long it runs.
// If there are allocation ticks they also keep the names of types: at most 1024 types with names of
// 128 characters, for a total of 620 KB, or 1.2 MB for a live process. [Peers], the collections
// that [Explain] compares one with, takes 16 bytes per collection. No type keeps what an Observer
// is passed.
package analysis
