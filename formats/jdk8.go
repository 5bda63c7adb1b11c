package formats

import (
	"strconv"
	"time"

	"github.com/gclog/gclog/gclog"
)

// jdk8 is -XX:+PrintGCDetails -XX:+PrintGCDateStamps of JDK 8 with ParNew and CMS. It has no room
// for lines of our own: GCToolKit warns about each line that it does not know.
//
// Full collections have [CMS Perm instead of [Metaspace: with the latter GCToolKit loses every one
// of them.
type jdk8 struct{ jdk }

func newJDK8(o *Options) formatter { return &jdk8{newJDK(o)} }

// header appends a header that all readers accept. garbagecat requires linux-amd64 whatever the
// machine is, JRE (1.8.0..., and a recent date; GCToolKit requires the flags of the collector.
func (j *jdk8) header(dst []byte, at int64, _ int) []byte {
	dst = append(dst, "OpenJDK 64-Bit Server VM ("...)
	dst = j.appendRuntime(dst)
	dst = append(dst, ") for linux-amd64 JRE (1.8.0_0-dotnet), built on "...)
	dst = time.Unix(0, j.clock.sync+at).UTC().AppendFormat(dst, "Jan _2 2006 15:04:05")
	dst = append(dst, ` by "gclog" with a .NET to JDK GC log writer
CommandLine flags: -XX:+PrintGC -XX:+PrintGCDateStamps -XX:+PrintGCDetails -XX:+PrintGCTimeStamps `+
		"-XX:+UseConcMarkSweepGC -XX:+UseParNewGC \n"...)
	if j.inBefore { // GCToolKit requires the start of a phase that ends
		dst = j.phaseStart(dst, j.before.Start, phaseName8[j.before.Kind])
	}
	return dst
}

func (j *jdk8) append(dst []byte, r gclog.Record, _ uint64) []byte {
	switch r := r.(type) {
	case *gclog.Pause:
		return j.pause(dst, r)
	case *gclog.GCDetails:
		return j.gc(dst, r)
	case *gclog.Phase:
		return j.phase(dst, r)
	case *gclog.End:
		return j.end(dst, r)
	}
	return dst
}

// stamp appends "date: uptime:" and a blank.
func (j *jdk8) stamp(dst []byte, at int64) []byte {
	j.newest = max(j.newest, at)
	dst = j.clock.appendClock(dst, at, 3)
	dst = append(dst, "+0000: "...)
	dst = j.clock.appendUptime(dst, at)
	return append(dst, ": "...)
}

// seconds appends a duration with seven decimals, as garbagecat requires.
func (j *jdk8) seconds(dst []byte, ns int64) []byte {
	dst = appendFixed(dst, ns, 9, 7)
	return append(dst, " secs"...)
}

func (j *jdk8) pause(dst []byte, p *gclog.Pause) []byte {
	x, ok := j.mapPause(p)
	if !ok {
		return dst
	}
	dst = j.closeAbandoned(dst, p.Start)
	dst = j.stamp(dst, p.Start)
	switch x.kind {
	case jdkYoung:
		dst = append(dst, "[GC ("...)
		dst = append(dst, x.cause...)
		dst = append(dst, ") "...)
		dst = j.stamp(dst, p.Start)
		dst = append(dst, "[ParNew: "...)
		dst = appendSizes(dst, x.before.young(), x.after.young(), x.cap.young)
		dst = append(dst, ", "...)
		dst = j.seconds(dst, p.Duration)
		dst = append(dst, "] "...)
		dst = appendSizes(dst, x.before.total(), x.after.total(), x.cap.heap)
	case jdkFull:
		dst = append(dst, "[Full GC ("...)
		dst = append(dst, x.cause...)
		dst = append(dst, ") "...)
		dst = j.stamp(dst, p.Start)
		dst = append(dst, "[CMS: "...)
		dst = appendSizes(dst, x.before.old(), x.after.old(), x.cap.old)
		dst = append(dst, ", "...)
		dst = j.seconds(dst, p.Duration)
		dst = append(dst, "] "...)
		dst = appendSizes(dst, x.before.total(), x.after.total(), x.cap.heap)
		// No reader adds this pool to the heap: it contains the large and pinned objects, which are
		// in the old generation too.
		dst = append(dst, ", [CMS Perm : "...)
		dst = appendSizes(dst, x.before.uoh(), x.after.uoh(), max(x.before.uoh(), x.after.uoh()))
		dst = append(dst, ']')
	case jdkInitialMark:
		dst = append(dst, "[GC (CMS Initial Mark) [1 CMS-initial-mark: "...)
		dst = appendSize(dst, x.before.old(), x.cap.old)
		dst = append(dst, "] "...)
		dst = appendSize(dst, x.before.total(), x.cap.heap)
	case jdkRemark:
		dst = append(dst, "[GC (CMS Final Remark) [YG occupancy: "...)
		dst = strconv.AppendInt(dst, x.before.young(), 10)
		dst = append(dst, " K ("...)
		dst = strconv.AppendInt(dst, x.cap.young, 10)
		dst = append(dst, " K)]"...)
		dst = j.stamp(dst, p.Start)
		dst = append(dst, "[Rescan (parallel) , "...)
		dst = j.seconds(dst, p.Duration)
		dst = append(dst, ']')
		dst = j.stamp(dst, p.Start)
		dst = append(dst, "[weak refs processing, 0.0000000 secs] [1 CMS-remark: "...)
		dst = appendSize(dst, x.before.old(), x.cap.old)
		dst = append(dst, "] "...)
		dst = appendSize(dst, x.before.total(), x.cap.heap)
	}
	dst = append(dst, ", "...)
	dst = j.seconds(dst, p.Duration)
	return j.times(append(dst, ']'), p.Duration)
}

