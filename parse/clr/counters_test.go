package clr_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestEventCounters: EventCounters have the same name in all providers, and two layouts.
func TestEventCounters(t *testing.T) {
	counter := func(payload []byte) *parse.Event {
		return &parse.Event{Meta: &parse.Metadata{Provider: "MyApp", EventID: 7, Name: "EventCounters"}, Payload: payload}
	}
	f64 := math.Float64bits
	mean := (&nettracetest.Payload{}).Text("requests").Text("Requests").U64(f64(2.5), f64(0)).U32(1).U64(f64(2), f64(3)).
		U32(math.Float32bits(10)).Text("Interval=10000").Text("Mean").Text("").Text("MB")
	sum := (&nettracetest.Payload{}).Text("requests").Text("Requests").Text("00:00:01").U64(f64(7)).
		U32(math.Float32bits(1.5)).Text("").Text("Interval=1500").Text("Sum").Text("ms")
	d := clr.NewDecoder(8)
	for _, want := range []struct {
		payload   []byte
		increment bool
		value     float64
		interval  float32
		unit      string
	}{{mean.Bytes, false, 2.5, 10, "MB"}, {sum.Bytes, true, 7, 1.5, "ms"}} {
		got := decode(t, d, counter(want.payload)).(*clr.EventCounter)
		if got.Provider != "MyApp" || got.Name.String() != "requests" || got.Increment != want.increment || got.Value != want.value ||
			got.Interval != want.interval || got.Unit.String() != want.unit {
			t.Errorf("%+v, want %+v", got, want)
		}
		for n := range want.payload {
			var short *clr.PayloadError
			if e, err := d.Decode(counter(want.payload[:n])); !errors.As(err, &short) {
				t.Errorf("of %d bytes %d: %+v, %v", len(want.payload), n, e, err)
			}
		}
	}
	other := (&nettracetest.Payload{}).Text("requests").Text("Requests").Text("00:00:01").U64(0).U32(0).Text("").Text("").Text("Max").Text("")
	if e, err := d.Decode(counter(other.Bytes)); err == nil {
		t.Errorf("a counter of an unknown kind is %+v", e)
	}
}

// TestContentionStop: a duration that no wait has is unknown.
func TestContentionStop(t *testing.T) {
	for bits, want := range map[uint64]int64{
		math.Float64bits(5e8): 5e8, math.Float64bits(-1): 0, math.Float64bits(math.NaN()): 0, math.Float64bits(math.Inf(1)): 0,
		math.Float64bits(1e300): 0,
	} {
		p := (&nettracetest.Payload{}).U8(0).U16(9).U64(bits)
		if e := decode(t, clr.NewDecoder(8), event(clr.RuntimeProvider, 91, 1, p.Bytes)).(*clr.ContentionStop); e.Duration != want || e.Kind != 0 {
			t.Errorf("%#x: %+v, want %d ns", bits, e, want)
		}
	}
}

// TestCollectionMarks: the interval of a collection of values is the difference of two times.
func TestCollectionMarks(t *testing.T) {
	for times, want := range map[[2]uint64]int64{{10, 1e7 + 10}: 1e9, {10, 10}: 0, {10, 9}: 0, {0, math.MaxUint64}: 0} {
		p := (&nettracetest.Payload{}).Text("SHARED").U64(times[0], times[1])
		if e := decode(t, clr.NewDecoder(8), event(clr.MetricsProvider, clr.IDCollectionStop, 0, p.Bytes)).(*clr.CollectionMark); e.Interval != want || !e.End {
			t.Errorf("%v: %+v, want %d ns", times, e, want)
		}
	}
}
