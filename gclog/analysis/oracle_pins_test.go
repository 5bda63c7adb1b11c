package analysis_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// pinCounter sums the pins in the records.
type pinCounter struct {
	*analysis.Statistics
	seen, plugs uint64
}

// Observe takes a record.
func (c *pinCounter) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		c.seen += r.PinEvents
		c.plugs += r.PinPlugs
		c.Statistics.Observe(r)
	default:
		c.Statistics.Observe(r)
	}
}

// TestPinsReported checks that the records contain each pin event that TraceEvent delivers, and
// that the statistics report pins if there are any. TraceEvent's own sums are 0: it does not take
// them from a stream.
func TestPinsReported(t *testing.T) {
	folder, compared := recordings.Dir(t), 0
	for _, name := range []string{"core31-wks-verbose", "net10-svr-verbose", "net10-wks-verbose", "net8-wks-verbose", "svr", "wks", "verb", "net10-wks-churn"} {
		t.Run(name, func(t *testing.T) {
			var seen, plugs uint64
			lines := bufio.NewScanner(bytes.NewReader(recordings.Read(t, filepath.Join(folder, "oracle", name+".events.jsonl.gz"))))
			lines.Buffer(nil, 16<<20)
			for lines.Scan() {
				var kind struct {
					Provider string
					ID       int
					Total    uint64
				}
				if err := json.Unmarshal(lines.Bytes(), &kind); err != nil {
					t.Fatal(err)
				}
				switch {
				case kind.Provider == "R" && kind.ID == clr.IDPinObjectAtGCTime:
					seen += kind.Total
				case kind.Provider == "P" && kind.ID == clr.IDPrvPinPlugAtGCTime:
					plugs += kind.Total
				}
			}
			c := &pinCounter{Statistics: analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always()})}
			read(t, recordings.Read(t, filepath.Join(folder, "traces", name+".nettrace.gz")), func(*gclog.Process) gclog.Observer { return c.Observe })
			if c.seen != seen || c.plugs != plugs {
				t.Errorf("the records have %d pinned objects and %d plugs, want %d and %d", c.seen, c.plugs, seen, plugs)
			}
			all := &c.Summary().Classes[analysis.ClassAll]
			if all.PinsSeen.Total.Known() != (seen > 0) || all.PinPlugs.Total.Known() != (plugs > 0) || all.UserPinned.Known() != (seen > 0 && plugs > 0) {
				t.Errorf("pinned objects %+v, plugs %+v, share %+v", all.PinsSeen, all.PinPlugs, all.UserPinned)
			}
			if v := all.UserPinned.Value; v < 0 || v > 100 {
				t.Errorf("pinned objects are %v %% of what was not moved", v)
			}
			compared++
		})
	}
	if compared == 0 {
		t.Error("nothing was compared")
	}
}
