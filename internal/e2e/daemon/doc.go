// Package daemon tests the daemon as a program, beside internal/testing/fakenode/check, whose tests
// run it in nodes with faults. It needs Linux.
package daemon
