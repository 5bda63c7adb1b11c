package formats

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"math"
	"strconv"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Schema is the version of the JSON records: a new minor version adds fields, a
// new major one changes them.
const Schema = "1.0"

// ecsVersion is the Elastic Common Schema that the records follow.
const ecsVersion = "8.17.0"

// headerSize is how long the first line of a JSON file is at least: shippers take
// the first 1024 bytes for a file's fingerprint.
const headerSize = 1100

// jsonFormat writes one object per line. docs/formats.md has the fields.
type jsonFormat struct {
	clock   *clock
	o       *Options
	process []byte // the fields of the process that every record has
	runtime []byte // what dotnet.runtime and the settings say
	names   []string
	entity  []byte // what identifies the process in document ids
	lost    uint64 // since the last record of a collection
	key     []byte
}

func newJSON(o *Options) formatter {
	j := &jsonFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o}
	j.process = j.appendProcess(nil)
	j.runtime = j.appendRuntime(nil)
	j.entity = j.appendEntity(nil)
	return j
}

func (j *jsonFormat) hold() bool { return false }

// appendEntity: the cookie of the runtime is never used twice; .NET Core 3.1 has
// none, so its process is told by host, number and start.
func (j *jsonFormat) appendEntity(dst []byte) []byte {
	p := &j.o.Process
	if p.Cookie != "" {
		return append(dst, p.Cookie...)
	}
	dst = append(dst, j.o.Host...)
	dst = append(dst, '/')
	dst = strconv.AppendInt(dst, p.ID, 10)
	dst = append(dst, '/')
	if p.StartKey != 0 {
		return strconv.AppendUint(dst, p.StartKey, 10)
	}
	return strconv.AppendInt(dst, p.Sync.UnixNano(), 10)
}

// An object writes the members of a JSON object, with commas where they belong.
type object struct {
	b     []byte
	comma bool
}

func (o *object) name(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) open(name string) {
	o.name(name)
	o.b = append(o.b, '{')
	o.comma = false
}

func (o *object) close() {
	o.b = append(o.b, '}')
	o.comma = true
}

func (o *object) text(name, v string) {
	o.name(name)
	o.b = appendJSONString(o.b, v)
}

// textIf leaves out what is unknown.
func (o *object) textIf(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

func (o *object) int(name string, v int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) uint(name string, v uint64) {
	o.name(name)
	o.b = strconv.AppendUint(o.b, v, 10)
}

func (o *object) bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) float(name string, v float64, digits int) {
	o.name(name)
	o.b = strconv.AppendFloat(o.b, v, 'f', digits, 64)
}

// bytes, ns, count and pct write a number with its unit as a name of its own.
func (o *object) bytes(name string, v uint64) { o.unit(name, `":{"bytes":`, v) }
func (o *object) ns(name string, v int64)     { o.unit(name, `":{"ns":`, uint64(max(0, v))) }
func (o *object) count(name string, v uint64) { o.unit(name, `":{"count":`, v) }

func (o *object) unit(name, unit string, v uint64) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, unit...)
	o.b = strconv.AppendUint(o.b, v, 10)
	o.b = append(o.b, '}')
}

func (o *object) pct(name string, v float64) {
	o.open(name)
	o.float("pct", v, 4)
	o.close()
}

func (o *object) strings(name string, list []string) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, s := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendJSONString(o.b, s)
	}
	o.b = append(o.b, ']')
}

func (o *object) raw(name string, v []byte) {
	o.name(name)
	o.b = append(o.b, v...)
}

// members writes members that are ready made.
func (o *object) members(m []byte) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, m...)
}

// time writes a time stamp with nine decimals and Z, so that times sort as text.
func (j *jsonFormat) time(o *object, name string, at int64) {
	o.name(name)
	o.b = append(o.b, '"')
	o.b = j.clock.appendClock(o.b, at, 9)
	o.b = append(o.b, 'Z', '"')
}

