package metrics

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"google.golang.org/protobuf/proto"
)

const openMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8"

// written returns what an Exposer writes.
func written(t *testing.T, e *Exposer, format expfmt.Format) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := e.Write(&b, format); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// messages decodes delimited messages.
func messages(t *testing.T, text string) map[string]*dto.MetricFamily {
	t.Helper()
	all := map[string]*dto.MetricFamily{}
	d := expfmt.NewDecoder(strings.NewReader(text), expfmt.NewFormat(expfmt.TypeProtoDelim))
	for {
		var f dto.MetricFamily
		if err := d.Decode(&f); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[f.GetName()] = &f
	}
}

// TestText: the text format contains what the messages do, except for what it cannot contain.
func TestText(t *testing.T) {
	r := node(3)
	odd := r.Process().Observe(&gclog.Process{ID: 7, Name: "a\"b\\c\nd\xff", Service: "ünder", Sync: time.Unix(1.7e9, 5)})
	odd(&gclog.GCDetails{Generation: 77, Pauses: []gclog.PausePart{{Duration: math.MaxInt64}, {Duration: -5}, {Duration: 1}}})
	for _, naming := range []Naming{{}, {Names: NamesBoth, Attributes: AttributesSemconv}, {Names: NamesDotNetRuntime}} {
		e := &Exposer{Registry: r, Naming: naming}
		want := messages(t, written(t, e, expfmt.NewFormat(expfmt.TypeProtoDelim)))
		parser := expfmt.NewTextParser(model.LegacyValidation)
		got, err := parser.TextToMetricFamilies(strings.NewReader(written(t, e, expfmt.NewFormat(expfmt.TypeTextPlain))))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range want {
			for _, m := range f.Metric {
				if m.Counter != nil {
					m.Counter.CreatedTimestamp = nil
				}
				if h := m.Histogram; h != nil {
					m.Histogram = &dto.Histogram{SampleCount: h.SampleCount, SampleSum: h.SampleSum, Bucket: h.Bucket}
					infinite := new(math.Inf(1))
					m.Histogram.Bucket = append(m.Histogram.Bucket, &dto.Bucket{UpperBound: infinite, CumulativeCount: h.SampleCount})
				}
			}
		}
		if d := cmp.Diff(want, got, cmp.Comparer(func(a, b *dto.MetricFamily) bool { return proto.Equal(a, b) })); d != "" {
			t.Errorf("%v: %s", naming, d)
		}
	}
}

// TestOpenMetrics: counters lose their suffix in comments, floats have a point, units are named and
// the end is marked, behind what gclog reports of itself.
func TestOpenMetrics(t *testing.T) {
	r := NewRegistry()
	r.Process().Observe(&gclog.Process{ID: 7, Service: "orders"})(&gclog.GCDetails{Pauses: []gclog.PausePart{{Duration: 2e6}}})
	self := prometheus.NewRegistry()
	self.MustRegister(prometheus.NewCounter(prometheus.CounterOpts{Name: "x_total", Help: "x"}))
	got := written(t, &Exposer{Registry: r, Self: self}, openMetrics)
	for _, want := range []string{
		"# HELP dotnet_gc_collections Garbage collections since gclog attached, by condemned generation.\n# TYPE dotnet_gc_collections counter\n" +
			"dotnet_gc_collections_total{service_name=\"orders\",gc_heap_generation=\"gen0\"} 1.0\n",
		"# UNIT dotnet_gc_pause_time_seconds seconds\ndotnet_gc_pause_time_seconds_total{service_name=\"orders\"} 0.002\n",
		`,le="10.0"} 1` + "\n", `,le="+Inf"} 1` + "\n",
		"# TYPE x counter\nx_total 0.0\n# EOF\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if !strings.HasSuffix(got, "# EOF\n") || strings.Count(got, "# EOF") != 1 {
		t.Errorf("it ends with %q", got[len(got)-100:])
	}
}

// TestMaxSeries: processes beyond the limit are left out as a whole, and counted.
func TestMaxSeries(t *testing.T) {
	r := NewRegistry()
	for i := range 5 {
		r.Process().Observe(&gclog.Process{ID: int64(i + 1), Service: strings.Repeat("x", i+1)})
	}
	left := -1
	e := &Exposer{Registry: r, Left: func(n int) { left = n }}
	lines := func() int {
		return strings.Count(strings.ReplaceAll(written(t, e, expfmt.NewFormat(expfmt.TypeTextPlain)), "# ", ""), "service_name")
	}
	all := lines()
	if left != 0 || all%5 != 0 {
		t.Fatalf("%d lines without a limit, %d left", all, left)
	}
	for most, kept := range map[int]int{all: 5, all - 1: 4, all / 5: 1, all/5 - 1: 0} {
		if e.MaxSeries = most; lines() != kept*all/5 || left != 5-kept {
			t.Errorf("at most %d series: %d lines, %d processes left out", most, lines(), left)
		}
	}
}

// TestNative: native buckets are those of client_golang, and count everything.
func TestNative(t *testing.T) {
	h := newHistogram(&pauseBounds)
	theirs := prometheus.NewHistogram(prometheus.HistogramOpts{NativeHistogramBucketFactor: 1.1, NativeHistogramZeroThreshold: zeroThreshold, Buckets: pauseBounds.seconds()})
	random := rand.New(rand.NewPCG(3, 4))
	for i := range 20000 {
		ns := int64(math.Exp2(random.Float64() * 40))
		if i < 60 {
			ns = 1 << i // beyond the last bucket, too
		}
		if ns < 1000*int64(time.Second) {
			h.observe(ns)
			theirs.Observe(seconds(ns))
		}
	}
	var want dto.Metric
	if err := theirs.Write(&want); err != nil {
		t.Fatal(err)
	}
	r := NewRegistry()
	p := start(r, 1, "a")
	p.state.suspends = h
	got := messages(t, written(t, &Exposer{Registry: r}, expfmt.NewFormat(expfmt.TypeProtoDelim)))["gclog_gc_suspend_seconds"].Metric[0].Histogram
	if !got.CreatedTimestamp.AsTime().Equal(time.Unix(1e9, 0)) {
		t.Errorf("it was created at %v", got.CreatedTimestamp.AsTime())
	}
	got.SampleSum, got.CreatedTimestamp = want.Histogram.SampleSum, want.Histogram.CreatedTimestamp // the sum is rounded otherwise
	if math.Abs(h.Sum()-want.Histogram.GetSampleSum()) > 1e-6 || !proto.Equal(got, want.Histogram) {
		t.Errorf("got %v\nwant %v", got, want.Histogram)
	}
	p.state.suspends = newHistogram(&suspendBounds)
	empty := messages(t, written(t, &Exposer{Registry: r}, expfmt.NewFormat(expfmt.TypeProtoDelim)))["gclog_gc_suspend_seconds"].Metric[0].Histogram
	if len(empty.PositiveSpan) != 1 || empty.GetSampleCount() != 0 {
		t.Errorf("without observations: %v", empty)
	}
	h.observe(math.MaxInt64)
	var n uint64
	h.Native(func(_ int, count uint64) { n += count })
	if zero, _ := h.Zero(); zero+n != h.Count() {
		t.Errorf("%d in buckets and %d at zero of %d", n, zero, h.Count())
	}
}
