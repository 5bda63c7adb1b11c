package gclog_test

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/shared"
	"github.com/gclog/gclog/parse/clr"
)

// TestBudgetLeft holds the estimate against what the runtime says about its own count: the
// oldest generation whose budget was exceeded. It looks at them from the youngest on, and
// stops at the first that has some left.
func TestBudgetLeft(t *testing.T) {
	young, small := [2]int{}, [2]int{} // of all, and of those that agree
	shared.ForEach(t, func(t *testing.T, tr shared.Trace) {
		x := reduce(t, shared.Read(t, tr.Path))
		for _, o := range x.recorders {
			for _, d := range o.gcs {
				if !d.Complete || d.Kind == gclog.KindBackground || d.Reason != clr.ReasonAllocSmall {
					continue
				}
				steps, _, known := d.Condemned()
				gen1 := &d.Generations[clr.Gen1]
				if known && steps.BudgetExceeded() == clr.Gen0 && gen1.HasBudgetLeft {
					count(&young, gen1.BudgetLeft > 0)
				}
				// With several heaps the first that has none left asks for a collection.
				gen0 := &d.Generations[clr.Gen0]
				if d.HeapCount() == 1 && gen0.HasBudgetLeft && !strings.Contains(tr.Name, "datas") {
					count(&small, gen0.BudgetLeft <= int64(gen0.Budget/20))
				}
			}
		}
	})
	t.Logf("gen1 has some left where its budget was not exceeded: %d of %d", young[1], young[0])
	t.Logf("gen0 has next to nothing left where it was: %d of %d", small[1], small[0])
	if young[0] == 0 || float64(young[1]) < 0.999*float64(young[0]) {
		t.Errorf("gen1 has some left in %d of %d collections", young[1], young[0])
	}
	if small[0] == 0 || float64(small[1]) < 0.95*float64(small[0]) {
		t.Errorf("gen0 has next to nothing left in %d of %d collections", small[1], small[0])
	}
}

// TestBudgetLeftTogether: a background collection and one in its first suspension began
// with the same heap.
func TestBudgetLeftTogether(t *testing.T) {
	pairs := 0
	shared.ForEach(t, func(t *testing.T, tr shared.Trace) {
		x := reduce(t, shared.Read(t, tr.Path))
		for _, o := range x.recorders {
			for i, d := range o.gcs {
				if !d.InsideBGCStart {
					continue
				}
				for _, b := range o.gcs[i:] {
					if b.Kind != gclog.KindBackground || b.Number+1 != d.Number || !b.Complete {
						continue
					}
					for g := range b.Generations {
						young, old := &d.Generations[g], &b.Generations[g]
						if young.HasBudgetLeft != old.HasBudgetLeft || young.BudgetLeft != old.BudgetLeft {
							t.Errorf("#%d %s has %d (%v) left, #%d in its first suspension %d (%v)", b.Number, gclog.GenerationName(g),
								old.BudgetLeft, old.HasBudgetLeft, d.Number, young.BudgetLeft, young.HasBudgetLeft)
						}
						if old.HasBudgetLeft {
							pairs++
						}
					}
				}
			}
		}
	})
	if pairs == 0 {
		t.Error("there are no such collections")
	}
}

func count(of *[2]int, agrees bool) {
	of[0]++
	if agrees {
		of[1]++
	}
}
