package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	collectedlogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
)

// A server receives log records. Its first answers are given; after them it accepts everything.
type server struct {
	*httptest.Server
	mu      sync.Mutex
	answers []func(http.ResponseWriter)
	got     []string // numbers of the collections in the records that were accepted
	last    *http.Request
}

func newServer(t *testing.T, secure bool, answers ...func(http.ResponseWriter)) *server {
	t.Helper()
	s := &server{answers: answers}
	s.Server = httptest.NewUnstartedServer(s)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if secure {
		s.TLS = &tls.Config{ClientAuth: tls.RequestClientCert}
		s.StartTLS()
	} else {
		inMemory(s.Server)
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	b, err := io.ReadAll(body)
	var request collectedlogs.ExportLogsServiceRequest
	if err := errors.Join(err, proto.Unmarshal(b, &request)); err != nil || r.URL.Path != "/v1/logs" {
		http.Error(w, fmt.Sprint(err, r.URL), http.StatusNotFound)
		return
	}
	if answer := s.answer(r); answer != nil {
		answer(w)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.ResourceLogs {
		for _, scope := range resource.ScopeLogs {
			for _, record := range scope.LogRecords {
				for _, a := range record.Attributes {
					if a.Key == "dotnet.gc.number" {
						s.got = append(s.got, fmt.Sprint(a.Value.GetIntValue()))
					}
				}
			}
		}
	}
}

// answer returns the answer to a request, if it is a given one.
func (s *server) answer(r *http.Request) (next func(http.ResponseWriter)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = r
	if len(s.answers) > 0 {
		next, s.answers = s.answers[0], s.answers[1:]
	}
	return next
}

func (s *server) numbers() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, " ")
}

func status(code int, headers ...string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
	}
}

// hangUp closes the connection without an answer.
func hangUp(w http.ResponseWriter) {
	c, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = c.Close()
	}
}

// An exporting is an Exporter of log records.
type exporting struct {
	*Exporter
	to   gclog.Observer
	mu   sync.Mutex
	said []string
}

func newExporting(t *testing.T, c config.OTLP, environ ...string) *exporting {
	t.Helper()
	c.Logs = true
	if c.Queue == 0 {
		c.Queue = 1 << 20
	}
	s, err := Resolve(&c, environ)
	if err != nil {
		t.Fatal(err)
	}
	e := &exporting{}
	e.Exporter = New(Options{Settings: s, Format: formats.Options{Version: "1", Host: "h"}, Warn: func(about, text string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.said = append(e.said, about+": "+text)
	}})
	dialPipes(e.Exporter)
	e.to = e.Observe(&gclog.Process{ID: 7, Service: "orders", Sync: time.Unix(1e9, 0)})
	return e
}

func (e *exporting) gc(numbers ...uint32) {
	for _, n := range numbers {
		e.to(&gclog.GCDetails{Known: gclog.GroupNumber, Number: n, Start: int64(n), Pauses: []gclog.PausePart{{Start: int64(n), Duration: 1}}})
	}
}

func (e *exporting) says() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.said, "\n")
}

// finish closes it, with enough time.
func (e *exporting) finish(t *testing.T) (lost uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	return e.Close(ctx)
}

// await waits until something is the case.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for began := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(began) > time.Minute {
			t.Fatalf("waited for %s, which did not come", what)
		}
	}
}

// closeOnce closes it, and ends what it still tries once something is the case.
func (e *exporting) closeOnce(t *testing.T, is func() bool) (lost uint64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for ; !is() && ctx.Err() == nil; time.Sleep(time.Millisecond) {
		}
		cancel()
	}()
	return e.Close(ctx)
}

