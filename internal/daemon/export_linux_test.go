package daemon

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	collectedlogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/testing/reserved"
)

// A receiver accepts OTLP, and notes the events of log records and the paths of requests.
type receiver struct {
	*httptest.Server
	mu     sync.Mutex
	events []string
	paths  []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		r.mu.Lock()
		defer r.mu.Unlock()
		if !slices.Contains(r.paths, q.URL.Path) {
			r.paths = append(r.paths, q.URL.Path)
		}
		var request collectedlogs.ExportLogsServiceRequest
		if q.URL.Path != "/v1/logs" || proto.Unmarshal(b, &request) != nil {
			return
		}
		for _, of := range request.ResourceLogs {
			for _, record := range of.ScopeLogs[0].LogRecords {
				r.events = append(r.events, record.EventName)
			}
		}
	}))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) has() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.events, " ")
}

// TestExport: records go where the configuration says, also when that changes, and the last ones
// when the daemon ends.
func TestExport(t *testing.T) {
	n, _ := newHostNode(t)
	p := startRuntime(t, n, "orders")
	first, second := newReceiver(t), newReceiver(t)
	dir := t.TempDir()
	exporting := func(to string) *config.Loaded {
		return configured(t, fmt.Sprintf("discovery: {interval: 100ms, include: [{pid: %d}]}\noutputs: [{path: %s/%%p.json}]\notlp: {logs: true, metrics: true, compression: none, endpoint: \"%s\"}\n", p.PID(), dir, to))
	}
	w := runDaemon(t, exporting(first.URL))
	w.await("a session", func() bool { return p.Sessions() > 0 })
	p.Collect()
	w.await("a record", func() bool { return first.has() == "dotnet.gc.session_start dotnet.gc" })
	reload := func(c *config.Loaded) {
		t.Helper()
		var err error
		if !w.ask(t.Context(), func() { err = w.apply(c) }) || err != nil {
			t.Fatalf("a reload: %v", err)
		}
	}
	exporter := w.exports.exporter
	reload(exporting(first.URL))
	if w.exports.exporter != exporter {
		t.Error("the exporter was replaced although nothing has changed")
	}
	reload(exporting(second.URL))
	p.Collect()
	w.await("a record at another server", func() bool { return second.has() == "dotnet.gc" })
	p.Collect()
	w.stop()
	if got := second.has(); got != "dotnet.gc dotnet.gc dotnet.gc.session_end" || first.has() != "dotnet.gc.session_start dotnet.gc" {
		t.Errorf("at the end the second server has %s, the first %s", got, first.has())
	}
	if !slices.Contains(second.paths, "/v1/metrics") {
		t.Errorf("it was sent %q", second.paths)
	}
}

// TestExportDown: a server that is down delays the end of the daemon by its time limit at most, and
// what was not sent is reported.
func TestExportDown(t *testing.T) {
	n, _ := newHostNode(t)
	p := startRuntime(t, n, "orders")
	w := runDaemon(t, configured(t, fmt.Sprintf("discovery: {interval: 100ms, include: [{pid: %d}]}\noutputs: [{path: %s/%%p.json}]\notlp: {logs: true, endpoint: \"http://%s\"}\n", p.PID(), t.TempDir(), reserved.Address(t))))
	w.await("a session", func() bool { return p.Sessions() > 0 })
	p.Collect()
	w.await("an attempt", func() bool { return w.exports.numbers().Failures["logs"] > 0 })
	p.Exit(0)
	w.await("its end", func() bool { return w.of(p.PID()) == nil })
	w.ending.shutdown.stop = 100 * time.Millisecond
	w.stop()
	if said := w.said.take(); !strings.Contains(said, `"records":3,`) || !strings.Contains(said, "otlp: records were not sent in time") || !strings.Contains(said, "otlp: logs cannot be sent, trying again: ") {
		t.Errorf("it says\n%s", said)
	}
}
