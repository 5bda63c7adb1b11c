package formats

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// The lines of the unified format that are written only if -Xlog selects them. All are of the kind
// that every reader of Java's logs skips: nine blanks, a first letter that garbagecat drops, and
// "workers" at the end.

// A pairs writes such a line: its title and its named values.
type pairs struct {
	u     *unified
	whole []byte // without this line
	b     []byte
	comma bool
	exact bool // sizes in bytes and times in nanoseconds, not in KiB and microseconds
}

// pairs starts a line about the process, gcPairs one about collection n.
func (u *unified) pairs(dst []byte, at int64, set TagSet, level Level, title string) pairs {
	b := u.stamp(dst, at, set, level)
	return u.titled(dst, append(b, "        "...), title)
}

func (u *unified) gcPairs(dst []byte, at int64, set TagSet, level Level, n uint32, title string) pairs {
	dst = u.opening(dst)
	return u.titled(dst, u.detail(dst, at, set, level, n), title)
}

func (u *unified) titled(whole, b []byte, title string) pairs {
	b = append(b, title...)
	return pairs{u: u, whole: whole, b: append(b, ' ')}
}

// end returns the line, if it has any values.
func (f *pairs) end() []byte {
	if !f.comma {
		return f.whole
	}
	return f.u.workers(f.b)
}

func (f *pairs) name(name string) {
	if f.comma {
		f.b = append(f.b, ", "...)
	}
	f.comma = true
	f.b = append(f.b, name...)
	f.b = append(f.b, '=')
}

func (f *pairs) uint(name string, v uint64, known bool) {
	if known {
		f.name(name)
		f.b = appendUint(f.b, v)
	}
}

// text appends one of gclog's own words, unless it is empty.
func (f *pairs) text(name, word string) {
	if word != "" {
		f.name(name)
		f.b = append(f.b, word...)
	}
}

// foreign appends a text of the process, without the commas that separate values.
func (f *pairs) foreign(name, value string) {
	if value == "" {
		return
	}
	f.name(name)
	from := len(f.b)
	f.b = appendPlain(f.b, value[:min(len(value), maxForeign)])
	for i, c := range f.b[from:] {
		if c == ',' {
			f.b[from+i] = '_'
		}
	}
}

// maxForeign limits the texts of a process in headers.
const maxForeign = 200

func (f *pairs) size(name string, bytes uint64, known bool) {
	if known {
		f.name(name)
		f.b = f.appendSize(f.b, bytes)
	}
}

func (f *pairs) appendSize(dst []byte, bytes uint64) []byte {
	if f.exact {
		return append(appendUint(dst, bytes), 'B')
	}
	return appendKiB(dst, bytes)
}

func appendKiB(dst []byte, bytes uint64) []byte {
	dst = strconv.AppendInt(dst, kib(bytes), 10)
	return append(dst, 'K')
}

func (f *pairs) millis(name string, ns int64, known bool) {
	if !known {
		return
	}
	f.name(name)
	if f.exact {
		f.b = appendFixed(f.b, ns, 6, 6)
	} else {
		f.b = appendMillis(f.b, ns)
	}
	f.b = append(f.b, "ms"...)
}

// date appends a time, with all its digits.
func (f *pairs) date(name string, at int64) {
	f.name(name)
	f.b = f.u.clock.appendClock(f.b, at, 9)
	f.b = append(f.b, 'Z')
}

// phase appends when a phase started or ended, unless that is 0.
func (f *pairs) phase(name string, at int64) {
	if at != 0 {
		f.date(name, at)
	}
}

func (f *pairs) pause(p *gclog.PausePart) {
	f.text("pause", p.Kind.String())
	f.date("at", p.Start)
	f.millis("took", p.Duration, true)
	f.millis("suspend", p.Suspend, p.HasSuspend)
	f.millis("resume", p.Resume, p.HasResume)
}

// beforeAndAfter appends the sizes of a generation, of which one may be unknown.
func (f *pairs) beforeAndAfter(g int, d *gclog.GCDetails) {
	if !d.Known.Has(gclog.GroupBefore) && !d.Known.Has(gclog.GroupAfter) {
		return
	}
	f.name(gclog.GenerationName(g))
	if d.Known.Has(gclog.GroupBefore) {
		f.b = f.appendSize(f.b, d.Generations[g].Before)
	}
	f.b = append(f.b, "->"...)
	if d.Known.Has(gclog.GroupAfter) {
		f.b = f.appendSize(f.b, d.Generations[g].After)
	}
}

func (f *pairs) generation(name string, g int) {
	f.name(name)
	f.b = append(f.b, gclog.GenerationName(g)...)
}

// The lines of plain fields.
var (
	dotnetLine    = fields.Line(dotnetTitle)
	condemnedLine = fields.Line("Condemned:")
	programLine   = fields.Line("Program:", "allocated", "gen0", "loh", "poh", "rate_per_second", "since_last",
		"ticks_small", "ticks_large", "ticks_pinned")
	referencesLine = fields.Line("References:")
	phasesLine     = fields.Line("Phases:")
)

// known appends those values of a line that are known.
func (f *pairs) known(line []fields.LineValue, d *gclog.GCDetails) {
	for i := range line {
		if x := &line[i]; len(x.Fields) > 1 {
			f.list(x, d)
		} else {
			appendRow(f, x.Name, x.Fields[0], d)
		}
	}
}

