package analysis_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/parse/clr"
)

// A part is cut out of a long history: so many collections from a number on.
type part struct{ from, n int }

// cut returns the findings about a part, from the end of the previous collection to the end of its
// last one.
func (h *past) cut(records []*gclog.GCDetails, p part) *analysis.Findings {
	w := analysis.Window{To: records[p.from+p.n-1].End}
	if p.from > 0 {
		w.From = records[p.from-1].End
	}
	f := analysis.NewFindings(&h.process, analysis.Thresholds{}, w)
	h.replay(f)
	return f
}

// TestPartsOfHistories checks that a problem of a long history is found in every part that shows
// it, down to the smallest, and in no part of a history without it.
func TestPartsOfHistories(t *testing.T) {
	random := rand.New(rand.NewPCG(15, 5))
	around := func(v, percent float64) uint64 { return uint64(v * (1 + percent/100*(2*random.Float64()-1))) }
	objects := func(bytes uint64) change {
		return generation(2, func(g *gclog.GenerationDetails) { g.ObjectsAfter = bytes })
	}
	large := func(i, of int) change {
		if i%5 < of {
			return reason(clr.ReasonAllocLarge)
		}
		return reason(clr.ReasonAllocSmall)
	}
	for _, c := range []struct {
		what, rule string
		problem    bool
		least      int // collections in a part that shows it
		step       func(h *past, i int) change
	}{
		// It grows by half in an hour; gen2 collections become ever rarer, as the budget grows.
		{"leak", "memory-growth", true, 3, func(h *past, i int) change {
			h.run(time.Duration(20+2*i) * time.Minute)
			return objects(around(200e6*math.Pow(1.5, h.now.Hours()), 1))
		}},
		{"quick leak", "memory-growth", true, 3, func(h *past, i int) change {
			h.run(time.Duration(5+i/10) * time.Second)
			return objects(around(500e6*math.Pow(1.5, h.now.Seconds()/15), 1))
		}},
		{"no leak", "memory-growth", false, 1, func(h *past, i int) change {
			h.run(time.Duration(3+2*i) * time.Minute)
			return objects(around(300e6, 6))
		}},
		{"native leak", "native-growth", true, 3, func(h *past, i int) change {
			h.run(3 * time.Minute)
			return func(d *gclog.GCDetails) {
				d.CommittedAfter = around(800e6, 5)
				d.Known |= gclog.GroupCommittedAfter
				d.Memory = gclog.Memory{Resident: around(1000e6+600e6*math.Pow(1.5, h.now.Minutes()/6), 1), At: int64(h.now)}
			}
		}},
		{"managed growth", "native-growth", false, 1, func(h *past, i int) change {
			h.run(3 * time.Minute)
			return func(d *gclog.GCDetails) {
				committed := 800e6 + 100e6*h.now.Minutes()
				d.CommittedAfter = uint64(committed)
				d.Known |= gclog.GroupCommittedAfter
				d.Memory = gclog.Memory{Resident: around(committed+200e6, 1), At: int64(h.now)}
			}
		}},
		{"four of five because of large objects", "loh-pressure", true, 10, func(h *past, i int) change {
			h.run(time.Second)
			return large(i, 4)
		}},
		{"one of five because of large objects", "loh-pressure", false, 1, func(h *past, i int) change {
			h.run(time.Second)
			return large(i, 1)
		}},
		{"3 GB a second", "high-allocation-rate", true, 3, func(h *past, i int) change { // 2 s and more
			h.run(time.Second)
			return generation(0, func(g *gclog.GenerationDetails) { g.Allocated = 3e9 })
		}},
		{"0.8 GB a second", "high-allocation-rate", false, 1, func(h *past, i int) change {
			h.run(time.Second)
			return generation(0, func(g *gclog.GenerationDetails) { g.Allocated = 8e8 })
		}},
	} {
		t.Run(c.what, func(t *testing.T) {
			h := newPast()
			var records []*gclog.GCDetails
			for i := range 16 {
				h.gc(2, 2*milli, c.step(h, i), func(d *gclog.GCDetails) { records = append(records, d) })
			}
			for n := c.least; n <= len(records); n++ {
				for from := 0; from+n <= len(records); from++ {
					f := h.cut(records, part{from, n})
					x, why := of(f, c.rule)
					if c.problem && x == nil {
						t.Errorf("%d collections from %d on: not found: %q", n, from, why)
					} else if !c.problem && x != nil && (n < 5 || x.Severity > analysis.Info) {
						t.Errorf("%d collections from %d on: %s", n, from, x.Text)
					}
				}
			}
		})
	}
}

// TestPartsOfPauses checks that a program that is paused much is found to be in each part of 2 s.
func TestPartsOfPauses(t *testing.T) {
	extent.Long(t)
	h := newPast()
	times(1200, func(int) { h.run(80*milli).gc(0, 20*milli) })
	for length := 2 * time.Second; length < 2*time.Minute; length += 1700 * milli {
		for from := time.Duration(0); from+length < h.now; from += 9700 * milli {
			f := analysis.NewFindings(&h.process, analysis.Thresholds{}, analysis.Window{From: int64(from), To: int64(from + length)})
			h.replay(f)
			x, why := of(f, "high-pause-share")
			if x == nil || x.Severity < analysis.Error && length > 3*time.Second {
				t.Errorf("%v from %v: %+v %q", length, from, x, why)
			}
		}
	}
}
