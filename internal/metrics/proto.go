package metrics

import (
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// protoWriter writes the messages of Prometheus's protobuf format, each with its length in front.
// client_golang's messages take three times as long and allocate 24 MB for 500 processes.
type protoWriter struct {
	to     io.Writer
	naming Naming
	err    error
	// The buffers of the messages that are being made, each inside the one before.
	family, metric, value, part []byte
	labels                      map[*labelSet][]byte
	sets                        map[*Set][]byte
}

func newProtoWriter(to io.Writer, n Naming) *protoWriter {
	return &protoWriter{to: to, naming: n, labels: map[*labelSet][]byte{}, sets: map[*Set][]byte{}}
}

// The numbers of fields, from client_model's metrics.proto, and the types of families.
const (
	fieldName, fieldHelp, fieldType, fieldMetric = 1, 2, 3, 4 // of a MetricFamily

	fieldLabel, fieldGauge, fieldCounter, fieldHistogram = 1, 2, 3, 7 // of a Metric

	fieldValue, fieldCreated = 1, 3 // of a Counter or Gauge

	fieldCount, fieldSum, fieldBucket                               = 1, 2, 3 // of a Histogram
	fieldSchema, fieldZeroThreshold, fieldZeroCount                 = 5, 6, 7
	fieldPositiveSpan, fieldPositiveDelta, fieldCreatedOfAHistogram = 12, 13, 15

	fieldCumulative, fieldBound = 1, 2 // of a Bucket
	fieldOffset, fieldLength    = 1, 2 // of a BucketSpan
	fieldSeconds, fieldNanos    = 1, 2 // of a Timestamp

	typeCounter, typeGauge, typeHistogram = 0, 1, 4
)

func appendMessage(b []byte, field protowire.Number, message []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, field, protowire.BytesType), message)
}

func appendUint(b []byte, field protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, field, protowire.VarintType), v)
}

func appendDouble(b []byte, field protowire.Number, v float64) []byte {
	return protowire.AppendFixed64(protowire.AppendTag(b, field, protowire.Fixed64Type), math.Float64bits(v))
}

// write writes what a family has of views.
func (w *protoWriter) write(f *Family, views []View) {
	w.family = appendMessage(w.family[:0], fieldName, []byte(f.Prometheus()))
	w.family = appendMessage(w.family, fieldHelp, []byte(f.Help))
	kind, field := uint64(typeGauge), protowire.Number(fieldGauge)
	switch f.Kind {
	case Counter:
		kind, field = typeCounter, fieldCounter
	case Histograms:
		kind, field = typeHistogram, fieldHistogram
	case Gauge, UpDownCounter:
	}
	w.family = appendUint(w.family, fieldType, kind)
	head := len(w.family)
	var v *View
	add := func(set *Set) {
		w.metric = append(append(w.metric[:0], w.labelsOf(v)...), w.set(set)...)
		w.metric = appendMessage(w.metric, field, w.value)
		w.family = appendMessage(w.family, fieldMetric, w.metric)
	}
	to := Points{
		Value: func(value float64, set *Set) {
			w.value = appendDouble(w.value[:0], fieldValue, value)
			if f.Kind == Counter {
				w.created(v, fieldCreated)
			}
			add(set)
		},
		Histogram: func(h *Histogram, set *Set) {
			w.histogram(v, h)
			add(set)
		},
	}
	for i := range views {
		v = &views[i]
		f.Points(v, to)
	}
	if len(w.family) == head || w.err != nil {
		return
	}
	if _, w.err = w.to.Write(protowire.AppendVarint(w.part[:0], uint64(len(w.family)))); w.err == nil {
		_, w.err = w.to.Write(w.family)
	}
}

// created adds when counting began.
func (w *protoWriter) created(v *View, field protowire.Number) {
	w.part = appendUint(w.part[:0], fieldSeconds, uint64(v.Created.Unix()))
	w.part = appendUint(w.part, fieldNanos, uint64(v.Created.Nanosecond()))
	w.value = appendMessage(w.value, field, w.part)
}

func (w *protoWriter) histogram(v *View, h *Histogram) {
	w.value = appendUint(w.value[:0], fieldCount, h.Count())
	w.value = appendDouble(w.value, fieldSum, h.Sum())
	var count uint64
	h.Classic(func(bound float64, n uint64) {
		if count += n; !math.IsInf(bound, 0) { // the infinite one is the count
			w.part = appendUint(w.part[:0], fieldCumulative, count)
			w.part = appendDouble(w.part, fieldBound, bound)
			w.value = appendMessage(w.value, fieldBucket, w.part)
		}
	})
	zero, threshold := h.Zero()
	w.value = appendUint(w.value, fieldSchema, protowire.EncodeZigZag(Schema))
	w.value = appendDouble(w.value, fieldZeroThreshold, threshold)
	w.value = appendUint(w.value, fieldZeroCount, zero)
	w.native(h)
	w.created(v, fieldCreatedOfAHistogram)
}

// native adds the native buckets: spans of buckets without gaps, and what each has more than the one
// before. Gaps of at most two empty buckets are shorter as buckets than as a new span.
func (w *protoWriter) native(h *Histogram) {
	const gap = 2
	offset, length, next := 0, 0, 0
	span := func() {
		w.part = appendUint(w.part[:0], fieldOffset, protowire.EncodeZigZag(int64(offset)))
		w.part = appendUint(w.part, fieldLength, uint64(length))
		w.value = appendMessage(w.value, fieldPositiveSpan, w.part)
	}
	h.Native(func(i int, _ uint64) {
		switch {
		case length > 0 && i-next <= gap:
			length += i - next + 1
		case length > 0:
			span()
			fallthrough
		default:
			offset, length = i-next, 1
		}
		next = i + 1
	})
	span() // an empty one tells a histogram without observations from a classic one
	before, first := int64(0), true
	delta := func(n int64) {
		w.value = appendUint(w.value, fieldPositiveDelta, protowire.EncodeZigZag(n-before))
		before = n
	}
	h.Native(func(i int, n uint64) {
		if !first && i-next <= gap {
			for ; next < i; next++ {
				delta(0)
			}
		}
		delta(int64(n))
		next, first = i+1, false
	})
}

func (w *protoWriter) labelsOf(v *View) []byte {
	b, known := w.labels[v.labels]
	if !known {
		for _, l := range v.labels.list {
			b = w.appendLabel(b, l.Name, l.Value)
		}
		w.labels[v.labels] = b
	}
	return b
}

func (w *protoWriter) set(set *Set) []byte {
	b, known := w.sets[set]
	if !known {
		for _, a := range set.Attributes {
			b = w.appendLabel(b, labelName(w.naming.Attribute(a.Name)), a.Value)
		}
		w.sets[set] = b
	}
	return b
}

func (w *protoWriter) appendLabel(b []byte, name, value string) []byte {
	w.part = appendMessage(w.part[:0], fieldName, []byte(name))
	w.part = appendMessage(w.part, fieldName+1, []byte(value))
	return appendMessage(b, fieldLabel, w.part)
}