// list appends a value of several fields, if any is known.
func (f *pairs) list(x *fields.LineValue, d *gclog.GCDetails) {
	before, end := *f, 0
	f.name(x.Name)
	for i, field := range x.Fields {
		if i > 0 {
			f.b = append(f.b, '/')
		}
		v, known := field.Get(d)
		if !known {
			continue
		}
		if field.Unit == fields.Time {
			v += uint64(f.u.clock.sync)
		}
		if f.b = appendUint(f.b, v); v > 0 || !x.Short {
			end = len(f.b)
		}
	}
	if f.b = f.b[:end]; end == 0 {
		*f = before
	}
}

// appendRows appends those fields that are known.
func appendRows[R any](f *pairs, rows []fields.Row[R], r *R) {
	for i := range rows {
		appendRow(f, rows[i].Unified, &rows[i], r)
	}
}

// appendRow appends a field, if it is known.
func appendRow[R any](f *pairs, name string, x *fields.Row[R], r *R) {
	v, text, known := x.Of(r)
	if !known {
		return
	}
	switch x.Unit {
	case fields.Text:
		f.foreign(name, text)
	case fields.Flag:
		f.text(name, gclog.KnownBool(v != 0).String())
	case fields.Signed:
		f.name(name)
		f.b = strconv.AppendInt(f.b, int64(v), 10)
	case fields.Bytes, fields.PlainBytes:
		f.size(name, v, true)
	case fields.Nanoseconds:
		f.millis(name, int64(v), true)
	case fields.Date:
		f.date(name, int64(v)-f.u.clock.sync)
	case fields.Ratio: // bytes per second
		f.size(name, uint64(math.Float64frombits(v)), true)
	default:
		f.uint(name, v, true)
	}
}

// details appends the details of a collection besides its sizes.
func (u *unified) details(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	if u.on(TagErgo, LevelInfo) {
		dst = u.ergo(dst, at, n, d)
	}
	for _, x := range [...]struct {
		set   TagSet
		title string
		line  []fields.LineValue
	}{
		{TagAlloc, "Program:", programLine},
		{TagRef, "References:", referencesLine},
		{TagPhases, "Phases:", phasesLine},
	} {
		if u.on(x.set, LevelInfo) {
			f := u.gcPairs(dst, at, x.set, LevelInfo, n, x.title)
			f.known(x.line, d)
			dst = f.end()
		}
	}
	if u.on(TagPhases, LevelDebug) {
		dst = u.roots(dst, at, n, d)
	}
	if u.on(TagHeap, LevelDebug) {
		dst = u.eachHeap(dst, at, n, d)
	}
	return dst
}

// ergo appends why this generation was condemned, and what it may allocate until its next
// collection.
func (u *unified) ergo(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagErgo, LevelInfo, n, "Condemned:")
	if steps, conditions, known := d.Condemned(); known {
		f.generation("initial", steps.Initial())
		f.generation("final", steps.Final())
		f.generation("budget_exceeded", steps.BudgetExceeded())
		f.generation("time_tuning", steps.TimeTuning())
		if conditions != 0 {
			f.name("reasons")
			u.names = conditions.Names(u.names[:0])
			f.b = appendNames(f.b, u.names)
		}
	}
	f.known(condemnedLine, d)
	return f.end()
}

// appendNames appends names as one value.
func appendNames(dst []byte, names []string) []byte {
	for i, name := range names {
		if i > 0 {
			dst = append(dst, '+')
		}
		dst = append(dst, name...)
	}
	return dst
}

// roots appends what was marked from which roots, for the slowest heap.
func (u *unified) roots(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	f := u.gcPairs(dst, at, TagPhases, LevelDebug, n, "Roots:")
	for t := range clr.MarkTypes {
		if m := d.Mark(t); m.Known {
			f.millis(fields.Roots[t], m.Longest, true)
			if m.Unsized {
				continue
			}
			f.b = append(f.b, '/')
			f.b = appendKiB(f.b, m.Promoted)
		}
	}
	return f.end()
}

// eachHeap appends the generations of each heap of server GC, which report in any order.
func (u *unified) eachHeap(dst []byte, at int64, n uint32, d *gclog.GCDetails) []byte {
	u.heapOrder = u.heapOrder[:0]
	for i := range d.Heaps {
		if d.Heaps[i].HasHistory {
			u.heapOrder = append(u.heapOrder, i)
		}
	}
	slices.SortFunc(u.heapOrder, func(a, b int) int { return cmp.Compare(d.Heaps[a].Heap, d.Heaps[b].Heap) })
	for _, i := range u.heapOrder {
		h := &d.Heaps[i]
		f := u.gcPairs(dst, at, TagHeap, LevelDebug, n, "Heap")
		f.b = appendUint(f.b, uint64(h.Heap))
		f.b = append(f.b, ": "...)
		for g := range h.History.Generations {
			x := &h.History.Generation[g]
			f.size(gclog.GenerationName(g), x.SizeBefore, true)
			f.b = append(f.b, "->"...)
			f.b = appendKiB(f.b, x.SizeAfter)
		}
		dst = f.end()
	}
	return dst
}

// suspension appends a line of its own, in Java's words, for every suspension, whatever its reason.
func (u *unified) suspension(dst []byte, s *gclog.Suspension) []byte {
	if !u.on(TagSafepoint, LevelInfo) {
		return dst
	}
	u.thread = s.Thread
	dst = u.stamp(u.opening(dst), s.Start+s.Duration, TagSafepoint, LevelInfo)
	dst = append(dst, "Total time for which application threads were stopped: "...)
	dst = appendFixed(dst, s.Duration, 9, 7)
	if s.HasSuspend {
		dst = append(dst, " seconds, Stopping threads took: "...)
		dst = appendFixed(dst, s.Suspend, 9, 7)
	}
	dst = append(dst, " seconds, reason: "...)
	dst = append(dst, s.Reason.String()...)
	return append(dst, '\n')
}
