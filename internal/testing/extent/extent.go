// Package extent says how much of what can be tested a run of the tests covers.
//
// There are three extents. The usual one, of "make test" and "go test ./...", needs nothing but the
// repository and takes minutes. The full one, of "make check" (GCLOG_TEST=full), also has the shared
// recordings and runtimes, long random histories and big inputs. The short one, of "make race"
// (go test -short), has what goroutines share memory in.
package extent

import (
	"os"
	"testing"
)

// Full reports whether the run covers everything.
func Full() bool { return os.Getenv("GCLOG_TEST") == "full" }

// NeedFull skips a test, or the part of it that is a subtest, unless the run covers everything.
func NeedFull(t testing.TB) {
	t.Helper()
	if !Full() {
		t.Skip("only in make check (GCLOG_TEST=full)")
	}
}

// Long skips a test of code with a single goroutine in a short run, because the race detector makes
// it ten times as slow and finds nothing there.
func Long(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("not in make race (-short): code with a single goroutine")
	}
}

// Pick returns one of two numbers, of rounds for example: the first in the usual run, the second in
// the full one.
func Pick(usual, full int) int {
	if Full() {
		return full
	}
	return usual
}
