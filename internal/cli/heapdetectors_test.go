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
