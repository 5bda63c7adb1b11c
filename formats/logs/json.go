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

const jsonLacks = "json has only totals of the heaps of server GC, and little about DATAS"

// A jsonParser reads the lines of the format json. The members of a record may be in any order,
// with others among them: shippers add some.
type jsonParser struct {
	processes processes
	l         jsonLine // the current line
	key       []byte
}

func newJSON(observe func(*gclog.Process) gclog.Observer, at *reading) parser {
	return &jsonParser{processes: processes{pool: pool{at: at, observe: observe}}}
}

// recognizeJSON recognizes a record. Records are written when their collection has ended, so the
// time is that of the end.
func recognizeJSON(b []byte) (at time.Time, ok bool) {
	var l jsonLine
	if !bytes.HasPrefix(b, []byte("{")) || !l.read(b, &record{}) {
		return time.Time{}, false
	}
	return unixTime(max(l.at, l.end)), true
}

func (j *jsonParser) finish() { j.processes.finish() }

func (j *jsonParser) line(b []byte) bool {
	if b[0] != '{' {
		return false
	}
	r := j.processes.record()
	ours, whole := j.take(b, r)
	if whole {
		r.of.order.put(r)
	} else {
		j.processes.drop(r)
	}
	return ours
}

// take reads a line into r. It reports whether the line is ours, and whether r is a record: the
// header of a file has only facts, and a newer gclog may write other records.
func (j *jsonParser) take(b []byte, r *record) (ours, whole bool) {
	l := &j.l
	if !l.read(b, r) {
		return false, false
	}
	p := j.processes.find(j.identity())
	if p == nil {
		return false, false
	}
	if !p.follows {
		p.follows = true
		j.processes.finishOthers(p, int64(l.facts[pidFact].value))
	}
	known := l.chooseRecord(r)
	if l.hasSettings && r.Record == &r.End {
		// Like what a collection reports about its process, so that a log written from this one has
		// the same header.
		r.End.Process = &gclog.Process{}
		l.teach(r.End.Process)
	} else {
		l.teach(&p.facts)
	}
	if !known {
		return true, false
	}
	if !p.synced {
		l.setClock(p)
	}
	r.of, r.at = p, l.at-p.sync
	ok := l.settle(r)
	return ok, ok
}

// identity returns what distinguishes the process from all others: the cookie of its runtime, its
// pid, start and host. Others may claim a cookie. The start time is computed anew for each session,
// and is used only if nothing better is known.
func (j *jsonParser) identity() []byte {
	f := j.l.facts
	started := f[startFact].value
	if len(f[entityFact].text)+len(f[keyFact].text) > 0 {
		started = 0
	}
	j.key = strconv.AppendInt(j.key[:0], int64(f[pidFact].value), 10)
	j.key = strconv.AppendInt(append(j.key, '/'), int64(started), 10)
	for _, i := range []int{keyFact, hostFact, entityFact} {
		j.key = append(append(j.key, '/'), f[i].text...)
	}
	return j.key
}

// A jsonLine is the contents of a line, except the fields that it shares with the record. Times are
// nanoseconds since 1970. Texts are valid as long as the line. Empty and zero values are unknown.
type jsonLine struct {
	s     scanner
	names names // of dynamic events
	texts names // of counters

	at             int64
	hasTime        bool
	ours           bool // its schema is known to us
	older          bool // an older version of the schema, with less in a record
	action, reason []byte
	begin, end     int64
	hasBegin       bool

	facts       []factRead // by their places in fields.Process
	hasSettings bool
	uptime      int64 // in seconds
	labels      []label
	exitCode    int64
	hasExit     bool
	signal      int64

	providers, message []byte

	gc    jsonGC
	times []fieldTime // of the record
}

// A factRead is a fact about the process in the line.
type factRead struct {
	known bool
	value uint64
	text  []byte
}

// The fields that tell processes apart.
var (
	pidFact    = fields.FactAt("process.pid")
	entityFact = fields.FactAt("process.entity_id")
	keyFact    = fields.FactAt("process.start_key")
	startFact  = fields.FactAt("process.start")
	hostFact   = fields.FactAt("host.name")
)

// read reads a line, with the fields of a collection into r. It returns false for damaged lines and
// those of other programs.
func (l *jsonLine) read(b []byte, r *record) bool {
	s := &l.s
	if l.facts == nil {
		l.facts = make([]factRead, len(fields.Process()))
	}
	clear(l.facts)
	*l = jsonLine{s: *s, names: l.names, texts: l.texts, facts: l.facts, labels: l.labels[:0], times: l.times[:0]}
	s.begin(b)
	l.readObject(jsonMembers(), r)
	s.blank()
	return !s.failed && s.at == len(b) && l.hasTime && l.ours && len(l.action) > 0
}

func (l *jsonLine) readFact(i int) {
	f, x := &fields.Process()[i], &l.facts[i]
	if f.Unit == fields.Text {
		text := l.s.text()
		x.text = text[:min(len(text), maxText)]
		x.known = len(text) > 0
		return
	}
	x.value, x.known = l.readValue(f.Unit, f.Max), true
}

// maxLabels limits how many labels are kept.
const maxLabels = 32

func (l *jsonLine) readLabels() {
	s := &l.s
	for s.object(); s.next(); {
		if name := s.key; len(l.labels) < maxLabels {
			l.labels = append(l.labels, label{name, s.text()})
		} else {
			s.skip()
		}
	}
}

