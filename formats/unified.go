package formats

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
)

// unified is -Xlog:gc* of JDK 9 to 13 with CMS.
//
// The detail lines have nine blanks after GC(n): GCViewer trims them, GCToolKit searches the whole
// line, and garbagecat's preprocessing drops such lines. With one blank garbagecat loses full
// collections.
type unified struct {
	jdk
	sel             *Selection
	prefix          prefix
	host            string
	thread          uint64 // that last suspended the program
	names           []string
	heapOrder       []int
	first           int64 // time of the first line of the last group
	sessionStart    int64 // when the session started, until a line contains it
	hasSessionStart bool
	any             bool // some line was written
}

func newUnified(o *Options) formatter {
	u := &unified{jdk: newJDK(o), sel: o.Selection, host: o.Host}
	if u.sel == nil {
		u.sel = defaultSelection()
	}
	return u
}

// on reports whether lines of a tag set and level are selected.
func (u *unified) on(set TagSet, level Level) bool { return u.sel.Levels[set] >= level }

// header appends the two lines that readers need: they recognize the collector by the first, and
// take the second for the arguments of the JVM, in which one of them looks for the word "workers".
// Both have the time of the first line after them, because GCToolKit drops files of a series that
// overlap.
func (u *unified) header(dst []byte, _ int64, _ int) []byte {
	at := u.first
	if u.on(TagGC, LevelInfo) {
		dst = u.stamp(dst, at, TagGC, LevelInfo)
		dst = append(dst, "Using Concurrent Mark Sweep\n"...)
	}
	if u.on(TagInit, LevelInfo) {
		dst = u.stamp(dst, at, TagInit, LevelInfo)
		dst = append(dst, "VM Arguments: "...)
		dst = u.settings(dst)
		dst = u.facts(dst, at)
	}
	if l := &u.process.Limits; u.process.HasLimits && u.on(TagInit, LevelDebug) {
		f := u.pairs(dst, at, TagInit, LevelDebug, "Settings:")
		f.size("hard_limit", l.HardLimit, l.HardLimit > 0)
		f.size("loh_threshold", l.LOHThreshold, l.LOHThreshold > 0)
		f.size("physical_memory", l.PhysicalMemoryConfig, l.PhysicalMemoryConfig > 0)
		f.size("gen0_min_budget", l.Gen0MinBudget, l.Gen0MinBudget > 0)
		f.size("gen0_max_budget", l.Gen0MaxBudget, l.Gen0MaxBudget > 0)
		f.uint("high_memory_percent", uint64(l.HighMemoryPercent), l.HighMemoryPercent > 0)
		dst = f.end()
	}
	return dst
}

func (u *unified) append(dst []byte, r gclog.Record, _ uint64) []byte {
	switch r := r.(type) {
	case *gclog.Start:
		return u.start(dst, r)
	case *gclog.GCDetails:
		return u.gc(dst, r)
	case *gclog.Pause:
		return u.pause(dst, r)
	case *gclog.Phase:
		return u.phase(dst, r)
	case *gclog.Suspension:
		return u.suspension(dst, r)
	case *gclog.End:
		return u.end(dst, r)
	}
	return dst
}

func (u *unified) settings(dst []byte) []byte {
	dst = u.appendRuntime(dst)
	switch u.process.Server {
	case gclog.Yes:
		dst = append(dst, ", Server GC"...)
	case gclog.No:
		dst = append(dst, ", Workstation GC"...)
	}
	switch u.process.Concurrent {
	case gclog.Yes:
		dst = append(dst, ", concurrent"...)
	case gclog.No:
		dst = append(dst, ", non-concurrent"...)
	}
	if lib := u.process.GCLibrary; lib != "" {
		dst = append(dst, ", "...)
		dst = appendPlain(dst, lib)
	}
	if u.heaps > 0 {
		dst = append(dst, ", "...)
		dst = strconv.AppendInt(dst, int64(u.heaps), 10)
		return append(dst, " GC workers\n"...)
	}
	return append(dst, ", GC workers unknown\n"...)
}

// facts appends what is known about the process, which gclog reads back from this line.
func (u *unified) facts(dst []byte, at int64) []byte {
	f := u.about(dst, at)
	appendRows(&f, processFacts, &u.process)
	return f.end()
}

