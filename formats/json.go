package formats

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// Schema is the version of the JSON records: a new minor version adds fields, a new major version
// changes them.
const Schema = "1.2"

// ecsVersion is the version of the Elastic Common Schema that the records follow.
const ecsVersion = "8.17.0"

// headerSize is the minimum length of a JSON file's first line: shippers use the first 1024 bytes
// as the file's fingerprint.
const headerSize = 1100

// jsonFormat writes one object per line. docs/formats.md has the fields. The record of a background
// collection contains its phases.
type jsonFormat struct {
	stateless
	clock   *clock
	o       *Options
	process []byte // members of the process object that are in every record
	host    []byte // the objects after process: service, host, container
	tail    []byte // the objects at the end: log, gclog
	runtime []byte // members about the runtime and the settings in dotnet
	names   []string
	times   []gclog.MarkTime
	ids     *DocIDs
	record  object // the record of a collection being written
	steps   []jsonStep
	lost    uint64 // events that were lost since the record before it
}

func newJSON(o *Options) formatter {
	j := &jsonFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o, steps: jsonSteps()}
	j.process, j.host = j.appendProcess(nil), j.appendHost(nil)
	j.runtime = j.appendRuntime(nil)
	end := object{}
	j.trailer(&end, "")
	j.tail = end.b
	j.ids = NewDocIDs(&o.Process, o.Host)
	return j
}

// time writes a time stamp with nine decimals and Z, so that times sort as text.
func (j *jsonFormat) time(o *object, name string, at int64) {
	o.name(name)
	o.b = append(o.b, '"')
	o.b = j.clock.appendClock(o.b, at, 9)
	o.b = append(o.b, 'Z', '"')
}

// appendProcess appends the members of the process object that never change.
func (j *jsonFormat) appendProcess(dst []byte) []byte {
	p := &j.o.Process
	o := object{b: dst}
	o.int("pid", p.ID)
	o.textIf("entity_id", p.Cookie)
	o.textIf("name", p.Name)
	o.textIf("executable", p.Executable)
	if p.StartKey != 0 {
		o.text("start_key", strconv.FormatUint(p.StartKey, 10)) // as text: it may exceed the precision of a double
	}
	if !p.Started.IsZero() {
		o.text("start", p.Started.UTC().Format("2006-01-02T15:04:05.000000000Z"))
	}
	return o.b
}

// appendHost appends the objects about the service, the host and the container.
func (j *jsonFormat) appendHost(dst []byte) []byte {
	p := &j.o.Process
	o := object{b: dst}
	if p.Service != "" || p.ServiceVersion != "" {
		o.open("service")
		o.textIf("name", p.Service)
		o.textIf("version", p.ServiceVersion)
		o.close()
	}
	if j.o.Host != "" {
		o.open("host")
		o.text("name", j.o.Host)
		o.text("hostname", j.o.Host)
		o.textIf("architecture", p.Architecture)
		if p.OS != "" {
			o.open("os")
			o.text("type", strings.ToLower(p.OS))
			o.close()
		}
		o.close()
	}
	if p.ContainerID != "" || p.ContainerName != "" {
		o.open("container")
		o.textIf("id", p.ContainerID)
		o.textIf("name", p.ContainerName)
		o.close()
	}
	appendOrchestrator(&o, p)
	appendLabels(&o, p.Labels)
	return o.b
}

func appendOrchestrator(o *object, p *gclog.Process) {
	if p.Namespace == "" && p.Pod == "" && p.PodUID == "" {
		return
	}
	o.open("orchestrator")
	o.text("type", "kubernetes")
	o.textIf("namespace", p.Namespace)
	if p.Pod != "" || p.PodUID != "" {
		o.open("resource")
		o.text("type", "pod")
		o.textIf("name", p.Pod)
		o.textIf("id", p.PodUID)
		o.close()
	}
	o.close()
}

// appendLabels appends the labels sorted by name. Readers of the record would expand a dot in a
// name to an object.
func appendLabels(o *object, labels map[string]string) {
	if len(labels) == 0 {
		return
	}
	undotted := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(labels)) {
		undotted[strings.ReplaceAll(name, ".", "_")] = labels[name]
	}
	o.open("labels")
	for _, name := range slices.Sorted(maps.Keys(undotted)) {
		o.label(name, undotted[name])
	}
	o.close()
}