// appendProcess appends the objects about the process, the service and the host.
func (j *jsonFormat) appendProcess(dst []byte) []byte {
	p := &j.o.Process
	o := object{b: dst}
	o.open("process")
	o.int("pid", p.ID)
	o.textIf("entity_id", p.Cookie)
	o.textIf("name", p.Name)
	o.textIf("executable", p.Executable)
	if !p.Started.IsZero() {
		o.text("start", p.Started.UTC().Format("2006-01-02T15:04:05.000Z"))
	}
	o.close()
	if s := p.Service; s != "" {
		o.open("service")
		o.text("name", s)
		o.close()
	}
	if j.o.Host != "" {
		o.open("host")
		o.text("name", j.o.Host)
		o.text("hostname", j.o.Host)
		o.textIf("architecture", p.Architecture)
		o.close()
	}
	if p.ContainerID != "" {
		o.open("container")
		o.text("id", p.ContainerID)
		o.close()
	}
	return o.b
}

// appendRuntime appends the members of dotnet that say what runtime it is.
func (j *jsonFormat) appendRuntime(dst []byte) []byte {
	p := &j.o.Process
	o := object{b: dst}
	o.open("runtime")
	o.textIf("version", p.RuntimeVersion)
	o.textIf("flavor", p.Flavor)
	o.close()
	return o.b
}

// flavour writes the settings that records and the header have in common.
func (j *jsonFormat) flavour(o *object) {
	p := &j.o.Process
	if p.Server != gclog.Unknown {
		o.bool("server", p.Server == gclog.Yes)
	}
	if p.Concurrent != gclog.Unknown {
		o.bool("concurrent", p.Concurrent == gclog.Yes)
	}
}

func (j *jsonFormat) settings(o *object) {
	p := &j.o.Process
	o.open("settings")
	j.flavour(o)
	if p.HeapCount > 0 {
		o.int("heap_count", int64(p.HeapCount))
	}
	o.textIf("library", p.GCLibrary)
	if p.HasLimits {
		l := &p.Limits
		o.bytes("hard_limit", l.HardLimit)
		o.bytes("loh_threshold", l.LOHThreshold)
		o.bytes("physical_memory_config", l.PhysicalMemoryConfig)
		o.bytes("gen0_min_budget", l.Gen0MinBudget)
		o.bytes("gen0_max_budget", l.Gen0MaxBudget)
		o.int("high_memory_percent", int64(l.HighMemoryPercent))
		o.bool("large_pages", l.Bits&clr.SettingLargePages != 0)
		o.bool("no_affinitize", l.Bits&clr.SettingNoAffinitize != 0)
	}
	o.close()
}

// header is a record of its own: it has a random id in its first 64 bytes and is
// at least 1100 bytes long, so that shippers can tell files apart by their first
// kilobyte, however alike their records are.
func (j *jsonFormat) header(dst []byte, at int64, number int) []byte {
	from := len(dst)
	var id [8]byte
	_, _ = rand.Read(id[:]) // never fails
	o := object{b: append(dst, '{')}
	o.text("gclog_file_id", hex.EncodeToString(id[:]))
	j.time(&o, "@timestamp", at)
	o.text("log.level", "info")
	o.text("message", "gclog "+j.o.Version+", file "+strconv.Itoa(number)+" of this session")
	o.text("ecs.version", ecsVersion)
	o.open("event")
	o.text("kind", "metric")
	o.text("action", "gc-log-header")
	o.text("module", "dotnet")
	o.text("dataset", "dotnet.gc")
	o.close()
	o.members(j.process)
	o.open("dotnet")
	o.members(j.runtime)
	o.open("gc")
	j.settings(&o)
	o.close()
	o.close()
	j.trailer(&o)
	const end = "\"}\n"
	o.name("pad")
	o.b = append(o.b, '"')
	for len(o.b)-from+len(end) < headerSize {
		o.b = append(o.b, '.')
	}
	return append(o.b, end...)
}

func (j *jsonFormat) trailer(o *object) {
	o.open("log")
	o.text("logger", "gclog")
	o.close()
	o.open("gclog")
	o.text("version", j.o.Version)
	o.text("schema", Schema)
	o.open("session")
	o.textIf("id", j.o.Session)
	o.close()
	o.close()
}

