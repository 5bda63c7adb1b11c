package logs

import (
	"bytes"
	"math"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// unified reads what -Xlog of JDK 9 and up writes, with any decorations that contain
// a time, and any selection of its lines.
type unified struct {
	jdk
	decorator decorator
}

const unifiedLacks = "unified logs have sizes in KiB, stamps in milliseconds and durations in microseconds; allocations, objects, limits, single heaps and what each generation " +
	"promoted are not known, nor what -Xlog left out: without DotNet lines gen1, reasons and compaction, with [gc] lines alone the generations, all is gen2 then"

func newUnified(observe func(*gclog.Process) Observer) parser {
	return &unified{jdk: jdk{observe: observe}}
}

func recognizeUnified(line []byte) (time.Time, bool) {
	var r decorator
	d, ok := r.read(line)
	if !ok || d.tags == otherTags {
		return time.Time{}, false
	}
	if _, ok := arguments(d.text); ok || string(d.text) == using {
		return d.time(), true
	}
	n, text, ok := collection(d.text)
	word := wordOf(text)
	if !ok || word == "" {
		return time.Time{}, false
	}
	u := unified{jdk: jdk{observe: nobody}}
	return d.time(), u.event(&d, n, word, text)
}

func (u *unified) line(b []byte) bool {
	d, ok := u.decorator.read(b)
	switch {
	case !ok:
		return false
	case d.tags == otherTags:
		return true
	}
	if u.process == nil && d.pid != 0 {
		u.process = &gclog.Process{ID: d.pid}
	}
	if n, text, ok := collection(d.text); ok {
		if word := wordOf(text); word != "" {
			return u.event(&d, n, word, text)
		}
		return !cut(text, words[:])
	}
	if facts, ok := arguments(d.text); ok {
		u.head(facts)
		return true
	}
	if string(d.text) == using {
		return true
	}
	return d.tags != noTags && !cut(d.text, heads[:])
}

const (
	using  = "Using Concurrent Mark Sweep"
	parNew = "ParNew: "
	cms    = "CMS: "
)

// What lines begin with behind the decorations, and behind GC(n).
var (
	heads = [...]string{"GC(", using, "VM Arguments: .NET"}
	words = [...]string{"Pause ", "Concurrent ", parNew, cms, "Old: ", "DotNet: ", "User="}
)

// cut tells whether a text that nobody knows is the begin of what is known.
func cut(text []byte, begins []string) bool {
	for _, begin := range begins {
		if n := min(len(text), len(begin)); string(text[:n]) == begin[:n] {
			return true
		}
	}
	return false
}

// collection reads GC(n) and the blanks behind it.
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
	for len(text) > 0 && text[0] == ' ' {
		text = text[1:]
	}
	return uint32(v), text, true
}

// wordOf returns the word that a text behind GC(n) begins with; "" for lines that gclog
// does not need.
func wordOf(text []byte) string {
	for _, w := range words {
		if len(text) > len(w) && text[0] == w[0] && string(text[:len(w)]) == w {
			return w
		}
	}
	return ""
}

// event takes a line of collection n that begins with word.
func (u *unified) event(d *decorations, n uint32, word string, b []byte) bool {
	b = b[len(word):]
	switch word[0] {
	case 'P':
		if word == parNew {
			return u.poolLine(d, n, b, true)
		}
		return u.pauseLine(d, n, b)
	case 'C':
		if word == cms {
			return u.poolLine(d, n, b, false)
		}
		return u.concurrentLine(d, n, b)
	case 'O':
		return u.oldLine(n, b)
	case 'D':
		return u.dotnetLine(d, n, b)
	}
	return u.cpuLine(n, b)
}

// pauseLine reads the begin or the end of a pause:
//
//	Pause Young (Allocation Failure)
//	Pause Young (Allocation Failure) 67502K->61966K(73096K) 24.295ms
//	Pause Initial Mark
//	Pause Initial Mark 47420K->47420K(112768K) 0.849ms
func (u *unified) pauseLine(d *decorations, n uint32, b []byte) bool {
	if rest, ok := literal(b, "Young ("); ok {
		return u.blockingLine(d, n, rest, gclog.Gen0)
	}
	if rest, ok := literal(b, "Full ("); ok {
		return u.blockingLine(d, n, rest, gclog.Gen2)
	}
	if rest, ok := literal(b, "Initial Mark"); ok {
		return u.backgroundLine(d, n, rest, gclog.PauseInitial)
	}
	if rest, ok := literal(b, "Remark"); ok {
		return u.backgroundLine(d, n, rest, gclog.PauseFinal)
	}
	return false
}

