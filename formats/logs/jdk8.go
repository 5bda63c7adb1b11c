package logs

import (
	"bytes"
	"time"

	"github.com/gclog/gclog/gclog"
)

// jdk8 reads what JDK 8 writes with -XX:+PrintGCDetails for ParNew and CMS. Each line
// begins with a date, an uptime, or both.
//
// The stamp of a pause is that of its begin, cut off. It is taken for the earliest
// time that is possible behind what came before, so that events of one millisecond
// stay in their order.
type jdk8 struct {
	jdk
	calendar calendar
}

const jdk8Lacks = "jdk8 logs have no numbers of collections (they are counted), no gen1 and no reasons but Java's, and sizes in KiB of two pools; suspension times, compaction, " +
	"allocations, objects and what background collections left are not known"

func newJDK8(observe func(*gclog.Process) Observer, at *reading) parser {
	return &jdk8{jdk: jdk{observe: observe, reading: at, without: true}}
}

// recognizeJDK8 takes heads with .NET, and lines without the CPU times that every JVM
// writes.
func recognizeJDK8(line []byte) (time.Time, bool) {
	if _, ok := machine(line); ok {
		return time.Time{}, true
	}
	if bytes.Contains(line, []byte("[Times: user=")) {
		return time.Time{}, false
	}
	var c calendar
	m, rest, ok := stampOf(line, &c)
	if !ok {
		return time.Time{}, false
	}
	j := jdk8{jdk: jdk{observe: nobody, reading: &reading{}}}
	return m.time(), j.event(m, rest)
}

func (j *jdk8) line(b []byte) bool {
	if m, rest, ok := stampOf(b, &j.calendar); ok {
		return j.event(m, rest) && !j.beyond
	}
	if facts, ok := machine(b); ok {
		j.head(facts)
		return true
	}
	return bytes.HasPrefix(b, []byte("CommandLine flags: ")) || bytes.HasPrefix(b, []byte("Memory: "))
}

// machine reads what the head says of the process:
//
//	OpenJDK 64-Bit Server VM (.NET 10.0.14, process 4711 MyApp) for linux-amd64 …
func machine(b []byte) (facts *gclog.Process, ok bool) {
	b, ok = literal(b, "OpenJDK 64-Bit Server VM (")
	if !ok {
		return nil, false
	}
	b, _, ok = bytes.Cut(b, []byte(") for "))
	if !ok {
		return nil, false
	}
	facts = &gclog.Process{}
	return facts, runtimeOf(b, facts)
}

// stampOf reads 2026-11-21T00:30:37.567+0000: 90.267: with the blank behind it.
func stampOf(b []byte, c *calendar) (m moment, rest []byte, ok bool) {
	rest = b
	if ns, tail, ok := c.date(b); ok {
		unit := dateUnit(b[:len(b)-len(tail)])
		if tail, ok = literal(tail, ": "); !ok || !m.setWall(ns, unit) {
			return m, b, false
		}
		rest, m.zone = tail, c.zone
	}
	if ns, unit, tail, ok := seconds(rest); ok {
		if tail, ok = literal(tail, ": "); !ok || !m.setUp(ns, unit) {
			return m, b, false
		}
		rest = tail
	}
	return m, rest, m.known()
}

// event takes what is behind the stamp.
func (j *jdk8) event(m moment, b []byte) bool {
	if rest, ok := literal(b, "[CMS-concurrent-"); ok {
		return j.concurrentLine(m, rest)
	}
	if rest, ok := literal(b, "[GC (CMS Initial Mark) [1 CMS-initial-mark: "); ok {
		return j.initialMark(m, rest)
	}
	if rest, ok := literal(b, "[GC (CMS Final Remark) "); ok {
		return j.remark(m, rest)
	}
	if rest, ok := literal(b, "[GC ("); ok {
		return j.young(m, rest)
	}
	if rest, ok := literal(b, "[Full GC ("); ok {
		return j.full(m, rest)
	}
	return false
}

// young reads
//
//	Allocation Failure) 2026-…: 90.267: [ParNew: 2560K->2203K(2560K), 0.0057011 secs] 2568K->2211K(5260K), 0.0057011 secs]
func (j *jdk8) young(m moment, b []byte) bool {
	cause, b, ok := causeOf(b, "[ParNew: ")
	if !ok {
		return false
	}
	var p pools
	if p.young, b, ok = timed(b); !ok {
		return false
	}
	if p.heap, p.capacity, b, ok = bounds(b); !ok {
		return false
	}
	p.hasYoung, p.hasHeap = true, true
	lasted, ok := lastSecs(b)
	if !ok {
		return false
	}
	j.pauseOf(m, gclog.Gen0, cause, &p, lasted)
	return true
}