// begin writes what every record begins with. message appends the sentence for
// people; the id is that of the fact: it is the same in every session.
func (j *jsonFormat) begin(dst []byte, at int64, warn bool, message func([]byte) []byte, action string, fact ...uint64) object {
	o := object{b: append(dst, '{')}
	j.time(&o, "@timestamp", at)
	level := "info"
	if warn {
		level = "warn"
	}
	o.text("log.level", level)
	o.name("message")
	o.b = append(message(append(o.b, '"')), '"') // made of our own words and checked ones
	o.text("ecs.version", ecsVersion)
	o.name("gclog_doc_id")
	o.b = append(o.b, '"')
	o.b = j.appendID(o.b, action, fact)
	o.b = append(o.b, '"')
	return o
}

func (j *jsonFormat) appendID(dst []byte, action string, fact []uint64) []byte {
	j.key = append(j.key[:0], j.entity...)
	j.key = append(j.key, '/')
	j.key = append(j.key, action...)
	for _, f := range fact {
		j.key = append(j.key, '/')
		j.key = strconv.AppendUint(j.key, f, 10)
	}
	sum := sha256.Sum256(j.key)
	for _, c := range sum[:16] {
		dst = append(dst, hexDigits[c>>4], hexDigits[c&15])
	}
	return dst
}

func (j *jsonFormat) event(o *object, kind, action string) {
	o.open("event")
	o.text("kind", kind)
	o.raw("category", []byte(`["process"]`))
	o.raw("type", []byte(`["info"]`))
	o.text("action", action)
	o.text("module", "dotnet")
	o.text("dataset", "dotnet.gc")
}

// rest writes the process and what gclog says about itself, and ends the line.
func (j *jsonFormat) rest(o *object) []byte {
	j.trailer(o)
	return append(o.b, "}\n"...)
}

func (j *jsonFormat) start(dst []byte, s *Start) []byte {
	o := j.begin(dst, s.At, false, func(b []byte) []byte {
		b = append(b, "attached to process "...)
		return strconv.AppendInt(b, j.o.Process.ID, 10)
	}, "gc-session-start", uint64(s.Ticks))
	j.event(&o, "event", "gc-session-start")
	o.close()
	o.members(j.process)
	o.open("dotnet")
	o.members(j.runtime)
	o.open("gc")
	if s.NextNumber > 0 {
		o.uint("number", uint64(s.NextNumber))
	}
	j.settings(&o)
	o.close()
	o.close()
	o.open("log")
	o.text("logger", "gclog")
	o.close()
	o.open("gclog")
	o.text("version", j.o.Version)
	o.text("schema", Schema)
	o.textIf("providers", s.Providers)
	o.open("session")
	o.textIf("id", j.o.Session)
	o.close()
	o.close()
	return append(o.b, "}\n"...)
}

func (j *jsonFormat) end(dst []byte, e *End) []byte {
	if e.Reason == EndOfRecording {
		return dst
	}
	o := j.begin(dst, e.At, e.Reason == EndStreamError, func(b []byte) []byte {
		b = append(b, "session with process "...)
		b = strconv.AppendInt(b, j.o.Process.ID, 10)
		b = append(b, " ended: "...)
		return append(b, e.Reason.String()...)
	}, "gc-session-end", uint64(e.Ticks))
	j.event(&o, "event", "gc-session-end")
	reason := e.Reason.String()
	o.text("reason", reason)
	o.close()
	if e.HasCode {
		process := j.process
		// The exit code belongs into the object of the process, which is ready made.
		o.open("process")
		o.int("exit_code", int64(e.ExitCode))
		o.comma = true
		o.members(process[len(`"process":{`):])
	} else {
		o.members(j.process)
	}
	o.open("dotnet")
	o.members(j.runtime)
	o.close()
	if e.Message != "" {
		o.open("error")
		o.text("message", e.Message)
		o.close()
	}
	return j.rest(&o)
}

// phase has no record: a background collection tells its phases itself.
func (j *jsonFormat) phase(dst []byte, _ *gclog.Phase) []byte { return dst }