// TestRetries: what a server could accept later is sent again; each record arrives once.
func TestRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, false, status(503, "Retry-After", "1"), status(429), hangUp, status(502), status(504))
		e := newExporting(t, config.OTLP{Endpoint: config.Secret(s.URL)})
		e.gc(1, 2)
		await(t, "a request", func() bool { return e.failures[ofLogs].Load() > 0 })
		e.gc(3)
		if lost := e.finish(t); lost != 0 || s.numbers() != "1 2 3" {
			t.Errorf("%d lost, arrived: %s", lost, s.numbers())
		}
		n := e.Numbers()
		if n.Sent["logs"] != 3 || n.Failures["logs"] != 5 || n.Dropped["logs"] != 0 || n.Rejected["logs"] != 0 || n.Waiting["logs"] != 0 || n.Bytes["logs"] != 0 {
			t.Errorf("%+v", n)
		}
		for _, want := range []string{"logs: otlp: logs cannot be sent, trying again: " + s.URL + "/v1/logs answers 503 Service Unavailable", "logs: otlp: logs are accepted again"} {
			if !strings.Contains(e.says(), want) {
				t.Errorf("it does not say %q but\n%s", want, e.says())
			}
		}
	})
}

// TestQueueFair: processes of a user that fill the queue while the server is down leave room for others.
func TestQueueFair(t *testing.T) {
	q := newQueue(1 << 20)
	of, line := &source{}, bytes.Repeat([]byte("x"), 1000)
	for range 50 {
		flood := q.share("65534")
		for q.put(of, flood, line) == 0 {
		}
	}
	other := q.share("1000")
	for i := range 100 {
		if q.put(of, other, line) != 0 {
			t.Fatalf("%d records of another user's process have room", i)
		}
	}
}

// TestQueueBuffers: of long records nothing is kept when they were sent.
func TestQueueBuffers(t *testing.T) {
	q := newQueue(64 << 20)
	share := q.share("")
	for range freeMost {
		q.put(nil, share, bytes.Repeat([]byte("x"), 100<<10))
		q.put(nil, share, []byte("short"))
	}
	q.done(q.take(2*freeMost, 64<<20))
	kept := 0
	for _, b := range q.free {
		kept += cap(b)
	}
	if items, size, _ := q.waiting(); kept > freeMost*freeBytes || items != 0 || size != 0 {
		t.Errorf("%d bytes are kept, %d items with %d bytes wait", kept, items, size)
	}
}

// TestWarnClock: dropped records are reported when the clock was set back, too.
func TestWarnClock(t *testing.T) {
	e := newExporting(t, config.OTLP{Endpoint: "http://127.0.0.1:1"})
	e.warned[ofLogs].Store(time.Now().Add(time.Hour).UnixNano())
	if e.warnDropped(ofLogs); !strings.Contains(e.says(), "records were dropped so far") {
		t.Errorf("it says %q", e.says())
	}
	e.finish(t)
}

// TestSecretURL: messages do not have what is secret in the URL, whatever goes wrong.
func TestSecretURL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for says, answer := range map[string]func(http.ResponseWriter){
			"answers 401 Unauthorized":                 status(401),
			"here to http://elsewhere.example/v1/logs": status(308, "Location", "http://user:secret@elsewhere.example/v1/logs?key=secret"),
			"trying again":                             hangUp,
		} {
			s := newServer(t, false, answer)
			e := newExporting(t, config.OTLP{}, "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT="+strings.Replace(s.URL, "http://", "http://user:secret@", 1)+"/v1/logs?key=secret")
			e.gc(1)
			e.finish(t)
			if got := e.says(); !strings.Contains(got, s.URL+"/v1/logs") || !strings.Contains(got, says) || strings.Contains(got, "secret") {
				t.Errorf("it says %q, want %q", got, says)
			}
		}
	})
}

