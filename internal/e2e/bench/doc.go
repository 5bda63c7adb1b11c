// Package bench measures gclog as it is used: a program including its start, its memory and its
// files. Its tests judge what is promised about size and memory; the benchmarks' results are in
// docs/performance.md. It needs Linux.
package bench