// full reads
//
//	Allocation Failure) 2026-…: 90.579: [CMS: 2155K->16893K(17820K), 0.1334752 secs] 58823K->41184K(74488K), [CMS Perm : 8K->8K(8K)], 0.1334752 secs]
func (j *jdk8) full(m moment, b []byte) bool {
	cause, b, ok := causeOf(b, "[CMS: ")
	if !ok {
		return false
	}
	var p pools
	if p.old, b, ok = timed(b); !ok {
		return false
	}
	if p.heap, p.capacity, b, ok = bounds(b); !ok {
		return false
	}
	p.hasOld, p.hasHeap = true, true
	if rest, perm := literal(b, ", [CMS Perm : "); perm {
		if p.large, _, b, ok = bounds(rest); !ok {
			return false
		}
		if b, ok = literal(b, "]"); !ok {
			return false
		}
	}
	lasted, ok := lastSecs(b)
	if !ok {
		return false
	}
	j.pauseOf(m, gclog.Gen2, cause, &p, lasted)
	return true
}

// causeOf reads a cause, and passes over the stamp that is repeated before the sizes
// of a pool.
func causeOf(b []byte, pool string) (cause, rest []byte, ok bool) {
	cause, b, ok = bytes.Cut(b, closing)
	if !ok {
		return nil, b, false
	}
	rest, ok = literal(b[max(0, bytes.IndexByte(b, '[')):], pool)
	return cause, rest, ok
}

// timed reads 2560K->2203K(2560K), 0.0057011 secs] and a blank.
func timed(b []byte) (s sizes, rest []byte, ok bool) {
	if s, _, b, ok = bounds(b); !ok {
		return s, b, false
	}
	if _, b, ok = secs(b); !ok {
		return s, b, false
	}
	rest, ok = literal(b, " ")
	return s, rest, ok
}

// secs reads , 0.0057011 secs]
func secs(b []byte) (ns int64, rest []byte, ok bool) {
	if b, ok = literal(b, ", "); !ok {
		return 0, b, false
	}
	if ns, rest, ok = duration(b, 9, 1); !ok {
		return 0, b, false
	}
	rest, ok = literal(rest, " secs]")
	return ns, rest, ok
}

// lastSecs reads the same at the end of a line.
func lastSecs(b []byte) (ns int64, ok bool) {
	ns, b, ok = secs(b)
	return ns, ok && isEnd(b)
}

// isEnd tells whether a line ends here, but for the [Times: user=0.00 sys=0.00,
// real=0.00 secs] that Java writes behind it.
func isEnd(b []byte) bool {
	if len(b) == 0 {
		return true
	}
	b, ok := literal(b, " [Times: user=")
	return ok && bytes.HasSuffix(bytes.TrimSuffix(b, space), []byte(" secs]"))
}

// pauseOf tells a blocking collection.
func (j *jdk8) pauseOf(m moment, generation int, cause []byte, p *pools, lasted int64) {
	at := j.at(m)
	j.counted++
	g := j.blockingOf(j.counted, at)
	if g == nil {
		return
	}
	g.Counted = true
	j.condemn(g, generation, cause)
	g.pools = *p
	j.endBlocking(g, at.nearest(j.told), lasted)
}

// initialMark reads 16893K(75179K)] 47420K(112768K), 0.0008493 secs]
func (j *jdk8) initialMark(m moment, b []byte) bool {
	heap, old, capacity, lasted, ok := occupancy(b)
	if !ok {
		return false
	}
	at := j.at(m)
	if g := &j.background; g.open {
		j.sizesAfter(g, old, heap)
		j.closeBackground()
	}
	g := j.current(at)
	j.endPause(g, gclog.PauseInitial, at.nearest(j.told), lasted, heap, capacity)
	return true
}

// sizesAfter: nothing tells what a background collection has left, but the begin of
// the next one if none was in between.
func (j *jdk8) sizesAfter(g *background, old, heap int64) {
	if last := &j.blocking.pools; old == last.old.after && heap == last.heap.after || heap < old {
		return
	}
	g.Pools, g.HasSizesAfter = true, true
	sizes{after: heap - old}.set(&g.Generations[gclog.Gen0])
	sizes{after: old}.set(&g.Generations[gclog.Gen2])
}