// TestRejected: what a server does not accept for good is dropped, counted and reported with the
// server's reason; the next records are sent.
func TestRejected(t *testing.T) {
	protobuf := func(code int, b []byte) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/x-protobuf")
			w.WriteHeader(code)
			_, _ = w.Write(b)
		}
	}
	text := func(number protowire.Number, s string) []byte {
		return protowire.AppendString(protowire.AppendTag(nil, number, protowire.BytesType), s)
	}
	part := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	part = append(part, text(2, "too old\nreally")...)
	counts := func(n uint64) []byte {
		return text(1, string(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), n)))
	}
	for _, x := range []struct {
		name     string
		answer   func(http.ResponseWriter)
		says     string
		rejected uint64
		dropped  uint64
	}{
		{"status", protobuf(400, append(protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 3), text(2, "bad\x00 data")...)), "2 logs were rejected: URL answers 400 Bad Request: bad\ufffd data", 2, 2},
		{"text", func(w http.ResponseWriter) {
			http.Error(w, strings.Repeat("x", 5000), http.StatusRequestEntityTooLarge)
		}, "answers 413 Request Entity Too Large: " + strings.Repeat("x", 200), 2, 2},
		{"partial", protobuf(200, text(1, string(part))), "the server has rejected 1 of 2 logs: too old", 1, 0},
		{"more than were sent", protobuf(200, counts(1<<62)), "the server has rejected 2 of 2 logs: it does not say why", 2, 0},
		{"a negative number", protobuf(200, counts(1<<63)), "", 0, 0},
		{"another protocol", status(101), "answers 101 Switching Protocols", 2, 2},
		{"garbage", protobuf(200, []byte("\x0a\xff\xff")), "", 0, 0},
		{"redirect", status(307, "Location", "http://elsewhere.example/"), "answers 307 Temporary Redirect: gclog follows no redirect, here to http://elsewhere.example/", 2, 2},
		{"unauthorized", status(401), "answers 401 Unauthorized", 2, 2},
		{"hostile", func(w http.ResponseWriter) {
			http.Error(w, "\u202eyes\x1b]0;x\a", http.StatusBadRequest)
		}, "answers 400 Bad Request: \ufffdyes\ufffd]0;x\ufffd", 2, 2},
	} {
		t.Run(x.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, false, x.answer)
				e := newExporting(t, config.OTLP{Endpoint: config.Secret(s.URL)})
				e.gc(1, 2)
				await(t, "a request", func() bool { return e.sent[ofLogs].Load()+e.rejected[ofLogs].Load() >= 2 })
				e.gc(3)
				if lost := e.finish(t); lost != 0 || s.numbers() != "3" {
					t.Errorf("%d lost, arrived: %s", lost, s.numbers())
				}
				n := e.Numbers()
				if n.Rejected["logs"] != x.rejected || n.Dropped["logs"] != x.dropped || n.Sent["logs"] != 3-x.rejected {
					t.Errorf("%+v", n)
				}
				if says := strings.ReplaceAll(e.says(), s.URL+"/v1/logs", "URL"); !strings.Contains(says, x.says) || x.says == "" && says != "" {
					t.Errorf("it says %q, want %q", says, x.says)
				}
			})
		})
	}
}

// TestSignals: records arrive as logs while their pauses are not accepted, and each signal has half of
// the queue.
func TestSignals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, false)
		down := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }))
		inMemory(down)
		down.Start()
		t.Cleanup(down.Close)
		e := newExporting(t, config.OTLP{Traces: true}, "OTEL_EXPORTER_OTLP_ENDPOINT="+s.URL, "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT="+down.URL)
		for i := range uint32(3) {
			await(t, fmt.Sprintf("record %d", i), func() bool {
				return e.sent[ofLogs].Load() >= uint64(i) && (e.failures[ofTraces].Load() > 0 || i == 0)
			})
			e.gc(i + 1)
		}
		for range 3000 { // more than either queue has room for
			e.gc(4)
		}
		n := e.Numbers()
		if n.Dropped["traces"] == 0 || n.Bytes["traces"] > 1<<19 || n.Bytes["logs"] > 1<<19 || !strings.Contains(e.says(), "dropped so far from traces") {
			t.Errorf("%+v\n%s", n, e.says())
		}
		const logs = "1 2 3 4 4 4"
		if lost := e.closeOnce(t, func() bool { return strings.HasPrefix(s.numbers(), logs) }); lost == 0 || !strings.HasPrefix(s.numbers(), logs) {
			t.Errorf("%d lost, arrived: %.100s", lost, s.numbers())
		}
	})
}

