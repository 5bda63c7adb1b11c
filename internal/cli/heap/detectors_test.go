package heap

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// TestDetectors: each detector has a title, a finding, advice, columns, and a row in docs/heap.md; each
// cause of suspects has advice; and each text of heap.txtar is of one of them.
func TestDetectors(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/heap.md")
	if err != nil {
		t.Fatal(err)
	}
	g := &heap.Graph{}
	list := g.Dominators().Inspect(g.Paths(), 0)
	if len(list) != len(detectors) {
		t.Errorf("%d detectors are shown, of %d", len(detectors), len(list))
	}
	texts := maps.Clone(wordings())
	for _, d := range list {
		about := detectors[d.Detector]
		if titleOf(d.Detector) == "" || about.finding == nil || adviceOf(d.Detector) == "" || len(about.columns) < 2 {
			t.Errorf("%s: %+v", d.Detector, about)
		}
		delete(texts, "detector/"+string(d.Detector)+"/title")
		delete(texts, "detector/"+string(d.Detector)+"/advice")
		if !strings.Contains(string(doc), "\n| `"+string(d.Detector)+"` | ") {
			t.Errorf("docs/heap.md does not explain %s", d.Detector)
		}
	}
	source, err := os.ReadFile("../../../gclog/heap/cause.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`\sCause = "([a-z-]+)"`).FindAllStringSubmatch(string(source), -1) {
		if wording("suspect/"+m[1]) == "" {
			t.Errorf("there is no advice for the cause %s", m[1])
		}
		delete(texts, "suspect/"+m[1])
	}
	for name := range texts {
		t.Errorf("nothing uses the text %s", name)
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