// pause writes only those without a collection; the others are in its record.
func (j *jsonFormat) pause(dst []byte, p *gclog.Pause) []byte {
	if p.GC != nil {
		return dst
	}
	kind := p.Kind.String()
	o := j.begin(dst, p.Start, p.Duration >= j.longPause(), func(b []byte) []byte {
		b = append(b, "suspension without a collection ("...)
		b = append(b, kind...)
		b = append(b, "): "...)
		b = appendMillis(b, p.Duration)
		return append(b, " ms"...)
	}, "gc-suspension", uint64(p.Ticks))
	j.event(&o, "event", "gc-suspension")
	j.time(&o, "start", p.Start)
	j.time(&o, "end", p.Start+p.Duration)
	o.int("duration", p.Duration)
	o.close()
	o.members(j.process)
	o.open("dotnet")
	o.members(j.runtime)
	o.open("gc")
	if p.UsedNumber != 0 {
		o.uint("number", uint64(p.UsedNumber))
	}
	o.open("suspension")
	o.text("kind", kind)
	o.int("ns", p.Duration)
	o.ns("suspend", p.Suspend)
	o.close()
	o.close()
	o.close()
	return j.rest(&o)
}

func (j *jsonFormat) gap(dst []byte, g *gclog.Gap) []byte {
	if g.Reason == gclog.GapLostEvents {
		j.lost += g.LostEvents
	}
	o := j.begin(dst, g.Time, true, func(b []byte) []byte {
		switch g.Reason {
		case gclog.GapLostEvents:
			b = append(b, "the runtime dropped "...)
			b = strconv.AppendUint(b, g.LostEvents, 10)
			return append(b, " events"...)
		case gclog.GapQueueFull:
			b = append(b, "the outputs were too slow: "...)
			b = strconv.AppendUint(b, g.Records, 10)
			return append(b, " records dropped"...)
		case gclog.GapReattached:
			return append(b, "a new session began"...)
		}
		b = append(b, "collections "...)
		b = strconv.AppendUint(b, uint64(g.From), 10)
		b = append(b, " to "...)
		b = strconv.AppendUint(b, uint64(g.To), 10)
		return append(b, " are missing"...)
	}, "gc-gap", uint64(g.Ticks), uint64(g.Reason))
	j.event(&o, "event", "gc-gap")
	o.close()
	o.members(j.process)
	o.open("dotnet")
	o.members(j.runtime)
	o.open("gc")
	o.open("gap")
	if g.To != 0 {
		o.uint("from", uint64(g.From))
		o.uint("to", uint64(g.To))
	}
	if g.LostEvents > 0 {
		o.count("lost_events", g.LostEvents)
	}
	if g.Records > 0 {
		o.count("records", g.Records)
	}
	o.text("reason", g.Reason.String())
	o.close()
	o.close()
	o.close()
	return j.rest(&o)
}

func (j *jsonFormat) stall(dst []byte, s *gclog.Stall) []byte {
	o := j.begin(dst, s.Now, true, func(b []byte) []byte {
		if s.Kind == gclog.OpenSuspension {
			b = append(b, "the program stands since "...)
		} else {
			b = append(b, "a collection goes on since "...)
		}
		b = appendFixed(b, s.Now-s.Since, 9, 1)
		return append(b, " s"...)
	}, "gc-stall", uint64(s.Ticks), uint64(s.Kind), uint64(s.Threshold))
	j.event(&o, "event", "gc-stall")
	o.close()
	o.members(j.process)
	o.open("dotnet")
	o.members(j.runtime)
	o.open("gc")
	if s.HasNumber {
		o.uint("number", uint64(s.Number))
		o.int("generation", int64(s.Generation))
		o.text("type", gcTypeName(s.Type))
	}
	if s.HasReason {
		o.text("reason", s.Reason.String())
	}
	o.open("stall")
	o.text("kind", s.Kind.String())
	j.time(&o, "since", s.Since)
	o.ns("threshold", s.Threshold)
	o.close()
	o.close()
	o.close()
	return j.rest(&o)
}

func gcTypeName(t clr.GCType) string {
	switch t {
	case clr.TypeBlocking:
		return gclog.KindBlocking.String()
	case clr.TypeBackground:
		return gclog.KindBackground.String()
	case clr.TypeForeground:
		return gclog.KindForeground.String()
	}
	return t.String()
}