// occupancy reads the sizes of the old pool and of the heap, with their capacities.
func occupancy(b []byte) (heap, old, capacity, lasted int64, ok bool) {
	if old, b, ok = size(b); !ok {
		return 0, 0, 0, 0, false
	}
	if _, b, ok = bounded(b); !ok {
		return 0, 0, 0, 0, false
	}
	if b, ok = literal(b, "] "); !ok {
		return 0, 0, 0, 0, false
	}
	if heap, b, ok = size(b); !ok {
		return 0, 0, 0, 0, false
	}
	if capacity, b, ok = bounded(b); !ok {
		return 0, 0, 0, 0, false
	}
	lasted, ok = lastSecs(b)
	return heap, old, capacity, lasted, ok
}

// remark reads the parts of a remark of which only the last matters:
//
//	[YG occupancy: …]2026-…: [Rescan (parallel) , …]2026-…: [weak refs processing, …] [1 CMS-remark: 16893K(75179K)] 47420K(112768K), 0.0256130 secs]
func (j *jdk8) remark(m moment, b []byte) bool {
	if !bytes.HasPrefix(b, []byte("[YG occupancy: ")) {
		return false
	}
	_, b, ok := bytes.Cut(b, []byte("[1 CMS-remark: "))
	if !ok {
		return false
	}
	heap, _, capacity, lasted, ok := occupancy(b)
	if !ok {
		return false
	}
	at := j.at(m)
	g := j.current(at)
	j.endPause(g, gclog.PauseFinal, at.nearest(j.told), lasted, heap, capacity)
	return true
}

// current is the background collection that is open, or else a new one.
func (j *jdk8) current(at span) *background {
	if g := &j.background; g.open {
		return g
	}
	j.counted++
	g := j.backgroundOf(j.counted, at)
	g.Counted = true
	return g
}

// concurrentLine reads mark-start] and mark: 0.059/0.059 secs]
func (j *jdk8) concurrentLine(m moment, b []byte) bool {
	name := b[:max(0, bytes.IndexAny(b, ":]"))]
	rest := b[len(name):]
	begins := bytes.HasSuffix(name, []byte("-start"))
	lasted, ok := int64(0), string(rest) == "]"
	if !begins {
		lasted, ok = phaseDuration(rest)
	}
	if !ok {
		return false
	}
	name = bytes.TrimSuffix(name, []byte("-start"))
	switch string(name) {
	case "mark":
		j.phaseLine(m, gclog.PhaseMark, begins, lasted)
	case "sweep":
		j.phaseLine(m, gclog.PhaseSweep, begins, lasted)
	case "reset":
		j.resetPhase(m)
	case "preclean", "abortable-preclean":
	default:
		return false
	}
	return true
}

// phaseDuration reads : 0.059/0.059 secs] of which the second is by the clock.
func phaseDuration(b []byte) (ns int64, ok bool) {
	if b, ok = literal(b, ": "); !ok {
		return 0, false
	}
	if _, b, ok = duration(b, 9, 1); !ok {
		return 0, false
	}
	if b, ok = literal(b, "/"); !ok {
		return 0, false
	}
	if ns, b, ok = duration(b, 9, 1); !ok {
		return 0, false
	}
	b, ok = literal(b, " secs]")
	return ns, ok && isEnd(b)
}

func (j *jdk8) phaseLine(m moment, kind gclog.PhaseKind, begins bool, lasted int64) {
	at := j.at(m)
	if g := &j.background; begins && g.open && g.has(kind) && !(g.inPhase && g.phase == kind) {
		j.closeBackground() // its end is missing
	}
	g := j.current(at)
	if begins {
		j.beginPhase(g, kind, at)
		return
	}
	const rounding = int64(time.Millisecond)/2 - 1
	least := lasted - rounding
	if lasted <= int64(time.Millisecond) { // shorter ones are said to be as long
		least = 0
	}
	j.endPhase(g, kind, at, least, lasted+rounding)
}

// resetPhase shows that the sweep has ended.
func (j *jdk8) resetPhase(m moment) {
	j.at(m)
	if g := &j.background; g.open {
		j.confirm(g)
	}
}