// A label was set by the user.
type label struct{ name, value []byte }

// readSchema reads the version of the schema. A different major version means different fields.
func (l *jsonLine) readSchema() {
	major, minor, _ := bytes.Cut(l.s.text(), []byte{'.'})
	l.ours, l.older = string(major) == "1", string(minor) == "0"
}

// percent reads a share, rounded to a whole percentage.
func (l *jsonLine) percent() uint32 {
	v := (l.s.pct() + 50) / 100
	if v < 0 || v > math.MaxUint32 {
		l.s.fail()
		return 0
	}
	return uint32(v)
}

// teach adds what the line contains about its process.
func (l *jsonLine) teach(p *gclog.Process) {
	all := fields.Process()
	for i := range all {
		switch f, x := &all[i], &l.facts[i]; {
		case x.known && f.Set != nil:
			f.Set(p, x.value)
		case x.known && f.SetText != nil:
			f.SetText(p, x.text)
		}
	}
	if p.Labels == nil && len(l.labels) > 0 {
		p.Labels = map[string]string{}
		for _, x := range l.labels {
			p.Labels[keep(x.name)] = keep(x.value)
		}
	}
	if limit := l.gc.hardLimit; limit > 0 && !p.HasLimits {
		p.Limits.HardLimit, p.HasLimits = limit, true
	}
}

// setClock makes the line the start of the clock: the first record of a process is at 0.
func (l *jsonLine) setClock(p *process) {
	p.sync, p.synced = l.at, true
	switch started := &l.facts[startFact]; {
	case started.known:
		p.facts.UptimeAtSync = time.Duration(max(0, l.at-int64(started.value)))
	case l.uptime > 0:
		p.facts.UptimeAtSync = time.Duration(l.uptime) * time.Second
	}
}

// chooseRecord makes r a record of the kind that the line has, and reports whether that is known.
func (l *jsonLine) chooseRecord(r *record) bool {
	switch string(l.action) {
	case "gc":
		r.Record = &r.GC
	case "gc-suspension":
		r.Record = &r.Pause
	case "gc-gap":
		r.Record = &r.Gap
	case "gc-stall":
		r.Record = &r.Stall
	case "gc-heap-growth":
		r.Record = &r.HeapGrowth
	case "gc-counters":
		r.Record = &r.Counters
	case "gc-session-start":
		r.Record = &r.Start
	case "gc-session-end":
		r.Record = &r.End
	}
	return r.Record != nil
}

// settle completes the record after its line was read. It returns false if the record contradicts
// itself.
func (l *jsonLine) settle(r *record) bool {
	ticks := r.of.ticks(r.at)
	switch r.Record {
	case &r.GC:
		return l.settleGC(r)
	case &r.Pause:
		p := &r.Pause
		p.Start, p.Ticks, p.UsedNumber, p.CPU = r.at, ticks, r.GC.Number, r.GC.CPU
		return l.gc.named
	case &r.Gap:
		r.Gap.Time, r.Gap.Ticks = r.at, ticks
		return l.gc.named && r.Gap.From <= r.Gap.To
	case &r.Stall:
		return l.settleStall(r)
	case &r.HeapGrowth:
		r.HeapGrowth.At, r.HeapGrowth.Ticks = r.at, ticks
	case &r.Counters:
		r.Counters.At, r.Counters.Ticks = r.at, ticks
	case &r.Start:
		r.Start = gclog.Start{At: r.at, Ticks: ticks, Providers: keep(l.providers)}
	case &r.End:
		reason, ok := named(l.reason, gclog.EndOfRecording)
		if reason == gclog.EndKilled {
			reason = gclog.KilledBy(int(l.signal)) // older logs call every such end "killed"
		}
		r.End = gclog.End{
			At: r.at, Ticks: ticks, Reason: reason,
			ExitCode: int(l.exitCode), HasCode: l.hasExit, Signal: int(l.signal), Message: keep(l.message),
			Process: r.End.Process, Verdict: r.End.Verdict,
		}
		return ok
	}
	return true
}

func (l *jsonLine) settleStall(r *record) (ok bool) {
	d, s := &r.GC, &r.Stall
	s.Now, s.Since, s.Ticks = r.at, s.Since-r.of.sync, r.of.ticks(r.at)
	s.Number, s.HasNumber, s.Generation = d.Number, d.Known.Has(gclog.GroupNumber), d.Generation
	s.Reason, s.HasReason = d.Reason, d.Known.Has(gclog.GroupReason)
	if s.HasNumber {
		if s.Type, ok = parseType(l.gc.typeName); !ok {
			return false
		}
	}
	return l.gc.named
}

// parseType returns the type of a collection that has not ended: it has the name of its kind, if it
// has one.
func parseType(name []byte) (clr.GCType, bool) {
	switch kind, _ := named(name, gclog.KindForeground); {
	case len(name) == 0:
		return 0, false
	case kind == gclog.KindBackground:
		return clr.TypeBackground, true
	case kind == gclog.KindForeground:
		return clr.TypeForeground, true
	case string(name) == kind.String():
		return clr.TypeBlocking, true
	}
	return clr.ParseGCType(name)
}

// named returns the value with this name, of those from 0 to last.
func named[T interface {
	~uint8
	String() string
}](name []byte, last T) (T, bool) {
	for v := range last + 1 {
		if string(name) == v.String() {
			return v, true
		}
	}
	return 0, false
}
