package analysis_test

import (
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestExplainHeapsOfDATAS: the runtime tells 0 of what it has not worked out.
func TestExplainHeapsOfDATAS(t *testing.T) {
	for _, tt := range []struct {
		least, most uint16
		want        string
	}{
		{0, 0, "DATAS decided on the number of heaps: 2 heaps"},
		{0, 16, "DATAS decided on the number of heaps: 2 heaps"},
		{3, 16, "DATAS decided on the number of heaps: 2 heaps"},
		{1, 1, "DATAS decided on the number of heaps: 2 heaps"},
		{1, 43, "DATAS decided on the number of heaps (for its long-lived objects 1 to 43 are right): 2 heaps"},
	} {
		e := explain(func(d *gclog.GCDetails) {
			d.Datas.HasTuning = true
			d.Datas.Tuning = clr.SizeAdaptationTuning{NewHeaps: 2, MinHeaps: tt.least, MaxHeaps: tt.most}
		})
		if got := sentences(e.Result); !strings.Contains(got, "datas: "+tt.want) {
			t.Errorf("%d to %d: no %q in\n%s", tt.least, tt.most, tt.want, got)
		}
	}
}

// TestExplainHandles: a young collection counts only those that it goes through.
func TestExplainHandles(t *testing.T) {
	young := explain(func(d *gclog.GCDetails) { d.Handles, d.SyncBlocks = 1, 2 })
	if got := sentences(young.Result); strings.Contains(got, "handle.") || !strings.Contains(got, "handles: The runtime has 2 sync blocks after it.\n") || whyUnknown(&young, "handles") == "" {
		t.Errorf("%s%+v", got, young.Unknown)
	}
	full := explain(func(d *gclog.GCDetails) { d.Generation, d.Handles, d.SyncBlocks = gclog.Gen2, 1, 2 })
	if got := sentences(full.Result); !strings.Contains(got, "handles: The runtime has 1 handle and 2 sync blocks after it.\n") || whyUnknown(&full, "handles") != "" {
		t.Errorf("%s%+v", got, full.Unknown)
	}
}

func TestExplainSegments(t *testing.T) {
	for _, tt := range []struct {
		created, freed uint32
		want           string
	}{
		{0, 4, "gave 4 pieces of memory back to the system."},
		{0, 1, "gave 1 piece of memory back to the system."},
		{1, 0, "took 1 piece of memory of the system (64 B) and gave none back."},
		{2, 4, "took 2 pieces of memory of the system (64 B) and gave 4 back."},
	} {
		e := explain(func(d *gclog.GCDetails) {
			d.Segments.Known, d.Segments.Created, d.Segments.Freed = true, tt.created, tt.freed
			if tt.created > 0 {
				d.Segments.CreatedBytes = 64
			}
		})
		if got := sentences(e.Result); !strings.Contains(got, "segments: Since the previous collection the heap "+tt.want) {
			t.Errorf("no %q in\n%s", tt.want, got)
		}
	}
}
