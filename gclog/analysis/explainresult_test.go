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
