//go:build linux

package check_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/reserved"
)

// The outside is everything that the daemon feeds besides its logs, and that may fail in any way: a
// server of scrapes, a receiver of metrics and records, and the actions of rules. The logs must not
// suffer from any of it.
type outside struct {
	t          *testing.T
	seed       uint64
	dir        string // of what the actions write
	metrics    string // address of the daemon's metrics
	receiver   *httptest.Server
	received   atomic.Int64
	hang       chan struct{} // closed at the end
	scrapes    atomic.Int64
	stopped    chan struct{}
	background sync.WaitGroup
}

func newOutside(t *testing.T, seed uint64, dir string) *outside {
	t.Helper()
	o := &outside{t: t, seed: seed, dir: dir, metrics: reserved.Address(t), hang: make(chan struct{}), stopped: make(chan struct{})}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	x := rand.New(rand.NewPCG(seed, 1))
	o.receiver = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		o.received.Add(1)
		mu.Lock()
		n := x.IntN(10)
		mu.Unlock()
		o.answer(n, w, r)
	}))
	o.background.Go(o.scrape)
	return o
}

// answer answers a request in one of ten ways, half of them right.
func (o *outside) answer(n int, w http.ResponseWriter, r *http.Request) {
	switch n {
	case 0:
		w.WriteHeader(http.StatusServiceUnavailable)
	case 1:
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusTooManyRequests)
	case 2:
		w.WriteHeader(http.StatusBadRequest)
	case 3:
		select {
		case <-o.hang:
		case <-r.Context().Done():
		}
	case 4:
		if c, _, err := http.NewResponseController(w).Hijack(); err == nil {
			_ = c.Close()
		}
	default:
		_, _ = io.Copy(io.Discard, r.Body)
	}
}

// configuration returns what the configuration has of it.
func (o *outside) configuration() string {
	// The daemon's disk may be full: a limit that its commands would inherit.
	keep := func(name string) string { return "ulimit -S -f unlimited; cat >>" + filepath.Join(o.dir, name) }
	return fmt.Sprintf(`http: {listen: %q}
metrics: {enabled: true}
otlp: {endpoint: %q, metrics: true, logs: true, traces: true, interval: 1s, queue: 1M, timeout: 1s}
recorder: {memory: 4M, directory: %q, keep: 3}
rules:
- {name: gen2, when: generation == 2 && pause > 0, do: [{log: info}, {exec: {command: [sh, -c, %q]}}, {record: {before: 2s, after: 1s}}]}
- {name: level, event: pause, when: pause > 1ms, cooldown: 3s, do: [{level: {to: full, for: 10s}}]}
- {name: hook, event: gap, do: [{webhook: {url: %q, timeout: 1s}}]}
- {name: hangs, when: number >= 0, cooldown: 1s, do: [{exec: {command: [sleep, "1000"], timeout: 2s}}]}
- {name: floods, when: number >= 0, cooldown: 1s, do: [{exec: {command: ["yes"], timeout: 2s}}]}
- {name: stalled, event: stall, do: [{log: warn}]}
- {name: gone, event: exit, do: [{log: warn}, {exec: {command: [sh, -c, %q]}}]}
`, o.metrics, o.receiver.URL, filepath.Join(o.dir, "recordings"), keep("got"), o.receiver.URL, keep("gone"))
}

// scrape scrapes the metrics again and again. Every answer is complete.
func (o *outside) scrape() {
	client := http.Client{Timeout: 10 * time.Second}
	defer client.CloseIdleConnections()
	for {
		select {
		case <-o.stopped:
			return
		case <-time.After(200 * time.Millisecond):
		}
		answer, err := client.Get("http://" + o.metrics + "/metrics")
		if err != nil {
			continue // the daemon has been killed, or is stopped
		}
		b, err := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK {
			continue
		}
		o.scrapes.Add(1)
		if len(b) == 0 || b[len(b)-1] != '\n' || bytes.Contains(b, []byte("\n\n")) {
			o.t.Errorf("an answer of %d bytes ends with %q", len(b), b[max(0, len(b)-100):])
		}
	}
}

// wait waits until the daemon was scraped and has sent something.
func (o *outside) wait() {
	o.t.Helper()
	wait(o.t, func() int { return int(min(o.scrapes.Load(), o.received.Load())) }, 1)
}

// check ends it, and checks what the actions have written: whole records, whatever else happened.
func (o *outside) check() {
	o.t.Helper()
	close(o.stopped)
	o.background.Wait()
	close(o.hang)
	o.receiver.CloseClientConnections()
	o.receiver.Close()
	for _, name := range []string{"got", "gone"} {
		f, err := os.Open(filepath.Join(o.dir, name))
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			o.t.Fatal(err)
		}
		defer f.Close()
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 1<<20)
		n := 0
		for lines.Scan() {
			var r struct{ Event struct{ Action string } }
			if err := json.Unmarshal(lines.Bytes(), &r); err != nil || !strings.HasPrefix(r.Event.Action, "gc") {
				o.t.Errorf("%s: %v: %.200s", name, err, lines.Text())
			}
			n++
		}
		o.t.Logf("%s has %d records", name, n)
	}
	o.t.Logf("%d scrapes, %d requests received", o.scrapes.Load(), o.received.Load())
}