// about starts a DotNet line about the process.
func (u *unified) about(dst []byte, at int64) pairs {
	f := u.pairs(dst, at, TagInit, LevelInfo, dotnetTitle)
	f.exact = true
	return f
}

// dotnetTitle starts the lines that package logs reads: their times and sizes are exact, and those of
// all other lines are rounded as Java's are.
const dotnetTitle = "DotNet:"

// stamp appends the decorations in front of a line's text.
func (u *unified) stamp(dst []byte, at int64, set TagSet, level Level) []byte {
	u.newest = max(u.newest, at)
	if len(dst) == 0 {
		u.first = at
	}
	return u.decorate(dst, at, set, level)
}

var (
	processFacts = fields.Named(fields.Process())
	runtimeFacts = slices.DeleteFunc(slices.Clone(processFacts),
		func(f fields.Fact) bool { return !strings.HasPrefix(f.JSON, "dotnet.") })
	endFields = fields.Named(fields.End())
)

// opening starts a group with the line about the start of the session, if it is the first group: a
// log with nothing else has no file.
func (u *unified) opening(dst []byte) []byte {
	u.any = true
	if !u.hasSessionStart || len(dst) > 0 {
		return dst
	}
	u.hasSessionStart = false
	if !u.on(TagInit, LevelInfo) {
		return dst
	}
	f := u.about(dst, u.sessionStart)
	f.date("begin", u.sessionStart)
	return f.end()
}

// closing appends when the observation of the process ended, and how, and what became known of its runtime.
func (u *unified) closing(dst []byte, e *gclog.End) []byte {
	if !u.on(TagInit, LevelInfo) {
		return dst
	}
	f := u.about(dst, e.At)
	f.date("end", e.At)
	appendRows(&f, endFields, e)
	if e.Process != nil {
		appendRows(&f, runtimeFacts, e.Process)
	}
	return f.end()
}

// line starts a line of collection n; detail lines are distinguished by their blanks.
func (u *unified) line(dst []byte, at int64, set TagSet, n uint32) []byte {
	dst = u.stamp(u.opening(dst), at, set, LevelInfo)
	return appendGCNumber(dst, n)
}

func (u *unified) detail(dst []byte, at int64, set TagSet, level Level, n uint32) []byte {
	dst = u.stamp(u.opening(dst), at, set, level)
	dst = appendGCNumber(dst, n)
	return append(dst, "        "...)
}

func appendGCNumber(dst []byte, n uint32) []byte {
	dst = append(dst, "GC("...)
	dst = strconv.AppendUint(dst, uint64(n), 10)
	return append(dst, ") "...)
}

func (u *unified) start(dst []byte, s *gclog.Start) []byte {
	u.sessionStart, u.hasSessionStart = s.At, true
	return dst
}

func (u *unified) pause(dst []byte, p *gclog.Pause) []byte {
	x, ok := u.mapPause(p)
	if !ok {
		return u.pauseWithoutGC(dst, p)
	}
	dst = u.closeAbandoned(dst, p.Start)
	u.thread = p.Thread
	end := p.Start + p.Duration
	blocking := x.kind == jdkYoung || x.kind == jdkFull
	if u.on(TagStart, LevelInfo) {
		if blocking {
			dst = u.detail(dst, p.Start, TagStart, LevelInfo, x.n)
		} else {
			dst = u.line(dst, p.Start, TagStart, x.n)
		}
		dst = append(u.name(dst, &x), '\n')
	}
	if blocking {
		dst = u.pools(dst, &x, end)
		dst = u.dotnetLine(dst, end, x.n, p.GC, []gclog.PausePart{p.PausePart})
		dst = u.details(dst, end, x.n, p.GC)
	}
	if u.on(TagGC, LevelInfo) {
		dst = u.line(dst, end, TagGC, x.n)
		dst = append(u.name(dst, &x), ' ')
		dst = appendSizes(dst, x.before.total(), x.after.total(), x.cap.heap)
		dst = append(dst, ' ')
		dst = appendMillis(dst, p.Duration)
		dst = append(dst, "ms\n"...)
	}
	return u.cpu(dst, end, x.n, p.Duration)
}

