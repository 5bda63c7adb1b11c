package formats

import (
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
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
	runtime []byte // members about the runtime in dotnet
	mode    []byte // members about the settings in the record of a collection
	names   []string
	times   []gclog.MarkTime
	ids     *DocIDs
	record  object // the record of a collection being written
	steps   []jsonStep
	lost    uint64 // events that were lost since the record before it
}

func newJSON(o *Options) formatter {
	j := &jsonFormat{clock: newClock(o.Process.Sync, o.Process.UptimeAtSync), o: o, steps: jsonSteps()}
	o.Process.Host = o.Host
	var process, host object
	j.facts(&process, aboutProcess)
	j.facts(&host, aboutHost)
	appendLabels(&host, o.Process.Labels)
	j.process, j.host = process.b, host.b
	j.prepare()
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

// A section is a part of a record that contains facts about the process.
type section uint8

const (
	aboutProcess section = iota
	aboutHost
	aboutRuntime
	aboutSettings
)

// sectionOf returns the section of a fact, and its path there.
func sectionOf(path string) (s section, name string) {
	if name, is := strings.CutPrefix(path, fields.Settings); is {
		return aboutSettings, name
	}
	if name, is := strings.CutPrefix(path, "process."); is {
		return aboutProcess, name
	}
	if name, is := strings.CutPrefix(path, "dotnet."); is {
		return aboutRuntime, name
	}
	return aboutHost, path
}

// facts writes the facts of a section that are known: those with these names, or all.
func (j *jsonFormat) facts(o *object, of section, names ...string) {
	for _, f := range fields.Process() {
		in, name := sectionOf(f.JSON)
		if in == of && (len(names) == 0 || slices.Contains(names, name)) {
			row(j, o, name, &f, &j.o.Process)
		}
	}
	o.enter("")
}

// row writes a field of a record under a name, if it is known.
func row[R any](j *jsonFormat, o *object, name string, f *fields.Row[R], r *R) {
	v, text, known := f.Of(r)
	if !known {
		return
	}
	dot := strings.LastIndexByte(name, '.') + 1
	o.enter(name[:dot])
	o.name(name[dot:])
	switch unit := jsonUnits[f.Unit]; {
	case f.Text != nil:
		o.b = appendJSONString(o.b, text)
	case unit != "":
		o.b = append(append(append(o.b, `{"`...), unit...), `":`...)
		o.b = append(j.appendValue(o.b, f.Unit, v), '}')
	default:
		o.b = j.appendValue(o.b, f.Unit, v)
	}
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

// prepare formats what all records contain about the runtime, and about gclog itself.
func (j *jsonFormat) prepare() {
	var runtime, mode, tail object
	j.facts(&runtime, aboutRuntime)
	j.facts(&mode, aboutSettings, "server", "concurrent")
	j.trailer(&tail, "")
	j.runtime, j.mode, j.tail = runtime.b, mode.b, tail.b
}

func (j *jsonFormat) settings(o *object) {
	o.open("settings")
	j.facts(o, aboutSettings)
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
	case *gclog.Counters:
		return j.counters(dst, r)
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
	for _, f := range fields.Verdict() {
		row(j, &o, f.JSON, &f, e)
	}
	o.enter("")
	return j.rest(&o)
}

// learn copies what has become known about the runtime since the start. The process's identity is
// unchanged, because ids depend on it.
func (j *jsonFormat) learn(p *gclog.Process) {
	if p == nil {
		return
	}
	j.o.Process.Merge(p)
	j.prepare()
}

// pause writes only pauses without a collection; the others are in the collection's record.
func (j *jsonFormat) pause(dst []byte, p *gclog.Pause) []byte {
	if p.GC != nil {
		return dst
	}
	o := j.begin(dst, p, p.Duration >= j.longPause(), func(b []byte) []byte {
		b = append(b, "suspension without a collection ("...)
		b = append(b, p.Kind.String()...)
		b = append(b, "): "...)
		b = appendMillis(b, p.Duration)
		return append(b, " ms"...)
	})
	j.event(&o, "event", "gc-suspension")
	j.time(&o, "start", p.Start)
	j.time(&o, "end", p.Start+p.Duration)
	o.int("duration", p.Duration)
	return details(j, &o, p.Start, fields.Suspension(), p)
}

func (j *jsonFormat) gap(dst []byte, g *gclog.Gap) []byte {
	o := j.begin(dst, g, true, func(b []byte) []byte { return appendGap(b, g) })
	j.event(&o, "event", "gc-gap")
	return details(j, &o, g.Time, fields.Gap(), g)
}

func (j *jsonFormat) stall(dst []byte, s *gclog.Stall) []byte {
	o := j.begin(dst, s, true, func(b []byte) []byte { return appendStall(b, s) })
	j.event(&o, "event", "gc-stall")
	return details(j, &o, s.Now, fields.Stall(), s)
}

// details ends the event of a record and writes the rest of the line, with the fields of the record.
func details[R any](j *jsonFormat, o *object, at int64, list []fields.Row[R], r *R) []byte {
	o.close()
	j.about(o, at)
	o.open("gc")
	for i := range list {
		row(j, o, list[i].JSON, &list[i], r)
	}
	o.enter("")
	o.close()
	o.close()
	return j.rest(o)
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

// defaultLongPause is what PerfView considers a long pause, in nanoseconds.
const defaultLongPause = 200e6

func (j *jsonFormat) longPause() int64 {
	if j.o.LongPause > 0 {
		return j.o.LongPause
	}
	return defaultLongPause
}
