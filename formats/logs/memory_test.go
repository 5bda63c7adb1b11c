package logs_test

import (
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// TestMemoryAgain: values known only to live sessions are restored, and written again unchanged. A
// summary is not read: it can be computed from the records.
func TestMemoryAgain(t *testing.T) {
	for _, format := range []string{"json", "csv"} {
		t.Run(format, func(t *testing.T) {
			p := gclog.Process{ID: 7, Sync: time.Unix(1e9, 0).UTC()}
			var out memory
			x := &observed{}
			x.writeTo(format, &out, &p)
			memories := []gclog.Memory{
				{Resident: 1 << 40, Cgroup: 2 << 40, CgroupLimit: 3 << 40, At: 5e6}, {Resident: 4, At: 1e9}, {Cgroup: 5, CgroupLimit: 6, At: 2e9}, {},
			}
			for i, m := range memories {
				d := &gclog.GCDetails{
					Number: uint32(i + 1), Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd, Type: clr.TypeBlocking, Complete: true,
					Start: int64(i) * 1e9, End: int64(i)*1e9 + 2e6, Memory: m,
				}
				d.Pauses = []gclog.PausePart{{Start: d.Start, Duration: 2e6}}
				x.Observe(d)
			}
			kept := string(out.text)
			x.w.Observe(&gclog.Summary{From: 0, To: 4e9, Ticks: 9, Tally: gclog.Tally{Pauses: 4}})
			again, back, skipped := read(t, out.text)
			if skipped.Count != 0 {
				t.Errorf("lines %v were skipped", skipped.Lines)
			}
			sameLines(t, anonymous([]byte(kept)), anonymous(again))
			for i, d := range back[0].gcs() {
				if want := memories[i]; d.Memory != want {
					t.Errorf("#%d: %+v, want %+v", i+1, d.Memory, want)
				}
			}
		})
	}
}
