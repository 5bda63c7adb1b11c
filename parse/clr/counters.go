package clr

import "github.com/gclog/gclog/parse"

// The providers of counters. The names of meters and of instruments, their tags and their values are
// texts that come from the program.
const (
	// MetricsProvider reports the instruments of meters (System.Diagnostics.Metrics).
	MetricsProvider = "System.Diagnostics.Metrics"
	// RuntimeCounters is the name of the runtime's own meter, which .NET 9 has added, and of the provider
	// of its EventCounters.
	RuntimeCounters = "System.Runtime"

	// KeywordTimeSeries makes the MetricsProvider report values.
	KeywordTimeSeries = 0x2

	eventCounters = "EventCounters" // the name of the event, of any provider and with any id
)

// IsEventCounter reports whether a kind of event is that of the EventCounters of a provider.
func IsEventCounter(m *parse.Metadata) bool { return m.Name == eventCounters }

// Event ids of the MetricsProvider.
const (
	IDCollectionStart       = 2
	IDCollectionStop        = 3
	IDCounterRate           = 4
	IDGauge                 = 5
	IDHistogram             = 6
	IDBeginInstrument       = 7
	IDMetricsError          = 9
	IDTimeSeriesLimit       = 12
	IDHistogramLimit        = 13
	IDInstrumentError       = 14
	IDSessionsNotSupported  = 15
	IDUpDownCounterRate     = 16
	IDSessionsNotConfigured = 17
)

// A CollectionMark is the start or the end of a collection of the values of all instruments.
type CollectionMark struct {
	Instance
	End      bool
	Session  UTF16
	Interval int64 // since the collection before it, in nanoseconds
}

func (e *CollectionMark) decode(p *payload, _ int) {
	e.Session = p.utf16z()
	from, to := p.u64(), p.u64() // in units of 100 ns
	e.Interval = 0
	if most := uint64(1 << 50); to > from && to-from < most {
		e.Interval = int64(to-from) * 100
	}
}

// InstrumentKind is how the values of an instrument add up.
type InstrumentKind uint8

// The kinds of instruments. Which kind an instrument is depends on the version of the runtime.
const (
	InstrumentCounter       InstrumentKind = iota // only grows
	InstrumentUpDownCounter                       // grows and shrinks
	InstrumentGauge                               // is measured
	InstrumentHistogram                           // is many measurements
)

// An InstrumentValue is one time series of an instrument.
type InstrumentValue struct {
	Instance
	Kind    InstrumentKind
	Session UTF16
	Meter   UTF16
	Name    UTF16
	Unit    UTF16
	Tags    UTF16 // "name=value,name=value"
	// Texts of numbers, in the invariant culture; empty: unknown.
	Rate      UTF16 // of counters: the change in the interval
	Value     UTF16 // of histograms: the sum of the measurements in the interval
	Count     int32 // of histograms: how many there were
	Quantiles UTF16 // of histograms: "0.5=1.2;0.95=3;0.99=4"
}

func (e *InstrumentValue) decode(p *payload, version int) {
	*e = InstrumentValue{Kind: e.Kind, Session: p.utf16z(), Meter: p.utf16z()}
	p.utf16z() // the version of the meter
	e.Name, e.Unit, e.Tags = p.utf16z(), p.utf16z(), p.utf16z()
	switch {
	case e.Kind == InstrumentHistogram:
		e.Quantiles = p.utf16z()
		if p.bad || !has(version, 1) {
			return
		}
		if count, sum := p.u32(), p.utf16z(); !p.bad {
			e.Count, e.Value = int32(count), sum
		}
		p.bad = false
	case e.Kind == InstrumentGauge:
		e.Value = p.utf16z()
	default:
		e.Rate = p.utf16z()
		if p.bad || !has(version, 1) {
			return
		}
		if value := p.utf16z(); !p.bad {
			e.Value = value
		}
		p.bad = false
	}
}

// A BeginInstrument says that the values of an instrument will be reported.
type BeginInstrument struct {
	Instance
	Session, Meter UTF16
}

func (e *BeginInstrument) decode(p *payload, _ int) { e.Session, e.Meter = p.utf16z(), p.utf16z() }

// MetricsProblem is why values of instruments are missing.
type MetricsProblem uint8

// The problems.
const (
	ProblemError       MetricsProblem = iota // the session of the MetricsProvider has ended
	ProblemTimeSeries                        // there are more time series than the session may have
	ProblemHistograms                        // there are more histograms than that
	ProblemInstrument                        // an instrument could not be read
	ProblemOtherTool                         // another tool's session lets no other begin
	ProblemOtherLimits                       // another tool's session has other limits, or another interval
)

// A MetricsFault reports a MetricsProblem.
type MetricsFault struct {
	Instance
	Problem MetricsProblem
}

func (e *MetricsFault) decode(*payload, int) {}

// An EventCounter is a value of an EventCounter, a PollingCounter or one of their incrementing kinds.
type EventCounter struct {
	Instance
	Provider  string // EventSource that it belongs to
	Name      UTF16
	Unit      UTF16
	Increment bool    // Value is the change in the interval; otherwise the mean of the measurements in it
	Value     float64 //
	Interval  float32 // in seconds
}

func (e *EventCounter) decode(p *payload, _ int) {
	*e = EventCounter{Provider: p.event.Meta.Provider, Name: p.utf16z()}
	p.utf16z() // its name for people
	from := *p
	e.Value = p.f64()
	p.take(8 + 4 + 8 + 8) // deviation, count, minimum and maximum
	e.Interval = p.f32()
	p.utf16z() // series
	if kind := p.utf16z(); !p.bad && kind.Is("Mean") {
		p.utf16z() // metadata
		e.Unit = p.utf16z()
		return
	}
	*p = from
	e.Increment = true
	p.utf16z() // for what time a rate is shown to people
	e.Value, e.Interval = p.f64(), p.f32()
	p.utf16z() // metadata
	p.utf16z() // series
	kind := p.utf16z()
	e.Unit = p.utf16z()
	p.bad = p.bad || !kind.Is("Sum")
}

// A ContentionStop is the end of waiting for a lock (R 91).
type ContentionStop struct {
	Instance
	Kind     uint8 // 0: of the program, 1: of the runtime itself
	Duration int64 // nanoseconds; 0: unknown
}

func (e *ContentionStop) decode(p *payload, version int) {
	*e = ContentionStop{Kind: p.u8(), Instance: p.instance()}
	if has(version, 1) && p.rest() >= 8 {
		if ns := p.f64(); ns > 0 && ns < 1<<56 {
			e.Duration = int64(ns)
		}
	}
}
