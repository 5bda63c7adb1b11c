package gclog_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// counted is what a Reducer emits of counters.
type counted struct {
	*gclog.Reducer
	now     int64
	records []*gclog.Counters
}

func newCounted() *counted {
	c := &counted{}
	c.Reducer = gclog.NewReducer(func(r gclog.Record) {
		if r, ok := gclog.CloneRecord(r).(*gclog.Counters); ok {
			c.records = append(c.records, r)
		}
	})
	return c
}

func (c *counted) event(e clr.Event) *counted {
	c.now += 1e6
	c.Event(gclog.Stamp{Time: c.now, Ticks: c.now, Thread: 1}, e)
	return c
}

func (c *counted) value(kind clr.InstrumentKind, name, tags, rate, value string) *counted {
	text := clr.EncodeUTF16
	return c.event(&clr.InstrumentValue{
		Kind: kind, Meter: text("System.Runtime"), Name: text(name), Unit: text("{thing}"), Tags: text(tags), Rate: text(rate), Value: text(value),
	})
}

func (c *counted) eventCounter(provider, name, unit string, increment bool, value float64) *counted {
	return c.event(&clr.EventCounter{
		Provider: provider, Name: clr.EncodeUTF16(name), Unit: clr.EncodeUTF16(unit), Increment: increment, Value: value, Interval: 1,
	})
}

func (c *counted) text() string {
	var b strings.Builder
	for _, r := range c.records {
		fmt.Fprintf(&b, "%v s:", float64(r.Interval)/1e9)
		for _, v := range r.Values {
			fmt.Fprintf(&b, " %s/%s{%s} %s %v %v;", v.Meter, v.Name, v.Tags, v.Unit, v.Value, v.Delta)
		}
		if r.Omitted > 0 {
			fmt.Fprintf(&b, " %d omitted", r.Omitted)
		}
		if r.Locks.Count > 0 {
			fmt.Fprintf(&b, " %d waits of %d ns, up to %d", r.Locks.Count, r.Locks.Total, r.Locks.Max)
		}
		fmt.Fprintf(&b, " %s\n", r.Problem)
	}
	return b.String()
}