func (u *unified) blockingLine(d *decorations, n uint32, b []byte, generation int) bool {
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
	u.condemn(g, generation, cause)
	if !isEnd {
		g.begin = at
		return true
	}
	g.pools.heap, g.pools.capacity, g.pools.hasHeap = s.heap, s.capacity, true
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

// concurrentLine reads the begin or the end of a phase:
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

// phaseTitles are the phases by their kinds, and what else is a phase in Java.
var phaseTitles = [...]string{gclog.PhaseMark: "Mark", gclog.PhaseSweep: "Sweep", resetPhase: "Reset", 3: "Preclean", 4: "Abortable Preclean"}

const resetPhase = 2 // tells that the sweep has ended

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
	if lasted <= int64(time.Microsecond) { // shorter ones are said to be as long
		least = 0
	}
	u.endPhase(g, kind, at, least, lasted+rounding)
}

// poolLine reads the sizes of a pool: 6764K->1228K(12358K).
func (u *unified) poolLine(d *decorations, n uint32, b []byte, young bool) bool {
	s, _, b, ok := bounds(b)
	if !ok || len(b) > 0 {
		return false
	}
	g := u.blockingOf(n, u.at(d.moment))
	switch {
	case g == nil:
	case young:
		g.pools.young, g.pools.hasYoung = s, true
	default:
		g.pools.old, g.pools.hasOld = s, true
	}
	return true
}

// oldLine reads what the DotNet line behind it says better. It comes after the sweep.
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

// cpuLine reads 0.00s Sys=0.00s Real=0.02s, which nobody measured: it only shows that
// the pause is over.
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

func (u *unified) dotnetLine(d *decorations, n uint32, b []byte) bool {
	s, ok := readStats(b)
	if !ok {
		return false
	}
	at := u.at(d.moment)
	u.stats = true
	if s.kind == gclog.KindBackground {
		u.backgroundStats(&s, n, at)
		return true
	}
	g := u.blockingOf(n, at)
	if g == nil {
		return true
	}
	s.fill(&g.GCDetails)
	g.Generation, g.Kind = s.generation, s.kind
	if g.Type = clr.TypeBlocking; s.kind == gclog.KindForeground {
		g.Type = clr.TypeForeground
	}
	g.stats, g.suspend = true, s.suspend
	if s.generations > 0 {
		p := &g.pools
		p.young, p.old = s.pools()
		p.hasYoung, p.hasOld = true, true
	}
	return true
}

// backgroundStats takes the line in the first pause, or the last line of all.
func (u *unified) backgroundStats(s *stats, n uint32, at span) {
	g := u.backgroundOf(n, at)
	if g.Flaws&gclog.FlawNoSuspend != 0 && s.generations == 0 && !g.hasSweepEnd && !g.reset {
		g.Reason, g.HasReason = s.reason, s.hasReason
		g.suspend = s.suspend
		return
	}
	u.confirm(g)
	s.fill(&g.GCDetails)
	if last := len(g.Pauses) - 1; last > 0 && s.suspend >= 0 && g.Pauses[0].Suspend >= 0 { // the first has told its own
		g.Pauses[last].Suspend = max(0, min(s.suspend-g.Pauses[0].Suspend, g.Pauses[last].Duration))
	}
	u.closeBackground()
}

// stats is what a DotNet line says:
//
//	gen0 blocking compacting, reason=AllocSmall, gen0=2560K->56K, …, suspend=0.025ms, workers=1
type stats struct {
	generation       int
	kind             gclog.Kind
	compacting       bool
	knownMechanism   bool // compacting is
	reason           clr.Reason
	hasReason        bool
	sizes            [gclog.Generations]sizes
	generations      int // how many of sizes are there
	promoted         int64
	hasPromoted      bool
	fragmentation    int64
	hasFragmentation bool
	committed        int64
	hasCommitted     bool
	suspend          int64 // gclog.Untold
	workers          int32 // 0: unknown
}

