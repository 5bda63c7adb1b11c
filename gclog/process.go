package gclog

import (
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// Known is a boolean that may be unknown.
type Known uint8

// The values of Known.
const (
	Unknown Known = iota
	No
	Yes
)

// KnownBool returns b as a Known.
func KnownBool(b bool) Known {
	if b {
		return Yes
	}
	return No
}

func (k Known) String() string { return [...]string{"unknown", "no", "yes"}[k] }

// The flavors of the runtime.
const (
	FlavorCoreCLR   = "CoreCLR"
	FlavorNativeAOT = "NativeAOT"
)

// A Process is what is known about a process with a .NET runtime. Processes fills in what the
// stream itself contains; a live session knows more. Empty and zero values are unknown.
type Process struct {
	ID             int64 // as the host sees it; in a recording, as the process sees itself
	Name           string
	CommandLine    string
	EntryAssembly  string
	Service        string // name of the service that the process belongs to
	ServiceVersion string
	RuntimeVersion string // "10.0.14"
	Flavor         string // FlavorCoreCLR or FlavorNativeAOT, "" if unknown
	OS             string
	Architecture   string
	Cookie         string // GUID of the runtime instance: never used twice
	Started        time.Time
	StartKey       uint64 // process start time in the kernel's own unit: with ID it identifies the process on this host
	Executable     string
	User           string
	UserID         string // of User, as this host sees it
	PrincipalID    string // of the user who answers for that one, as who has made its user namespace does; "": itself
	Host           string // host that it runs on
	ContainerID    string
	ContainerName  string
	Namespace      string            // Kubernetes namespace
	Pod            string            // Kubernetes pod name
	PodUID         string            // distinguishes pods of the same name
	Labels         map[string]string // set by the user

	Server     Known    // server GC; see SetServer
	ServerFrom Evidence // what Server is based on
	Concurrent Known    // background collections are allowed
	HeapCount  int
	Processors int    // that the runtime sees
	GCLibrary  string // file name of a standalone GC, "" for the built-in one

	// DiagnosticsThreads are the threads that carry out what diagnostic tools request, with their ids
	// in events; others that request no collections may be among them. Empty: unknown.
	DiagnosticsThreads []uint64
	// Snapshot: gclog itself took a heap snapshot in this session.
	Snapshot bool

	// Limits from GCSettingsRundown (sent at attach, .NET 9 and later).
	Limits    clr.GCSettings
	HasLimits bool

	// Sync is the wall-clock time of time stamp 0. If it is unknown, times count from the start of 1970;
	// see Dated.
	Sync time.Time
	// UptimeAtSync is the age of the process at Sync; 0 if its start is unknown: the log's uptime
	// then counts from the start of the stream.
	UptimeAtSync time.Duration
}

// Evidence is what shows whether a process uses server GC. A later one is stronger: what is
// configured is not what runs where the program may use one processor only, for which the runtime
// always takes workstation GC.
type Evidence uint8

// The kinds of Evidence.
const (
	EvidenceNone          Evidence = iota
	EvidenceConfiguration          // the environment and the runtimeconfig.json of the process
	EvidenceReported               // RuntimeInformation, which says what is configured
	EvidenceProcessors             // the only processor that the runtime sees
	EvidenceRecorded               // what gclog wrote into a recording or a log
	EvidenceThreads                // the names of the threads
	EvidenceEvents                 // several heaps, or what only one kind of GC reports
)

// SetServer notes whether the process uses server GC, unless stronger evidence is known.
func (p *Process) SetServer(server Known, from Evidence) {
	if server != Unknown && from >= p.ServerFrom {
		p.Server, p.ServerFrom = server, from
	}
}

// Merge copies what other knows about the runtime and its GC. The process's identity is unchanged.
func (p *Process) Merge(other *Process) {
	text := func(known *string, text string) {
		if text != "" {
			*known = text
		}
	}
	text(&p.RuntimeVersion, other.RuntimeVersion)
	text(&p.Flavor, other.Flavor)
	text(&p.GCLibrary, other.GCLibrary)
	p.SetServer(other.Server, other.ServerFrom)
	if other.Concurrent != Unknown {
		p.Concurrent = other.Concurrent
	}
	if other.HeapCount > 0 {
		p.HeapCount = other.HeapCount
	}
	if other.Processors > 0 {
		p.Processors = other.Processors
	}
	if other.HasLimits {
		p.Limits, p.HasLimits = other.Limits, true
	}
}

// Major returns the first number of the version of a runtime, 0 if that is unknown.
func Major(version string) int {
	first, _, _ := strings.Cut(version, ".")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// Dated reports whether the wall-clock time is known. Recordings and logs without one may be a year
// long.
func (p *Process) Dated() bool { return p.Sync.Year() > 1971 }

// Time returns the wall-clock time of a time stamp.
func (p *Process) Time(at int64) time.Time { return p.Sync.Add(time.Duration(at)) }

// Uptime returns the age of the process at a time stamp.
func (p *Process) Uptime(at int64) time.Duration { return p.UptimeAtSync + time.Duration(at) }

// Processes reduces a whole stream, which may contain events of several processes, with one Reducer
// for each.
type Processes struct {
	// Events returns what receives the events of a process, for which there is an Observer; nil: nothing
	// does.
	Events func(*Process) EventObserver
	// Requested is that of each Reducer.
	Requested func() Request

	observe func(*Process) Observer
	trace   *parse.Trace
	decoder *clr.Decoder
	byKey   map[processKey]*process
	list    []*process
	lastKey processKey
	last    *process
	errors  int64
	latest  int64

	recorded Process // what gclog wrote into its own recording
}

type processKey struct {
	id       int64
	instance uint16
}

type process struct {
	facts   *Process
	reducer *Reducer // nil: no observer
}

// NewProcesses returns a Processes that calls observe to get an Observer for each process at its
// first event; if observe returns nil, the process is ignored. The *Process stays valid, and is
// filled in as the stream reports more.
func NewProcesses(observe func(*Process) Observer) *Processes {
	return &Processes{observe: observe, byKey: map[processKey]*process{}}
}

// maxProcesses limits the number of processes in a stream.
const maxProcesses = 1 << 14

// Begin passes on the header of the stream. It must be called before the first event.
func (p *Processes) Begin(t *parse.Trace) {
	p.trace = t
	p.decoder = clr.NewDecoder(t.PointerSize)
}

// Event handles the next event of the stream.
func (p *Processes) Event(e *parse.Event) {
	if !e.Meta.Rundown() {
		p.latest = max(p.latest, e.Time)
	}
	typed, err := p.decoder.Decode(e)
	at := Stamp{Time: e.Time, Ticks: e.Ticks, Thread: e.Thread}
	if err != nil {
		p.errors++
		if x := p.find(processKey{e.Process, p.lastKey.instance}); x != nil && x.reducer != nil {
			x.reducer.DecodeError(at)
		}
		return
	}
	if typed == nil {
		return
	}
	if recorded, ok := typed.(*clr.RecordedProcess); ok {
		p.recordedProcess(e.Process, recorded)
		return
	}
	x := p.find(processKey{e.Process, typed.InstanceID()})
	if x == nil {
		return
	}
	switch typed := typed.(type) {
	case *clr.RuntimeInformation:
		x.facts.runtimeInformation(typed)
	case *clr.GCSettings:
		x.facts.settings(typed)
	case *clr.PrvGCSettings:
		x.facts.SetServer(KnownBool(typed.Server), EvidenceEvents)
	case *clr.GCGlobalHeapHistory:
		x.facts.globalHistory(typed)
	case *clr.SizeAdaptationSample, *clr.SizeAdaptationTuning, *clr.SizeAdaptationFullGCTuning, *clr.HeapCountSample,
		*clr.HeapCountTuning:
		x.facts.SetServer(Yes, EvidenceEvents) // DATAS is a mode of server GC, and may use one heap
	case *clr.GCStart:
		if typed.Type == clr.TypeBackground && x.facts.Concurrent == Unknown {
			x.facts.Concurrent = Yes
		}
	}
	if x.reducer != nil {
		x.reducer.Event(at, typed)
	}
}

// Loss handles a report of lost events. It applies to the process that it names or, if it names
// none, to all.
func (p *Processes) Loss(l *parse.Loss) {
	p.latest = max(p.latest, l.To)
	at := Stamp{Time: l.To, Ticks: l.Ticks, Thread: l.Thread}
	for key, x := range p.byKey {
		if x.reducer != nil && (key.id == l.Process || l.Process == 0) {
			x.reducer.Loss(at, l.From, uint64(l.Events))
		}
	}
}

// Advance informs the Reducers that nothing happened up to the time now.
func (p *Processes) Advance(now int64) {
	for _, x := range p.list {
		if x.reducer != nil {
			x.reducer.Advance(now)
		}
	}
}

// Finish emits everything that is open in its current state: the stream has ended.
func (p *Processes) Finish() {
	for _, x := range p.list {
		if x.reducer != nil {
			x.reducer.Finish(p.latest)
		}
	}
}

// Extend informs the Processes that the stream was recorded up to a time, see parse.Stats.
func (p *Processes) Extend(until int64) { p.latest = max(p.latest, until) }

// Latest returns the time of the latest event so far, or up to when the stream is known to be recorded.
func (p *Processes) Latest() int64 { return p.latest }

// DecodeErrors returns the number of events that could not be decoded.
func (p *Processes) DecodeErrors() int64 { return p.errors }

// List returns the processes in the order of their first events.
func (p *Processes) List() []*Process {
	var list []*Process
	for _, x := range p.list {
		list = append(list, x.facts)
	}
	return list
}

// Reducer returns the Reducer of a process, or nil if it has no observer.
func (p *Processes) Reducer(of *Process) *Reducer {
	for _, x := range p.list {
		if x.facts == of {
			return x.reducer
		}
	}
	return nil
}

func (p *Processes) find(key processKey) *process {
	if p.last != nil && key == p.lastKey {
		return p.last
	}
	x := p.byKey[key]
	if x == nil {
		if len(p.byKey) >= maxProcesses {
			return nil
		}
		x = &process{facts: &Process{ID: key.id, Sync: p.trace.SyncTime, Processors: p.trace.Processors}}
		if p.trace.Processors == 1 {
			x.facts.SetServer(No, EvidenceProcessors)
		}
		if r := p.recorded; r.ID == key.id {
			x.facts.Name, x.facts.Started = r.Name, r.Started
			x.facts.RuntimeVersion, x.facts.Flavor = r.RuntimeVersion, r.Flavor
			x.facts.SetServer(r.Server, r.ServerFrom)
			x.facts.DiagnosticsThreads, x.facts.Snapshot = r.DiagnosticsThreads, r.Snapshot
			if !r.Started.IsZero() {
				x.facts.UptimeAtSync = max(0, x.facts.Sync.Sub(r.Started))
			}
		}
		if out := p.observe(x.facts); out != nil {
			x.reducer = NewReducer(out)
			x.reducer.Requested = p.Requested
			if p.Events != nil {
				x.reducer.Events = p.Events(x.facts)
			}
			x.reducer.SetProcess(x.facts)
		}
		p.byKey[key] = x
		p.list = append(p.list, x)
	}
	p.last, p.lastKey = x, key
	return x
}

// recordedProcess keeps what gclog knew when it recorded the process. The event comes before all
// others, and does not by itself create a process.
func (p *Processes) recordedProcess(id int64, e *clr.RecordedProcess) {
	p.recorded = Process{
		ID:             id,
		Name:           e.Name.String(),
		RuntimeVersion: e.RuntimeVersion.String(),
		Flavor:         e.Flavor.String(),
	}
	switch e.GC.String() {
	case "server":
		p.recorded.SetServer(Yes, EvidenceRecorded)
	case "workstation":
		p.recorded.SetServer(No, EvidenceRecorded)
	}
	if e.Started > 0 {
		p.recorded.Started = time.Unix(0, e.Started).UTC()
	}
	p.recorded.Snapshot = e.Snapshot
	for id := range strings.FieldsSeq(e.DiagnosticsThreads.String()) {
		n, err := strconv.ParseUint(id, 10, 64)
		if err == nil && len(p.recorded.DiagnosticsThreads) < maxDiagnosticsThreads {
			p.recorded.DiagnosticsThreads = append(p.recorded.DiagnosticsThreads, n)
		}
	}
}

// maxDiagnosticsThreads is more than a runtime has.
const maxDiagnosticsThreads = 128

func (p *Process) runtimeInformation(e *clr.RuntimeInformation) {
	if v := versionString(e.BCLVersion); p.RuntimeVersion == "" && v != "" {
		p.RuntimeVersion = v
	}
	if p.CommandLine == "" {
		p.CommandLine = e.CommandLine.String()
	}
	// .NET Core 3.1 reports 0 for every flavor.
	if e.StartupFlags != 0 {
		p.SetServer(KnownBool(e.StartupFlags&clr.StartupServerGC != 0), EvidenceReported)
		p.Concurrent = KnownBool(e.StartupFlags&clr.StartupConcurrentGC != 0)
	}
}

func (p *Process) settings(e *clr.GCSettings) {
	p.Limits, p.HasLimits = *e, true
	p.Concurrent = KnownBool(e.Bits&clr.SettingConcurrent != 0)
}

func (p *Process) globalHistory(e *clr.GCGlobalHeapHistory) {
	if e.Heaps > 0 {
		p.HeapCount = int(e.Heaps)
	}
	if e.Heaps > 1 {
		p.SetServer(Yes, EvidenceEvents)
	}
}
