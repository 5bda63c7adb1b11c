package metrics

import (
	"io"
	"strconv"
	"strings"
)

// textWriter writes Prometheus's text formats. The encoder of client_golang takes three times as
// long and allocates 16 MB for 500 processes.
type textWriter struct {
	to     io.Writer
	naming Naming
	open   bool // OpenMetrics
	b      []byte
	err    error
	texts  map[*Set]string
	// bounds are the buckets as labels, by their family's bounds.
	bounds map[*bounds][]string
}

// family writes what a family has of views.
func (w *textWriter) family(f *Family, views []View) {
	started := false
	name := f.Prometheus()
	var v *View
	start := func() {
		if !started {
			started = true
			w.head(f, name)
		}
	}
	to := Points{
		Value: func(value float64, set *Set) {
			start()
			w.line(name, "", v, set, "")
			w.b = w.appendFloat(w.b, value)
			w.end()
		},
		Histogram: func(h *Histogram, set *Set) {
			start()
			w.histogram(name, v, h, set)
		},
	}
	for i := range views {
		v = &views[i]
		f.Points(v, to)
	}
}

func (w *textWriter) head(f *Family, name string) {
	kind := "gauge"
	switch f.Kind {
	case Counter:
		kind = "counter"
	case Histograms:
		kind = "histogram"
	case Gauge, UpDownCounter:
	}
	if w.open {
		name = strings.TrimSuffix(name, "_total")
	}
	w.b = append(w.b, "# HELP "+name+" "+f.Help+"\n# TYPE "+name+" "+kind+"\n"...)
	if unit := unitOf(name); w.open && unit != "" {
		w.b = append(w.b, "# UNIT "+name+" "+unit+"\n"...)
	}
}

// unitOf returns the unit that the name of a metric ends with.
func unitOf(name string) string {
	for _, unit := range []string{"seconds", "bytes", "ratio"} {
		if strings.HasSuffix(name, "_"+unit) {
			return unit
		}
	}
	return ""
}

// line writes the start of a line, up to its value. more is another label.
func (w *textWriter) line(name, suffix string, v *View, set *Set, more string) {
	w.b = append(append(w.b, name...), suffix...)
	open := byte('{')
	for _, text := range [...]string{v.labels.text, w.text(set), more} {
		if text != "" {
			w.b = append(append(w.b, open), text...)
			open = ','
		}
	}
	if open == ',' {
		w.b = append(w.b, '}')
	}
	w.b = append(w.b, ' ')
}

// end writes the end of a line.
func (w *textWriter) end() {
	w.b = append(w.b, '\n')
	if len(w.b) >= textChunk {
		w.flush()
	}
}

const textChunk = 32 << 10

func (w *textWriter) flush() {
	if w.err == nil {
		_, w.err = w.to.Write(w.b)
	}
	w.b = w.b[:0]
}

func (w *textWriter) text(set *Set) string {
	if len(set.Attributes) == 0 {
		return ""
	}
	text, known := w.texts[set]
	if !known {
		var list []Attribute
		for _, a := range set.Attributes {
			list = append(list, Attribute{labelName(w.naming.Attribute(a.Name)), a.Value})
		}
		text = newLabelSet(list).text
		w.texts[set] = text
	}
	return text
}

func (w *textWriter) histogram(name string, v *View, h *Histogram, set *Set) {
	les := w.bounds[h.bounds]
	if les == nil {
		h.Classic(func(bound float64, _ uint64) { les = append(les, `le="`+string(w.appendFloat(nil, bound))+`"`) })
		w.bounds[h.bounds] = les
	}
	var count uint64
	i := 0
	h.Classic(func(_ float64, n uint64) {
		count += n
		w.line(name, "_bucket", v, set, les[i])
		w.b = strconv.AppendUint(w.b, count, 10)
		w.end()
		i++
	})
	w.line(name, "_sum", v, set, "")
	w.b = w.appendFloat(w.b, h.Sum())
	w.end()
	w.line(name, "_count", v, set, "")
	w.b = strconv.AppendUint(w.b, count, 10)
	w.end()
}

// appendFloat appends a number; in OpenMetrics it always has a point or an exponent.
func (w *textWriter) appendFloat(b []byte, v float64) []byte {
	if v == float64(int64(v)) && v < 1e15 && v > -1e15 { // the shortest, and faster
		b = strconv.AppendInt(b, int64(v), 10)
		if w.open {
			b = append(b, ".0"...)
		}
		return b
	}
	if v > 1e300 {
		return append(b, "+Inf"...)
	}
	return strconv.AppendFloat(b, v, 'g', -1, 64)
}

func labelName(attribute string) string { return strings.ReplaceAll(attribute, ".", "_") }