func readStats(b []byte) (s stats, ok bool) {
	s.suspend = gclog.Untold
	head, b, ok := cutComma(b)
	if !ok || !s.readHead(head) {
		return s, false
	}
	for {
		value, rest, more := cutComma(b)
		equals := bytes.IndexByte(value, '=')
		if equals < 0 {
			return s, false
		}
		key, value := value[:equals], value[equals+1:]
		if !s.read(key, value) {
			return s, false
		}
		if !more {
			return s, string(key) == "workers" // it is the last
		}
		b = rest
	}
}

// cutComma cuts b at its first comma, behind which a blank is.
func cutComma(b []byte) (before, after []byte, ok bool) {
	i := bytes.IndexByte(b, ',')
	if i < 0 || i+1 == len(b) || b[i+1] != ' ' {
		return b, nil, false
	}
	return b[:i], b[i+2:], true
}

// readHead reads gen0 blocking compacting.
func (s *stats) readHead(b []byte) bool {
	b, ok := literal(b, "gen")
	if !ok {
		return false
	}
	generation, b, ok := number(b)
	if !ok || generation > math.MaxUint8 {
		return false
	}
	s.generation = int(generation)
	if b, ok = literal(b, " "); !ok {
		return false
	}
	kind, mechanism, _ := bytes.Cut(b, space)
	switch string(kind) {
	case "blocking":
	case "background":
		s.kind = gclog.KindBackground
	case "foreground":
		s.kind = gclog.KindForeground
	default:
		return false
	}
	switch string(mechanism) {
	case "compacting":
		s.compacting, s.knownMechanism = true, true
	case "sweeping":
		s.knownMechanism = true
	case "":
	default:
		return false
	}
	return true
}

func (s *stats) read(key, b []byte) (ok bool) {
	switch string(key) {
	case "reason":
		s.reason, s.hasReason = clr.ParseReason(b)
		return s.hasReason
	case "gen0", "gen1", "gen2":
		return s.readSizes(int(key[3]-'0'), b)
	case "loh":
		return s.readSizes(gclog.LOH, b)
	case "poh":
		return s.readSizes(gclog.POH, b)
	case "promoted":
		s.promoted, b, s.hasPromoted = size(b)
		return s.hasPromoted && len(b) == 0
	case "fragmentation":
		s.fragmentation, b, s.hasFragmentation = size(b)
		return s.hasFragmentation && len(b) == 0
	case "committed":
		s.committed, b, s.hasCommitted = size(b)
		return s.hasCommitted && len(b) == 0
	case "suspend":
		s.suspend, b, ok = millis(b)
		return ok && len(b) == 0
	case "workers":
		workers, rest, ok := number(b)
		s.workers = int32(min(workers, math.MaxInt32))
		return ok && len(rest) == 0 || string(b) == "unknown"
	}
	return true // of a later version
}

func (s *stats) readSizes(g int, b []byte) (ok bool) {
	s.sizes[g], b, ok = pair(b)
	s.generations = max(s.generations, g+1)
	return ok && len(b) == 0
}

func (s *stats) pools() (young, old sizes) {
	for g, x := range s.sizes {
		pool := &old
		if g <= gclog.Gen1 {
			pool = &young
		}
		pool.before += x.before
		pool.after += x.after
	}
	return young, old
}

func (s *stats) fill(d *gclog.GCDetails) {
	d.Reason, d.HasReason = s.reason, s.hasReason
	d.Global.Heaps = s.workers
	if d.HasCompaction = s.knownMechanism; s.compacting {
		d.Global.Mechanisms = clr.MechanismCompaction
	}
	if s.generations > 0 {
		d.GenerationCount = s.generations
		d.HasBefore, d.HasSizesAfter = true, true
		for g := range s.sizes {
			s.sizes[g].set(&d.Generations[g])
		}
	}
	d.PromotedBytes, d.HasPromoted = uint64(s.promoted)*kibibyte, s.hasPromoted
	d.Generations[gclog.Gen2].Fragmentation, d.HasFragmentation = uint64(s.fragmentation)*kibibyte, s.hasFragmentation
	d.CommittedAfter, d.HasCommittedAfter = uint64(s.committed)*kibibyte, s.hasCommitted
}

