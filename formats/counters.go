package formats

import (
	"math"
	"strconv"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
)

// appendCounters appends a sentence about what counters say of the program, without texts of the
// program.
func appendCounters(b []byte, c *gclog.Counters) []byte {
	b = append(b, "counters"...)
	if c.Interval > 0 {
		b = append(b, " of "...)
		b = strconv.AppendFloat(b, float64(c.Interval)/float64(nsPerSecond), 'f', 1, 64)
		b = append(b, " s"...)
	}
	separator := ": "
	part := func(v float64, known bool, digits int, what string) {
		if !known || math.Abs(v) > 1e15 {
			return
		}
		b = append(b, separator...)
		b = strconv.AppendFloat(b, v, 'f', digits, 64)
		b = append(b, what...)
		separator = ", "
	}
	cpu, known := c.CPU()
	part(cpu, known, 0, " % CPU")
	threads, known := c.Level(gclog.InstrumentThreads)
	part(threads, known, 0, " pool threads")
	queue, known := c.Level(gclog.InstrumentQueue)
	part(queue, known, 0, " work items wait")
	contentions, known := c.Sum(gclog.InstrumentContentions)
	part(contentions, known, 0, " lock contentions")
	if c.Locks.Count > 0 {
		part(float64(c.Locks.Total)/float64(nsPerSecond), true, 1, " s of waiting for locks")
	}
	exceptions, known := c.Sum(gclog.InstrumentExceptions)
	part(exceptions, known, 0, " exceptions")
	if separator == ": " {
		part(float64(len(c.Values)), true, 0, " values")
	}
	if c.Problem != gclog.CountersWhole {
		b = append(append(b, "; incomplete: "...), c.Problem.String()...)
	}
	return b
}

func (j *jsonFormat) counters(dst []byte, c *gclog.Counters) []byte {
	o := j.begin(dst, c, c.Problem != gclog.CountersWhole, func(b []byte) []byte { return appendCounters(b, c) })
	j.event(&o, "metric", "gc-counters")
	o.close()
	j.about(&o, c.At)
	o.open("counters")
	o.nsIf("interval", c.Interval, c.Interval > 0)
	if c.Omitted > 0 {
		o.count("omitted", c.Omitted)
	}
	o.textIf("problem", c.Problem.String())
	if c.Locks.Count > 0 {
		o.open("locks")
		o.uint("waits", c.Locks.Count)
		o.ns("total", c.Locks.Total)
		o.ns("max", c.Locks.Max)
		o.close()
	}
	o.openList("values")
	for i := range c.Values {
		v := &c.Values[i]
		o.openElement()
		o.text("meter", v.Meter)
		o.text("name", v.Name)
		o.textIf("tags", v.Tags)
		o.textIf("unit", v.Unit)
		o.real("value", v.Value)
		o.real("delta", v.Delta)
		if h := &v.Histogram; h.Count > 0 {
			o.uint("count", h.Count)
			o.real("p50", h.P50)
			o.real("p95", h.P95)
			o.real("p99", h.P99)
		}
		o.close()
	}
	o.closeList()
	o.close()
	o.close()
	return j.rest(&o)
}

// real writes a number with all of its digits. It omits unknown ones.
func (o *object) real(name string, v float64) {
	if math.IsNaN(v) {
		return
	}
	const plain = 1e15 // numbers below it are written without an exponent
	if math.Abs(v) < plain && (math.Abs(v) > 1/plain || v == 0) {
		o.ratio(name, v)
		return
	}
	o.name(name)
	o.b = strconv.AppendFloat(o.b, v, 'e', -1, 64)
}

func (t *textFormat) counters(dst []byte, c *gclog.Counters) []byte {
	dst = t.begin(dst, c.At)
	t.line = appendCounters(append(t.line, "  = "...), c)
	return t.finish(dst, screen.Aside)
}
