package daemon

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/session"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics: the writer of each process counts its records, and whoever scrapes reads them there. The
// loop is only asked for numbers about the daemon itself.

// measurements is what is needed to answer scrapes.
type measurements struct {
	idle
	d        *Daemon
	registry *metrics.Registry // nil: nothing is counted
	handler  *metrics.Handler  // nil: nothing is served
	left     atomic.Int64      // processes that the last scrape left out
	failures map[string]uint64 // to attach, by reason
	endings  map[string]uint64 // of sessions, by reason
}

func newMeasurements(d *Daemon) *measurements {
	return &measurements{d: d, failures: map[string]uint64{}, endings: map[string]uint64{}}
}

// measure starts or stops to count and to serve metrics. exported reports whether they are sent.
func (m *measurements) measure(c *config.Loaded, exported bool) {
	var readers metrics.Readers
	if c.Metrics.Enabled && c.HTTP.Listen != "" {
		readers |= metrics.Scraper
	}
	if exported {
		readers |= metrics.Exporter
	}
	m.handler = nil
	switch {
	case readers == 0:
		m.registry = nil
		return
	case m.registry == nil:
		m.registry = metrics.NewRegistry()
	}
	m.registry.SetReaders(readers)
	if readers&metrics.Scraper != 0 {
		m.handler = metrics.NewHandler(&metrics.Exposer{
			Registry: m.registry, Naming: metrics.Naming{Names: c.Metrics.Names, Attributes: c.Metrics.Attributes},
			MaxSeries: c.Metrics.MaxSeries, Self: m.d.selfMetrics(m.registry), Left: m.leftOut,
		})
	}
}

// observe implements part.
func (m *measurements) observe(p *process) func(*gclog.Process) gclog.Observer {
	switch {
	case m.registry == nil:
		p.counts = nil
		return nil
	case p.counts == nil || !p.counts.Of(m.registry):
		p.counts = m.registry.Process()
	}
	return p.counts.Observe
}

// forget implements part. It also ends the counting of a process that is not logged any more.
func (m *measurements) forget(p *process) {
	if p.counts != nil {
		p.counts.Exit()
		p.counts = nil
	}
}

// leftOut records how many processes a scrape left out.
func (m *measurements) leftOut(n int) {
	if before := m.left.Swap(int64(n)); n == 0 || before >= int64(n) {
		return
	}
	go m.d.post(func() {
		m.d.limiter.warn("max_series", "metrics of some processes are left out: all of them have more series than "+
			"metrics.max_series; gclog_metrics_processes_left_out has their number", nil)
	})
}

// serveMetrics answers a scrape.
func (p *public) serveMetrics(w http.ResponseWriter, r *http.Request) {
	if p.metrics == nil {
		http.Error(w, "metrics are off: set metrics.enabled: true", http.StatusNotFound)
		return
	}
	p.web.protect(p.metrics, p.passwords, w, r)
}

// failureReason returns a short word for an error of attaching to a process.
func failureReason(err error) string {
	var refused *session.ServerError
	var defect *attach.DefectError
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, session.ErrNoAnswer):
		return "timeout"
	case errors.Is(err, fs.ErrPermission):
		return "permission"
	case errors.As(err, &refused):
		return "refused"
	case errors.Is(err, errReplaced):
		return "replaced"
	case errors.As(err, &defect):
		return "internal-error"
	}
	return "unreachable"
}

// selfMetrics gathers metrics of the daemon itself.
func (d *Daemon) selfMetrics(of *metrics.Registry) prometheus.Gatherer {
	r := prometheus.NewRegistry()
	r.MustRegister(selfCollector{d, of},
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "gclog"}))
	return r
}

// A selfCollector collects what the daemon knows of itself.
type selfCollector struct {
	d  *Daemon
	of *metrics.Registry
}

// A selfMetric is a row of the metrics about the daemon. One whose values only grow has a name with _total.
type selfMetric struct{ name, labels, help string }