// arguments reads what the head says of the process:
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
			p.Server = gclog.Yes
		case "Workstation GC":
			p.Server = gclog.No
		default:
			return &p, runtimeOf(b, &p)
		}
		b = rest
	}
	return nil, false
}

// cutLast cuts off what stands behind the last comma.
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

// The tags of a line, as far as they matter.
type tags uint8

const (
	noTags    tags = iota
	gcTag          // [gc]
	ownTags        // the others of what gclog writes into each log
	otherTags      // of lines that tell more
)

// decorations are what a line has before its text.
type decorations struct {
	moment
	pid  int64 // of the process, or the thread
	tags tags
	text []byte
}

// A decorator reads decorations. There may be, in this order and each in its
// brackets: the date in local time and in UTC, the uptime, the time and the uptime in
// milliseconds and nanoseconds, host, process, thread, level, tags. They tell by
// themselves what they are, but for host and tags: tags that are none of the GC's
// matter no more than a host does.
type decorator struct {
	calendar calendar
	// What the lines of a pause have in common: the brackets that begin with a digit, and
	// what they say.
	begin [256]byte
	size  int
	same  decorations
}

// read is false for lines without a time.
func (r *decorator) read(b []byte) (d decorations, ok bool) {
	if r.size == 0 || len(b) < r.size || string(b[:r.size]) != string(r.begin[:r.size]) {
		if !r.readBegin(b) {
			return d, false
		}
	}
	d = r.same
	b = b[r.size:]
	for len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 2 {
			return d, false
		}
		if t := tagsOf(b[1:end]); t != noTags {
			d.tags = t
		}
		b = b[end+1:]
	}
	if len(b) < 2 || b[0] != ' ' {
		return d, false
	}
	d.text = b[1:]
	return d, true
}

// readBegin reads the times, and what else begins with a digit.
func (r *decorator) readBegin(b []byte) bool {
	r.size = 0
	r.same = decorations{}
	rest := b
	for len(rest) > 1 && rest[0] == '[' && rest[1]-'0' <= 9 {
		end := bytes.IndexByte(rest, ']')
		if end < 0 || !r.number(&r.same, rest[1:end]) {
			return false
		}
		rest = rest[end+1:]
	}
	size := len(b) - len(rest)
	if !r.same.known() || size > len(r.begin) {
		return false
	}
	r.size = copy(r.begin[:], b[:size])
	return true
}

// number takes what begins with a digit. Names of hosts may do so too.
func (r *decorator) number(d *decorations, x []byte) bool {
	if len(x) > len("2006-01-02T") && x[4] == '-' {
		ns, rest, ok := r.calendar.date(x)
		return ok && len(rest) == 0 && d.setWall(ns, dateUnit(x))
	}
	if x[len(x)-1] != 's' {
		if n, rest, ok := number(x); ok && len(rest) == 0 && n <= math.MaxInt64 && d.pid == 0 {
			d.pid = int64(n)
		}
		return true
	}
	if ns, unit, rest, ok := seconds(x); ok && string(rest) == "s" {
		return d.setUp(ns, unit)
	}
	n, rest, ok := number(x)
	if !ok {
		return true
	}
	unit := int64(1)
	switch string(rest) {
	case "ms":
		unit = int64(time.Millisecond)
	case "ns":
	default:
		return true
	}
	if n > uint64(farthest/unit) {
		return false
	}
	// The time and the uptime look alike. No process is as old as the time is.
	const oldest = 31 * 365 * 24 * int64(time.Hour)
	ns := int64(n) * unit
	if ns > oldest {
		return d.setWall(ns, unit)
	}
	return d.setUp(ns, unit)
}

// tagsOf tells what tags those in brackets are, which may be padded with blanks.
func tagsOf(x []byte) tags {
	for len(x) > 0 && x[len(x)-1] == ' ' {
		x = x[:len(x)-1]
	}
	switch string(x) {
	case "gc":
		return gcTag
	case "gc,start", "gc,heap", "gc,stats", "gc,cpu", "gc,init":
		return ownTags
	}
	if bytes.HasPrefix(x, []byte("gc,")) || bytes.HasPrefix(x, []byte("safepoint")) {
		return otherTags
	}
	return noTags
}
