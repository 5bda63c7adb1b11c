package metrics

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// node returns a registry with processes as in Kubernetes, each with collections of every kind that
// is usual.
func node(processes int) *Registry {
	r := NewRegistry()
	random := rand.New(rand.NewPCG(1, 2))
	for i := range processes {
		service := fmt.Sprintf("orders-%02d", i%50)
		o := r.Process().Observe(&gclog.Process{
			ID: int64(1000 + i), Name: "Shop.Orders.Api", Service: service, Namespace: "shop-prod", Pod: fmt.Sprintf("%s-7d9f8b6c5d-%05d", service, i),
			Cookie: fmt.Sprintf("0000cefa-0000-0000-0000-%012d", i), RuntimeVersion: "10.0.1", Flavor: gclog.FlavorCoreCLR,
			Server: gclog.Yes, Concurrent: gclog.Yes, ContainerID: fmt.Sprintf("%064x", i), Sync: time.Unix(1.8e9, 0),
		})
		for range 300 {
			o(usual(random))
		}
	}
	return r
}

// usual returns a collection with random pauses.
func usual(random *rand.Rand) *gclog.GCDetails {
	d := &gclog.GCDetails{
		Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd | gclog.GroupAfter | gclog.GroupHistory | gclog.GroupGenerationAllocated | gclog.GroupPinned | gclog.GroupPromoted | gclog.GroupCommittedAfter, Number: 1, Generation: random.IntN(3), Complete: true, Start: 100, End: 100 + random.Int64N(1e8), GenerationCount: gclog.Generations,
	}
	for g := range d.Generations {
		d.Generations[g].After = random.Uint64N(1 << 30)
	}
	d.Global.MemoryLoad = 30
	part := gclog.PausePart{Duration: random.Int64N(1e8), HasSuspend: true, Suspend: random.Int64N(1e6)}
	d.Pauses = []gclog.PausePart{part}
	switch {
	case d.Generation < gclog.Gen2:
	case random.IntN(2) == 0:
		d.Kind = gclog.KindBackground
		d.Pauses[0].Kind = gclog.PauseInitial
		part.Kind = gclog.PauseFinal
		d.Pauses = append(d.Pauses, part)
	case random.IntN(3) == 0:
		d.Reason = clr.ReasonInduced
	}
	return d
}

// BenchmarkScrape is a scrape of 500 processes: how long it takes, and how long the answer is.
func BenchmarkScrape(b *testing.B) {
	e := &Exposer{Registry: node(500)}
	for _, c := range []struct{ name, accept, encoding string }{
		{"text", "text/plain", "gzip"},
		{"openmetrics", "application/openmetrics-text;version=1.0.0", "gzip"},
		{"protobuf", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited", "gzip"},
		{"plain text", "text/plain", ""},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			request := httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody)
			request.Header.Set("Accept", c.accept)
			request.Header.Set("Accept-Encoding", c.encoding)
			answer := &discard{header: http.Header{}}
			for b.Loop() {
				answer.n = 0
				NewHandler(e).ServeHTTP(answer, request) // a new one has made no answer yet
			}
			b.ReportMetric(float64(answer.n), "answer-bytes")
		})
	}
}

// A discard is an http.ResponseWriter that counts.
type discard struct {
	header http.Header
	n      int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Write(b []byte) (int, error) {
	d.n += len(b)
	return len(b), nil
}

// BenchmarkObserve is what a record costs.
func BenchmarkObserve(b *testing.B) {
	o := NewRegistry().Process().Observe(&gclog.Process{ID: 1})
	random := rand.New(rand.NewPCG(1, 2))
	var list []*gclog.GCDetails
	for range 1000 {
		list = append(list, usual(random))
	}
	for _, d := range list {
		o(d)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		o(list[i%len(list)])
		i++
	}
}
