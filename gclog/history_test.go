package gclog_test

import (
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
)

func TestHistory(t *testing.T) {
	for _, tt := range []struct {
		size, records int
		want          []uint32
	}{
		{3, 0, nil},
		{3, 2, []uint32{1, 2}},
		{3, 3, []uint32{1, 2, 3}},
		{3, 8, []uint32{6, 7, 8}},
		{0, 2, []uint32{2}},
	} {
		h := gclog.NewHistory(tt.size)
		d := &gclog.GCDetails{}
		for n := range tt.records {
			d.Number = uint32(n + 1)
			d.Pauses = append(d.Pauses[:0], gclog.PausePart{Duration: int64(n + 1)})
			h.Observe(d)
		}
		var got []uint32
		for d := range h.All() {
			got = append(got, d.Number)
			if d.Pause() != int64(d.Number) {
				t.Errorf("the record of #%d shares its pauses with another", d.Number)
			}
		}
		for range h.All() {
			break // a caller may stop early
		}
		if !slices.Equal(got, tt.want) || h.Len() != len(tt.want) {
			t.Errorf("size %d, %d told: %v, want %v", tt.size, tt.records, got, tt.want)
		}
	}
}

func TestHistoryAllocatesNothing(t *testing.T) {
	list := typed(t, "net10-datas-bgc")
	h := gclog.NewHistory(4)
	r := gclog.NewReducer(h.Observe)
	again(r, list, 0)
	round := int64(1)
	if n := testing.AllocsPerRun(5, func() { again(r, list, round); round++ }); n > 0 {
		t.Errorf("%.0f allocations", n)
	}
}
