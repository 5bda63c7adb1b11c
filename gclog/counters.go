package gclog

import (
	"math"
	"strconv"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// Counters are what the runtime and the program have counted and measured in an interval: the values
// of meters and EventCounters, and what contention for locks has cost.
type Counters struct {
	At       int64 // when the interval ended: nanoseconds since the sync point
	Ticks    int64 // At in ticks
	Interval int64 // nanoseconds; 0: unknown
	Values   []Counter
	Omitted  uint64 // values that are not here: there were too many, their names too long, or they were no numbers
	Problem  CountersProblem
	Locks    LockWaits

	texts int // bytes of the texts of Values
}

// A Counter is a value of an instrument, in one of its time series.
//
// What the runtime's EventCounters have in common with its meter has the names and units of the meter.
type Counter struct {
	Meter string // or EventSource
	Name  string
	Tags  string // "name=value,name=value"
	Unit  string // of UCUM, as OpenTelemetry has it: "By", "s", "{thread}"
	// Value is the total since the program has started, or what was measured last; of a histogram, the
	// sum of the measurements in the interval. Delta is the change of Value in the interval. NaN: unknown.
	Value, Delta float64
	Histogram    Quantiles
}

// Quantiles describe the measurements of a histogram in an interval.
type Quantiles struct {
	Count         uint64  // 0: none, or not a histogram
	P50, P95, P99 float64 // NaN: unknown
}

// LockWaits are threads that waited for locks of the program, until the end of their waiting [R 91].
type LockWaits struct {
	Count uint64 // 0: none, or not known
	Total int64  // nanoseconds, over all threads
	Max   int64
}

// CountersProblem is why values are missing.
type CountersProblem uint8

// The problems.
const (
	CountersWhole       CountersProblem = iota // nothing is known to be missing
	CountersFailed                             // the runtime has ended the session of meters because of an error
	CountersTooMany                            // there are more time series than the runtime reports
	CountersInstrument                         // an instrument of the program could not be read
	CountersOtherTool                          // another tool's session lets none of ours begin
	CountersOtherLimits                        // another tool's session decides what is reported, and how often
)

var countersProblems = [...]string{"", "failed", "too-many", "instrument", "other-tool", "other-limits"}

func (p CountersProblem) String() string { return countersProblems[p] }

// When implements Record: it is the end of the interval.
func (c *Counters) When() (at, ticks int64) { return c.At, c.Ticks }

// Sum returns the sum of the changes of an instrument of the runtime over all its time series, false if
// none is known.
func (c *Counters) Sum(name string) (delta float64, known bool) {
	return c.sum(name, func(v *Counter) float64 { return v.Delta })
}

// Level returns the sum of the values of an instrument of the runtime over all its time series, false
// if none is known.
func (c *Counters) Level(name string) (value float64, known bool) {
	return c.sum(name, func(v *Counter) float64 { return v.Value })
}

func (c *Counters) sum(name string, of func(*Counter) float64) (sum float64, known bool) {
	for i := range c.Values {
		v := &c.Values[i]
		if v.Name != name || v.Meter != clr.RuntimeCounters {
			continue
		}
		if x := of(v); !math.IsNaN(x) {
			sum, known = sum+x, true
		}
	}
	return sum, known
}

// Names of instruments of the runtime's meter.
const (
	InstrumentQueue       = "dotnet.thread_pool.queue.length"
	InstrumentThreads     = "dotnet.thread_pool.thread.count"
	InstrumentWorkItems   = "dotnet.thread_pool.work_item.count"
	InstrumentContentions = "dotnet.monitor.lock_contentions"
	InstrumentExceptions  = "dotnet.exceptions"
	InstrumentTimers      = "dotnet.timer.count"
	InstrumentCPUTime     = "dotnet.process.cpu.time"
	InstrumentCPUs        = "dotnet.process.cpu.count"
	CounterCPU            = "cpu-usage" // an EventCounter that the meter does not have: percent of all processors
)

// CPU returns the share of the processors that the process has used, in percent.
func (c *Counters) CPU() (percent float64, known bool) {
	seconds, hasTime := c.Sum(InstrumentCPUTime)
	processors, hasProcessors := c.Level(InstrumentCPUs)
	if hasTime && hasProcessors && processors > 0 && c.Interval > 0 {
		return 100 * seconds / processors / (float64(c.Interval) / 1e9), true
	}
	return c.Level(CounterCPU)
}

// Limits of a record of counters. The runtime's own values are fewer than 40, and have 3 KB of texts.
const (
	MaxCounters     = 256
	MaxCounterTexts = 32 << 10 // bytes of all texts
)

const (
	maxCounterName = 256     // length of each name and unit, in code units
	maxCounterTags = 1 << 10 // of the tags
	maxTexts       = 1 << 18 // bytes of the texts that are kept for the next intervals
)

// Add adds a value, and reports whether there was room for it.
func (c *Counters) Add(v *Counter) bool {
	texts := c.texts + len(v.Meter) + len(v.Name) + len(v.Tags) + len(v.Unit)
	if len(c.Values) >= MaxCounters || texts > MaxCounterTexts {
		c.Omitted++
		return false
	}
	c.texts = texts
	c.Values = append(c.Values, *v)
	return true
}

// countersSettle is how long, in nanoseconds, no value comes before those that came are passed on: a
// runtime sends those of an interval together.
const countersSettle = 250e6

// counters collects the values that a process sends together.
type counters struct {
	out     Counters
	waiting bool  // out is to be passed on
	last    int64 // when the latest part of it came
	seen    map[series]struct{}
	texts   map[string]string
	size    int   // of texts
	metered int64 // when the meter of the runtime was seen last
	locks   LockWaits
	scratch []byte
}

// A series identifies a value.
type series struct{ meter, name, tags string }

// instrument takes a value of a meter.
func (r *Reducer) instrument(at Stamp, e *clr.InstrumentValue) {
	c := &r.counters
	v := Counter{Value: c.number(e.Value), Delta: c.number(e.Rate)}
	ok := c.text(&v.Meter, e.Meter, maxCounterName) && c.text(&v.Name, e.Name, maxCounterName) &&
		c.text(&v.Unit, e.Unit, maxCounterName) && c.text(&v.Tags, e.Tags, maxCounterTags)
	if v.Meter == clr.RuntimeCounters {
		c.metered = at.Time
	}
	if e.Kind == clr.InstrumentHistogram {
		v.Histogram = c.quantiles(e)
		ok = ok && v.Histogram.Count > 0
	}
	r.counter(at, &v, ok)
}

// eventCounter takes a value of an EventCounter. Those that the runtime's meter has as well are used
// only where it has none.
func (r *Reducer) eventCounter(at Stamp, e *clr.EventCounter) {
	c := &r.counters
	interval := int64(float64(e.Interval) * 1e9)
	if !(e.Interval > 0 && e.Interval < 1<<20) {
		interval = 0
	}
	if e.Provider == clr.RuntimeCounters && c.metered != unknownTime && at.Time-c.metered < 2*interval+countersSettle {
		return
	}
	v := Counter{Meter: e.Provider, Value: math.NaN(), Delta: math.NaN()}
	ok := len(e.Provider) <= maxCounterName && c.text(&v.Name, e.Name, maxCounterName) &&
		c.text(&v.Unit, e.Unit, maxCounterName)
	scale := 1.0
	if i, is := meterOf[v.Name]; is && ok && e.Provider == clr.RuntimeCounters {
		v.Name, v.Unit, v.Tags, scale = i.name, i.unit, i.tags, i.scale
	} else if unit, is := units[v.Unit]; is {
		v.Unit, scale = unit.unit, unit.scale
	}
	value := finite(e.Value * scale)
	if e.Increment {
		v.Delta = value
	} else {
		v.Value = value
	}
	r.counter(at, &v, ok)
	c.out.Interval = interval
}

// counter adds a value to those that came with it.
func (r *Reducer) counter(at Stamp, v *Counter, ok bool) {
	c := &r.counters
	key := series{v.Meter, v.Name, v.Tags}
	if _, again := c.seen[key]; again && ok {
		r.emitCounters() // of the next interval
	}
	c.touch(at)
	if !ok || math.IsNaN(v.Value) && math.IsNaN(v.Delta) {
		c.out.Omitted++
		return
	}
	if c.seen == nil {
		c.seen = map[series]struct{}{}
	}
	if c.out.Add(v) {
		c.seen[key] = struct{}{}
	}
}

func (c *counters) touch(at Stamp) {
	c.out.At, c.out.Ticks, c.last, c.waiting = at.Time, at.Ticks, at.Time, true
}

// collection takes the start or the end of what meters send together.
func (r *Reducer) collection(at Stamp, e *clr.CollectionMark) {
	c := &r.counters
	if !e.End {
		r.emitCounters()
		return
	}
	if c.waiting {
		c.touch(at)
		c.out.Interval = e.Interval
		r.emitCounters()
	}
}

// metricsFault takes a problem with meters.
func (r *Reducer) metricsFault(at Stamp, e *clr.MetricsFault) {
	r.counters.touch(at)
	r.counters.out.Problem = [...]CountersProblem{
		clr.ProblemError:       CountersFailed,
		clr.ProblemTimeSeries:  CountersTooMany,
		clr.ProblemHistograms:  CountersTooMany,
		clr.ProblemInstrument:  CountersInstrument,
		clr.ProblemOtherTool:   CountersOtherTool,
		clr.ProblemOtherLimits: CountersOtherLimits,
	}[e.Problem]
}

// contention takes the end of a wait for a lock. It belongs to the interval in which it ended.
func (r *Reducer) contention(e *clr.ContentionStop) {
	if w := &r.counters.locks; e.Kind == 0 {
		w.Count++
		w.Total += e.Duration
		w.Max = max(w.Max, e.Duration)
	}
}

// emitCounters passes on what has come together.
func (r *Reducer) emitCounters() {
	c := &r.counters
	if !c.waiting {
		return
	}
	if len(c.out.Values) > 0 {
		c.out.Locks, c.locks = c.locks, LockWaits{}
	}
	r.out(&c.out)
	c.out = Counters{Values: c.out.Values[:0]}
	clear(c.seen)
	c.waiting = false
	if c.size > maxTexts {
		clear(c.texts)
		c.size = 0
	}
}

// text stores a text, which it allocates only when it is new. It returns false if it is too long, or if
// there are too many.
func (c *counters) text(to *string, from clr.UTF16, most int) bool {
	if len(from) == 0 {
		return true
	}
	if len(from) > 2*most || c.size > maxTexts {
		return false
	}
	c.scratch = parse.AppendUTF16(c.scratch[:0], from)
	s, known := c.texts[string(c.scratch)]
	if !known {
		if c.texts == nil {
			c.texts = map[string]string{}
		}
		s = string(c.scratch)
		c.texts[s] = s
		c.size += len(s)
	}
	*to = s
	return true
}

// number reads a number in the invariant culture; NaN: it is none, or not finite.
func (c *counters) number(from clr.UTF16) float64 {
	const most = 64 // code units: no number has more
	if len(from) == 0 || len(from) > 2*most {
		return math.NaN()
	}
	b := c.scratch[:0]
	for i := 0; i < len(from); i += 2 {
		switch x := from[i]; {
		case from[i+1] != 0:
			return math.NaN()
		case x >= '0' && x <= '9', x == '.', x == '-', x == '+', x == 'e', x == 'E':
			b = append(b, x)
		default:
			return math.NaN()
		}
	}
	c.scratch = b
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return math.NaN()
	}
	return finite(v)
}

