package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/pmetric"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// settings are the settings of the exporter "arrived".
type settings struct {
	Path string `mapstructure:"path"` // records are appended to this file
}

// arrived writes a line for each log record. It has no queue: when it returns the records are
// written, so that what a killed collector loses was lost by its receiver.
type arrived struct {
	component.StartFunc
	mu   sync.Mutex
	file *os.File
}

// A line is a log record as the receiver parsed it.
type line struct {
	Time       time.Time      `json:"time"`
	Severity   string         `json:"severity"`
	Body       any            `json:"body"`
	Attributes map[string]any `json:"attributes"`
	Resource   map[string]any `json:"resource"`
	Event      string         `json:"event,omitempty"`
}

// A point is a point of a metric, or a span as a point whose value is its duration in nanoseconds.
type point struct {
	Name       string         `json:"name"`
	Value      float64        `json:"value"` // of a histogram: its sum
	Count      uint64         `json:"count,omitempty"`
	Delta      bool           `json:"delta,omitempty"`
	Start      time.Time      `json:"start"`
	Time       time.Time      `json:"time"`
	Attributes map[string]any `json:"attributes"`
	Resource   map[string]any `json:"resource"`
}

func newFactory() exporter.Factory {
	create := func(c component.Config) (*arrived, error) {
		file, err := os.OpenFile(c.(*settings).Path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		return &arrived{file: file}, err
	}
	return exporter.NewFactory(component.MustNewType("arrived"), func() component.Config { return &settings{} },
		exporter.WithLogs(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Logs, error) {
			return create(c)
		}, component.StabilityLevelDevelopment),
		exporter.WithMetrics(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Metrics, error) {
			return create(c)
		}, component.StabilityLevelDevelopment),
		exporter.WithTraces(func(_ context.Context, _ exporter.Settings, c component.Config) (exporter.Traces, error) {
			return create(c)
		}, component.StabilityLevelDevelopment))
}

// Capabilities reports that records are not changed here.
func (*arrived) Capabilities() consumer.Capabilities { return consumer.Capabilities{} }

// ConsumeLogs writes the records with one write.
func (a *arrived) ConsumeLogs(_ context.Context, logs plog.Logs) error {
	var b []byte
	for _, resource := range logs.ResourceLogs().All() {
		for _, scope := range resource.ScopeLogs().All() {
			for _, r := range scope.LogRecords().All() {
				l, err := json.Marshal(line{r.Timestamp().AsTime(), r.SeverityText(), r.Body().AsRaw(), r.Attributes().AsRaw(), resource.Resource().Attributes().AsRaw(), r.EventName()})
				if err != nil {
					return err
				}
				b = append(append(b, l...), '\n')
			}
		}
	}
	return a.write(b)
}

func (a *arrived) write(b []byte) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, err := a.file.Write(b)
	return err
}

// ConsumeMetrics writes the points.
func (a *arrived) ConsumeMetrics(_ context.Context, metrics pmetric.Metrics) error {
	var all []point
	for _, resource := range metrics.ResourceMetrics().All() {
		of := resource.Resource().Attributes().AsRaw()
		for _, scope := range resource.ScopeMetrics().All() {
			for _, m := range scope.Metrics().All() {
				numbers := func(list pmetric.NumberDataPointSlice, delta bool) {
					for _, p := range list.All() {
						value := p.DoubleValue()
						if p.ValueType() == pmetric.NumberDataPointValueTypeInt {
							value = float64(p.IntValue())
						}
						all = append(all, point{m.Name(), value, 0, delta, p.StartTimestamp().AsTime(), p.Timestamp().AsTime(), p.Attributes().AsRaw(), of})
					}
				}
				switch m.Type() {
				case pmetric.MetricTypeGauge:
					numbers(m.Gauge().DataPoints(), false)
				case pmetric.MetricTypeSum:
					numbers(m.Sum().DataPoints(), m.Sum().AggregationTemporality() == pmetric.AggregationTemporalityDelta)
				case pmetric.MetricTypeHistogram:
					for _, p := range m.Histogram().DataPoints().All() {
						all = append(all, point{m.Name(), p.Sum(), p.Count(), m.Histogram().AggregationTemporality() == pmetric.AggregationTemporalityDelta, p.StartTimestamp().AsTime(), p.Timestamp().AsTime(), p.Attributes().AsRaw(), of})
					}
				case pmetric.MetricTypeExponentialHistogram:
					for _, p := range m.ExponentialHistogram().DataPoints().All() {
						all = append(all, point{m.Name(), p.Sum(), p.Count(), m.ExponentialHistogram().AggregationTemporality() == pmetric.AggregationTemporalityDelta, p.StartTimestamp().AsTime(), p.Timestamp().AsTime(), p.Attributes().AsRaw(), of})
					}
				}
			}
		}
	}
	return a.points(all)
}

func (a *arrived) points(all []point) error {
	var b []byte
	for _, p := range all {
		l, err := json.Marshal(p)
		if err != nil {
			return err
		}
		b = append(append(b, l...), '\n')
	}
	return a.write(b)
}

// ConsumeTraces writes the spans.
func (a *arrived) ConsumeTraces(_ context.Context, traces ptrace.Traces) error {
	var all []point
	for _, resource := range traces.ResourceSpans().All() {
		for _, scope := range resource.ScopeSpans().All() {
			for _, s := range scope.Spans().All() {
				all = append(all, point{s.Name(), float64(s.EndTimestamp() - s.StartTimestamp()), 0, false, s.StartTimestamp().AsTime(), s.EndTimestamp().AsTime(), s.Attributes().AsRaw(), resource.Resource().Attributes().AsRaw()})
			}
		}
	}
	return a.points(all)
}

// Shutdown closes the file.
func (a *arrived) Shutdown(context.Context) error { return a.file.Close() }