// pauseWithoutGC appends a line that has no counterpart in Java: without it, counts, sums and
// shares of the pauses would be wrong, and the numbers used up by no-GC regions would be taken for
// missing collections.
func (u *unified) pauseWithoutGC(dst []byte, p *gclog.Pause) []byte {
	if !u.on(TagInit, LevelInfo) {
		return dst
	}
	dst = u.opening(u.closeAbandoned(dst, p.Start))
	u.thread = p.Thread
	f := u.about(dst, p.Start+p.Duration)
	part := p.PausePart
	part.HasResume = false // as in json
	f.pause(&part)
	f.uint("number", uint64(p.UsedNumber), p.UsedNumber != 0)
	return f.end()
}

// pools appends the sizes of Java's two pools.
func (u *unified) pools(dst []byte, x *jdkPause, at int64) []byte {
	if !u.on(TagHeap, LevelInfo) {
		return dst
	}
	dst = u.detail(dst, at, TagHeap, LevelInfo, x.n)
	dst = append(dst, "ParNew: "...)
	dst = appendSizes(dst, x.before.young(), x.after.young(), x.cap.young)
	dst = append(dst, '\n')
	dst = u.detail(dst, at, TagHeap, LevelInfo, x.n)
	dst = append(dst, "CMS: "...)
	dst = appendSizes(dst, x.before.old(), x.after.old(), x.cap.old)
	return append(dst, '\n')
}

// name appends the text that must be identical, character by character, at the start and the end of
// a pause.
func (u *unified) name(dst []byte, x *jdkPause) []byte {
	switch x.kind {
	case jdkInitialMark:
		return append(dst, "Pause Initial Mark"...)
	case jdkRemark:
		return append(dst, "Pause Remark"...)
	case jdkFull:
		dst = append(dst, "Pause Full ("...)
	default:
		dst = append(dst, "Pause Young ("...)
	}
	dst = append(dst, x.cause...)
	return append(dst, ')')
}

// cpu appends the line with CPU times, because GCToolKit requires it. They are unknown, and none
// are made up.
func (u *unified) cpu(dst []byte, at int64, n uint32, duration int64) []byte {
	if !u.on(TagCPU, LevelInfo) {
		return dst
	}
	dst = u.line(dst, at, TagCPU, n)
	dst = append(dst, "User=0.00s Sys=0.00s Real="...)
	dst = appendFixed(dst, duration, 9, 2)
	return append(dst, "s\n"...)
}

// dotnetLine appends the record of a collection, most of which has no counterpart in Java. It contains
// "workers", which makes GCToolKit skip it.
func (u *unified) dotnetLine(dst []byte, at int64, n uint32, d *gclog.GCDetails, parts []gclog.PausePart) []byte {
	if !u.on(TagStats, LevelInfo) {
		return dst
	}
	f := u.gcPairs(dst, at, TagStats, LevelInfo, n, dotnetTitle)
	f.exact, f.comma = true, true
	f.b = append(f.b, "gen"...)
	f.b = strconv.AppendInt(f.b, int64(d.Generation), 10)
	f.b = append(f.b, ' ')
	f.b = append(f.b, d.Kind.String()...)
	if compacting, known := d.Compacting(); known && d.Kind != gclog.KindBackground {
		if compacting {
			f.b = append(f.b, " compacting"...)
		} else {
			f.b = append(f.b, " sweeping"...)
		}
	}
	if d.Known.Has(gclog.GroupReason) {
		f.text("reason", d.Reason.String())
	}
	if d.HeapDump {
		f.text("heap_dump", d.HeapDumpBy.String())
	}
	if d.Flaws&gclog.FlawNoStart == 0 {
		f.date("start", d.Start)
	}
	if d.Known.Has(gclog.GroupEnd) {
		f.date("end", d.End)
	}
	for i := range parts {
		f.pause(&parts[i])
	}
	if b := d.Background; b != nil {
		f.phase("mark_start", b.MarkStart)
		f.phase("mark_end", b.MarkEnd)
		f.phase("sweep_start", b.SweepStart)
		f.phase("sweep_end", b.SweepEnd)
	}
	for g := range d.GenerationCount {
		f.beforeAndAfter(g, d)
	}
	f.size("peak", d.Peak, d.Peak > d.SizeBefore())
	f.known(dotnetLine, d)
	if u.names = d.Flaws.Names(u.names[:0]); len(u.names) > 0 {
		f.name("flaws")
		f.b = appendNames(f.b, u.names)
	}
	return f.end()
}

