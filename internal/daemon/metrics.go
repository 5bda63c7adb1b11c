package daemon

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"runtime"
	"sync/atomic"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/otlp"
	"github.com/gclog/gclog/session"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
)

// Metrics: the writer of each process counts its records, and whoever scrapes reads them there. The
// loop is only asked for numbers about the daemon itself.

// measurements is what is needed to answer scrapes.
type measurements struct {
	registry *metrics.Registry // nil: nothing is counted
	handler  *metrics.Handler  // nil: nothing is served
	left     atomic.Int64      // processes that the last scrape left out
	failures map[string]uint64 // to attach, by reason
	endings  map[string]uint64 // of sessions, by reason
	// Heap snapshots that were taken, and that could not be.
	snapshots struct{ taken, refused uint64 }
}

// measure starts or stops to count and to serve metrics, as the configuration says. sent: they are
// also sent to OpenTelemetry.
func (d *Daemon) measure(c *config.Loaded, sent bool) {
	m := &d.measured
	var readers metrics.Readers
	if c.Metrics.Enabled && c.HTTP.Listen != "" {
		readers |= metrics.Scraper
	}
	if sent {
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
			MaxSeries: c.Metrics.MaxSeries, Self: d.selfMetrics(m.registry), Left: d.leftOut,
		})
	}
}

// counted returns what counts the records of the process, nil if nothing does.
func (p *process) counted() *metrics.Process {
	if r := p.d.measured.registry; r == nil {
		p.counts = nil
	} else if p.counts == nil || !p.counts.Of(r) {
		p.counts = r.Process()
	}
	return p.counts
}

// uncount ends the counting of its records: the process has exited, or is not logged any more.
func (p *process) uncount() {
	if p.counts != nil {
		p.counts.Exit()
		p.counts = nil
	}
}

