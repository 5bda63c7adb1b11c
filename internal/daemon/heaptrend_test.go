package daemon

import (
	"testing"

	"github.com/gclog/gclog/internal/config"
)

// TestHeapTrend: the collection at which a heap counts as grown, with 3 collections and 20 %.
func TestHeapTrend(t *testing.T) {
	o := config.HeapAuto{Growth: 20, Collections: 3}
	for name, c := range map[string]struct {
		mb   []uint64
		want int // number of the first collection that reports growth, from 1; 0: none does
	}{
		"flat":                       {[]uint64{100, 101, 99, 100, 102, 98, 100, 101}, 0},
		"too few":                    {[]uint64{100, 200, 300}, 0},
		"a step":                     {[]uint64{100, 100, 100, 130, 130, 130}, 6},
		"a step of less":             {[]uint64{100, 100, 100, 119, 119, 119, 119}, 0},
		"exactly the share":          {[]uint64{100, 100, 100, 120, 120, 120, 120}, 0},
		"just more than the share":   {[]uint64{1000, 1000, 1000, 1201, 1201, 1201}, 6},
		"just the share less":        {[]uint64{300, 300, 300, 250, 250, 250, 310, 310, 310}, 0},
		"a leak":                     {[]uint64{100, 110, 120, 130, 140, 150, 160, 170}, 8}, // 150, the least of the last 3, exceeds 120 by more than 20 %
		"a slow leak":                {[]uint64{100, 100, 100, 102, 104, 106, 108, 110, 112, 114, 116, 118, 120, 122, 124, 126}, 16},
		"a peak":                     {[]uint64{100, 100, 100, 500, 100, 100, 500, 500, 100, 500, 500}, 0},
		"a peak at first":            {[]uint64{100, 300, 100, 200, 200, 200, 200}, 0},
		"one dip":                    {[]uint64{100, 100, 100, 200, 200, 90, 200, 200, 200}, 9},
		"less after the start":       {[]uint64{300, 300, 300, 100, 100, 100, 150, 150, 150}, 9},
		"only a little less":         {[]uint64{300, 300, 300, 290, 280, 290, 350, 350, 350}, 0},
		"a small heap":               {[]uint64{1, 1, 1, 5, 5, 5, 10, 10, 10}, 0},
		"a small heap that is large": {[]uint64{1, 1, 1, 11, 11, 11}, 6},
		"an empty heap":              {[]uint64{0, 0, 0, 9, 9, 9, 30, 30, 30}, 9},
	} {
		trend, first := heapTrend{}, 0
		for i, mb := range c.mb {
			if trend.add(mb<<20, &o) && first == 0 {
				first = i + 1
			}
		}
		if first != c.want {
			t.Errorf("%s: growth at collection %d, want %d", name, first, c.want)
		}
	}
}

// TestHeapTrendAfterSnapshot: after a snapshot the heap must grow from what it was then, and a size
// that it already had does not count.
func TestHeapTrendAfterSnapshot(t *testing.T) {
	o := config.HeapAuto{Growth: 20, Collections: 2}
	var trend heapTrend
	add := func(want bool, list ...uint64) {
		t.Helper()
		for i, mb := range list {
			if got := trend.add(mb<<20, &o); got != (want && i == len(list)-1) {
				t.Errorf("%d MB, number %d: growth %v", mb, i, got)
			}
		}
	}
	add(true, 100, 100, 140, 140)
	if !trend.add(150<<20, &o) {
		t.Error("without a snapshot it still has grown")
	}
	trend.reset()
	add(false, 150, 160, 170, 175, 179) // 20 % above 150 is 180
	add(false, 50, 50, 60, 60, 150, 150, 170)
	add(true, 185, 190)
	o.Collections = 3 // the configuration was reloaded
	if trend.add(190<<20, &o) != true {
		t.Error("three collections have left more")
	}
	o.Collections = 2
	trend.reset()
	add(false, 190, 200)
}
