// Package fakenode simulates a node full of .NET processes: one Go process plays their runtimes,
// and each runtime has a small process of the operating system with its own pid, name, environment
// and diagnostics socket.
//
// The runtimes simulate collections at a given rate. Each keeps a Ledger of all its collections and
// of what it sent of them in which session. They can be told to do everything that real ones do at
// bad times. The package is for tests and benchmarks only, and only for Linux.
package fakenode
