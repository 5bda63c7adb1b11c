package otlp

import (
	"math"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/gclog/gclog/internal/metrics"
)

// A maker makes metrics of views.
type maker struct {
	naming      metrics.Naming
	families    []*metrics.Family
	temporality string
	exponential bool
	sets        map[*metrics.Set][]*common.KeyValue
}

func newMaker(s *Settings, n metrics.Naming) *maker {
	n.Names = metrics.NamesOTel // the names of prometheus-net.DotNetRuntime mean nothing to OpenTelemetry
	return &maker{n, n.Families(), s.temporality, s.histograms == exponential, map[*metrics.Set][]*common.KeyValue{}}
}

// deltas reports whether counters or histograms are sent as what was added since the last time.
func (m *maker) deltas() bool { return m.temporality != temporalityCumulated }

func (m *maker) isDelta(f *metrics.Family) bool {
	switch f.Kind {
	case metrics.Counter:
		return m.temporality == temporalityDelta
	case metrics.Histograms:
		return m.deltas()
	case metrics.Gauge, metrics.UpDownCounter:
	}
	return false
}

// metrics returns the metrics of a process. delta is its view since the last time, which began at
// since; nil: there was none.
func (m *maker) metrics(v, delta *metrics.View, since, now time.Time) (list []*otlp.Metric) {
	for _, f := range m.families {
		from, begin, temporality := v, v.Created, otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE
		if m.isDelta(f) {
			temporality = otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
			if delta != nil {
				from, begin = delta, since
			}
		}
		b := family{maker: m, f: f, begin: uint64(begin.UnixNano()), now: uint64(now.UnixNano())}
		f.Points(from, metrics.Points{Value: b.value, Histogram: b.histogram})
		if x := b.metric(temporality); x != nil {
			list = append(list, x)
		}
	}
	return list
}

// A family collects the points of one metric.
type family struct {
	*maker
	f          *metrics.Family
	begin, now uint64
	numbers    []*otlp.NumberDataPoint
	explicit   []*otlp.HistogramDataPoint
	finer      []*otlp.ExponentialHistogramDataPoint
}

func (b *family) value(v float64, set *metrics.Set) {
	p := &otlp.NumberDataPoint{
		Attributes:   b.attributes(set),
		TimeUnixNano: b.now,
		Value:        &otlp.NumberDataPoint_AsDouble{AsDouble: v},
	}
	if b.f.Kind != metrics.Gauge {
		p.StartTimeUnixNano = b.begin
	}
	if unit := b.f.Unit; unit != "s" && unit != "1" && v < math.MaxInt64 {
		p.Value = &otlp.NumberDataPoint_AsInt{AsInt: int64(v)}
	}
	b.numbers = append(b.numbers, p)
}

func (b *family) histogram(h *metrics.Histogram, set *metrics.Set) {
	sum := h.Sum()
	if b.exponential {
		zero, threshold := h.Zero()
		p := &otlp.ExponentialHistogramDataPoint{
			Attributes: b.attributes(set), StartTimeUnixNano: b.begin, TimeUnixNano: b.now,
			Count: h.Count(), Sum: &sum, Scale: metrics.Schema, ZeroCount: zero, ZeroThreshold: threshold,
		}
		h.Native(func(i int, n uint64) {
			if p.Positive == nil { // the index of a bucket is that of its lower bound here
				p.Positive = &otlp.ExponentialHistogramDataPoint_Buckets{Offset: int32(i - 1)}
			}
			x := p.Positive
			for int(x.Offset)+len(x.BucketCounts) < i-1 {
				x.BucketCounts = append(x.BucketCounts, 0)
			}
			x.BucketCounts = append(x.BucketCounts, n)
		})
		b.finer = append(b.finer, p)
		return
	}
	p := &otlp.HistogramDataPoint{
		Attributes:        b.attributes(set),
		StartTimeUnixNano: b.begin,
		TimeUnixNano:      b.now,
		Count:             h.Count(),
		Sum:               &sum,
	}
	h.Classic(func(bound float64, n uint64) {
		if !math.IsInf(bound, 1) {
			p.ExplicitBounds = append(p.ExplicitBounds, bound)
		}
		p.BucketCounts = append(p.BucketCounts, n)
	})
	b.explicit = append(b.explicit, p)
}

func (b *family) attributes(set *metrics.Set) []*common.KeyValue {
	list, known := b.sets[set]
	if !known {
		for _, a := range set.Attributes {
			list = append(list, &common.KeyValue{Key: b.naming.Attribute(a.Name), Value: text(a.Value)})
		}
		b.sets[set] = list
	}
	return list
}

func (b *family) metric(temporality otlp.AggregationTemporality) *otlp.Metric {
	m := &otlp.Metric{Name: b.f.Name, Description: b.f.Help, Unit: b.f.Unit}
	switch {
	case b.explicit != nil:
		m.Data = &otlp.Metric_Histogram{Histogram: &otlp.Histogram{
			DataPoints:             b.explicit,
			AggregationTemporality: temporality,
		}}
	case b.finer != nil:
		m.Data = &otlp.Metric_ExponentialHistogram{ExponentialHistogram: &otlp.ExponentialHistogram{
			DataPoints:             b.finer,
			AggregationTemporality: temporality,
		}}
	case b.numbers == nil:
		return nil
	case b.f.Kind == metrics.Gauge:
		m.Data = &otlp.Metric_Gauge{Gauge: &otlp.Gauge{DataPoints: b.numbers}}
	default:
		m.Data = &otlp.Metric_Sum{Sum: &otlp.Sum{
			DataPoints:             b.numbers,
			AggregationTemporality: temporality,
			IsMonotonic:            b.f.Kind == metrics.Counter,
		}}
	}
	return m
}

// ofGclog makes metrics of what gclog's own Gatherer returns, all cumulative: gclog_x_y_total becomes
// gclog.x_y.
func ofGclog(list []*dto.MetricFamily, begin, now time.Time) (all []*otlp.Metric) {
	for _, f := range list {
		name := "gclog." + strings.TrimSuffix(strings.TrimPrefix(f.GetName(), "gclog_"), "_total")
		m := &otlp.Metric{Name: name, Description: f.GetHelp()}
		var points []*otlp.NumberDataPoint
		for _, x := range f.Metric {
			p := &otlp.NumberDataPoint{TimeUnixNano: uint64(now.UnixNano())}
			for _, l := range x.Label {
				p.Attributes = append(p.Attributes, &common.KeyValue{Key: l.GetName(), Value: text(l.GetValue())})
			}
			value := x.GetGauge().GetValue()
			if x.Counter != nil {
				value, p.StartTimeUnixNano = x.Counter.GetValue(), uint64(begin.UnixNano())
			}
			p.Value = &otlp.NumberDataPoint_AsDouble{AsDouble: value}
			points = append(points, p)
		}
		m.Data = &otlp.Metric_Gauge{Gauge: &otlp.Gauge{DataPoints: points}}
		if f.GetType() == dto.MetricType_COUNTER {
			m.Data = &otlp.Metric_Sum{Sum: &otlp.Sum{
				DataPoints:             points,
				AggregationTemporality: otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_CUMULATIVE,
				IsMonotonic:            true,
			}}
		}
		all = append(all, m)
	}
	return all
}
