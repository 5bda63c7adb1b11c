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
		j.processes.finishOthers(p, l.pid)
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
	l := &j.l
	started := l.started
	if len(l.entity) > 0 || l.startKey != 0 {
		started = 0
	}
	j.key = strconv.AppendInt(j.key[:0], l.pid, 10)
	j.key = strconv.AppendUint(append(j.key, '/'), l.startKey, 10)
	j.key = strconv.AppendInt(append(j.key, '/'), started, 10)
	j.key = append(append(j.key, '/'), l.host[:min(len(l.host), maxText)]...)
	j.key = append(append(j.key, '/'), l.entity[:min(len(l.entity), maxText)]...)
	return j.key
}

// A jsonLine is the contents of a line, except the fields that it shares with the record. Times are
// nanoseconds since 1970. Texts are valid as long as the line. Empty and zero values are unknown.
type jsonLine struct {
	s     scanner
	names names // of dynamic events

	at             int64
	hasTime        bool
	ours           bool // its schema is known to us
	older          bool // an older version of the schema, with less in a record
	action, reason []byte
	begin, end     int64
	hasBegin       bool

	pid                      int64
	entity, name, executable []byte
	started, uptime          int64 // uptime in seconds
	startKey                 uint64
	exitCode                 int64
	hasExit                  bool
	signal                   int64

	service, serviceVersion, host, architecture, os, container, containerName []byte
	namespace, pod, podUID, version, flavor                                   []byte
	labels                                                                    []label

	server, concurrent gclog.Known
	heapCount          int
	processors         int
	hasSettings        bool
	library            []byte
	limits             clr.GCSettings
	hasLimits          bool

	providers, message []byte

	gc    jsonGC
	times []fieldTime // of the record
}

// read reads a line, with the fields of a collection into r. It returns false for damaged lines and
// those of other programs.
func (l *jsonLine) read(b []byte, r *record) bool {
	s := &l.s
	*l = jsonLine{s: *s, names: l.names, labels: l.labels[:0], times: l.times[:0]}
	s.begin(b)
	for s.object(); s.next(); {
		switch string(s.key) {
		case "@timestamp":
			l.at, l.hasTime = s.time(), true
		case "event":
			l.readEvent(r)
		case "process":
			l.readProcess(&r.GC.Memory)
		case "service":
			l.service, l.serviceVersion = l.both("name", "version")
		case "host":
			l.readHost()
		case "container":
			l.container, l.containerName = l.both("id", "name")
		case "orchestrator":
			l.readOrchestrator()
		case "labels":
			l.readLabels()
		case "dotnet":
			l.readDotnet(r)
		case "gclog":
			l.readAbout()
		case "error":
			l.message = l.only("message")
		default:
			s.skip()
		}
	}
	s.blank()
	return !s.failed && s.at == len(b) && l.hasTime && l.ours && len(l.action) > 0
}

// only reads an object of which only the text member name matters.
func (l *jsonLine) only(name string) []byte {
	text, _ := l.both(name, "")
	return text
}

// both reads an object of which only two text members matter.
func (l *jsonLine) both(name, other string) (text, another []byte) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case name:
			text = s.text()
		case other:
			another = s.text()
		default:
			s.skip()
		}
	}
	return text, another
}

func (l *jsonLine) readOrchestrator() {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "namespace":
			l.namespace = s.text()
		case "resource":
			l.pod, l.podUID = l.both("name", "id")
		default:
			s.skip()
		}
	}
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

func (l *jsonLine) readEvent(r *record) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "action":
			l.action = s.text()
		case "reason":
			l.reason = s.text()
		case "start":
			l.begin, l.hasBegin = s.time(), true
		case "end":
			l.end, r.GC.HasEnd = s.time(), true
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readProcess(m *gclog.Memory) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "pid":
			l.pid = s.int()
		case "entity_id":
			l.entity = s.text()
		case "name":
			l.name = s.text()
		case "executable":
			l.executable = s.text()
		case "start_key":
			l.startKey, _ = strconv.ParseUint(string(s.text()), 10, 64)
		case "start":
			l.started = s.time()
		case "uptime":
			l.uptime = int64(s.uint(fields.MaxSpan / uint64(time.Second)))
		case "exit_code":
			l.exitCode, l.hasExit = s.int(), true
		case "exit_signal":
			l.signal = s.int()
		case "memory":
			var none uint64
			l.readSizes(&m.Resident, &none)
		case "cgroup":
			for s.object(); s.next(); {
				if string(s.key) == "memory" {
					l.readSizes(&m.Cgroup, &m.CgroupLimit)
				} else {
					s.skip()
				}
			}
		default:
			s.skip()
		}
	}
}

// readSizes reads the memory and the limit of a process or its control group.
func (l *jsonLine) readSizes(size, limit *uint64) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "rss", "usage":
			*size = s.bytes()
		case "limit":
			*limit = s.bytes()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readHost() {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "name":
			l.host = s.text()
		case "architecture":
			l.architecture = s.text()
		case "os":
			l.os = l.only("type")
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readDotnet(r *record) {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "runtime":
			l.readRuntime()
		case "gc":
			l.readGC(r)
		case "heap":
			l.readHeapGrowth(&r.HeapGrowth)
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readRuntime() {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "version":
			l.version = s.text()
		case "flavor":
			l.flavor = s.text()
		default:
			s.skip()
		}
	}
}