// times appends the end of a line: CPU times, which are unknown, and the duration. 0.00 is what readers
// take for no CPU time: garbagecat gives advice about times that are greater. By "[Times:" GCViewer
// recognizes the format if the file starts with full collections only.
func (j *jdk8) times(dst []byte, duration int64) []byte {
	dst = append(dst, " [Times: user=0.00 sys=0.00, real="...)
	dst = appendFixed(dst, duration, 9, 2)
	return append(dst, " secs]\n"...)
}

// phaseName8 are the names of the phases.
var phaseName8 = [...]string{"mark", "sweep"}

func (j *jdk8) phase(dst []byte, p *gclog.Phase) []byte {
	if !p.End {
		dst = j.closeAbandoned(dst, p.Time)
		if !j.beginPhase(p) {
			return dst
		}
		return j.phaseStart(dst, p.Time, phaseName8[p.Kind])
	}
	if !j.endPhase(p) {
		return dst
	}
	return j.phaseEnd(dst, p, true)
}

func (j *jdk8) phaseStart(dst []byte, at int64, name string) []byte {
	dst = j.stamp(dst, at)
	dst = append(dst, "[CMS-concurrent-"...)
	dst = append(dst, name...)
	return append(dst, "-start]\n"...)
}

// phaseEnd appends the end of a phase. finished reports whether the phase really ended, as opposed
// to the log.
func (j *jdk8) phaseEnd(dst []byte, p *gclog.Phase, finished bool) []byte {
	dst = j.concurrent(dst, p.Time, phaseName8[p.Kind], p.Time-p.Start)
	if p.Kind != gclog.PhaseSweep || !finished {
		return dst
	}
	// Readers recognize the end of a background collection by its reset phase.
	dst = j.phaseStart(dst, p.Time, "reset")
	return j.concurrent(dst, p.Time, "reset", int64(time.Millisecond))
}

// concurrent appends the duration twice, because one reader uses the first number and another the
// second. A phase shorter than a millisecond would not be counted, so it is shown as one
// millisecond.
func (j *jdk8) concurrent(dst []byte, at int64, name string, duration int64) []byte {
	duration = max(duration, int64(time.Millisecond))
	dst = j.stamp(dst, at)
	dst = append(dst, "[CMS-concurrent-"...)
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = appendFixed(dst, duration, 9, 3)
	dst = append(dst, '/')
	dst = appendFixed(dst, duration, 9, 3)
	return j.times(append(dst, " secs]"...), duration)
}

func (j *jdk8) gc(dst []byte, d *gclog.GCDetails) []byte {
	j.learn(d)
	if d.Kind != gclog.KindBackground {
		return dst
	}
	j.background = false
	if j.inPhase && j.phaseGC == d.Number {
		if !d.Known.Has(gclog.GroupEnd) {
			j.abandon()
			return dst
		}
		p, _, _ := j.closePhase(max(d.End, j.newest))
		dst = j.phaseEnd(dst, &p, true)
	}
	return dst
}

// closeAbandoned ends the phase of a collection that was given up.
func (j *jdk8) closeAbandoned(dst []byte, at int64) []byte {
	if !j.abandoned {
		return dst
	}
	p, _, _ := j.closePhase(at)
	return j.phaseEnd(dst, &p, false)
}

func (j *jdk8) end(dst []byte, e *gclog.End) []byte {
	if p, _, ok := j.closePhase(e.At); ok {
		dst = j.phaseEnd(dst, &p, false)
	}
	return dst
}
