package logs_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
)

// TestCounters: counters that are read back are those that were written, and are written as they were.
func TestCounters(t *testing.T) {
	p := gclog.Process{ID: 7, Sync: time.Unix(1e9, 0).UTC()}
	nan := math.NaN()
	want := &gclog.Counters{
		At: 1e9, Ticks: 1e9, Interval: 10e9, Omitted: 3, Problem: gclog.CountersTooMany, Locks: gclog.LockWaits{Count: 4, Total: 2e9, Max: 6e8},
	}
	for _, v := range []gclog.Counter{
		{Meter: "System.Runtime", Name: gclog.InstrumentQueue, Unit: "{work_item}", Value: 3867, Delta: -348},
		{Meter: "My\"App\n", Name: "é", Tags: "a=b,c=\x1b[m", Value: 1e300, Delta: -1e-300},
		{Meter: "M", Name: "n", Value: nan, Delta: 0.1},
		{Meter: "M", Name: "h", Unit: "s", Value: 3.5, Delta: nan, Histogram: gclog.Quantiles{Count: 9, P50: 1, P95: 2, P99: nan}},
	} {
		if v.Histogram.Count == 0 {
			v.Histogram = gclog.Quantiles{}
		}
		want.Add(&v)
	}
	var out memory
	x := &observed{}
	x.writeTo("json", &out, &p)
	x.Observe(&gclog.Start{})
	x.Observe(want)
	again, back, skipped := read(t, out.text)
	values := func(log []byte) []byte { return log[bytes.Index(log, []byte(`"dotnet":{"counters"`)):] }
	if len(back) != 1 || skipped.Count != 0 || !bytes.Equal(values(again), values(out.text)) {
		t.Fatalf("%d processes, lines %v skipped; again\n%s\nof\n%s", len(back), skipped.Lines, again, out.text)
	}
	for _, c := range back[0].calls {
		if got, ok := c.(*gclog.Counters); ok {
			got.At, got.Ticks = want.At, want.Ticks
			if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
				t.Errorf("got\n%+v, want\n%+v", got, want)
			}
			return
		}
	}
	t.Error("no counters")
}
