package heap_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// waitingCalls are the calls that wait in the program of the asynchronous captures, by its source.
var waitingCalls = map[string]uint64{
	"<Pending>": 1000, "<Outer>": 1000, "<Delay>": 300, "<VT>": 200, "<Gen>": 50, "<Enum>": 50, "<Chan>": 40, "Slow+<ReadAsync>": 30, "<Read>": 30,
	"StreamReader+<ReadLineAsyncInternal>": 30, "StreamReader+<ReadBufferAsync>": 30,
}

// libraryCalls are those of them within the base library, of which .NET 11 has no state machines: for
// each of 30 reads a chain of two calls.
var libraryCalls = []string{"StreamReader+<ReadLineAsyncInternal>", "StreamReader+<ReadBufferAsync>"}

// TestWaitingCalls finds the calls, the timers and the subscribers of a program that says how many
// there are.
func TestWaitingCalls(t *testing.T) {
	for _, path := range captures(t, "*-async.nettrace.gz") {
		name := strings.TrimSuffix(filepath.Base(path), ".nettrace.gz")
		g := read(t, path)
		list := g.Dominators().Inspect(g.Paths(), 1)
		same := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s: %v, want %v", name, what, got, want)
			}
		}
		async := detection(t, list, heap.DetectAsync)
		all := uint64(0)
		for method, want := range maps.All(waitingCalls) {
			all += want
			if slices.Contains(libraryCalls, method) && strings.HasPrefix(name, "net11") {
				continue
			}
			got := uint64(0)
			for _, r := range async.Rows {
				if class := g.Types[r.Type].String(); strings.Contains(class, method) && (strings.Contains(method, "+") || strings.Contains(class, "P+"+method)) {
					got += r.Objects
				}
			}
			same(method, got, want)
		}
		same("all calls", async.Total.Objects, all)
		same("chains", chainsOf(g, async), map[string]string{
			"net10-wks-async": "",
			"net11-wks-async": "30 x 2, 60: 88 112, System.IO.StreamReader System.Byte[] Slow, <ReadAsync> RuntimeAsyncTask`1[System.String] <Read>\n",
		}[name])
		same("timers", detection(t, list, heap.DetectTimers).Total.Objects, uint64(800))
		subscribers := map[string]uint64{}
		for _, r := range detection(t, list, heap.DetectHandlers).Rows {
			subscribers[r.Holder+": "+g.Types[r.Other].String()] = r.Objects
		}
		same("subscribers", subscribers["static Ev: Sub"], uint64(700))
		same("lambdas", subscribers["static Multi: <>c__DisplayClass18_1"], uint64(100))
	}
}

// chainsOf returns the rows of calls without a name: their chains, calls, layouts, what they hold, and
// what is at their ends, of a state machine its method.
func chainsOf(g *heap.Graph, async heap.Detection) string {
	name := func(t int) string {
		text := g.Types[t].String()
		if from := strings.LastIndex(text, "<"); strings.Contains(text, "StateMachineBox") && from > 0 {
			text, _, _ = strings.Cut(text[from:], "d__")
		}
		return text
	}
	var s strings.Builder
	for _, r := range async.Rows {
		if r.Chain == nil {
			continue
		}
		var layouts, holds, ends []string
		for _, t := range r.Chain.Layouts {
			layouts = append(layouts, fmt.Sprint(g.Types[t].Layout))
		}
		for _, t := range r.Chain.Holds {
			holds = append(holds, name(t))
		}
		for _, t := range []int{r.Chain.Awaited, r.Chain.Task, r.Chain.Waiter} {
			ends = append(ends, name(t))
		}
		fmt.Fprintf(&s, "%d x %d, %d: %s, %s, %s\n", r.Chain.Chains, r.Chain.Calls, r.Objects, strings.Join(layouts, " "), strings.Join(holds, " "), strings.Join(ends, " "))
	}
	return s.String()
}