func (c *counted) expect(t *testing.T, want string) {
	t.Helper()
	c.Finish(c.now)
	if got := c.text(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestMeters: the values of meters between two marks are one record. On .NET 10 the length of the
// queue is a counter, on 11 it may shrink: its value means the same.
func TestMeters(t *testing.T) {
	c := newCounted()
	c.event(&clr.CollectionMark{})
	c.value(clr.InstrumentCounter, gclog.InstrumentQueue, "", "", "3519").value(clr.InstrumentUpDownCounter, "x", "a=b", "-2", "1E+3")
	c.event(&clr.CollectionMark{End: true, Interval: 2e9})
	c.event(&clr.CollectionMark{}).value(clr.InstrumentUpDownCounter, gclog.InstrumentQueue, "", "-1", "3518")
	c.value(clr.InstrumentGauge, "y", "", "", "0.046296000000000004")
	c.expect(t, `2 s: System.Runtime/dotnet.thread_pool.queue.length{} {thing} 3519 NaN; System.Runtime/x{a=b} {thing} 1000 -2; 
0 s: System.Runtime/dotnet.thread_pool.queue.length{} {thing} 3518 -1; System.Runtime/y{} {thing} 0.046296000000000004 NaN; 
`)
	if v, known := c.records[1].Level(gclog.InstrumentQueue); v != 3518 || !known {
		t.Errorf("a queue of %v, %v", v, known)
	}
	if _, known := c.records[1].Sum(gclog.InstrumentThreads); known {
		t.Error("the number of threads is known")
	}
}

// TestEventCountersAsMeters: EventCounters of the runtime have the names and units of its meter, and give
// way to it; those of other providers have their own. Nothing marks the end of an interval.
func TestEventCountersAsMeters(t *testing.T) {
	c := newCounted()
	for range 2 {
		c.eventCounter("System.Runtime", "working-set", "MB", false, 3).eventCounter("System.Runtime", "time-in-jit", "ms", true, 5)
		c.eventCounter("System.Runtime", "cpu-usage", "%", false, 50).eventCounter("MyApp", "working-set", "KB", true, 2)
	}
	if len(c.records) != 1 || c.Idle() {
		t.Errorf("%d records before the end", len(c.records))
	}
	c.Advance(c.now + 3e8)
	if len(c.records) != 2 || !c.Idle() {
		t.Errorf("%d records after the end", len(c.records))
	}
	c.value(clr.InstrumentGauge, "y", "", "", "1").eventCounter("System.Runtime", "cpu-usage", "%", false, 50).eventCounter("MyApp", "x", "", false, 1)
	c.now += 3e9 // the session of meters has ended
	c.eventCounter("System.Runtime", "cpu-usage", "%", false, 50)
	const first = "1 s: System.Runtime/dotnet.process.memory.working_set{} By 3e+06 NaN; System.Runtime/dotnet.jit.compilation.time{} s NaN 0.005; " +
		"System.Runtime/cpu-usage{} % 50 NaN; MyApp/working-set{} By NaN 2000; \n"
	c.expect(t, first+first+"1 s: System.Runtime/y{} {thing} 1 NaN; MyApp/x{} 1 1 NaN; \n1 s: System.Runtime/cpu-usage{} % 50 NaN; \n")
	if cpu, known := c.records[0].CPU(); cpu != 50 || !known {
		t.Errorf("CPU %v, %v", cpu, known)
	}
}

// TestCPU: the meter has the CPU time and the number of processors.
func TestCPU(t *testing.T) {
	c := newCounted()
	c.value(clr.InstrumentCounter, gclog.InstrumentCPUTime, "cpu.mode=user", "2", "9").value(clr.InstrumentCounter, gclog.InstrumentCPUTime, "cpu.mode=system", "1", "9")
	c.value(clr.InstrumentUpDownCounter, gclog.InstrumentCPUs, "", "0", "2").event(&clr.CollectionMark{End: true, Interval: 2e9})
	if cpu, known := c.records[0].CPU(); cpu != 75 || !known {
		t.Errorf("CPU %v, %v", cpu, known)
	}
}

// TestHistograms: a histogram has the number of measurements and their quantiles.
func TestHistograms(t *testing.T) {
	c := newCounted()
	text := clr.EncodeUTF16
	c.event(&clr.InstrumentValue{
		Kind: clr.InstrumentHistogram, Meter: text("MyApp"), Name: text("duration"), Count: 7, Value: text("3.5"), Quantiles: text("0.5=1;0.95=2.5;0.99=x;=;0.1"),
	})
	c.event(&clr.InstrumentValue{Kind: clr.InstrumentHistogram, Meter: text("MyApp"), Name: text("none"), Count: -7, Value: text("0")})
	c.Finish(c.now)
	v := c.records[0].Values[0]
	if h := v.Histogram; len(c.records[0].Values) != 1 || c.records[0].Omitted != 1 || h.Count != 7 || h.P50 != 1 || h.P95 != 2.5 || !math.IsNaN(h.P99) || v.Value != 3.5 {
		t.Errorf("%+v", c.records[0])
	}
}

// TestHostileCounters: whatever comes, a record has its limits, and what is not in it is counted.
func TestHostileCounters(t *testing.T) {
	c := newCounted()
	for _, no := range []string{"NaN", "Infinity", "-∞", "1,5", "0x10", "1e999", "", strings.Repeat("1", 65), "1_000", "five", "inf"} {
		c.value(clr.InstrumentGauge, "y", no, "", no)
	}
	c.value(clr.InstrumentGauge, strings.Repeat("n", 257), "", "", "1").value(clr.InstrumentGauge, "y", strings.Repeat("t", 1025), "", "1")
	c.eventCounter("P", "nan", "", false, math.NaN()).eventCounter("P", "inf", "", true, math.Inf(1)).eventCounter(strings.Repeat("P", 300), "x", "", true, 1)
	c.value(clr.InstrumentGauge, "negative", "", "", "-1e-300")
	c.expect(t, "1 s: System.Runtime/negative{} {thing} -1e-300 NaN; 16 omitted \n")

	c = newCounted()
	for i := range 100_000 {
		c.value(clr.InstrumentGauge, "y", fmt.Sprintf("%d%s", i, strings.Repeat("t", 900)), "", "1")
	}
	c.Finish(c.now)
	values := 0
	for _, r := range c.records {
		texts := 0
		for _, v := range r.Values {
			texts += len(v.Meter) + len(v.Name) + len(v.Unit) + len(v.Tags)
		}
		if len(r.Values) > gclog.MaxCounters || texts > gclog.MaxCounterTexts {
			t.Fatalf("%d values with %d bytes", len(r.Values), texts)
		}
		values += len(r.Values) + int(r.Omitted)
	}
	if values != 100_000 {
		t.Errorf("%d values are in the records, or omitted", values)
	}
	// Other counters still arrive, because texts are forgotten from time to time.
	for range 300 {
		c.event(&clr.CollectionMark{}).value(clr.InstrumentGauge, "z", "", "", "1").event(&clr.CollectionMark{End: true})
	}
	if last := c.records[len(c.records)-1]; len(last.Values) != 1 {
		t.Errorf("%+v", last)
	}
}

// TestCountersMemory: an interval like the one before it takes no memory.
func TestCountersMemory(t *testing.T) {
	r := gclog.NewReducer(func(gclog.Record) {})
	text := clr.EncodeUTF16
	value := &clr.InstrumentValue{Meter: text("M"), Name: text("N"), Unit: text("U"), Rate: text("12.5"), Value: text("1e9")}
	tags := []clr.UTF16{text("a=1"), text("a=2"), text("a=3")}
	begin, end := &clr.CollectionMark{}, &clr.CollectionMark{End: true, Interval: 1e9}
	n := testing.AllocsPerRun(100, func() {
		r.Event(gclog.Stamp{}, begin)
		for _, tag := range tags {
			value.Tags = tag
			r.Event(gclog.Stamp{}, value)
		}
		r.Event(gclog.Stamp{}, end)
	})
	if n > 6 { // strconv takes a text
		t.Errorf("%v allocations", n)
	}
}

// TestCounterProblems: what is wrong is said even if no value comes.
func TestCounterProblems(t *testing.T) {
	c := newCounted()
	c.event(&clr.MetricsFault{Problem: clr.ProblemOtherTool})
	c.Advance(c.now + 3e8)
	c.event(&clr.MetricsFault{Problem: clr.ProblemTimeSeries}).value(clr.InstrumentGauge, "y", "", "", "1")
	c.expect(t, "0 s: other-tool\n0 s: System.Runtime/y{} {thing} 1 NaN; too-many\n")
}

// TestLockWaits: waiting for locks belongs to the interval in which it ended.
func TestLockWaits(t *testing.T) {
	c := newCounted()
	c.event(&clr.ContentionStop{Duration: 5e8}).event(&clr.ContentionStop{Duration: 2e8}).event(&clr.ContentionStop{Kind: 1, Duration: 9e9})
	for range 2 {
		c.value(clr.InstrumentGauge, "y", "", "", "1").event(&clr.CollectionMark{End: true, Interval: 1e9})
	}
	c.expect(t, "1 s: System.Runtime/y{} {thing} 1 NaN; 2 waits of 700000000 ns, up to 500000000 \n1 s: System.Runtime/y{} {thing} 1 NaN; \n")
}