// TestCloseInTime: an exporter whose server is down, or slow, is closed in time and reports what was
// not sent.
func TestCloseInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocked := make(chan struct{})
		slow := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-blocked }))
		inMemory(slow)
		slow.Start()
		t.Cleanup(slow.Close)
		t.Cleanup(func() { close(blocked) })
		for _, url := range []string{"http://127.0.0.1:1", slow.URL} {
			e := newExporting(t, config.OTLP{Endpoint: config.Secret(url)})
			e.gc(1, 2, 3)
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			began := time.Now()
			lost := e.Close(ctx)
			cancel()
			if took := time.Since(began); lost != 3 || took > 5*time.Second {
				t.Errorf("%s: %d lost after %v", url, lost, took)
			}
		}
	})
}

// TestTimeout: a server that does not answer in time is tried again.
func TestTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, false, func(http.ResponseWriter) { time.Sleep(3 * time.Second) })
		e := newExporting(t, config.OTLP{Endpoint: config.Secret(s.URL), Timeout: 2 * time.Second})
		e.gc(1)
		await(t, "the record", func() bool { return s.numbers() != "" })
		if lost := e.finish(t); lost != 0 || s.numbers() != "1" || !strings.Contains(e.says(), "context deadline exceeded") {
			t.Errorf("%d lost, arrived: %s\n%s", lost, s.numbers(), e.says())
		}
	})
}

// TestTLS: the server's certificate is checked, against the configured ones if there are any, and
// gclog shows its own.
func TestTLS(t *testing.T) {
	s := newServer(t, true)
	dir := t.TempDir()
	file := func(name string, kind string, der []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca := file("ca.pem", "CERTIFICATE", s.Certificate().Raw)
	own := s.TLS.Certificates[0]
	key, err := pkcs8(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	wrong := newExporting(t, config.OTLP{Endpoint: config.Secret(s.URL)})
	wrong.gc(1)
	const why = "certificate signed by unknown authority"
	if lost := wrong.closeOnce(t, func() bool { return strings.Contains(wrong.says(), why) }); lost != 1 || !strings.Contains(wrong.says(), why) {
		t.Errorf("%d lost\n%s", lost, wrong.says())
	}
	e := newExporting(t, config.OTLP{Endpoint: config.Secret(s.URL), ClientCertificate: file("own.pem", "CERTIFICATE", own.Certificate[0]), ClientKey: file("key.pem", "PRIVATE KEY", key)}, "OTEL_EXPORTER_OTLP_CERTIFICATE="+ca)
	e.gc(2)
	if lost := e.finish(t); lost != 0 || s.numbers() != "2" || len(s.last.TLS.PeerCertificates) != 1 {
		t.Errorf("%d lost, arrived: %s\n%s", lost, s.numbers(), e.says())
	}
}

// TestQueue: the queue keeps its limit, drops what does not fit, and allocates nothing once it has
// buffers.
func TestQueue(t *testing.T) {
	q := newQueue(4 * (itemBytes + 10))
	line := []byte("0123456789\n")
	of, share := &source{}, q.share("")
	if n := q.put(of, share, slices.Repeat(line, 5)); n != 2 {
		t.Errorf("%d dropped", n)
	}
	list := q.take(2, 1000)
	if n := q.put(of, share, line); len(list) != 2 || n != 1 {
		t.Errorf("%d taken; they still take memory, but %d was dropped", len(list), n)
	}
	q.done(list)
	if items, size, dropped := q.waiting(); items != 1 || size != itemBytes+10 || dropped != 3 {
		t.Errorf("%d items, %d bytes, %d dropped", items, size, dropped)
	}
	if list = q.take(10, 5); len(list) != 1 || string(list[0].line) != "0123456789" {
		t.Errorf("%v: one is always taken", list)
	}
	q.drop(list)
	if items, size, dropped := q.waiting(); items != 0 || size != 0 || dropped != 4 {
		t.Errorf("%d items, %d bytes, %d dropped", items, size, dropped)
	}
	if n := testing.AllocsPerRun(100, func() {
		q.put(of, share, line)
		q.mu.Lock()
		it := q.list[0]
		q.list = q.list[:0]
		q.mu.Unlock()
		one := [1]item{it}
		q.done(one[:])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
