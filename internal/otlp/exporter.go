// Package otlp sends metrics, records and pauses to OpenTelemetry, by HTTP with protobuf. Whoever
// passes it records never waits: they are put into a bounded queue, and what does not fit, or is not
// accepted, is dropped and counted.
package otlp

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cenkalti/backoff/v5"
	dto "github.com/prometheus/client_model/go"
	collectedlogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	collectedtraces "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	logs "go.opentelemetry.io/proto/slim/otlp/logs/v1"
	resource "go.opentelemetry.io/proto/slim/otlp/resource/v1"
	trace "go.opentelemetry.io/proto/slim/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/shares"
)

const (
	// batchItems and batchBytes are how many records are sent at once, at most.
	batchItems = 512
	batchBytes = 1 << 20
	// batchTime is how long a record waits for others, at most.
	batchTime = time.Second
	// retryFirst and retryMost are the first and the longest time between two attempts.
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// Options configure an Exporter.
type Options struct {
	Settings *Settings
	Registry *metrics.Registry // what metrics are read from
	Naming   metrics.Naming
	Self     func() []*dto.MetricFamily // metrics of gclog itself
	Format   formats.Options            // of records, without the process
	// Warn receives messages for people, with what they are about. It must not wait.
	Warn func(signal, text string)
}

// An Exporter sends what it is given until it is closed.
type Exporter struct {
	o       Options
	clients [signals]*client
	queues  [signals]*queue // of records; one for each signal, so that none waits for another
	scope   *common.InstrumentationScope
	began   time.Time

	closing chan struct{} // closed when Close is called
	ending  context.Context
	end     context.CancelFunc
	done    sync.WaitGroup

	sent, rejected [signals]atomic.Uint64 // items
	failures       [signals]atomic.Uint64 // requests
	warned         [signals]atomic.Int64  // when dropped records were last reported, in nanoseconds of Unix time
}

// New returns an Exporter that runs.
func New(o Options) *Exporter {
	e := &Exporter{o: o, began: time.Now(), closing: make(chan struct{})}
	e.scope = &common.InstrumentationScope{Name: "gclog", Version: o.Format.Version}
	e.ending, e.end = context.WithCancel(context.Background())
	for i := range signals {
		if o.Settings.on[i] {
			e.clients[i] = newClient(o.Settings.targets[i])
		}
	}
	if e.clients[ofMetrics] != nil {
		e.done.Go(e.exportMetrics)
	}
	most := int(o.Settings.queue)
	if e.clients[ofLogs] != nil && e.clients[ofTraces] != nil {
		most /= 2
	}
	for _, s := range []signal{ofLogs, ofTraces} {
		if e.clients[s] != nil {
			e.queues[s] = newQueue(most)
			e.done.Go(func() { e.exportRecords(s) })
		}
	}
	return e
}

// SendsRecords reports whether records are sent, themselves or as spans.
func (e *Exporter) SendsRecords() bool {
	return e.clients[ofLogs] != nil || e.clients[ofTraces] != nil
}

// Observe returns what receives the records of a process.
func (e *Exporter) Observe(known *gclog.Process) gclog.Observer {
	o := e.o.Format
	o.Process = *known
	format, _ := formats.Find("json") // there is such a format
	to := &sink{e: e, of: &source{resourceOf(known, o.Host, e.o.Settings.resource)}}
	for i, q := range e.queues {
		if q != nil {
			to.shares[i] = q.share(known.UserID)
		}
	}
	return formats.NewWriter(format, to, o).Observe
}

// A sink puts the records of a process into the queues.
type sink struct {
	e      *Exporter
	of     *source
	shares [signals]*shares.Share // of the queues
}

// Write implements formats.Output. The header of files is not a record.
func (s *sink) Write(_ formats.Head, group []byte, _ bool) error {
	for i, q := range s.e.queues {
		if q != nil && q.put(s.of, s.shares[i], group) > 0 {
			s.e.warnDropped(signal(i))
		}
	}
	return nil
}

// warnEvery is how often dropped records are reported.
const warnEvery = 10 * time.Second

// warnDropped reports that records were dropped, but not for each of them.
func (e *Exporter) warnDropped(s signal) {
	now, last := time.Now().UnixNano(), e.warned[s].Load()
	if now >= last && now-last < int64(warnEvery) || !e.warned[s].CompareAndSwap(last, now) {
		return
	}
	_, _, dropped := e.queues[s].waiting()
	e.o.Warn("queue of "+s.String(), fmt.Sprintf("otlp: %d records were dropped so far from %s: those that wait to "+
		"be sent use up otlp.queue, or the share of a process or a user in it", dropped, s))
}

// Close sends what is left until ctx is done, and returns how many records were not sent, as logs or
// as traces.
func (e *Exporter) Close(ctx context.Context) (lost uint64) {
	before := e.Numbers().Dropped
	close(e.closing)
	defer context.AfterFunc(ctx, e.end)()
	e.done.Wait()
	e.end()
	for _, c := range e.clients {
		if c != nil {
			c.close()
		}
	}
	after := e.Numbers()
	for s, dropped := range after.Dropped {
		lost = max(lost, uint64(after.Waiting[s])+dropped-before[s])
	}
	return lost
}

// isClosing reports whether Close was called.
func (e *Exporter) isClosing() bool {
	select {
	case <-e.closing:
		return true
	default:
		return false
	}
}

// exportRecords sends the records in the queue of a signal.
func (e *Exporter) exportRecords(s signal) {
	q := e.queues[s]
	for {
		select {
		case <-q.more:
		case <-e.closing:
		}
		select { // for others to come
		case <-time.After(batchTime):
		case <-e.closing:
		}
		for e.ending.Err() == nil {
			batch := q.take(batchItems, batchBytes)
			if len(batch) == 0 {
				break
			}
			if e.sendBatch(s, batch) {
				q.done(batch)
			} else {
				q.drop(batch)
			}
		}
		if e.isClosing() {
			return
		}
	}
}

// sendBatch sends records as log records, or their pauses as spans. It reports whether they were
// accepted.
func (e *Exporter) sendBatch(s signal, batch []item) bool {
	request, n := e.request(s, batch)
	if n == 0 {
		return true
	}
	body, err := e.clients[s].body(request)
	if err != nil {
		e.o.Warn(s.String(), "otlp: "+err.Error())
		return false
	}
	return e.send(e.ending, s, body, n)
}

// request makes a request of records, and returns how many items it has.
func (e *Exporter) request(s signal, batch []item) (proto.Message, int) {
	if s == ofLogs {
		return e.logs(batch)
	}
	return e.traces(batch)
}

// logs makes a request of records, and returns how many there are.
func (e *Exporter) logs(batch []item) (request *collectedlogs.ExportLogsServiceRequest, n int) {
	request = &collectedlogs.ExportLogsServiceRequest{}
	of := map[*source]*logs.ScopeLogs{}
	now := uint64(time.Now().UnixNano())
	for _, it := range batch {
		r := logRecord(it.line, now)
		if r == nil {
			continue
		}
		scope := of[it.of]
		if scope == nil {
			scope = &logs.ScopeLogs{Scope: e.scope}
			of[it.of] = scope
			request.ResourceLogs = append(request.ResourceLogs,
				&logs.ResourceLogs{Resource: it.of.resource, ScopeLogs: []*logs.ScopeLogs{scope}})
		}
		scope.LogRecords = append(scope.LogRecords, r)
		n++
	}
	return request, n
}

// traces makes a request of the pauses in records, and returns how many there are.
func (e *Exporter) traces(batch []item) (request *collectedtraces.ExportTraceServiceRequest, n int) {
	request = &collectedtraces.ExportTraceServiceRequest{}
	of := map[*source]*trace.ScopeSpans{}
	for _, it := range batch {
		list := spans(it.line)
		if len(list) == 0 {
			continue
		}
		scope := of[it.of]
		if scope == nil {
			scope = &trace.ScopeSpans{Scope: e.scope}
			of[it.of] = scope
			request.ResourceSpans = append(request.ResourceSpans,
				&trace.ResourceSpans{Resource: it.of.resource, ScopeSpans: []*trace.ScopeSpans{scope}})
		}
		scope.Spans = append(scope.Spans, list...)
		n += len(list)
	}
	return request, n
}

// send sends a body of n items until it is accepted, rejected for good, or ctx is done. It reports
// whether it was accepted.
func (e *Exporter) send(ctx context.Context, s signal, body []byte, n int) bool {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.Multiplier, b.MaxInterval = retryFirst, 2, retryMost
	failed := false
	for {
		rejected, why, failure := e.clients[s].post(ctx, body)
		if failure == nil {
			if failed {
				e.o.Warn(s.String(), fmt.Sprintf("otlp: %s are accepted again", s))
			}
			rejected = max(0, min(rejected, int64(n)))
			e.sent[s].Add(uint64(int64(n) - rejected))
			if rejected > 0 {
				e.rejected[s].Add(uint64(rejected))
				e.o.Warn(s.String(), fmt.Sprintf("otlp: the server has rejected %d of %d %s: %s",
					rejected, n, s, cmp.Or(why, "it does not say why")))
			}
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		failed = true
		e.failures[s].Add(1)
		if !failure.retry {
			e.rejected[s].Add(uint64(n))
			e.o.Warn(s.String(), fmt.Sprintf("otlp: %d %s were rejected: %v", n, s, failure.err))
			return false
		}
		e.o.Warn(s.String(), fmt.Sprintf("otlp: %s cannot be sent, trying again: %v", s, failure.err))
		wait := max(failure.after, b.NextBackOff())
		closing := e.closing
		if e.isClosing() { // there is little time
			wait, closing = min(wait, retryFirst/4), nil
		}
		select {
		case <-time.After(wait):
		case <-closing:
		case <-ctx.Done():
			return false
		}
	}
}

// Numbers are what an Exporter has done so far, by signal, for the metrics of gclog itself.
type Numbers struct {
	Sent, Rejected, Failures map[string]uint64
	// Only of logs and traces:
	Dropped        map[string]uint64 // records, for which the queue had no room, or that were rejected
	Waiting, Bytes map[string]int    // records in the queue
}

// Numbers returns what it has done so far.
func (e *Exporter) Numbers() Numbers {
	n := Numbers{
		map[string]uint64{},
		map[string]uint64{},
		map[string]uint64{},
		map[string]uint64{},
		map[string]int{},
		map[string]int{},
	}
	for i := range signals {
		s := i.String()
		if e.clients[i] != nil {
			n.Sent[s], n.Rejected[s], n.Failures[s] = e.sent[i].Load(), e.rejected[i].Load(), e.failures[i].Load()
		}
		if q := e.queues[i]; q != nil {
			n.Waiting[s], n.Bytes[s], n.Dropped[s] = q.waiting()
		}
	}
	return n
}

// ownResource is the resource of gclog itself.
func (e *Exporter) ownResource() *resource.Resource {
	o := e.o.Format
	return attributes([]attribute{
		{"service.name", "gclog"},
		{"service.version", o.Version},
		{"service.instance.id", o.Session},
		{"host.name", o.Host},
	}, e.o.Settings.resource)
}
