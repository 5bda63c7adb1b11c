package otlp

import (
	"context"
	"maps"
	"time"

	collected "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/metrics/v1"

	"github.com/gclog/gclog/internal/metrics"
)

// processesMost is how many processes are in a request.
const processesMost = 100

// exportMetrics sends all metrics in intervals, and at the end.
func (e *Exporter) exportMetrics() {
	x := &metricsExport{Exporter: e, last: map[uint64]*baseline{}}
	ticker := time.NewTicker(e.o.Settings.interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			// Values that could not be sent are part of what is sent the next time.
			ctx, cancel := context.WithTimeout(e.ending, e.o.Settings.interval)
			x.export(ctx)
			cancel()
		case <-e.closing:
			x.export(e.ending)
			return
		}
	}
}

// A metricsExport is the state between two exports.
type metricsExport struct {
	*Exporter
	last map[uint64]*baseline // by process, for deltas: what was accepted last
}

// A baseline is what was accepted of a process, and when that was read.
type baseline struct {
	metrics.Snapshot
	at time.Time
}

// A part is a request for some processes.
type part struct {
	body   []byte
	points int
	read   map[uint64]*baseline
}

// export reads all processes, and sends them in parts.
func (x *metricsExport) export(ctx context.Context) {
	now := time.Now()
	var parts []part
	reading := x.o.Registry.Read(metrics.Exporter, func(views []metrics.View) int {
		for from := 0; from < len(views); from += processesMost {
			parts = append(parts, x.part(views[from:min(from+processesMost, len(views))], now))
		}
		x.forget(views)
		return len(views)
	})
	parts = append(parts, x.own(now))
	all := true
	for _, p := range parts {
		if p.body == nil || !x.send(ctx, ofMetrics, p.body, p.points) {
			all = false
			continue
		}
		maps.Copy(x.last, p.read)
	}
	if all {
		reading.Done()
	}
}

// part makes a request.
func (x *metricsExport) part(views []metrics.View, now time.Time) (p part) {
	m := newMaker(x.o.Settings, x.o.Naming)
	host := x.o.Format.Host
	request := &collected.ExportMetricsServiceRequest{}
	p.read = map[uint64]*baseline{}
	for i := range views {
		v := &views[i]
		var delta *metrics.View
		var since time.Time
		if m.deltas() {
			if before := x.last[v.ID]; before != nil {
				delta, since = v.Since(&before.Snapshot), before.at
			}
			b := &baseline{at: now}
			v.Save(&b.Snapshot)
			p.read[v.ID] = b
		}
		request.ResourceMetrics = append(request.ResourceMetrics, &otlp.ResourceMetrics{
			Resource:     resourceOf(v.Process, host, x.o.Settings.resource),
			ScopeMetrics: []*otlp.ScopeMetrics{{Scope: x.scope, Metrics: m.metrics(v, delta, since, now)}},
		})
	}
	return x.finish(p, request)
}

// own makes the request for gclog itself.
func (x *metricsExport) own(now time.Time) part {
	return x.finish(part{}, &collected.ExportMetricsServiceRequest{ResourceMetrics: []*otlp.ResourceMetrics{{
		Resource:     x.ownResource(),
		ScopeMetrics: []*otlp.ScopeMetrics{{Scope: x.scope, Metrics: ofGclog(x.o.Self(), x.began, now)}},
	}}})
}

func (x *metricsExport) finish(p part, request *collected.ExportMetricsServiceRequest) part {
	for _, r := range request.ResourceMetrics {
		for _, s := range r.ScopeMetrics {
			for _, m := range s.Metrics {
				p.points += len(m.GetSum().GetDataPoints()) + len(m.GetGauge().GetDataPoints()) +
					len(m.GetHistogram().GetDataPoints()) + len(m.GetExponentialHistogram().GetDataPoints())
			}
		}
	}
	var err error
	if p.body, err = x.clients[ofMetrics].body(request); err != nil {
		x.o.Warn(ofMetrics.String(), "otlp: "+err.Error())
	}
	return p
}

// forget drops what was accepted of processes that are no longer there.
func (x *metricsExport) forget(views []metrics.View) {
	there := map[uint64]bool{}
	for i := range views {
		there[views[i].ID] = true
	}
	for id := range x.last {
		if !there[id] {
			delete(x.last, id)
		}
	}
}