// defaultLongPause is what PerfView calls a long pause.
const defaultLongPause = 200e6

func (j *jsonFormat) longPause() int64 {
	if j.o.LongPause > 0 {
		return j.o.LongPause
	}
	return defaultLongPause
}

func (j *jsonFormat) gc(dst []byte, d *gclog.GCDetails) []byte {
	at := d.PauseStart()
	number := uint64(d.Number)
	if !d.HasNumber {
		number = uint64(d.StartTicks)
	}
	o := j.begin(dst, at, !d.Complete || d.PauseMax() >= j.longPause(), func(b []byte) []byte { return appendMessage(b, d) }, "gc", number)
	j.event(&o, "event", "gc")
	j.time(&o, "start", d.Start)
	if d.HasEnd {
		j.time(&o, "end", d.End)
		if d.Flaws&gclog.FlawNoStart == 0 {
			o.int("duration", d.Duration())
		}
	}
	if d.HasNumber {
		o.uint("sequence", uint64(d.Number))
	}
	o.close()
	o.members(j.process)
	o.open("dotnet")
	o.members(j.runtime)
	o.open("gc")
	j.identity(&o, d)
	j.pauses(&o, d)
	j.sizes(&o, d)
	j.objects(&o, d)
	j.why(&o, d)
	j.times(&o, d)
	j.background(&o, d)
	j.datas(&o, d)
	j.dynamic(&o, d)
	o.bool("complete", d.Complete)
	if d.Flaws != 0 {
		j.names = d.Flaws.Names(j.names[:0])
		o.strings("flaws", j.names)
	}
	if j.lost > 0 {
		o.count("lost_events", j.lost)
		j.lost = 0
	}
	o.close()
	o.close()
	return j.rest(&o)
}

// appendMessage appends one line for people, of words that need no escape.
func appendMessage(b []byte, d *gclog.GCDetails) []byte {
	b = append(b, "GC"...)
	if d.HasNumber {
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(d.Number), 10)
	}
	b = append(b, " gen"...)
	b = strconv.AppendInt(b, int64(d.Generation), 10)
	b = append(b, ' ')
	b = append(b, d.Kind.String()...)
	if d.HasReason {
		b = append(b, " ("...)
		b = append(b, d.Reason.String()...)
		b = append(b, ')')
	}
	b = append(b, ": pause "...)
	b = appendMillis(b, d.Pause())
	b = append(b, " ms"...)
	if d.HasBefore && d.HasSizesAfter {
		b = append(b, ", heap "...)
		b = appendBytes(b, d.SizeBefore())
		b = append(b, " -> "...)
		b = appendBytes(b, d.SizeAfter())
	}
	return b
}

func (j *jsonFormat) identity(o *object, d *gclog.GCDetails) {
	if d.HasNumber {
		o.uint("number", uint64(d.Number))
	}
	o.int("generation", int64(d.Generation))
	o.text("type", d.Kind.String())
	if d.HasReason {
		o.text("reason", d.Reason.String())
		o.text("reason_group", reasonGroup(d.Reason))
	}
	if compacting, known := d.Compacting(); known {
		o.bool("compacting", compacting)
	}
	if d.DemotedBGC {
		o.bool("demoted_background", true)
	}
	if d.InsideBGCStart {
		o.bool("inside_background_start", true)
	}
	if d.Provisional {
		o.bool("provisional", true)
	}
	if d.HeapDump {
		o.bool("heap_dump", true)
	}
	j.flavour(o)
	if n := d.HeapCount(); n > 0 {
		o.int("heap_count", int64(n))
	}
	if d.HasGlobal {
		j.names = d.Global.Mechanisms.Names(j.names[:0])
		o.strings("mechanisms", j.names)
		if d.Global.HasMemoryLoad {
			o.text("pause_mode", d.Global.PauseMode.String())
		}
	}
}

func reasonGroup(r clr.Reason) string {
	switch {
	case r.Induced():
		return "induced"
	case lowMemory(r):
		return "low_memory"
	case r == clr.ReasonAllocSmall, r == clr.ReasonAllocLarge:
		return "allocation"
	}
	return "other"
}

