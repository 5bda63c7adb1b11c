package cli

import (
	"os"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// TestDetectors: each detector has a title, a finding, advice, columns, and a row in docs/heap.md.
func TestDetectors(t *testing.T) {
	doc, err := os.ReadFile("../../docs/heap.md")
	if err != nil {
		t.Fatal(err)
	}
	g := &heap.Graph{}
	list := g.Dominators().Inspect(g.Paths(), 0)
	if len(list) != len(detectors) {
		t.Errorf("%d detectors are shown, of %d", len(detectors), len(list))
	}
	for _, d := range list {
		about := detectors[d.Detector]
		if about.title == "" || about.finding == nil || about.advice == "" || len(about.columns) < 2 {
			t.Errorf("%s: %+v", d.Detector, about)
		}
		if !strings.Contains(string(doc), "\n| `"+string(d.Detector)+"` | ") {
			t.Errorf("docs/heap.md does not explain %s", d.Detector)
		}
	}
}

// TestShare: a share that would be printed as 0.0 % is left out.
func TestShare(t *testing.T) {
	r := &inspectReport{reachableHeap: &reachableHeap{reachable: heap.Count{Bytes: 1_000_000}}}
	for bytes, want := range map[uint64]string{
		499: "499 B in 1 object that waits.",
		500: "500 B in 1 object that waits, 0.1 % of what is reachable.",
	} {
		if text := r.share(bytes, "in", 1, "object", " that waits"); text != want {
			t.Errorf("%q, want %q", text, want)
		}
	}
}
