package analysis_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
)

// churned returns the finding about allocation in 90 s with a collection every 80 ms, of which
// hardly anything survives.
func churned(t *testing.T, w analysis.Window, ticks func(h *past)) analysis.Finding {
	t.Helper()
	h := newPast()
	h.run(time.Second)
	times(1200, func(int) {
		h.run(79*milli).gc(0, milli, generation(0, func(g *gclog.GenerationDetails) { g.Survived = megabyte / 2 }))
		ticks(h)
	})
	f := analysis.NewFindings(&h.process, analysis.Thresholds{}, w)
	h.replay(f)
	for _, x := range f.List() {
		if x.Rule.ID == "high-allocation-rate" {
			return x
		}
	}
	t.Fatalf("found %v", ids(f))
	return analysis.Finding{}
}

// TestAllocatedTypes checks that the finding about allocation names the types that were allocated
// most.
func TestAllocatedTypes(t *testing.T) {
	extent.Long(t)
	t.Run("largest", func(t *testing.T) {
		x := churned(t, analysis.Always(), func(h *past) {
			h.tick(1, "System.Byte[]", 500_000).tick(2, "System.String", 300_000).tick(3, "Shop.Order", 100_000)
			h.tick(4, "Shop.Order", 90_000).tick(5, "Shop.Rare", 9_000).tick(0, "", 1_000) // without a name
		})
		if want := " Sampled allocations: 50 % System.Byte[], 30 % System.String, 19 % Shop.Order."; !strings.HasSuffix(x.Text, want) {
			t.Errorf("%s\nwant\n%s", x.Text, want)
		}
		shares := map[string]float64{}
		for _, e := range x.Evidence {
			shares[e.Name] = e.Value
		}
		if shares["allocation.type System.Byte[]"] != 50 || shares["allocation.type Shop.Order"] != 19 {
			t.Errorf("evidence: %v", x.Evidence)
		}
	})
	t.Run("none", func(t *testing.T) {
		if x := churned(t, analysis.Always(), func(*past) {}); strings.Contains(x.Text, "sampled") {
			t.Error(x.Text)
		}
	})
	t.Run("window", func(t *testing.T) {
		half := int64(48 * time.Second)
		x := churned(t, analysis.Window{From: half, To: 2 * half}, func(h *past) {
			name := "Late"
			if int64(h.now) < half {
				name = "Early"
			}
			h.tick(uint64(len(name)), name, 100_000)
		})
		if want := " Sampled allocations: 100 % Late."; !strings.HasSuffix(x.Text, want) {
			t.Errorf("%s\nwant\n%s", x.Text, want)
		}
	})
	t.Run("hostile", func(t *testing.T) {
		x := churned(t, analysis.Always(), func(h *past) {
			h.tick(1, "A\x1b[2J\n\u202e\u2028", 100_000).tick(2, strings.Repeat("x", 30_000), 100_000)
		})
		if want := " Sampled allocations: 50 % A?[2J???, 50 % " + strings.Repeat("x", 100) + "…."; !strings.HasSuffix(x.Text, want) {
			t.Errorf("%s\nwant\n%s", x.Text, want)
		}
	})
	t.Run("huge", func(t *testing.T) {
		x := churned(t, analysis.Always(), func(h *past) {
			h.tick(1, "A", 1<<62).tick(2, "B", 1<<62).tick(3, "A", math.MaxUint64-1<<62).tick(4, "C", 0)
		})
		if want := " Sampled allocations: 80 % A, 20 % B."; !strings.HasSuffix(x.Text, want) {
			t.Errorf("%s\nwant\n%s", x.Text, want)
		}
		x = churned(t, analysis.Always(), func(h *past) { h.tick(1, "A", 1<<62).tick(2, "A", math.MaxUint64) })
		if want := " Sampled allocations: 100 % A."; !strings.HasSuffix(x.Text, want) {
			t.Errorf("%s\nwant\n%s", x.Text, want)
		}
		for _, e := range x.Evidence {
			if strings.HasPrefix(e.Name, "allocation.type ") && !(e.Value <= 100) {
				t.Errorf("evidence: %v", e)
			}
		}
	})
	t.Run("zero", func(t *testing.T) {
		if x := churned(t, analysis.Always(), func(h *past) { h.tick(1, "A", 0) }); strings.Contains(x.Text, "sampled") {
			t.Error(x.Text)
		}
	})
	t.Run("many", func(t *testing.T) {
		id := uint64(0)
		x := churned(t, analysis.Always(), func(h *past) {
			h.tick(1, "System.Byte[]", 100_000)
			times(10, func(int) { id++; h.tick(1+id, fmt.Sprint("T", id), 10_000) })
		})
		if want := " Sampled allocations: 50 % System.Byte[]."; !strings.HasSuffix(x.Text, want) {
			t.Errorf("%s\nwant\n%s", x.Text, want)
		}
	})
}