// about writes what every record contains about the process, its host and its runtime. It leaves
// the object dotnet open.
func (j *jsonFormat) about(o *object, at int64) {
	j.openProcess(o, at)
	j.closeProcess(o)
}

// openProcess and closeProcess replace about for records with more about the process.
func (j *jsonFormat) openProcess(o *object, at int64) {
	o.open("process")
	o.members(j.process)
	if j.o.Process.UptimeAtSync > 0 {
		o.int("uptime", max(0, int64(j.o.Process.UptimeAtSync)+at)/nsPerSecond)
	}
}

func (j *jsonFormat) closeProcess(o *object) {
	o.close()
	o.members(j.host)
	o.open("dotnet")
	o.members(j.runtime)
}

// appendRuntime appends the members of dotnet that describe the runtime.
func (j *jsonFormat) appendRuntime(dst []byte) []byte {
	p := &j.o.Process
	if p.RuntimeVersion == "" && p.Flavor == "" {
		return dst
	}
	o := object{b: dst}
	o.open("runtime")
	o.textIf("version", p.RuntimeVersion)
	o.textIf("flavor", p.Flavor)
	o.close()
	return o.b
}

// flavour writes the settings that are both in records and in the header.
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
	if p.Processors > 0 {
		o.int("processors", int64(p.Processors))
	}
	o.textIf("library", p.GCLibrary)
	if p.HasLimits {
		l := &p.Limits
		o.bytes("hard_limit", l.HardLimit)
		o.bytes("loh_threshold", l.LOHThreshold)
		o.bytes("physical_memory_config", l.PhysicalMemoryConfig)
		o.bytes("gen0_min_budget", l.Gen0MinBudget)
		o.bytes("gen0_max_budget", l.Gen0MaxBudget)
		o.pct("high_memory", float64(l.HighMemoryPercent)/100)
		o.bool("large_pages", l.Bits&clr.SettingLargePages != 0)
		o.bool("no_affinitize", l.Bits&clr.SettingNoAffinitize != 0)
	}
	o.close()
}

// header appends a record of its own: it has a random id in its first 64 bytes and is at least 1100
// bytes long, so that shippers can distinguish files by their first kilobyte, however similar their
// records are. It is in no other file: so its document id is random, too.
func (j *jsonFormat) header(dst []byte, at int64, number int) []byte {
	from := len(dst)
	var id [8]byte
	var doc DocID
	_, _ = rand.Read(id[:]) // never fails
	_, _ = rand.Read(doc[:])
	o := object{b: append(dst, '{')}
	o.text("gclog_file_id", hex.EncodeToString(id[:]))
	j.time(&o, "@timestamp", at)
	o.text("log.level", "info")
	o.text("message", "gclog "+j.o.Version+", file "+strconv.Itoa(number)+" of this session")
	o.text("ecs.version", ecsVersion)
	o.text("gclog_doc_id", hex.EncodeToString(doc[:]))
	o.open("event")
	o.text("kind", "metric")
	o.text("action", "gc-log-header")
	o.text("module", "dotnet")
	o.text("dataset", "dotnet.gc")
	o.close()
	j.about(&o, at)
	o.open("gc")
	j.settings(&o)
	o.close()
	o.close()
	j.trailer(&o, "")
	const end = "\"}\n"
	o.name("pad")
	o.b = append(o.b, '"')
	for len(o.b)-from+len(end) < headerSize {
		o.b = append(o.b, '.')
	}
	return append(o.b, end...)
}

func (j *jsonFormat) append(dst []byte, r gclog.Record, lost uint64) []byte {
	switch r := r.(type) {
	case *gclog.Start:
		return j.start(dst, r)
	case *gclog.GCDetails:
		return j.gc(dst, r, lost)
	case *gclog.Pause:
		return j.pause(dst, r)
	case *gclog.Gap:
		return j.gap(dst, r)
	case *gclog.Stall:
		return j.stall(dst, r)
	case *gclog.Summary:
		return j.summary(dst, r)
	case *gclog.HeapGrowth:
		return j.heapGrowth(dst, r)
	case *gclog.End:
		return j.end(dst, r)
	}
	return dst
}