func finite(v float64) float64 {
	if math.IsInf(v, 0) {
		return math.NaN()
	}
	return v
}

// quantiles reads what a histogram says of its measurements.
func (c *counters) quantiles(e *clr.InstrumentValue) Quantiles {
	nan := math.NaN()
	q := Quantiles{Count: uint64(max(0, e.Count)), P50: nan, P95: nan, P99: nan}
	for rest := e.Quantiles; len(rest) > 0; {
		var one clr.UTF16
		one, rest = cut(rest, ';')
		name, value := cut(one, '=')
		switch c.number(name) {
		case 0.5:
			q.P50 = c.number(value)
		case 0.95:
			q.P95 = c.number(value)
		case 0.99:
			q.P99 = c.number(value)
		}
	}
	return q
}

// cut cuts a text at the first separator.
func cut(s clr.UTF16, separator byte) (before, after clr.UTF16) {
	for i := 0; i+1 < len(s); i += 2 {
		if s[i] == separator && s[i+1] == 0 {
			return s[:i], s[i+2:]
		}
	}
	return s, nil
}

// A unit of EventCounters, and how many of another one it is.
type unit struct {
	unit  string
	scale float64
}

var units = map[string]unit{
	"B": {"By", 1}, "KB": {"By", 1e3}, "MB": {"By", 1e6}, "GB": {"By", 1e9}, "ms": {"s", 1e-3}, "": {"1", 1},
}