// readAbout reads what describes gclog itself. A different major version of the schema means
// different fields.
func (l *jsonLine) readAbout() {
	s := &l.s
	for s.object(); s.next(); {
		switch string(s.key) {
		case "schema":
			major, minor, _ := bytes.Cut(s.text(), []byte{'.'})
			l.ours, l.older = string(major) == "1", string(minor) == "0"
		case "providers":
			l.providers = s.text()
		default:
			s.skip()
		}
	}
}

func (l *jsonLine) readSettings() {
	s, limits := &l.s, &l.limits
	l.hasSettings = true
	limit := func(v *uint64) { *v, l.hasLimits = s.bytes(), true }
	bit := func(b uint32) {
		if s.bool() {
			limits.Bits |= b
		}
	}
	for s.object(); s.next(); {
		switch string(s.key) {
		case "server":
			l.server = gclog.KnownBool(s.bool())
		case "concurrent":
			l.concurrent = gclog.KnownBool(s.bool())
		case "heap_count":
			l.heapCount = int(s.uint(math.MaxInt32))
		case "processors":
			l.processors = int(s.uint(math.MaxInt32))
		case "library":
			l.library = s.text()
		case "hard_limit":
			limit(&limits.HardLimit)
		case "loh_threshold":
			limit(&limits.LOHThreshold)
		case "physical_memory_config":
			limit(&limits.PhysicalMemoryConfig)
		case "gen0_min_budget":
			limit(&limits.Gen0MinBudget)
		case "gen0_max_budget":
			limit(&limits.Gen0MaxBudget)
		case "high_memory":
			limits.HighMemoryPercent = l.percent()
		case "large_pages":
			bit(clr.SettingLargePages)
		case "no_affinitize":
			bit(clr.SettingNoAffinitize)
		default:
			s.skip()
		}
	}
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
func (l *jsonLine) teach(f *gclog.Process) {
	f.ID = l.pid
	if l.startKey != 0 {
		f.StartKey = l.startKey
	}
	learn(&f.Cookie, l.entity)
	learn(&f.Name, l.name)
	learn(&f.Executable, l.executable)
	learn(&f.Service, l.service)
	learn(&f.Host, l.host)
	learn(&f.OS, l.os)
	learn(&f.Architecture, l.architecture)
	learn(&f.ServiceVersion, l.serviceVersion)
	learn(&f.ContainerID, l.container)
	learn(&f.ContainerName, l.containerName)
	learn(&f.Namespace, l.namespace)
	learn(&f.Pod, l.pod)
	learn(&f.PodUID, l.podUID)
	if f.Labels == nil && len(l.labels) > 0 {
		f.Labels = map[string]string{}
		for _, x := range l.labels {
			f.Labels[keep(x.name)] = keep(x.value)
		}
	}
	learn(&f.RuntimeVersion, l.version)
	learn(&f.Flavor, l.flavor)
	learn(&f.GCLibrary, l.library)
	f.SetServer(l.server, gclog.EvidenceRecorded)
	if l.concurrent != gclog.Unknown {
		f.Concurrent = l.concurrent
	}
	if l.heapCount > 0 {
		f.HeapCount = l.heapCount
	}
	if l.processors > 0 {
		f.Processors = l.processors
	}
	if l.hasLimits {
		f.Limits, f.HasLimits = l.limits, true
	}
	if limit := l.gc.hardLimit; limit > 0 && !f.HasLimits {
		f.Limits.HardLimit, f.HasLimits = limit, true
	}
}

// setClock makes the line the start of the clock: the first record of a process is at 0.
func (l *jsonLine) setClock(p *process) {
	p.sync, p.synced = l.at, true
	switch {
	case l.started != 0:
		p.facts.Started = unixTime(l.started)
		p.facts.UptimeAtSync = time.Duration(max(0, l.at-l.started))
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
		p.Start, p.Ticks = r.at, ticks
		p.Duration, p.UsedNumber = l.gc.span, r.GC.Number
		p.Suspend, p.HasSuspend = l.gc.suspend, l.gc.hasSuspend
		var ok bool
		p.Kind, ok = named(l.gc.kind, gclog.PauseUnknown)
		return ok
	case &r.Gap:
		r.Gap.Time, r.Gap.Ticks = r.at, ticks
		var ok bool
		r.Gap.Reason, ok = named(l.gc.gapReason, gclog.GapStopped)
		return ok && r.Gap.From <= r.Gap.To
	case &r.Stall:
		return l.settleStall(r)
	case &r.HeapGrowth:
		r.HeapGrowth.At, r.HeapGrowth.Ticks = r.at, ticks
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
			Process: r.End.Process,
		}
		return ok
	}
	return true
}

func (l *jsonLine) settleStall(r *record) (ok bool) {
	d, s := &r.GC, &r.Stall
	s.Now, s.Since, s.Ticks, s.Threshold = r.at, l.gc.since-r.of.sync, r.of.ticks(r.at), l.gc.threshold
	s.Number, s.HasNumber, s.Generation = d.Number, d.HasNumber, d.Generation
	s.Reason, s.HasReason = d.Reason, d.HasReason
	if s.HasNumber {
		if s.Type, ok = parseType(l.gc.typeName); !ok {
			return false
		}
	}
	s.Kind, ok = named(l.gc.kind, gclog.OpenGC)
	return ok
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
