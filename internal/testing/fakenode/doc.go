// Package fakenode is a node full of .NET processes that are none: one Go process
// plays their runtimes, and each has a small process of the operating system with its
// own pid, name, environment and diagnostics socket.
//
// The runtimes make collections up, at a rate, and keep a Ledger of every one of
// them and of what they sent of it in which session. They can be told to do all that
// real ones do at bad times. It is for tests and benchmarks only, and only for Linux.
package fakenode