// workers ends a gclog-specific line: this word makes GCToolKit skip it.
func (u *unified) workers(dst []byte) []byte {
	dst = append(dst, ", workers="...)
	if u.heaps == 0 {
		return append(dst, "unknown\n"...)
	}
	dst = strconv.AppendInt(dst, int64(u.heaps), 10)
	return append(dst, '\n')
}

func (u *unified) phase(dst []byte, p *gclog.Phase) []byte {
	if !p.End {
		dst = u.closeAbandoned(dst, p.Time)
		if !u.beginPhase(p) || !u.on(TagGC, LevelInfo) {
			return dst
		}
		dst = u.line(dst, p.Time, TagGC, p.GC.Number)
		return append(dst, phaseTitle[p.Kind]...)
	}
	if !u.endPhase(p) {
		return dst
	}
	return u.phaseEnd(dst, p, p.GC.Number, true)
}

// phaseTitle are the titles of the phases, with the line end that only their start has.
var phaseTitle = [...]string{"Concurrent Mark\n", "Concurrent Sweep\n"}

// phaseEnd appends the end of a phase. finished reports whether the phase really ended, as opposed
// to the log.
func (u *unified) phaseEnd(dst []byte, p *gclog.Phase, n uint32, finished bool) []byte {
	title := phaseTitle[p.Kind]
	dst = u.concurrent(dst, p.Time, n, title[:len(title)-1], p.Time-p.Start)
	if p.Kind != gclog.PhaseSweep || !finished {
		return dst
	}
	// Readers recognize the end of a background collection by its reset phase.
	if u.on(TagGC, LevelInfo) {
		dst = u.line(dst, p.Time, TagGC, n)
		dst = append(dst, "Concurrent Reset\n"...)
	}
	return u.concurrent(dst, p.Time, n, "Concurrent Reset", 1000)
}

func (u *unified) concurrent(dst []byte, at int64, n uint32, title string, duration int64) []byte {
	if u.on(TagGC, LevelInfo) {
		dst = u.line(dst, at, TagGC, n)
		dst = append(dst, title...)
		dst = append(dst, ' ')
		dst = appendMillis(dst, max(duration, 1000))
		dst = append(dst, "ms\n"...)
	}
	return u.cpu(dst, at, n, duration)
}

// gc appends what is known about a background collection only at its end, in lines of the kind that
// every reader skips.
func (u *unified) gc(dst []byte, d *gclog.GCDetails) []byte {
	before := u.last
	u.learn(d)
	if d.Kind != gclog.KindBackground {
		return dst
	}
	u.background = false
	at := max(d.End, u.newest)
	givenUp := u.inPhase && u.phaseGC == d.Number && !d.Known.Has(gclog.GroupEnd)
	switch {
	case givenUp:
		u.abandon()
	case u.inPhase && u.phaseGC == d.Number:
		p, n, _ := u.closePhase(at)
		dst = u.phaseEnd(dst, &p, n, true)
	}
	if len(d.Pauses) == 0 && (!d.Known.Has(gclog.GroupAfter) || d.Flaws&gclog.FlawNoStart != 0) {
		return dst // no log should start with these
	}
	if d.Known.Has(gclog.GroupAfter) && !givenUp && u.on(TagHeap, LevelInfo) {
		if d.Known.Has(gclog.GroupBefore) && !d.BeforeEstimated {
			for g := range d.Generations {
				before.gen[g] = kib(d.Generations[g].Before)
			}
		}
		dst = u.line(dst, at, TagHeap, d.Number)
		dst = append(dst, "Old: "...)
		dst = appendSizes(dst, before.old(), u.last.old(), shareOut(before, u.last, u.committed).old)
		dst = append(dst, '\n')
	}
	dst = u.dotnetLine(dst, at, d.Number, d, d.Pauses)
	return u.details(dst, at, d.Number, d)
}

// closeAbandoned ends the phase of a collection that was given up.
func (u *unified) closeAbandoned(dst []byte, at int64) []byte {
	if !u.abandoned {
		return dst
	}
	p, n, _ := u.closePhase(at)
	return u.phaseEnd(dst, &p, n, false)
}

func (u *unified) end(dst []byte, e *gclog.End) []byte {
	if p, n, ok := u.closePhase(e.At); ok {
		dst = u.phaseEnd(dst, &p, n, false)
	}
	if e.Reason != gclog.EndOfLog && u.any && !u.hasSessionStart {
		dst = u.closing(dst, e)
	}
	return dst
}
