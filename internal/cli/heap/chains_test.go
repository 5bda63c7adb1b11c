package heap

import (
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// TestDescribedCalls: what is unknown of calls is not made up, and a single one has no chain.
func TestDescribedCalls(t *testing.T) {
	r := &inspectReport{reachableHeap: &reachableHeap{selection: &selection{}, g: &heap.Graph{Types: []heap.Type{{Name: "A"}, {Name: "B"}, {Name: "C", Layout: 80}}}}}
	for want, c := range map[string]heap.CallChain{
		"1 call awaits something that the types do not show, in Continuations of 80 bytes.": {Chains: 1, Calls: 1, Layouts: []int{2}, Awaited: heap.NoType, Task: heap.NoType, Waiter: heap.NoType},
		"7 calls await A, as B.": {Chains: 7, Calls: 1, Layouts: []int{0}, Awaited: 0, Task: 1, Waiter: heap.NoType},
		"1 chain of 3 calls awaits A, for B, in Continuations of 80 bytes that refer to A, B.": {Chains: 1, Calls: 3, Layouts: []int{2}, Holds: []int{0, 1}, Awaited: 0, Task: heap.NoType, Waiter: 1},
	} {
		if text := r.describe(&c); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