// selfTable lists them: docs/metrics.md is made of it.
var selfTable = [...]selfMetric{
	{"gclog_build_info", "version goversion", "1, with the version of gclog."},
	{"gclog_sessions", "", "Processes with a session."},
	{
		"gclog_processes", "state",
		"Processes that were found, by state: on, excluded, given-up, unreachable, queued and others.",
	},
	{"gclog_attach_failures_total", "reason", "Failed attempts to attach to a process."},
	{"gclog_sessions_ended_total", "reason", "Sessions that ended, by the reason in the log."},
	{"gclog_bytes_written_total", "", "Bytes written to outputs."},
	{"gclog_write_errors_total", "", "Writes to outputs that failed: their records are missing there."},
	{"gclog_rotations_total", "", "Files that were full and were replaced by a new one."},
	{"gclog_internal_errors_total", "", "Panics of gclog."},
	{"gclog_inspections_stuck", "", "Inspections of processes that do not end."},
	{"gclog_metrics_processes_left_out", "", "Processes whose series are left out because of metrics.max_series."},
	{
		"gclog_metrics_processes_forgotten_total", "",
		"Processes that exited and whose last values were not read within 5 minutes.",
	},
	{
		"gclog_heap_snapshots_total", "result",
		"Heap snapshots that the daemon has taken, and that it could not take: refused.",
	},
	{
		"gclog_heap_snapshots", "state",
		"Heap snapshots that are running, and those that are waiting until others are taken.",
	},
	{"gclog_unwritten_logs", "", "Logs of processes that have exited that lack the gap for what could not be written."},
	{
		"gclog_otlp_sent_total", "signal",
		"Metric points, log records and spans that an OpenTelemetry server has accepted.",
	},
	{"gclog_otlp_rejected_total", "signal", "Those that it has rejected."},
	{"gclog_otlp_failed_requests_total", "signal", "Requests to it that failed."},
	{
		"gclog_otlp_dropped_records_total", "signal",
		"Records that were not sent, because too many were waiting or the server has rejected them.",
	},
	{"gclog_otlp_queue_records", "signal", "Records that wait to be sent."},
	{"gclog_otlp_queue_bytes", "signal", "Memory of records that wait or are being sent."},
}

// A selfValue is what a row has now: numbers by the values of its labels, one on a line.
type selfValue struct {
	name   string
	values map[string]float64
}

func one[T int | int64 | uint64](name string, n T) selfValue {
	return selfValue{name, map[string]float64{"": float64(n)}}
}

func all[T int | uint64](name string, numbers map[string]T) selfValue {
	v := selfValue{name, map[string]float64{}}
	for label, n := range numbers {
		v.values[label] = float64(n)
	}
	return v
}

// known returns what is known also when the loop does not answer.
func (c selfCollector) known() []selfValue {
	d := c.d
	stuck, _ := d.o.Processes.Stuck()
	list := []selfValue{
		{"gclog_build_info", map[string]float64{d.o.Version + "\n" + runtime.Version(): 1}},
		one("gclog_bytes_written_total", d.opener.Written.Load()),
		one("gclog_write_errors_total", d.opener.Errors.Load()),
		one("gclog_rotations_total", d.opener.Rotations.Load()),
		one("gclog_inspections_stuck", stuck),
		one("gclog_metrics_processes_left_out", d.metrics.left.Load()),
	}
	if c.of != nil {
		list = append(list, one("gclog_metrics_processes_forgotten_total", c.of.Forgotten()))
	}
	return list
}

// inLoop returns what only the loop knows.
func (c selfCollector) inLoop() []selfValue {
	d, turns, sent := c.d, &c.d.snapshots.turns, c.d.exports.numbers()
	return []selfValue{
		one("gclog_sessions", d.on()),
		all("gclog_processes", d.states()),
		all("gclog_attach_failures_total", d.metrics.failures),
		all("gclog_sessions_ended_total", d.metrics.endings),
		one("gclog_internal_errors_total", d.defects),
		all("gclog_heap_snapshots_total", d.snapshots.results),
		all("gclog_heap_snapshots", map[string]int{"running": len(turns.running), "waiting": len(turns.waiting)}),
		one("gclog_unwritten_logs", len(d.unwritten)),
		all("gclog_otlp_sent_total", sent.Sent),
		all("gclog_otlp_rejected_total", sent.Rejected),
		all("gclog_otlp_failed_requests_total", sent.Failures),
		all("gclog_otlp_dropped_records_total", sent.Dropped),
		all("gclog_otlp_queue_records", sent.Waiting),
		all("gclog_otlp_queue_bytes", sent.Bytes),
	}
}

// Describe implements prometheus.Collector: nothing is checked in advance.
func (selfCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c selfCollector) Collect(to chan<- prometheus.Metric) {
	list := c.known()
	ctx, cancel := context.WithTimeout(context.Background(), aliveTime)
	defer cancel()
	var more []selfValue
	if c.d.ask(ctx, func() { more = c.inLoop() }) {
		list = append(list, more...)
	}
	for _, x := range list {
		m := selfTable[slices.IndexFunc(selfTable[:], func(m selfMetric) bool { return m.name == x.name })]
		labels, kind := strings.Fields(m.labels), prometheus.GaugeValue
		if m.isCounter() {
			kind = prometheus.CounterValue
		}
		desc := prometheus.NewDesc(m.name, m.help, labels, nil)
		for text, n := range x.values {
			to <- prometheus.MustNewConstMetric(desc, kind, n, strings.SplitN(text, "\n", len(labels))...)
		}
	}
}

func (m *selfMetric) isCounter() bool { return strings.HasSuffix(m.name, "_total") }

// states counts the processes that were found by their states.
func (d *Daemon) states() map[string]int {
	n := map[string]int{"unreachable": len(d.discovery.unreachable), "queued": len(d.queue.waiters)}
	for _, p := range d.processes {
		n[p.sup.state.String()]++
	}
	return n
}
