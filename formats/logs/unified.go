package logs

import (
	"bytes"
	"math"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

const unifiedLacks = "unified logs have no gaps or stalls, and only totals of the heaps of server GC"

// unified reads the DotNet lines of a unified log, whatever decorations they have:
//
//	GC(7)         DotNet: gen0 blocking compacting, reason=AllocSmall, …, workers=1
//	        DotNet: process=4711, name=MyApp, runtime=10.0.14, …, workers=2
//	        DotNet: begin=2026-11-21T00:27:22.429000000Z, workers=2
//	        DotNet: pause=no-gc-region, at=2026-11-21T00:28:01.000000000Z, took=0.123000ms, number=17, workers=2
//
// The other lines are for Java's tools.
type unified struct {
	processes processes
	process   *process // of the lines that follow; nil: none was named
	beyond    bool     // it is one of too many
	days      calendar
	key       []byte
	next      int // in dotnetLine
}

func newUnified(observe func(*gclog.Process) gclog.Observer, at *reading) parser {
	return &unified{processes: processes{pool: pool{at: at, observe: observe}}}
}

// recognizeUnified recognizes lines that no JVM writes, and returns the latest time in a DotNet line.
func recognizeUnified(line []byte) (at time.Time, ok bool) {
	text, ok := undecorated(line)
	if !ok {
		return at, false
	}
	_, detail, ofCollection := collection(text)
	if !ofCollection {
		detail = bytes.TrimLeft(text, " ")
	}
	values, dotnet := bytes.CutPrefix(detail, dotnetTitle)
	if !dotnet {
		return at, isOther(text)
	}
	if ofCollection {
		_, values, _ = cutComma(values)
	}
	newest := int64(0)
	var days calendar
	ok = eachField(values, func(_, value []byte) bool {
		if ns, ok := days.time(value); ok {
			newest = max(newest, ns)
		}
		return true
	})
	if newest > 0 {
		at = unixTime(newest)
	}
	return at, ok
}

var (
	dotnetTitle = []byte("DotNet: ")
	nineBlanks  = []byte(")         ")
	kibArrow    = []byte("K->")
	arrow       = []byte("->")
	space       = []byte{' '}
)

// isOther reports whether a line that is not a DotNet line is one that gclog writes and no JVM does:
// a header with .NET, details after nine blanks, a pause with sizes in KiB, a suspension with a reason.
func isOther(text []byte) bool {
	if _, detail, ok := collection(text); ok {
		return bytes.Contains(text, nineBlanks) ||
			bytes.HasPrefix(detail, []byte("Pause ")) && bytes.Contains(detail, kibArrow)
	}
	return bytes.HasPrefix(text, []byte("VM Arguments: .NET")) ||
		bytes.HasPrefix(text, []byte(stopped)) && bytes.Contains(text, []byte(", reason: "))
}

// isPlain reports whether the head of a unified log contains pauses but no DotNet line, which comes
// before the end of a pause.
func isPlain(head []byte) bool {
	plain := false
	for line := range bytes.Lines(head) {
		text, _ := undecorated(bytes.TrimRight(line, "\r\n"))
		_, detail, ok := collection(text)
		if ok && bytes.HasPrefix(detail, dotnetTitle) {
			return false
		}
		plain = plain || ok && isPause(detail)
	}
	return plain
}

// isPause reports whether a line of a collection is the end of a blocking pause.
func isPause(detail []byte) bool {
	rest, ok := bytes.CutPrefix(detail, []byte("Pause "))
	return ok && (bytes.HasPrefix(rest, []byte("Young (")) || bytes.HasPrefix(rest, []byte("Full ("))) &&
		bytes.Contains(rest, kibArrow)
}

const stopped = "Total time for which application threads were stopped: "

// heads are what lines without a collection start with.
var heads = [...]string{"Using Concurrent Mark Sweep", "VM Arguments: .NET", "Settings: ", stopped}

// undecorated returns the text behind a line's decorations, each in brackets.
func undecorated(b []byte) (text []byte, ok bool) {
	if len(b) == 0 || b[0] != '[' {
		return b, true
	}
	for len(b) > 0 && b[0] == '[' {
		end := bytes.IndexByte(b, ']')
		if end < 0 {
			return nil, false
		}
		b = b[end+1:]
	}
	return bytes.CutPrefix(b, space)
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
	return uint32(v), bytes.TrimLeft(text, " "), true
}

func (u *unified) finish() { u.processes.finish() }

func (u *unified) line(b []byte) bool {
	text, ok := undecorated(b)
	if !ok {
		return false
	}
	at := u.processes.at
	if n, detail, ok := collection(text); ok {
		if values, ok := bytes.CutPrefix(detail, dotnetTitle); ok {
			ok = u.collection(n, values)
			at.details = at.details || ok
			return ok
		}
		at.plain = at.plain || isPause(detail)
		return true
	}
	text = bytes.TrimLeft(text, " ")
	if values, ok := bytes.CutPrefix(text, dotnetTitle); ok {
		return u.about(values)
	}
	for _, head := range heads {
		if _, ok := literal(text, head); ok {
			return true
		}
	}
	return false
}

// collection reads the record of collection n.
func (u *unified) collection(n uint32, b []byte) bool {
	r := u.processes.record()
	d := &r.GC
	d.Number = n
	d.Known.Set(gclog.GroupNumber, n != 0) // 0: a background collection that started before the session
	d.FromLog = true
	head, b, ok := cutComma(b)
	ok = ok && readHead(head, d) && eachField(b, func(name, value []byte) bool { return u.field(r, name, value) })
	if ok && d.Kind == gclog.KindBackground {
		d.Background = &r.background
	}
	for i := range d.Pauses {
		ok = ok && d.Pauses[i].Start != 0
	}
	switch {
	case len(d.Pauses) > 0:
		r.at = d.PauseStart()
	case d.Known.Has(gclog.GroupEnd):
		r.at = d.End
	default:
		ok = false
	}
	r.Record = &r.GC
	if !ok || !u.put(r) {
		u.processes.drop(r)
		return false
	}
	return true
}

// readHead reads gen0 blocking compacting.
func readHead(b []byte, d *gclog.GCDetails) (ok bool) {
	name, b, _ := bytes.Cut(b, space)
	kind, mechanism, _ := bytes.Cut(b, space)
	digits, _ := literal(name, "gen")
	n, rest, ok := number(digits)
	if !ok || n > math.MaxUint8 || len(rest) > 0 || len(digits) == len(name) {
		return false
	}
	d.Generation = int(n)
	if d.Kind, ok = named(kind, gclog.KindForeground); !ok {
		return false
	}
	d.Type = typeOf(d.Kind)
	switch string(mechanism) {
	case "compacting":
		d.Global.Mechanisms = clr.MechanismCompaction
		d.Known |= gclog.GroupCompaction
	case "sweeping":
		d.Known |= gclog.GroupCompaction
	case "":
	default:
		return false
	}
	return true
}

var (
	dotnetLine   = fields.Line("DotNet:")
	processFacts = fields.Named(fields.Process())
	endFields    = fields.Named(fields.End())
)

// field reads a value of a collection, with times since 1970.
func (u *unified) field(r *record, name, value []byte) (ok bool) {
	d := &r.GC
	switch string(name) {
	case "reason":
		d.Reason, ok = clr.ParseReason(value)
		d.Known.Set(gclog.GroupReason, ok)
		return ok
	case "heap_dump":
		d.HeapDump = true
		d.HeapDumpBy, _ = gclog.ParseRequester(value)
		return true
	case "start":
		return u.readTime(&d.Start, value)
	case "end":
		d.Known |= gclog.GroupEnd
		return u.readTime(&d.End, value)
	case "pause":
		d.Pauses = append(d.Pauses, gclog.PausePart{})
	case "mark_start":
		return u.readTime(&r.background.MarkStart, value)
	case "mark_end":
		return u.readTime(&r.background.MarkEnd, value)
	case "sweep_start":
		return u.readTime(&r.background.SweepStart, value)
	case "sweep_end":
		return u.readTime(&r.background.SweepEnd, value)
	case "gen0", "gen1", "gen2", "loh", "poh":
		return readSizes(d, name, value)
	case "peak":
		v, ok := size(value)
		d.Peak = v
		return ok
	case "flaws":
		return readFlaws(&d.Flaws, value)
	case "workers":
		return readWorkers(&d.Global.Heaps, value)
	}
	if n := len(d.Pauses); n > 0 && n <= maxPauses {
		if is, ok := u.pauseField(&d.Pauses[n-1], name, value); is {
			return ok
		}
	}
	for range dotnetLine { // mostly the one after the one before
		x := &dotnetLine[u.next]
		if u.next = (u.next + 1) % len(dotnetLine); x.Name != string(name) {
			continue
		}
		if len(x.Fields) > 1 {
			return u.list(x.Fields, d, value)
		}
		return readRow(&u.days, x.Fields[0], d, value)
	}
	return len(d.Pauses) <= maxPauses // from a later version
}

// list reads 0/57560//6291456, which a later version may continue.
func (u *unified) list(list []*fields.Field, d *gclog.GCDetails, b []byte) bool {
	for _, f := range list {
		value, rest, more := bytes.Cut(b, []byte{'/'})
		if len(value) > 0 {
			v, after, ok := number(value)
			if !ok || len(after) > 0 || v > f.Max {
				return false
			}
			f.Set(d, v)
		}
		if b = rest; !more {
			break
		}
	}
	return true
}

// readRow reads a value of a field.
func readRow[R any](days *calendar, f *fields.Row[R], r *R, b []byte) (ok bool) {
	v := uint64(0)
	most := f.Max
	switch f.Unit {
	case fields.Text:
		return f.SetText(r, b[:min(len(b), maxText)])
	case fields.Flag:
		v, ok = 1, string(b) == "yes" || string(b) == "true"
		if string(b) == "no" {
			v, ok = 0, true
		}
	case fields.Signed:
		var n int64
		n, b, ok = fixed(b, 0)
		v, most, ok = uint64(n), math.MaxUint64, ok && len(b) == 0
	case fields.Bytes, fields.PlainBytes:
		v, ok = size(b)
	case fields.Nanoseconds:
		var ns int64
		ok = readMillis(&ns, b)
		v = uint64(ns)
	case fields.Date:
		var ns int64
		ns, ok = days.time(b)
		v, most = uint64(ns), math.MaxInt64
	default:
		v, b, ok = number(b)
		ok = ok && len(b) == 0
	}
	if ok = ok && v <= most; ok {
		f.Set(r, v)
	}
	return ok
}

// pauseField reads a value of a pause, and reports whether it is one.
func (u *unified) pauseField(p *gclog.PausePart, name, value []byte) (is, ok bool) {
	switch string(name) {
	case "pause":
		p.Kind, ok = named(value, gclog.PauseUnknown)
	case "at":
		ok = u.readTime(&p.Start, value)
	case "took":
		ok = readMillis(&p.Duration, value)
	case "suspend":
		p.HasSuspend = true
		ok = readMillis(&p.Suspend, value)
	case "resume":
		p.HasResume = true
		ok = readMillis(&p.Resume, value)
	default:
		return false, false
	}
	return true, ok
}

// readSizes reads 2621480B->57560B, of which one may be missing.
func readSizes(d *gclog.GCDetails, name, b []byte) bool {
	before, after, ok := bytes.Cut(b, arrow)
	if !ok || len(b) == len(arrow) {
		return false
	}
	g, _ := generation(name)
	d.GenerationCount = max(d.GenerationCount, g+1)
	x := &d.Generations[g]
	if len(before) > 0 {
		x.Before, ok = size(before)
		d.Known |= gclog.GroupBefore
	}
	if ok && len(after) > 0 {
		x.After, ok = size(after)
		d.Known |= gclog.GroupAfter
	}
	return ok
}

// readFlaws reads no-suspend+time.
func readFlaws(flaws *gclog.Flaw, b []byte) bool {
	for name := range bytes.SplitSeq(b, []byte{'+'}) {
		f, ok := gclog.ParseFlaw(name)
		if !ok {
			return false
		}
		*flaws |= f
	}
	return true
}

// put completes a record whose times are since 1970, and passes it on. It returns false if the record
// is one of too many processes.
func (u *unified) put(r *record) bool {
	p := u.process
	switch {
	case u.beyond:
		return false
	case p == nil:
		p = u.processes.find(nil)
		u.process = p
	}
	if !p.synced {
		p.sync, p.synced = r.at, true
		if !p.facts.Started.IsZero() {
			p.facts.UptimeAtSync = max(0, unixTime(r.at).Sub(p.facts.Started))
		}
	}
	r.of = p
	r.at -= p.sync
	switch r.Record {
	case &r.GC:
		settleUnified(r)
	case &r.Pause:
		r.Pause.Start, r.Pause.Ticks = r.at, p.ticks(r.at)
	case &r.Start:
		r.Start.At, r.Start.Ticks = r.at, p.ticks(r.at)
	case &r.End:
		r.End.At, r.End.Ticks = r.at, p.ticks(r.at)
	}
	p.order.put(r)
	return true
}

// settleUnified derives what follows from all values of a collection, with times since Process.Sync.
func settleUnified(r *record) {
	d, b, sync := &r.GC, &r.background, r.of.sync
	for _, at := range [...]*int64{&d.Start, &d.End, &b.MarkStart, &b.MarkEnd, &b.SweepStart, &b.SweepEnd} {
		if *at != 0 {
			*at -= sync
		}
	}
	for i := range d.Pauses {
		d.Pauses[i].Start -= sync
	}
	if d.Memory.At != 0 {
		d.Memory.At -= sync
	}
	if d.DemotedBGC {
		d.Type = clr.TypeBackground
	}
	d.Suspended = d.PauseStart()
	if d.Flaws&gclog.FlawNoStart != 0 {
		d.Start = r.at
	}
	settleSizes(d)
	if !d.Known.Has(gclog.GroupEnd) {
		d.Flaws |= gclog.FlawNoEnd
	}
	if !d.Known.Has(gclog.GroupAfter) {
		d.Flaws |= gclog.FlawNoSizes
	}
	d.Complete = d.Flaws == 0
}

// about reads a line about the process: what is known about it, when its observation started or ended,
// or a pause without a collection.
func (u *unified) about(b []byte) bool {
	var facts gclog.Process
	var isHead, hasFacts bool
	var begin, end int64
	ended := gclog.End{Reason: gclog.EndOfRecording}
	var pause gclog.Pause
	var heaps int32
	if !eachField(b, func(name, value []byte) (ok bool) {
		switch string(name) {
		case "begin":
			return u.readTime(&begin, value)
		case "end":
			return u.readTime(&end, value)
		case "number":
			return readCount(&pause.UsedNumber, value, math.MaxUint32)
		case "workers":
			return readWorkers(&heaps, value)
		}
		if is, ok := u.pauseField(&pause.PausePart, name, value); is {
			return ok
		}
		if f := rowNamed(processFacts, name); f != nil {
			isHead, hasFacts = isHead || f.JSON == "process.pid", true
			return readRow(&u.days, f, &facts, value)
		}
		if f := rowNamed(endFields, name); f != nil {
			return readRow(&u.days, f, &ended, value)
		}
		return true
	}) {
		return false
	}
	facts.HeapCount = int(heaps)
	if isHead {
		return u.head(&facts)
	}
	r := u.processes.record()
	switch {
	case begin != 0:
		r.Record, r.at = &r.Start, begin
	case end != 0:
		r.Record, r.at, r.End = &r.End, end, ended
		if hasFacts {
			r.End.Process = &facts
		}
	case pause.Kind > gclog.PauseFinal && pause.Start != 0:
		r.Record, r.at, r.Pause = &r.Pause, pause.Start, pause
	}
	if r.Record == nil || !u.put(r) {
		u.processes.drop(r)
		return false
	}
	return true
}

// rowNamed returns the one of some fields with this name in a line; nil if none has it.
func rowNamed[R any](list []fields.Row[R], name []byte) *fields.Row[R] {
	for i := range list {
		if list[i].Unified == string(name) {
			return &list[i]
		}
	}
	return nil
}

// head handles the facts that each file starts with. A process is known by its pid and what its kernel
// says of its start.
func (u *unified) head(facts *gclog.Process) bool {
	u.key = strconv.AppendInt(u.key[:0], facts.ID, 10)
	u.key = strconv.AppendUint(append(u.key, '/'), facts.StartKey, 10)
	if facts.StartKey == 0 && !facts.Started.IsZero() {
		u.key = strconv.AppendInt(append(u.key, '/'), facts.Started.UnixNano(), 10)
	}
	p := u.processes.find(u.key)
	u.process, u.beyond = p, p == nil
	if u.beyond {
		return false
	}
	if !p.follows {
		p.follows = true
		u.processes.finishOthers(p, facts.ID)
		p.facts = *facts
	}
	return true
}

// time reads a time that is the whole of b.
func (c *calendar) time(b []byte) (ns int64, ok bool) {
	ns, rest, ok := c.date(b)
	return ns, ok && len(rest) == 0 && ns > 0 && ns < farthest
}
