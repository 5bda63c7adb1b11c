// Command snapshots is "make bench-heap". It measures heap snapshots of a real program with up to 12
// million objects, by the program's own account of its collections, and what the heap commands need
// for the files. It fails if a command needs more memory than docs/performance.md says.
//
//	snapshots GCLOG [ROUNDS [MILLIONS...]]
//
// A round takes a snapshot twice, once as little as can be done, which is to copy a session with the
// same keywords to a file and end it at once, and once with gclog heap snapshot; every second round
// in the opposite order. Every figure is the median of the rounds, and a ratio that of the ratios.
package main