func (j *jsonFormat) pauses(o *object, d *gclog.GCDetails) {
	if len(d.Pauses) > 0 {
		o.open("pause")
		o.ns("total", d.Pause())
		o.ns("max", d.PauseMax())
		o.int("count", int64(len(d.Pauses)))
		o.name("parts")
		o.b = append(o.b, '[')
		for i := range d.Pauses {
			p := &d.Pauses[i]
			if i > 0 {
				o.b = append(o.b, ',')
			}
			o.b = append(o.b, '{')
			o.comma = false
			j.time(o, "start", p.Start)
			o.ns("suspend", p.Suspend)
			o.ns("resume", p.Resume)
			o.int("ns", p.Duration)
			o.text("kind", p.Kind.String())
			o.b = append(o.b, '}')
		}
		o.b = append(o.b, ']')
		o.close()
		o.ns("suspend", d.Suspend())
	}
	if d.HasTrigger {
		o.open("trigger")
		o.uint("thread", d.Trigger)
		o.ns("delay", d.TriggerDelay())
		o.close()
	}
	if d.HasSinceLast {
		o.ns("since_last", d.SinceLast)
	}
	if d.HasAllocated {
		o.bytes("allocated", d.Allocated())
		if rate := d.AllocationRate(); rate > 0 {
			o.open("alloc_rate")
			o.float("bytes_per_s", rate, 0)
			o.close()
		}
	}
	if d.Window > 0 && len(d.Pauses) > 0 {
		o.pct("paused", d.PausePercent()/100)
	}
}

func (j *jsonFormat) sizes(o *object, d *gclog.GCDetails) {
	if d.HasBefore || d.HasSizesAfter {
		o.open("heap")
		if d.HasBefore {
			o.bytes("before", d.SizeBefore())
			if d.BeforeEstimated {
				o.bool("before_estimated", true)
			}
		}
		if d.HasSizesAfter {
			o.bytes("after", d.SizeAfter())
		}
		if d.Peak > 0 {
			o.bytes("peak", d.Peak)
		}
		if d.HasPromoted {
			o.bytes("promoted", d.PromotedBytes)
		}
		if d.HasHistory {
			o.bytes("fragmentation", d.Fragmentation())
		}
		if d.HasCommittedAfter {
			o.bytes("committed", d.CommittedAfter)
		} else if d.HasCommittedBefore {
			o.bytes("committed", d.CommittedBefore)
		}
		if d.HasCommittedBefore {
			o.bytes("committed_before", d.CommittedBefore)
		}
		o.close()
	}
	for g := range d.GenerationCount {
		j.generation(o, d, g)
	}
	if d.HasTicks {
		o.open("ticks")
		o.bytes("small", d.TickAllocated[0])
		o.bytes("large", d.TickAllocated[1])
		o.bytes("pinned", d.TickAllocated[2])
		o.close()
	}
}

func (j *jsonFormat) generation(o *object, d *gclog.GCDetails, g int) {
	if !d.HasBefore && !d.HasSizesAfter {
		return
	}
	x := &d.Generations[g]
	o.open(gclog.GenerationName(g))
	if d.HasBefore {
		o.bytes("before", x.Before)
	}
	if d.HasSizesAfter {
		o.bytes("after", x.After)
	}
	if d.HasHistory {
		o.bytes("obj_before", x.ObjectsBefore)
		o.bytes("obj_after", x.ObjectsAfter)
		o.bytes("free_before", x.FreeBefore)
		o.bytes("fragmentation", x.Fragmentation)
		o.bytes("in", x.In)
		if d.Collected(g) {
			o.bytes("survived", x.Survived)
			o.bytes("survived_pinned", x.SurvivedPins)
			o.bytes("budget", x.Budget)
		}
	}
	if d.HasPromoted && d.Collected(g) {
		o.bytes("promoted", x.Promoted)
	}
	if pct, known := d.Survival(g); known {
		o.pct("survival", pct/100)
	}
	if d.HasAllocated && g != gclog.Gen1 && g != gclog.Gen2 {
		o.bytes("allocated", x.Allocated)
	}
	o.close()
}