// leftOut records how many processes a scrape left out.
func (d *Daemon) leftOut(n int) {
	if before := d.measured.left.Swap(int64(n)); n == 0 || before >= int64(n) {
		return
	}
	go d.post(func() {
		d.limiter.warn("max_series", "metrics of some processes are left out: all of them have more series than metrics.max_series; gclog_metrics_processes_left_out has their number", nil)
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

// failed counts a failure to attach.
func (m *measurements) failed(err error) {
	if m.failures == nil {
		m.failures = map[string]uint64{}
	}
	m.failures[failureReason(err)]++
}

// ended counts the end of a session.
func (m *measurements) ended(reason string) {
	if m.endings == nil {
		m.endings = map[string]uint64{}
	}
	m.endings[reason]++
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
	r.MustRegister(selfCollector{d, of}, collectors.NewProcessCollector(collectors.ProcessCollectorOpts{Namespace: "gclog"}))
	return r
}

// A selfCollector collects what the daemon knows of itself.
type selfCollector struct {
	d  *Daemon
	of *metrics.Registry
}

// A selfMetric is a row of the metrics about the daemon.
type selfMetric struct {
	name, help string
	counter    bool
	labels     []string
}

// selfMetrics lists them: docs/metrics.md is made of it.
var selfTable = [...]selfMetric{
	selfBuild:     {"gclog_build_info", "1, with the version of gclog.", false, []string{"version", "goversion"}},
	selfSessions:  {"gclog_sessions", "Processes with a session.", false, nil},
	selfProcesses: {"gclog_processes", "Processes that were found, by state: on, excluded, given-up, unreachable, queued and others.", false, []string{"state"}},
	selfFailures:  {"gclog_attach_failures_total", "Failed attempts to attach to a process.", true, []string{"reason"}},
	selfEndings:   {"gclog_sessions_ended_total", "Sessions that ended, by the reason in the log.", true, []string{"reason"}},
	selfWritten:   {"gclog_bytes_written_total", "Bytes written to outputs.", true, nil},
	selfErrors:    {"gclog_write_errors_total", "Writes to outputs that failed: their records are missing there.", true, nil},
	selfRotations: {"gclog_rotations_total", "Files that were full and were replaced by a new one.", true, nil},
	selfDefects:   {"gclog_internal_errors_total", "Panics of gclog.", true, nil},
	selfStuck:     {"gclog_inspections_stuck", "Inspections of processes that do not end.", false, nil},
	selfLeft:      {"gclog_metrics_processes_left_out", "Processes whose series are left out because of metrics.max_series.", false, nil},
	selfSent:      {"gclog_otlp_sent_total", "Metric points, log records and spans that an OpenTelemetry server has accepted.", true, []string{"signal"}},
	selfRejected:  {"gclog_otlp_rejected_total", "Those that it has rejected.", true, []string{"signal"}},
	selfRetries:   {"gclog_otlp_failed_requests_total", "Requests to it that failed.", true, []string{"signal"}},
	selfUnsent:    {"gclog_otlp_dropped_records_total", "Records that were not sent, because too many were waiting or the server has rejected them.", true, []string{"signal"}},
	selfWaiting:   {"gclog_otlp_queue_records", "Records that wait to be sent.", false, []string{"signal"}},
	selfQueue:     {"gclog_otlp_queue_bytes", "Memory of records that wait or are being sent.", false, []string{"signal"}},
	selfSnapshots: {"gclog_heap_snapshots_total", "Heap snapshots that the daemon has taken, and that it could not take: refused.", true, []string{"result"}},
	selfTurns:     {"gclog_heap_snapshots", "Heap snapshots that are running, and those that are waiting until others are taken.", false, []string{"state"}},
	selfUnwritten: {"gclog_unwritten_logs", "Logs of processes that have exited that lack the gap for what could not be written.", false, nil},
	selfForgotten: {"gclog_metrics_processes_forgotten_total", "Processes that exited and whose last values were not read within 5 minutes.", true, nil},
}

// The rows of selfTable.
const (
	selfBuild = iota
	selfSessions
	selfProcesses
	selfFailures
	selfEndings
	selfWritten
	selfErrors
	selfRotations
	selfDefects
	selfStuck
	selfLeft
	selfForgotten
	selfSnapshots
	selfTurns
	selfUnwritten
	selfSent
	selfRejected
	selfRetries
	selfUnsent
	selfWaiting
	selfQueue
)

// Describe implements prometheus.Collector: nothing is checked in advance.
func (selfCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c selfCollector) Collect(to chan<- prometheus.Metric) {
	d := c.d
	send := func(row int, value float64, label ...string) {
		m := &selfTable[row]
		kind := prometheus.GaugeValue
		if m.counter {
			kind = prometheus.CounterValue
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.name, m.help, m.labels, nil), kind, value, label...)
	}
	send(selfBuild, 1, d.o.Version, runtime.Version())
	send(selfWritten, float64(d.opener.Written.Load()))
	send(selfErrors, float64(d.opener.Errors.Load()))
	send(selfRotations, float64(d.opener.Rotations.Load()))
	stuck, _ := d.o.Processes.Stuck()
	send(selfStuck, float64(stuck))
	send(selfLeft, float64(d.measured.left.Load()))
	if c.of != nil {
		send(selfForgotten, float64(c.of.Forgotten()))
	}
	ctx, cancel := context.WithTimeout(context.Background(), aliveTime)
	defer cancel()
	var x loopNumbers
	if !d.ask(ctx, func() { x = d.numbers() }) {
		return
	}
	send(selfSessions, float64(x.sessions))
	send(selfDefects, float64(x.defects))
	send(selfUnwritten, float64(x.unwritten))
	send(selfSnapshots, float64(x.snapshots.taken), "taken")
	send(selfSnapshots, float64(x.snapshots.refused), "refused")
	send(selfTurns, float64(x.running), "running")
	send(selfTurns, float64(x.waiting), "waiting")
	for state, n := range x.states {
		send(selfProcesses, float64(n), state)
	}
	for reason, n := range x.failures {
		send(selfFailures, float64(n), reason)
	}
	for reason, n := range x.endings {
		send(selfEndings, float64(n), reason)
	}
	for signal, n := range x.sent.Sent {
		send(selfSent, float64(n), signal)
		send(selfRejected, float64(x.sent.Rejected[signal]), signal)
		send(selfRetries, float64(x.sent.Failures[signal]), signal)
	}
	for signal, n := range x.sent.Dropped {
		send(selfUnsent, float64(n), signal)
		send(selfWaiting, float64(x.sent.Waiting[signal]), signal)
		send(selfQueue, float64(x.sent.Bytes[signal]), signal)
	}
}

// loopNumbers is what only the loop knows.
type loopNumbers struct {
	sessions, defects int
	states            map[string]int
	failures, endings map[string]uint64
	sent              otlp.Numbers // zero: nothing is sent
	snapshots         struct{ taken, refused uint64 }
	running, waiting  int // heap snapshots
	unwritten         int // logs
}

// numbers returns it.
func (d *Daemon) numbers() loopNumbers {
	x := loopNumbers{
		sessions: d.on(), defects: d.defects, states: map[string]int{"unreachable": len(d.unreachable), "queued": len(d.queue.waiters)},
		failures: maps.Clone(d.measured.failures), endings: maps.Clone(d.measured.endings),
		sent: d.exportNumbers(), snapshots: d.measured.snapshots, running: len(d.turns.running), waiting: len(d.turns.waiting), unwritten: len(d.unwritten),
	}
	for _, p := range d.processes {
		x.states[p.sup.state.String()]++
	}
	return x
}
