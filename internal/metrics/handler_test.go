package metrics

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
)

func scrape(h http.Handler, accept, encoding string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
	if accept != "" {
		r.Header.Set("Accept", accept)
	}
	r.Header.Set("Accept-Encoding", encoding)
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestNegotiation: the format and the compression are those that the client asks for.
func TestNegotiation(t *testing.T) {
	h := NewHandler(&Exposer{Registry: node(2)})
	// What Prometheus 2.42 sends, without and with native histograms.
	const old = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"
	const native = "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited," + old
	for _, x := range []struct{ accept, encoding, kind, has string }{
		{"", "", "text/plain; version=0.0.4", "# TYPE dotnet_gc_collections_total counter\n"},
		{"text/html", "gzip;q=0, br", "text/plain; version=0.0.4", "# TYPE dotnet_gc_collections_total counter\n"},
		{old, "gzip", "application/openmetrics-text; version=1.0.0", "# EOF\n"},
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=text", "", "text/plain; version=0.0.4", "# TYPE dotnet_gc_collections_total counter\n"},
		{native, "deflate, gzip;q=1.0", "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited", "dotnet_gc_collections_total"},
	} {
		w := scrape(h, x.accept, x.encoding)
		body := io.Reader(w.Body)
		zipped := w.Header().Get("Content-Encoding") == "gzip"
		if zipped != strings.Contains(x.encoding, "gzip") && !strings.Contains(x.encoding, "q=0,") {
			t.Errorf("%+v: zipped: %v", x, zipped)
		}
		if zipped {
			var err error
			if body, err = gzip.NewReader(w.Body); err != nil {
				t.Fatal(err)
			}
		}
		b, err := io.ReadAll(body)
		if err != nil || !strings.HasPrefix(w.Header().Get("Content-Type"), x.kind) || !bytes.Contains(b, []byte(x.has)) {
			t.Errorf("%+v: %v, %q, %d bytes", x, err, w.Header(), len(b))
		}
	}
}

// A stuck client reads nothing until it is released, and then fails.
type stuck struct {
	*httptest.ResponseRecorder
	writing chan struct{}
	release chan struct{}
}

func (s *stuck) Write([]byte) (int, error) {
	s.writing <- struct{}{}
	<-s.release
	return 0, errors.New("it has gone away")
}

// TestSlowClients: only a few answers wait for their clients, and nothing else waits for these: not
// other clients, not the counting. A process that has exited is kept if its answer did not arrive.
func TestSlowClients(t *testing.T) {
	r := NewRegistry()
	r.SetReaders(Scraper)
	p := r.Process()
	o := p.Observe(&gclog.Process{ID: 1, Service: "orders", Sync: time.Now()})
	h := NewHandler(&Exposer{Registry: r})
	p.Exit()
	client := &stuck{httptest.NewRecorder(), make(chan struct{}), make(chan struct{})}
	done := make(chan struct{})
	for range scrapesMost {
		go func() {
			h.ServeHTTP(client, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
			done <- struct{}{}
		}()
		<-client.writing
	}
	o(&gclog.GCDetails{})
	if w := scrape(h, "", ""); w.Code != http.StatusServiceUnavailable || w.Header().Get("Retry-After") == "" {
		t.Errorf("one more: %d", w.Code)
	}
	close(client.release)
	for range scrapesMost {
		<-done
	}
	for _, want := range []bool{true, false} {
		clear(h.answers)
		if w := scrape(h, "", ""); strings.Contains(w.Body.String(), "orders") != want {
			t.Errorf("orders: %v, want %v:\n%s", !want, want, w.Body)
		}
	}
}

// TestSharedAnswer: scrapes that follow each other at once share an answer, if it took long to make.
func TestSharedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		made := 0
		h := NewHandler(&Exposer{Registry: NewRegistry(), Left: func(int) { made++; time.Sleep(20 * time.Millisecond) }})
		for range 10 {
			scrape(h, "", "")
		}
		if made != 1 {
			t.Errorf("%d were made", made)
		}
		scrape(h, "", "gzip")
		if len(h.answers) != 2 {
			t.Errorf("%d answers are kept", len(h.answers))
		}
	})
}

// TestAnswerShare: whatever clients ask for, making answers takes a tenth of the time.
func TestAnswerShare(t *testing.T) {
	extent.Long(t)
	synctest.Test(t, func(t *testing.T) {
		made := time.Duration(0)
		const cost = 20 * time.Millisecond
		h := NewHandler(&Exposer{Registry: NewRegistry(), Left: func(int) { made++; time.Sleep(cost) }})
		began := time.Now()
		for time.Since(began) < 8*time.Second {
			for _, accept := range []string{"text/plain;version=0.0.4", "application/openmetrics-text;version=1.0.0", "application/openmetrics-text;version=0.0.1", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"} {
				for _, escaping := range []string{"allow-utf-8", "underscores", "dots", "values"} {
					scrape(h, accept+";escaping="+escaping, "")
					scrape(h, accept+";escaping="+escaping, "gzip")
				}
			}
			time.Sleep(4 * time.Millisecond)
		}
		if busy := made * cost; busy > time.Since(began)*3/2/scrapeShare || made < 20 || len(h.answers) > 6 {
			t.Errorf("%d answers were made in %v, %d are kept", made, time.Since(began), len(h.answers))
		}
	})
}

// TestAnswerSize: the answer for 500 processes is as short as docs/overhead.md promises.
func TestAnswerSize(t *testing.T) {
	extent.Long(t)
	h := NewHandler(&Exposer{Registry: node(500)})
	for _, accept := range []string{"text/plain", "application/openmetrics-text;version=1.0.0", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"} {
		if n := scrape(h, accept, "gzip").Body.Len(); n < 100_000 || n > 2_000_000 {
			t.Errorf("%s: %d bytes", accept, n)
		}
	}
}