func (j *jsonFormat) objects(o *object, d *gclog.GCDetails) {
	if d.HasGlobal && d.Global.HasMemoryLoad && d.Global.MemoryLoad > 0 {
		o.pct("memory_load", float64(d.Global.MemoryLoad)/100)
	}
	if p := &j.o.Process; p.HasLimits && p.Limits.HardLimit > 0 {
		o.bytes("hard_limit", p.Limits.HardLimit)
	}
	if d.HasSizesAfter {
		if d.Kind != gclog.KindBackground {
			o.count("pinned", uint64(d.PinnedObjects))
		}
		if d.Handles >= 0 {
			o.count("handles", uint64(d.Handles))
		}
		o.count("sync_blocks", uint64(d.SyncBlocks))
		o.open("finalization")
		o.uint("count", d.FinalizationCount)
		if d.FinalizationSize != math.MaxUint64 {
			o.uint("bytes", d.FinalizationSize)
		}
		o.close()
	}
	pair := func(name string, count, bytes uint64) {
		if count > 0 {
			o.open(name)
			o.uint("count", count)
			o.uint("bytes", bytes)
			o.close()
		}
	}
	pair("pinned_seen", d.PinEvents, d.PinEventBytes)
	pair("pinned_plugs", d.PinPlugs, d.PinPlugBytes)
}

func (j *jsonFormat) why(o *object, d *gclog.GCDetails) {
	steps, conditions, known := d.Condemned()
	if !known {
		return
	}
	o.open("condemned")
	o.int("initial", int64(steps.Initial()))
	o.int("final", int64(steps.Final()))
	o.int("budget_exceeded", int64(steps.BudgetExceeded()))
	o.int("time_tuning", int64(steps.TimeTuning()))
	j.names = conditions.Names(j.names[:0])
	o.strings("reasons", j.names)
	o.close()
	if pct, known := d.FreeListEfficiency(); known {
		o.pct("free_list_efficiency", pct/100)
	}
}

var timingNames = [clr.Times]string{"mark_sized_ref", "mark_roots", "mark_short_weak", "scan_finalization", "mark_long_weak", "plan", "sweep", "compact"}

func (j *jsonFormat) times(o *object, d *gclog.GCDetails) {
	if d.TimingCount > 0 {
		compacting, _ := d.Compacting()
		o.open("timing")
		for i := range d.TimingCount {
			name := timingNames[i]
			if i == clr.TimeRelocate && compacting {
				name = "relocate"
			}
			o.ns(name, d.Timing[i])
		}
		o.close()
	}
	if len(d.Heaps) == 0 {
		return
	}
	opened := false
	for t := range clr.MarkTypes {
		var promoted uint64
		longest := int64(-1)
		for i := range d.Heaps {
			longest = max(longest, d.MarkTime(i, t))
			promoted += d.Heaps[i].MarkPromoted[t]
		}
		if longest < 0 {
			continue
		}
		if !opened {
			o.open("mark")
			opened = true
		}
		o.open(t.String())
		o.ns("longest", longest)
		o.bytes("promoted", promoted)
		o.close()
	}
	if opened {
		o.close()
	}
	j.balance(o, d)
}

// balance says how unequally server GC's heaps were used.
func (j *jsonFormat) balance(o *object, d *gclog.GCDetails) {
	gen0 := d.Imbalance(func(h *gclog.HeapDetails) uint64 {
		return uint64(max(0, h.History.Generation[gclog.Gen0].ObjectsBefore()))
	})
	survived := d.Imbalance(func(h *gclog.HeapDetails) (n uint64) {
		for g := range h.History.Generations {
			n += h.History.Generation[g].Survivors()
		}
		return n
	})
	if gen0 == 0 && survived == 0 {
		return
	}
	o.open("imbalance")
	o.float("gen0", gen0, 3)
	o.float("survived", survived, 3)
	o.close()
}

var bgcPhaseNames = [clr.BGCPhases]string{
	"begin", "initial_pause_end", "mark_end", "final_pause_begin", "final_pause_end", "sweep_begin", "sweep_end", "plan_end", "old_sweep_end",
}

