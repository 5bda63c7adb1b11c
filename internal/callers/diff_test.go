package callers_test

import (
	"encoding/json"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/callers"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestNoChange: nothing has changed between a recording and itself, however little there is of it.
func TestNoChange(t *testing.T) {
	p := read(t, own("net11-svr-alloc"))
	for _, by := range []string{callers.ByType, callers.ByMethod, callers.ByPath} {
		list := callers.Changes(&callers.View{Profile: p, Own: true}, &callers.View{Profile: p, Own: true}, by)
		for i := range list {
			if change, margin := list[i].By(); list[i].Sure() || change != 0 || margin <= 0 {
				t.Errorf("by %s: %+v", by, list[i])
			}
			if path := list[i].Path; by == callers.ByPath && strings.HasSuffix(path[len(path)-1], "InternalAlloc") {
				t.Errorf("a path ends in the framework: %q", path)
			}
		}
		if len(list) < 8 {
			t.Errorf("by %s: %d rows", by, len(list))
		}
	}
}

// TestChanges: of what is called a change between two recordings, all has changed so, as the program says; and nine of
// ten true changes are within the interval.
func TestChanges(t *testing.T) {
	type side struct {
		callers.View
		truth map[string]float64 // bytes per second, by type
	}
	var sides []*side
	for _, tr := range recordings.Traces(t, filepath.Join("traces", "stacks")) {
		exact := strings.HasSuffix(tr.Name, "-alloc") || strings.HasSuffix(tr.Name, "-sampled")
		if !exact || strings.HasPrefix(tr.Name, "core31") {
			continue
		}
		s := &side{callers.View{Profile: read(t, tr.Path), Raw: true}, nil}
		for line := range strings.Lines(string(recordings.Read(t, tr.Beside(".truth.jsonl.gz")))) {
			var account struct {
				Event string
				Sites []struct {
					Type  string
					Bytes float64
				}
			}
			if err := json.Unmarshal([]byte(line), &account); err != nil {
				t.Fatal(err)
			}
			if account.Event != "alloc" {
				continue
			}
			s.truth = map[string]float64{} // the last account is of everything
			for _, x := range account.Sites {
				s.truth[x.Type] += x.Bytes / s.Profile.Duration.Seconds()
			}
		}
		sides = append(sides, s)
	}
	sure, within, all := 0, 0, 0
	for i, before := range sides {
		for _, after := range sides[:i] {
			for _, c := range callers.Changes(&before.View, &after.View, callers.ByType) {
				if before.truth[c.Name] == 0 {
					continue
				}
				truth := after.truth[c.Name] - before.truth[c.Name]
				change, margin := c.By()
				all++
				if math.Abs(change-truth) <= margin {
					within++
				}
				if !c.Sure() {
					continue
				}
				if sure++; change*truth < 0 && math.Abs(truth) > .01*before.truth[c.Name] {
					t.Errorf("%s: %.0f ± %.0f, in truth %.0f", c.Name, change, margin, truth)
				}
			}
		}
	}
	t.Logf("%d of %d are within the interval, %d changes are sure", within, all, sure)
	if 10*within < 9*all || all < 300 || sure < 100 {
		t.Errorf("%d of %d are within the interval, %d changes are sure", within, all, sure)
	}
}
