package attach

import (
	"math"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

const (
	// slowThreads is how long suspending and resuming the threads may take in a pause, and slowPause how
	// long a pause may be, before a shortage of processors is looked for.
	slowThreads = 5 * time.Millisecond
	slowPause   = 50 * time.Millisecond
	// readingsApart is how far apart the two readings are, at least, of which the later one before a
	// pause counts.
	readingsApart = time.Second
	// What the threads of the process waited for is read again after a slow pause when slowTimes of what
	// the last reading has taken have passed, otherwise when calmTimes of that have: for 50 threads,
	// which take 200 µs, these are 200 ms and 4 s.
	slowTimes = 1000
	calmTimes = 20_000
)

// slow reports whether the host may be the reason for a pause.
func slow(p *gclog.PausePart) bool {
	return p.Suspend+p.Resume >= int64(slowThreads) || p.Duration >= int64(slowPause)
}

// shortages finds out how short of processors the process was around pauses: by the differences of what
// the kernel has counted before and after them. It reads when records arrive, and wakes up for nothing.
// Times are those of the stream's clock.
type shortages struct {
	r            *host.CPUReader
	older, newer cpuReading
	waits        waitReading
	asked, took  int64             // when the threads were read last, and for how long
	latest       gclog.CPUShortage // what the latest reading has shown
	since, until int64             // the pauses that begin in between share it
	behind       int64             // of the stream's clock, what its events have shown; see around
}

type cpuReading struct {
	at int64
	host.CPUReading
}

// A waitReading is how long the threads have waited until some time.
type waitReading struct {
	at, ns int64
	known  bool
}

func newShortages(r *host.CPUReader) *shortages { return &shortages{r: r} }

func (s *shortages) close() { s.r.Close() }

// begin reads for the first time.
func (s *shortages) begin(now int64) {
	s.older = cpuReading{now, s.r.Read()}
	s.newer = s.older
	s.waits = s.wait(now)
}

// pass reads again at a record of a pause that was not slow, unless that was done lately.
func (s *shortages) pass(now int64) {
	if now-s.newer.at >= int64(readingsApart) {
		s.older, s.newer = s.newer, cpuReading{now, s.r.Read()}
	}
	if now-s.waits.at >= int64(readingsApart) && now-s.asked >= calmTimes*s.took {
		s.waits = s.wait(now)
	}
}

// around returns what there was around a pause. It compares with the last reading before the pause; if
// that is none of the latest two, nothing is said.
//
// If the head of the stream was late, its clock is ahead of that of now: events seem to come before they
// have happened.
func (s *shortages) around(p *gclog.PausePart, now int64) gclog.CPUShortage {
	s.behind = max(s.behind, p.Start+p.Duration-now)
	start := p.Start - s.behind
	if now-s.until <= int64(sameMoment) && start >= s.since && s.latest.Interval > 0 {
		return s.latest
	}
	before := s.newer
	if before.at > start {
		before = s.older
	}
	if before.at > start || now <= before.at {
		return gclog.CPUShortage{}
	}
	after := cpuReading{now, s.r.Read()}
	x := gclog.CPUShortage{
		Interval:      now - before.at,
		Pressure:      percentOf(before.Pressure, after.Pressure, now-before.at),
		GroupPressure: percentOf(before.GroupPressure, after.GroupPressure, now-before.at),
		Throttled:     increase(before.Throttled, after.Throttled),
		Throttles:     uint32(increase(before.Throttles, after.Throttles)),
		Runnable:      uint32(s.r.Runnable()),
		Processors:    uint32(s.r.Processors()),
	}
	if now-s.newer.at >= int64(readingsApart) {
		s.older, s.newer = s.newer, after
	}
	if now-s.asked >= slowTimes*s.took {
		waits := s.wait(now)
		if s.waits.at <= start && s.waits.known && waits.known && waits.at > s.waits.at {
			x.Waited, x.WaitedInterval = increase(s.waits.ns, waits.ns), waits.at-s.waits.at
		}
		if now-s.waits.at >= int64(readingsApart) {
			s.waits = waits
		}
	}
	s.latest, s.since, s.until = x, before.at, now
	return x
}

// wait reads how long the threads have waited.
func (s *shortages) wait(now int64) waitReading {
	began := time.Now()
	ns, known := s.r.Waited()
	s.asked, s.took = now, time.Since(began).Nanoseconds()
	return waitReading{now, ns, known}
}

// increase returns by how much a counter has grown, 0 if that is unknown.
func increase(before, after int64) int64 {
	if before < 0 || after < before {
		return 0
	}
	return after - before
}

// percentOf returns the percentage of a time by which a counter of times has grown, with two decimals.
func percentOf(before, after, of int64) float64 {
	return min(100, math.Round(1e4*float64(increase(before, after))/float64(of))/100)
}