// trailer writes what describes gclog itself, and the providers of a session if there are any.
func (j *jsonFormat) trailer(o *object, providers string) {
	o.open("log")
	o.text("logger", "gclog")
	o.close()
	o.open("gclog")
	o.text("version", j.o.Version)
	o.text("schema", Schema)
	o.textIf("providers", providers)
	o.open("session")
	o.textIf("id", j.o.Session)
	o.close()
	o.close()
}

// begin writes the start of every record. message appends the human-readable sentence; the id is
// that of the fact: it is the same in every session.
func (j *jsonFormat) begin(dst []byte, r gclog.Record, warn bool, message func([]byte) []byte) object {
	at, _ := r.When()
	id := j.ids.Of(r)
	o := object{b: append(dst, '{')}
	j.time(&o, "@timestamp", at)
	level := "info"
	if warn {
		level = "warn"
	}
	o.text("log.level", level)
	o.name("message")
	o.b = append(message(append(o.b, '"')), '"') // consists of our own words and validated ones
	o.text("ecs.version", ecsVersion)
	o.name("gclog_doc_id")
	o.b = append(o.b, '"')
	o.b, _ = id.AppendText(o.b)
	o.b = append(o.b, '"')
	return o
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

// rest writes the process and what describes gclog itself, and ends the line.
func (j *jsonFormat) rest(o *object) []byte {
	o.members(j.tail)
	return append(o.b, "}\n"...)
}

func (j *jsonFormat) start(dst []byte, s *gclog.Start) []byte {
	o := j.begin(dst, s, false, func(b []byte) []byte {
		if s.Providers == "" {
			b = append(b, "recording of process "...)
			b = strconv.AppendInt(b, j.o.Process.ID, 10)
			return append(b, " begins"...)
		}
		b = append(b, "attached to process "...)
		return strconv.AppendInt(b, j.o.Process.ID, 10)
	})
	j.event(&o, "event", "gc-session-start")
	o.close()
	j.about(&o, s.At)
	o.open("gc")
	j.settings(&o)
	o.close()
	o.close()
	j.trailer(&o, s.Providers)
	return append(o.b, "}\n"...)
}

func (j *jsonFormat) end(dst []byte, e *gclog.End) []byte {
	if e.Reason == gclog.EndOfLog {
		return dst
	}
	o := j.begin(dst, e, e.Bad(), func(b []byte) []byte {
		if e.Reason == gclog.EndOfRecording {
			b = append(b, "recording of process "...)
			b = strconv.AppendInt(b, j.o.Process.ID, 10)
			return append(b, " ends"...)
		}
		b = append(b, "session with process "...)
		b = strconv.AppendInt(b, j.o.Process.ID, 10)
		b = append(b, " ended: "...)
		b = append(b, e.Reason.String()...)
		switch {
		case e.Signal != 0:
			b = append(b, " by "...)
			b = append(b, gclog.SignalName(e.Signal)...)
		case e.HasCode:
			b = append(b, " with code "...)
			b = strconv.AppendInt(b, int64(e.ExitCode), 10)
		}
		return b
	})
	j.event(&o, "event", "gc-session-end")
	reason := e.Reason.String()
	o.text("reason", reason)
	o.close()
	j.learn(e.Process)
	j.openProcess(&o, e.At)
	if e.HasCode {
		o.int("exit_code", int64(e.ExitCode))
	}
	if e.Signal != 0 {
		o.int("exit_signal", int64(e.Signal))
	}
	j.closeProcess(&o)
	if e.Process != nil {
		o.open("gc")
		j.settings(&o)
		o.close()
	}
	o.close()
	if e.Message != "" {
		o.open("error")
		o.text("message", e.Message)
		o.close()
	}
	return j.rest(&o)
}

// learn copies what has become known about the runtime since the start. The process's identity is
// unchanged, because ids depend on it.
func (j *jsonFormat) learn(p *gclog.Process) {
	if p == nil {
		return
	}
	j.o.Process.Merge(p)
	j.runtime = j.appendRuntime(nil)
	end := object{}
	j.trailer(&end, "")
	j.tail = end.b
}

// pause writes only pauses without a collection; the others are in the collection's record.
func (j *jsonFormat) pause(dst []byte, p *gclog.Pause) []byte {
	if p.GC != nil {
		return dst
	}
	kind := p.Kind.String()
	o := j.begin(dst, p, p.Duration >= j.longPause(), func(b []byte) []byte {
		b = append(b, "suspension without a collection ("...)
		b = append(b, kind...)
		b = append(b, "): "...)
		b = appendMillis(b, p.Duration)
		return append(b, " ms"...)
	})
	j.event(&o, "event", "gc-suspension")
	j.time(&o, "start", p.Start)
	j.time(&o, "end", p.Start+p.Duration)
	o.int("duration", p.Duration)
	o.close()
	j.about(&o, p.Start)
	o.open("gc")
	if p.UsedNumber != 0 {
		o.uint("number", uint64(p.UsedNumber))
	}
	o.open("suspension")
	o.text("kind", kind)
	o.int("ns", p.Duration)
	o.nsIf("suspend", p.Suspend, p.HasSuspend)
	o.close()
	o.close()
	o.close()
	return j.rest(&o)
}

func (j *jsonFormat) gap(dst []byte, g *gclog.Gap) []byte {
	o := j.begin(dst, g, true, func(b []byte) []byte { return appendGap(b, g) })
	j.event(&o, "event", "gc-gap")
	o.close()
	j.about(&o, g.Time)
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
	o := j.begin(dst, s, true, func(b []byte) []byte { return appendStall(b, s) })
	j.event(&o, "event", "gc-stall")
	o.close()
	j.about(&o, s.Now)
	o.open("gc")
	if s.HasNumber {
		o.uint("number", uint64(s.Number))
		o.int("generation", int64(s.Generation))
		o.text("type", GCTypeName(s.Type))
	}
	if s.HasReason {
		o.text("reason", s.Reason.String())
	}
	o.open("stall")
	o.text("kind", s.Kind.String())
	j.time(&o, "since", s.Since)
	o.int("ns", max(0, s.Now-s.Since))
	o.ns("threshold", s.Threshold)
	o.close()
	o.close()
	o.close()
	return j.rest(&o)
}

func (j *jsonFormat) summary(dst []byte, s *gclog.Summary) []byte {
	o := j.begin(dst, s, s.Missing+s.LostEvents > 0, func(b []byte) []byte { return appendSummary(b, s) })
	j.event(&o, "metric", "gc-summary")
	j.time(&o, "start", s.From)
	j.time(&o, "end", s.To)
	o.int("duration", s.Span())
	o.close()
	j.about(&o, s.To)
	o.open("gc")
	o.open("summary")
	if s.Partial {
		o.bool("partial", true)
	}
	o.open("collections")
	for g, n := range s.Collections {
		o.count(gclog.GenerationName(g), n)
	}
	o.count("background", s.Background)
	o.close()
	o.open("pause")
	o.ns("total", s.PauseTotal)
	o.ns("max", s.PauseMax)
	o.uint("count", s.Pauses)
	o.close()
	if s.Span() > 0 {
		o.pct("paused", float64(s.PauseTotal)/float64(s.Span()))
	}
	o.bytes("promoted", s.Promoted)
	if s.HasSize {
		o.open("heap")
		o.bytes("after", s.SizeAfter)
		o.close()
	}
	o.count("lost_events", s.LostEvents)
	o.count("missing_records", s.Missing)
	o.close()
	o.close()
	o.close()
	return j.rest(&o)
}

// GCTypeName returns the name of the kind that a collection was started as, in the words of Kind.
func GCTypeName(t clr.GCType) string {
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

// defaultLongPause is what PerfView considers a long pause, in nanoseconds.
const defaultLongPause = 200e6

func (j *jsonFormat) longPause() int64 {
	if j.o.LongPause > 0 {
		return j.o.LongPause
	}
	return defaultLongPause
}
