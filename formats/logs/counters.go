package logs

import (
	"math"

	"github.com/gclog/gclog/gclog"
)

// readCounters reads what the program has counted.
func (l *jsonLine) readCounters(c *gclog.Counters) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "interval":
			c.Interval = s.ns()
		case "omitted":
			c.Omitted += s.count(math.MaxInt64)
		case "problem":
			c.Problem, _ = named(s.text(), gclog.CountersOtherLimits)
		case "locks":
			l.readLockWaits(&c.Locks)
		case "values":
			for s.list(); s.element(); {
				v := l.readCounter()
				c.Add(&v)
			}
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readLockWaits(w *gclog.LockWaits) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "waits":
			w.Count = s.uint(math.MaxUint64)
		case "total":
			w.Total = s.ns()
		case "max":
			w.Max = s.ns()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readCounter() gclog.Counter {
	s, nan := &l.s, math.NaN()
	v := gclog.Counter{Value: nan, Delta: nan}
	quantiles := gclog.Quantiles{P50: nan, P95: nan, P99: nan}
	for s.object(); s.next(); {
		switch string(s.key) {
		case "meter":
			v.Meter = l.texts.get(s.text())
		case "name":
			v.Name = l.texts.get(s.text())
		case "tags":
			v.Tags = l.texts.get(s.text())
		case "unit":
			v.Unit = l.texts.get(s.text())
		case "value":
			v.Value = s.real()
		case "delta":
			v.Delta = s.real()
		case "count":
			quantiles.Count = s.uint(math.MaxUint64)
		case "p50":
			quantiles.P50 = s.real()
		case "p95":
			quantiles.P95 = s.real()
		case "p99":
			quantiles.P99 = s.real()
		default:
			s.skip()
		}
	}
	if quantiles.Count > 0 {
		v.Histogram = quantiles
	}
	return v
}
