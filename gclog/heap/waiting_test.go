package heap_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/testing/known"
)

// waitingCalls are the calls that wait in the program of the asynchronous captures, by its source.
var waitingCalls = map[string]uint64{
	"<Pending>": 1000, "<Outer>": 1000, "<Delay>": 300, "<VT>": 200, "<Gen>": 50, "<Enum>": 50, "<Chan>": 40, "Slow+<ReadAsync>": 30, "<Read>": 30,
	"StreamReader+<ReadLineAsyncInternal>": 30, "StreamReader+<ReadBufferAsync>": 30,
}

const continuations = "from .NET 11 on the base library's calls are continuations, which are not counted"

// TestWaitingCalls finds the calls, the timers and the subscribers of a program that says how many
// there are.
func TestWaitingCalls(t *testing.T) {
	failures := known.Failures{
		"net11-wks-async: StreamReader+<ReadLineAsyncInternal>": continuations,
		"net11-wks-async: StreamReader+<ReadBufferAsync>":       continuations,
		"net11-wks-async: all calls":                            continuations,
	}
	for _, path := range captures(t, "*-async.nettrace.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		g := read(t, path)
		list := g.Dominators().Inspect(g.Paths(), 1)
		same := func(what string, got, want any) {
			t.Helper()
			failure := ""
			if got != want {
				failure = fmt.Sprintf("%v, want %v", got, want)
			}
			failures.Check(t, name+": "+what, failure)
		}
		async := detection(t, list, heap.DetectAsync)
		all := uint64(0)
		for method, want := range maps.All(waitingCalls) {
			got := uint64(0)
			for _, r := range async.Rows {
				if class := g.Types[r.Type].String(); strings.Contains(class, method) && (strings.Contains(method, "+") || strings.Contains(class, "P+"+method)) {
					got += r.Objects
				}
			}
			same(method, got, want)
			all += want
		}
		same("all calls", async.Total.Objects, all)
		same("timers", detection(t, list, heap.DetectTimers).Total.Objects, uint64(800))
		subscribers := map[string]uint64{}
		for _, r := range detection(t, list, heap.DetectHandlers).Rows {
			subscribers[r.Holder+": "+g.Types[r.Other].String()] = r.Objects
		}
		same("subscribers", subscribers["static Ev: Sub"], uint64(700))
		same("lambdas", subscribers["static Multi: <>c__DisplayClass18_1"], uint64(100))
	}
}