func (j *jsonFormat) background(o *object, d *gclog.GCDetails) {
	b := d.Background
	if b == nil {
		return
	}
	o.open("background")
	span := func(name string, from, to int64) {
		if from != 0 && to != 0 {
			o.ns(name, to-from)
		}
	}
	span("concurrent_mark", b.MarkStart, b.MarkEnd)
	span("concurrent_sweep", b.SweepStart, b.SweepEnd)
	opened := false
	for i, at := range b.Phase {
		if at == 0 {
			continue
		}
		if !opened {
			o.open("phases")
			opened = true
		}
		j.time(o, bgcPhaseNames[i], at)
	}
	if opened {
		o.close()
	}
	if b.Revisited != [2][2]gclog.Revisit{} {
		o.open("revisited")
		for paused, when := range [...]string{"concurrent", "paused"} {
			for large, what := range [...]string{"_soh", "_loh"} {
				v := b.Revisited[paused][large]
				o.open(when + what)
				o.uint("pages", v.Pages)
				o.uint("objects", v.Objects)
				o.close()
			}
		}
		o.close()
	}
	if b.Overflows > 0 {
		o.count("mark_overflows", uint64(b.Overflows))
	}
	if b.WaitCount > 0 {
		o.open("alloc_waits")
		o.int("count", b.WaitCount)
		o.ns("total", b.WaitTime)
		o.ns("max", b.WaitMax)
		o.close()
	}
	o.close()
}

func (j *jsonFormat) datas(o *object, d *gclog.GCDetails) {
	x := &d.Datas
	if !x.HasSample && !x.HasTuning && !x.HasFullGCTuning && !x.HasTuning8 && !x.HasSample8 {
		return
	}
	o.open("datas")
	if x.HasSample {
		o.bytes("stable_size", x.Sample.StableSize)
		o.bytes("gen0_budget_per_heap", uint64(x.Sample.Gen0BudgetPerHeap))
		o.ns("soh_lock_wait", int64(x.Sample.SOHLockMicroseconds)*1000)
		o.ns("uoh_lock_wait", int64(x.Sample.UOHLockMicroseconds)*1000)
	}
	if x.HasSample8 {
		o.ns("lock_wait", int64(min(x.Sample8.LockMicroseconds, 1e12))*1000)
	}
	if x.HasTuning {
		o.int("new_heaps", int64(x.Tuning.NewHeaps))
		o.int("min_heaps", int64(x.Tuning.MinHeaps))
		o.int("max_heaps", int64(x.Tuning.MaxHeaps))
		j.cost(o, "throughput_cost", x.Tuning.MedianThroughputCost)
	}
	if x.HasTuning8 {
		o.int("new_heaps", int64(x.Tuning8.NewHeaps))
		j.cost(o, "throughput_cost", x.Tuning8.MedianThroughputCost)
	}
	if x.HasFullGCTuning {
		o.int("full_gc_new_heaps", int64(x.FullGCTuning.NewHeaps))
		j.cost(o, "gen2_cost", x.FullGCTuning.MedianGen2Cost)
	}
	o.close()
}

// cost writes a percentage of the target as a share, if it is a number.
func (j *jsonFormat) cost(o *object, name string, percent float32) {
	if v := float64(percent); !math.IsNaN(v) && !math.IsInf(v, 0) {
		o.pct(name, v/100)
	}
}

func (j *jsonFormat) dynamic(o *object, d *gclog.GCDetails) {
	if len(d.Dynamic) == 0 {
		return
	}
	o.name("dynamic_events")
	o.b = append(o.b, '[')
	for i := range d.Dynamic {
		e := &d.Dynamic[i]
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = append(o.b, '{')
		o.comma = false
		j.time(o, "time", e.Time)
		o.text("name", e.Name)
		o.name("data")
		o.b = append(o.b, '"')
		o.b = hex.AppendEncode(o.b, e.Data)
		o.b = append(o.b, '"', '}')
	}
	o.b = append(o.b, ']')
	o.comma = true
}