// meterOf has the instrument that counts the same as an EventCounter of the runtime, and how many of
// its units one of the EventCounter is. The numbers of collections are no such pair: that of gen0
// includes those of gen1 and gen2.
var meterOf = map[string]struct {
	name, unit, tags string
	scale            float64
}{
	"working-set":                      {"dotnet.process.memory.working_set", "By", "", 1e6},
	"gc-committed":                     {"dotnet.gc.last_collection.memory.committed_size", "By", "", 1e6},
	"threadpool-thread-count":          {InstrumentThreads, "{thread}", "", 1},
	"monitor-lock-contention-count":    {InstrumentContentions, "{contention}", "", 1},
	"threadpool-queue-length":          {InstrumentQueue, "{work_item}", "", 1},
	"threadpool-completed-items-count": {InstrumentWorkItems, "{work_item}", "", 1},
	"alloc-rate":                       {"dotnet.gc.heap.total_allocated", "By", "", 1},
	"active-timer-count":               {InstrumentTimers, "{timer}", "", 1},
	"exception-count":                  {InstrumentExceptions, "{exception}", "", 1},
	"total-pause-time-by-gc":           {"dotnet.gc.pause.time", "s", "", 1e-3},
	"assembly-count":                   {"dotnet.assembly.count", "{assembly}", "", 1},
	"il-bytes-jitted":                  {"dotnet.jit.compiled_il.size", "By", "", 1},
	"methods-jitted-count":             {"dotnet.jit.compiled_methods", "{method}", "", 1},
	"time-in-jit":                      {"dotnet.jit.compilation.time", "s", "", 1e-3},
	"gen-0-size":                       {heapSize, "By", "gc.heap.generation=gen0", 1},
	"gen-1-size":                       {heapSize, "By", "gc.heap.generation=gen1", 1},
	"gen-2-size":                       {heapSize, "By", "gc.heap.generation=gen2", 1},
	"loh-size":                         {heapSize, "By", "gc.heap.generation=loh", 1},
	"poh-size":                         {heapSize, "By", "gc.heap.generation=poh", 1},
}

const heapSize = "dotnet.gc.last_collection.heap.size"
