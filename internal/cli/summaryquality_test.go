package cli

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestSummaryQuality: what a summary says about its data is the same in all places, and true: if
// the test has cut a recording anywhere, the summary never says that nothing is missing.
func TestSummaryQuality(t *testing.T) {
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		seed := fnv.New64()
		_, _ = seed.Write([]byte(tr.Name))
		r := rand.New(rand.NewPCG(seed.Sum64(), 1))
		const preamble = 2000 // no event is before that
		whole := checkQuality(t, stream)
		for range 3 {
			cut := preamble + r.IntN(max(1, len(stream)-preamble-1))
			q := checkQuality(t, stream[:min(cut, len(stream)-1)])
			if q == nil {
				continue
			}
			if q.code != exit.Data || q.Damage == "" || !q.found["data-quality"] || !strings.HasPrefix(q.missing, "everything after the damage") {
				t.Errorf("cut at %d of %d: exit code %d, damage %q, findings %v, missing: %s", cut, len(stream), q.code, q.Damage, q.found, q.missing)
			}
			if whole != nil && q.count > whole.count {
				t.Errorf("cut at %d it has %v collections, the whole %v", cut, q.count, whole.count)
			}
		}
	})
}

// A quality is what a summary says about its data.
type quality struct {
	Metrics  map[string]map[string]any
	Findings []struct {
		Rule     string
		Evidence []map[string]any
	}
	Damage string

	code         int
	count, whole float64
	missing      string
	found        map[string]bool
}

// checkQuality returns what the summary of a recording says about its data, or nil if there is
// none.
func checkQuality(t *testing.T, stream []byte) *quality {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.nettrace")
	if err := os.WriteFile(path, stream, 0o600); err != nil {
		t.Fatal(err)
	}
	out, said, code := run("summary", "-f", "json", path)
	if out == "" {
		if code == exit.OK {
			t.Errorf("nothing is said, and all is well: %s", said)
		}
		return nil
	}
	var x struct{ Dotnet struct{ GC quality } }
	if err := json.Unmarshal([]byte(out), &x); err != nil {
		t.Fatal(err)
	}
	q := &x.Dotnet.GC
	q.code, q.found = code, map[string]bool{}
	value := func(name string) float64 {
		v, _ := q.Metrics[name]["value"].(float64)
		return v
	}
	q.count = value("gc.count")
	q.whole = q.count - value("gc.incomplete")
	for _, f := range q.Findings {
		q.found[f.Rule] = true
	}
	text, _, textCode := run("summary", path)
	if textCode != code {
		t.Errorf("exit code %d, and %d as text", code, textCode)
	}
	said = strings.Join(strings.Fields(text), " ")
	counts := regexp.MustCompile(` complete ([0-9]+) of ([0-9]+) GCs?;? .*?missing (.*?)( not observed |$| Unknown )`).FindStringSubmatch(said)
	if counts == nil {
		t.Fatalf("it says nothing of its data:\n%s", text)
	}
	q.missing = counts[3]
	if counts[1] != fmt.Sprint(q.whole) || counts[2] != fmt.Sprint(q.count) {
		t.Errorf("complete %s of %s, as JSON %v of %v", counts[1], counts[2], q.whole, q.count)
	}
	if none := strings.HasPrefix(q.missing, "none known"); none != (q.Damage == "" && value("gc.missed")+value("events.lost")+value("records.dropped") == 0 && q.Metrics["gc.missed"]["unknown"] == nil && q.Metrics["events.lost"]["unknown"] == nil) {
		t.Errorf("missing %s, damage %q, %v collections, %v events", q.missing, q.Damage, q.Metrics["gc.missed"], q.Metrics["events.lost"])
	}
	if (q.Damage != "") != (code == exit.Data) || (q.Damage != "") != strings.Contains(text, "\n  damaged ") {
		t.Errorf("exit code %d, damage %q:\n%s", code, q.Damage, text)
	}
	for _, f := range q.Findings {
		for _, e := range f.Evidence {
			if e["name"] == "collections.complete" && e["value"] != q.whole {
				t.Errorf("%s has %v complete collections of %v", f.Rule, e["value"], q.whole)
			}
		}
	}
	return q
}
