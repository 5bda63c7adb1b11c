package otlp

import (
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	collected "go.opentelemetry.io/proto/slim/otlp/collector/metrics/v1"
	common "go.opentelemetry.io/proto/slim/otlp/common/v1"
	otlp "go.opentelemetry.io/proto/slim/otlp/metrics/v1"
	"google.golang.org/protobuf/proto"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/metrics"
)

// A sums adds up what arrives: of cumulative points the last, of deltas all.
type sums struct {
	mu      sync.Mutex
	refuse  int // requests
	numbers map[string]float64
	counts  map[string]uint64
	buckets map[string]uint64 // of all buckets of a histogram
	starts  map[string]uint64 // of the last point
	gaps    int               // deltas that do not begin where the one before ended
}

func (s *sums) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, err := io.ReadAll(r.Body)
	var request collected.ExportMetricsServiceRequest
	if err == nil {
		err = proto.Unmarshal(b, &request)
	}
	if err != nil || s.refuse > 0 {
		s.refuse--
		http.Error(w, "no", http.StatusBadRequest)
		return
	}
	for _, of := range request.ResourceMetrics {
		for _, m := range of.ScopeMetrics[0].Metrics {
			s.add(m)
		}
	}
}

func (s *sums) add(m *otlp.Metric) {
	const delta = otlp.AggregationTemporality_AGGREGATION_TEMPORALITY_DELTA
	point := func(key string, isDelta bool, start, now uint64, v float64, count, inBuckets uint64) {
		if !isDelta {
			s.numbers[key], s.counts[key], s.buckets[key] = 0, 0, 0
		} else if before := s.starts[key]; before != 0 && start < before {
			s.gaps++
		}
		s.numbers[key] += v
		s.counts[key] += count
		s.buckets[key] += inBuckets
		s.starts[key] = now
	}
	key := func(attributes []*common.KeyValue) string {
		name := m.Name
		for _, a := range attributes {
			name += " " + a.Value.GetStringValue()
		}
		return name
	}
	for _, p := range m.GetSum().GetDataPoints() {
		v := p.GetAsDouble()
		if _, ok := p.Value.(*otlp.NumberDataPoint_AsInt); ok {
			v = float64(p.GetAsInt())
		}
		point(key(p.Attributes), m.GetSum().AggregationTemporality == delta, p.StartTimeUnixNano, p.TimeUnixNano, v, 0, 0)
	}
	for _, p := range m.GetHistogram().GetDataPoints() {
		n := uint64(0)
		for _, c := range p.BucketCounts {
			n += c
		}
		point(key(p.Attributes), m.GetHistogram().AggregationTemporality == delta, p.StartTimeUnixNano, p.TimeUnixNano, p.GetSum(), p.Count, n)
	}
	for _, p := range m.GetExponentialHistogram().GetDataPoints() {
		n := p.ZeroCount
		for _, c := range p.GetPositive().GetBucketCounts() {
			n += c
		}
		point(key(p.Attributes), m.GetExponentialHistogram().AggregationTemporality == delta, p.StartTimeUnixNano, p.TimeUnixNano, p.GetSum(), p.Count, n)
	}
}

// TestTemporality: whatever the temporality and the kind of histograms, what has arrived adds up to
// the same, also if requests were rejected in between.
func TestTemporality(t *testing.T) {
	for _, c := range []config.OTLP{
		{Temporality: "cumulative"}, {Temporality: "delta"}, {Temporality: "lowmemory", Histograms: "exponential"}, {Temporality: "delta", Histograms: "exponential"},
	} {
		t.Run(c.Temporality+c.Histograms, func(t *testing.T) {
			got := &sums{refuse: 2, numbers: map[string]float64{}, counts: map[string]uint64{}, buckets: map[string]uint64{}, starts: map[string]uint64{}}
			server := httptest.NewServer(got)
			defer server.Close()
			c.Metrics, c.Endpoint, c.Compression, c.Interval = true, config.Secret(server.URL), "none", time.Hour
			s, err := Resolve(&c, nil)
			if err != nil {
				t.Fatal(err)
			}
			r := metrics.NewRegistry()
			r.SetReaders(metrics.Exporter)
			e := New(Options{Settings: s, Registry: r, Format: formats.Options{}, Self: func() []*dto.MetricFamily { return nil }, Warn: func(string, string) {}})
			x := &metricsExport{Exporter: e, last: map[uint64]*baseline{}}
			p := r.Process()
			o := p.Observe(&gclog.Process{ID: 7, Sync: time.Now()})
			random := rand.New(rand.NewPCG(1, 2))
			collections, pauses, longest := 0.0, uint64(0), 0.0
			for range 6 {
				for range random.IntN(4) {
					ns := random.Int64N(1e8)
					o(&gclog.GCDetails{Known: gclog.GroupPromoted, PromotedBytes: 3, Pauses: []gclog.PausePart{{Duration: ns}}})
					collections++
					pauses++
					longest += float64(ns) / 1e9
				}
				x.export(t.Context())
			}
			const key = "dotnet.gc.pause.duration gen0 blocking"
			if got.numbers["dotnet.gc.collections gen0"] != collections || got.numbers["gclog.gc.promoted"] != 3*collections || got.counts[key] != pauses || got.buckets[key] != pauses ||
				math.Abs(got.numbers[key]-longest) > 1e-9 || math.Abs(got.numbers["dotnet.gc.pause.time"]-longest) > 1e-9 || got.gaps > 0 {
				t.Errorf("%v collections, %v s in %d pauses; arrived\n%+v", collections, longest, pauses, got)
			}
			// A process that has exited is sent once more.
			o(&gclog.GCDetails{})
			p.Exit()
			x.export(t.Context())
			before := got.numbers["dotnet.gc.collections gen0"]
			x.export(t.Context())
			if before != collections+1 || got.numbers["dotnet.gc.collections gen0"] != before || len(x.last) != 0 {
				t.Errorf("after its exit: %v of %v collections, %d baselines", before, collections+1, len(x.last))
			}
			if lost := e.Close(t.Context()); lost != 0 {
				t.Errorf("%d lost", lost)
			}
		})
	}
}
