package logs

import (
	"bytes"
	"math"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// unified reads what -Xlog of JDK 9 and later writes, with any decorations that include a time, and
// any selection of its lines.
type unified struct {
	observe   func(*gclog.Process) formats.Observer
	reading   *reading
	decorator decorator
	days      calendar
	count     int // number of processes started

	life

	trial        gclog.GCDetails // contents of a line that may be damaged
	trialSummary gclog.HeapSummary
}

// A life is what is known about one process instance, from its first line to its last.
type life struct {
	process      *gclog.Process
	pid          int64            // in the lines of the process; 0: unknown
	out          formats.Observer // nil: no observer
	observed     bool             // observe was called
	beyond       bool             // this process is beyond the limit
	headed       bool             // the last line was a header
	base         moment           // the sync point
	newest       moment           // time of the latest line
	emittedUntil int64            // end of what was emitted last

	blocking   blocking
	background background
	committed  int64 // last known value in KiB; 0: never known
	index      int64 // number of records emitted
	tally      tally // collections that were emitted

	pause      gclog.Pause // arguments of the Observer, so that nothing is allocated
	phase      gclog.Phase
	suspension gclog.Suspension
}

const unifiedLacks = "unified logs have sizes in KiB, timestamps in ms and durations in µs; promoted and free bytes by generation, individual heaps and the time to suspend for final background pauses are unknown, " +
	"and so is what -Xlog left out"

func newUnified(observe func(*gclog.Process) formats.Observer, at *reading) parser {
	return &unified{observe: observe, reading: at}
}

// recognizeUnified recognizes lines that no JVM writes: headers with .NET, details after nine
// blanks, pauses with sizes in KiB, suspensions with a reason.
func recognizeUnified(line []byte) (time.Time, bool) {
	u := unified{observe: nobody, reading: &reading{}}
	d, ok := u.decorator.read(line)
	if !ok || d.tags == otherTags {
		return time.Time{}, false
	}
	if n, text, ok := collection(d.text); ok {
		word := wordOf(text, d.tags)
		ours := bytes.Contains(d.text, nineBlanks) || word == words[0] && bytes.Contains(text, kibArrow)
		return d.time(), ours && word != "" && u.event(&d, n, word, text)
	}
	if _, ok := arguments(d.text); ok {
		return d.time(), true
	}
	rest, ok := isSuspension(d.text)
	return d.time(), ok && u.suspensionLine(&d, rest)
}

// isPlain reports whether the head of a unified log contains pauses but no DotNet lines, which come
// before the end of the pause.
func isPlain(head []byte) bool {
	if bytes.Contains(head, []byte(dotNet)) {
		return false
	}
	var r decorator
	for line := range bytes.Lines(head) {
		d, ok := r.read(bytes.TrimRight(line, "\r\n"))
		if !ok {
			continue
		}
		_, text, ok := collection(d.text)
		if ok && wordOf(text, d.tags) == words[0] && bytes.Contains(text, kibArrow) {
			return true
		}
	}
	return false
}

func (u *unified) line(b []byte) bool {
	d, ok := u.decorator.read(b)
	switch {
	case !ok:
		return false
	case d.tags == otherTags:
		return true
	}
	return u.read(&d) && !u.beyond
}

// read handles the text of a line.
func (u *unified) read(d *decorations) bool {
	if n, text, ok := collection(d.text); ok {
		if word := wordOf(text, d.tags); word != "" {
			return u.event(d, n, word, text)
		}
		return !cut(text, wordsOf(d.tags))
	}
	if rest, ok := literal(d.text, stopped); ok {
		return u.suspensionLine(d, rest)
	}
	if facts, ok := arguments(d.text); ok {
		u.head(facts)
		u.pid = d.pid
		return true
	}
	text := trimBlanks(d.text)
	if rest, ok := literal(text, settings); ok {
		return u.settingsLine(rest)
	}
	if rest, ok := literal(text, sessionLine); ok {
		return u.sessionLine(d, rest)
	}
	if string(text) == using {
		return true
	}
	return d.tags != noTags && !cut(text, heads[:])
}

var nineBlanks, kibArrow = []byte(")         "), []byte("K->")

const (
	using    = "Using Concurrent Mark Sweep"
	settings = "Settings: "

	sessionLine = "Session: "

	parNew     = "ParNew: "
	cms        = "CMS: "
	dotNet     = "DotNet: "
	condemned  = "Condemned: "
	program    = "Program: "
	references = "References: "
	phases     = "Phases: "
	roots      = "Roots: "
	oneHeap    = "Heap "
)

// What lines start with after the decorations, and after GC(n): first those of the default, then
// those that -Xlog adds.
var (
	heads = [...]string{"GC(", using, "VM Arguments: .NET", settings, sessionLine, stopped}
	words = [...]string{"Pause ", "Concurrent ", parNew, cms, "Old: ", dotNet, "User=", condemned, program, references, phases, roots, oneHeap}
)

const defaultWords = 7

// wordsOf returns the words that lines with these tags start with.
func wordsOf(t tags) []string {
	if t == detailTags {
		return words[defaultWords:]
	}
	return words[:]
}

// cut reports whether an unknown text is the start of a known one.
func cut(text []byte, begins []string) bool {
	for _, begin := range begins {
		if n := min(len(text), len(begin)); string(text[:n]) == begin[:n] {
			return true
		}
	}
	return false
}

// collection reads GC(n) and the blanks after it.
func collection(b []byte) (n uint32, text []byte, ok bool) {
	text, ok = literal(b, "GC(")
	if !ok {
		return 0, b, false
	}
	v, text, ok := number(text)
	if !ok || v > math.MaxUint32 {
		return 0, b, false
	}
	if text, ok = literal(text, ") "); !ok {
		return 0, b, false
	}
	return uint32(v), trimBlanks(text), true
}

func trimBlanks(b []byte) []byte {
	for len(b) > 0 && b[0] == ' ' {
		b = b[1:]
	}
	return b
}

// wordOf returns the word that a text after GC(n) starts with; "" for lines that gclog does not
// need.
func wordOf(text []byte, t tags) string {
	for _, w := range wordsOf(t) {
		if len(text) > len(w) && text[0] == w[0] && string(text[:len(w)]) == w {
			return w
		}
	}
	return ""
}

// event handles a line of collection n that starts with word.
func (u *unified) event(d *decorations, n uint32, word string, b []byte) bool {
	b = b[len(word):]
	switch word {
	case condemned, program, references, phases, roots, oneHeap:
		if n != u.background.Number {
			u.closeEnded()
		}
		return u.detailLine(d, n, word, b)
	}
	u.closeEnded()
	switch word {
	case parNew, cms:
		return u.poolLine(d, n, b)
	}
	switch word[0] {
	case 'P':
		return u.pauseLine(d, n, b)
	case 'C':
		return u.concurrentLine(d, n, b)
	case 'O':
		return u.oldLine(n, b)
	case 'D':
		return u.dotnetLine(d, n, b)
	}
	return u.cpuLine(n, b)
}

// pauseLine reads the start or the end of a pause:
//
//	Pause Young (Allocation Failure)
//	Pause Young (Allocation Failure) 67502K->61966K(73096K) 24.295ms
//	Pause Initial Mark
//	Pause Initial Mark 47420K->47420K(112768K) 0.849ms
func (u *unified) pauseLine(d *decorations, n uint32, b []byte) bool {
	if rest, ok := literal(b, "Young ("); ok {
		return u.blockingLine(d, n, rest)
	}
	if rest, ok := literal(b, "Full ("); ok {
		return u.blockingLine(d, n, rest)
	}
	if rest, ok := literal(b, "Initial Mark"); ok {
		return u.backgroundLine(d, n, rest, gclog.PauseInitial)
	}
	if rest, ok := literal(b, "Remark"); ok {
		return u.backgroundLine(d, n, rest, gclog.PauseFinal)
	}
	return false
}

func (u *unified) blockingLine(d *decorations, n uint32, b []byte) bool {
	end := bytes.Index(b, closing)
	isEnd := end >= 0
	var s summary
	if isEnd {
		var ok bool
		if s, ok = readSummary(b[end+len(closing):]); !ok {
			return false
		}
	} else if end = len(b) - 1; end < 0 || b[end] != ')' || d.tags == gcTag {
		return false
	}
	cause := b[:end]
	if bytes.IndexByte(cause, '(') >= 0 && cause[len(cause)-1] != ')' {
		return false
	}
	at := u.at(d.moment)
	g := u.blockingOf(n, at)
	if g == nil {
		return true
	}
	if !isEnd {
		g.begin = at
		return true
	}
	start, duration := u.place(g.begin, at, s.duration, noTime)
	u.endBlocking(g, start, duration)
	return true
}

var closing = []byte(") ")

func (u *unified) backgroundLine(d *decorations, n uint32, b []byte, kind gclog.PauseKind) bool {
	isEnd := len(b) > 0
	var s summary
	if isEnd {
		var ok bool
		if s, ok = readSummary(b[1:]); !ok || b[0] != ' ' {
			return false
		}
	} else if d.tags == gcTag {
		return false
	}
	at := u.at(d.moment)
	g := u.backgroundOf(n, at)
	if !isEnd {
		g.begin = at
		return true
	}
	likely := noTime
	if kind == gclog.PauseFinal {
		likely = g.details.MarkEnd
	}
	start, duration := u.place(g.begin, at, s.duration, likely)
	u.endPause(g, kind, start, duration, s.heap.after, s.capacity)
	return true
}

// A summary is 47420K->47420K(112768K) 0.849ms.
type summary struct {
	heap     sizes
	capacity int64
	duration int64
}

func readSummary(b []byte) (s summary, ok bool) {
	if s.heap, s.capacity, b, ok = bounds(b); !ok {
		return s, false
	}
	if b, ok = literal(b, " "); !ok {
		return s, false
	}
	s.duration, b, ok = millis(b)
	return s, ok && len(b) == 0
}

// millis reads 0.849ms.
func millis(b []byte) (ns int64, rest []byte, ok bool) {
	if ns, rest, ok = duration(b, 3, int64(time.Microsecond)); !ok {
		return 0, b, false
	}
	rest, ok = literal(rest, "ms")
	return ns, rest, ok
}

// concurrentLine reads the start or the end of a phase:
//
//	Concurrent Mark
//	Concurrent Mark 58.759ms
func (u *unified) concurrentLine(d *decorations, n uint32, b []byte) bool {
	for i, title := range phaseTitles {
		rest, ok := literal(b, title)
		if !ok {
			continue
		}
		lasted, isEnd := int64(0), len(rest) > 0
		if isEnd {
			if rest, ok = literal(rest, " "); ok {
				lasted, rest, ok = millis(rest)
			}
			if !ok || len(rest) > 0 {
				return false
			}
		}
		u.phaseLine(d, n, i, isEnd, lasted)
		return true
	}
	return false
}

// phaseTitles are the titles of the phases by kind, and those of Java's other phases.
var phaseTitles = [...]string{gclog.PhaseMark: "Mark", gclog.PhaseSweep: "Sweep", resetPhase: "Reset", 3: "Preclean", 4: "Abortable Preclean"}

const resetPhase = 2 // shows that the sweep has ended

func (u *unified) phaseLine(d *decorations, n uint32, phase int, isEnd bool, lasted int64) {
	at := u.at(d.moment)
	if phase >= resetPhase {
		if g := &u.background; phase == resetPhase && g.open && g.Number == n {
			u.confirm(g)
		}
		return
	}
	kind := gclog.PhaseKind(phase)
	g := u.backgroundOf(n, at)
	if !isEnd {
		u.beginPhase(g, kind, at)
		return
	}
	const rounding = int64(time.Microsecond)/2 - 1
	least := lasted - rounding
	if lasted <= int64(time.Microsecond) { // shorter phases are shown with this duration
		least = 0
	}
	u.endPhase(g, kind, at, least, lasted+rounding)
}

// poolLine reads 6764K->1228K(12358K), the sizes of a pool, and ignores them: the DotNet line after
// it is more precise.
func (u *unified) poolLine(d *decorations, n uint32, b []byte) bool {
	_, _, b, ok := bounds(b)
	if !ok || len(b) > 0 {
		return false
	}
	u.blockingOf(n, u.at(d.moment))
	return true
}

// oldLine reads the sizes of the old generation, and ignores them: the DotNet line after it is more
// precise. It comes after the sweep.
func (u *unified) oldLine(n uint32, b []byte) bool {
	_, _, b, ok := bounds(b)
	if !ok || len(b) > 0 {
		return false
	}
	if g := &u.background; g.open && g.Number == n {
		u.confirm(g)
	}
	return true
}

// cpuLine reads 0.00s Sys=0.00s Real=0.02s. These values were not measured: the line only shows
// that the pause is over.
func (u *unified) cpuLine(n uint32, b []byte) bool {
	for _, s := range [...]string{"s Sys=", "s Real=", "s"} {
		_, rest, ok := fixed(b, 2)
		if !ok {
			return false
		}
		if b, ok = literal(rest, s); !ok {
			return false
		}
	}
	if len(b) == 0 && u.blocking.Number == n {
		u.closeBlocking()
	}
	return len(b) == 0
}

// sessionLine reads when the observation of the process started or ended, or a pause without a
// collection:
//
//	begin=2026-11-21T00:27:22.429000000Z, workers=2
//	pause=no-gc-region, took=0.123ms, suspend=0.025ms, number=17, workers=2
//
// If lines have no dates, it is unknown how far from them the start and the end are.
func (u *unified) sessionLine(d *decorations, b []byte) bool {
	var at [2]int64
	var known [2]bool
	heaps := int32(0)
	var p gclog.Pause
	hasDuration := false
	ok := eachField(b, func(name, value []byte) (ok bool) {
		i := 0
		switch string(name) {
		case "begin":
		case "end":
			i = 1
		case "pause":
			p.Kind, ok = named(value, gclog.PauseUnknown)
			return ok && p.Kind > gclog.PauseFinal
		case "took":
			hasDuration = true
			return readMillis(&p.Duration, value)
		case "suspend":
			p.HasSuspend = true
			return readMillis(&p.Suspend, value)
		case "number":
			return readCount(&p.UsedNumber, value, math.MaxUint32)
		case "workers":
			return readWorkers(&heaps, value)
		default:
			return true
		}
		ns, rest, ok := u.days.date(value)
		at[i] = ns
		if w := d.moment.wall; d.moment.wallUnit != 0 && (ns < w-int64(time.Second) || ns > w+int64(time.Second)) {
			return false // the time does not belong to this line
		}
		known[i] = true
		return ok && ns >= 0 && ns <= farthest && len(rest) == 0
	})
	if !ok {
		return false
	}
	now := u.at(d.moment)
	if p.Kind != 0 {
		if !hasDuration {
			return false
		}
		u.pauseWithoutGC(p, now)
		return true
	}
	if u.base.wallUnit == 0 || u.out == nil {
		return true
	}
	u.closeBlocking()
	u.closeBackground()
	if begin := at[0]; known[0] {
		u.emittedUntil = max(u.emittedUntil, begin-u.base.wall)
		u.out.Start(&formats.Start{At: begin - u.base.wall, Ticks: begin})
	}
	if end := at[1]; known[1] {
		u.out.End(&formats.End{At: end - u.base.wall, Ticks: end, Reason: formats.EndOfRecording})
	}
	return true
}

// pauseWithoutGC emits a pause that ended in the span at.
func (u *unified) pauseWithoutGC(p gclog.Pause, at span) {
	u.closeBlocking()
	u.closeEnded()
	p.Start, p.Duration = u.place(span{}, at, p.Duration, noTime)
	p.Suspend = min(p.Suspend, p.Duration)
	p.Ticks = p.Start
	u.emittedUntil = p.Start + p.Duration
	u.pause = p
	if u.out != nil {
		u.out.Pause(&u.pause)
	}
}

func (u *unified) dotnetLine(d *decorations, n uint32, b []byte) bool {
	s, ok := readStats(b)
	if !ok {
		return false
	}
	at := u.at(d.moment)
	u.reading.details = true
	if s.kind == gclog.KindBackground {
		u.backgroundStats(&s, n, at)
		return true
	}
	g := u.blockingOf(n, at)
	if g == nil {
		return true
	}
	s.fill(&g.GCDetails)
	g.Generation, g.Kind, g.Type = s.generation, s.kind, typeOf(s.kind)
	g.stats, g.suspend, g.hasSuspend = true, s.suspend, s.hasSuspend
	return true
}

// backgroundStats handles the DotNet line in a pause, or the one at the end of the collection.
func (u *unified) backgroundStats(s *stats, n uint32, at span) {
	g := u.backgroundOf(n, at)
	g.stats = true
	if s.generations == 0 && !g.hasSweepEnd && !g.reset {
		g.Reason, g.HasReason = s.reason, s.hasReason
		g.suspend, g.hasSuspend = s.suspend, s.hasSuspend
		return
	}
	u.confirm(g)
	s.fill(&g.GCDetails)
	if n := len(g.Pauses); n > 1 && s.hasSuspend && g.Pauses[0].HasSuspend { // the first pause has its own
		last := &g.Pauses[n-1]
		last.Suspend, last.HasSuspend = max(0, min(s.suspend-g.Pauses[0].Suspend, last.Duration)), true
	}
	g.ended = true
}

// arguments reads what the header contains about the process:
//
//	VM Arguments: .NET 10.0.14, process 4711 MyApp, Server GC, concurrent, libclrgc.so, 2 GC workers
func arguments(b []byte) (facts *gclog.Process, ok bool) {
	b, ok = literal(b, "VM Arguments: ")
	if !ok {
		return nil, false
	}
	b, workers, ok := cutLast(b)
	if !ok {
		return nil, false
	}
	p := gclog.Process{}
	if string(workers) != "GC workers unknown" {
		n, rest, ok := number(workers)
		if !ok || n > math.MaxInt32 || string(rest) != " GC workers" {
			return nil, false
		}
		p.HeapCount = int(n)
	}
	if rest, last, ok := cutLast(b); ok && isLibrary(last) && !bytes.HasPrefix(last, []byte("process ")) {
		p.GCLibrary, b = string(last), rest
	}
	for {
		rest, last, ok := cutLast(b)
		if !ok {
			break
		}
		switch string(last) {
		case "concurrent":
			p.Concurrent = gclog.Yes
		case "non-concurrent":
			p.Concurrent = gclog.No
		case "Server GC":
			p.SetServer(gclog.Yes, gclog.EvidenceRecorded)
		case "Workstation GC":
			p.SetServer(gclog.No, gclog.EvidenceRecorded)
		default:
			return &p, runtimeOf(b, &p)
		}
		b = rest
	}
	return nil, false
}

// cutLast cuts off what comes after the last comma.
func cutLast(b []byte) (before, last []byte, ok bool) {
	i := bytes.LastIndex(b, []byte(", "))
	if i < 0 {
		return b, nil, false
	}
	return b[:i], b[i+2:], true
}

func isLibrary(b []byte) bool {
	for _, extension := range [...]string{".so", ".dll", ".dylib"} {
		if bytes.HasSuffix(b, []byte(extension)) {
			return true
		}
	}
	return false
}
