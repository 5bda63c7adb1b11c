package gclog_test

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// TestProcesses: each event goes to the Reducer of its process, and events that are unknown or
// cannot be decoded do no harm.
func TestProcesses(t *testing.T) {
	var stories []*story
	p := gclog.NewProcesses(func(of *gclog.Process) gclog.Observer {
		if of.ID == 3 {
			return nil
		}
		s := newStory()
		stories = append(stories, s)
		return s.Observe
	})
	expect := func(s *story, want ...string) {
		t.Helper()
		if !slices.Equal(s.emitted, want) {
			t.Errorf("emitted %q, want %q", s.emitted, want)
		}
	}
	sync := time.Date(2026, 1, 31, 14, 3, 0, 0, time.UTC)
	p.Begin(&parse.Trace{PointerSize: 8, TicksPerSecond: 1e9, SyncTime: sync})
	event := func(process int64, id int, at int64, payload []byte) {
		p.Event(&parse.Event{Meta: &parse.Metadata{Index: id, Provider: clr.RuntimeProvider, EventID: id}, Process: process, Time: at, Ticks: at, Thread: 1, Version: 1, Payload: payload})
	}
	word := func(vs ...byte) (b []byte) {
		for _, v := range vs {
			b = append(b, v, 0, 0, 0)
		}
		return append(b, 0, 0)
	}
	event(1, 999, 500, nil) // unknown
	if len(p.List()) != 0 {
		t.Error("an unknown event makes a process")
	}
	for process := range int64(3) {
		at := 1000 * process
		event(process+1, clr.IDGCSuspendEEBegin, at+1000, word(1, 0))
		event(process+1, clr.IDGCSuspendEEEnd, at+2000, word()[:2])
		event(process+1, clr.IDGCStart, at+3000, word(7, 0, 0, 0))
		event(process+1, clr.IDGCEnd, at+4000, word(7, 0))
	}
	event(1, 999, 4500, nil)
	event(1, clr.IDGCEnd, 4600, word(7)[:5]) // too short: counts as lost
	event(3, clr.IDGCEnd, 4700, word(7)[:5])
	p.Loss(&parse.Loss{Process: 2, Events: 5, From: 4000, To: 9000})
	event(1, clr.IDGCRestartEEEnd, 10_000, word()[:2])
	event(2, clr.IDGCRestartEEEnd, 11_000, word()[:2])
	if p.DecodeErrors() != 2 || p.Latest() != 11_000 || len(p.List()) != 3 || p.List()[2].ID != 3 {
		t.Errorf("%d errors, newest %d, %v", p.DecodeErrors(), p.Latest(), p.List())
	}
	expect(stories[0], "gap lost-events 7-7 lost 1", "blocking #7 1+9", "gc #7 gen0 blocking no-sizes lost-events")
	expect(stories[1], "gap lost-events 7-7 lost 5", "blocking #7 2+9", "gc #7 gen0 blocking no-sizes lost-events")
	if at := p.List()[0].Time(1500); !at.Equal(sync.Add(1500)) {
		t.Errorf("it is %v", at)
	}
	for i, of := range p.List() {
		if r := p.Reducer(of); (r != nil) != (i < 2) {
			t.Errorf("reducer of process %d: %v", i+1, r)
		}
	}
	// A loss that names no process applies to all of them.
	p.Loss(&parse.Loss{Events: 3, From: 12_000, To: 13_000})
	if p.Latest() != 13_000 || stories[0].gaps[1].LostEvents != 3 || stories[1].gaps[1].LostEvents != 3 {
		t.Errorf("%+v %+v", stories[0].gaps, stories[1].gaps)
	}
	// Silence, and the end.
	event(1, clr.IDGCEnd, 20_000, word(8, 2))
	event(1, clr.IDGCHeapStats, 21_000, make([]byte, 94))
	p.Advance(1e9)
	if n := len(stories[0].gcs); n != 2 {
		t.Errorf("%d records behind a silence", n)
	}
	event(2, clr.IDGCSuspendEEBegin, 2e9, word(1, 0))
	event(2, clr.IDGCStart, 2e9+1, word(8, 0, 0, 0))
	p.Finish()
	if n := len(stories[1].gcs); n != 2 || !p.Reducer(p.List()[1]).Idle() {
		t.Errorf("%d records at the end", n)
	}
}

// TestHookAndRecords: an observer that sees the events receives the same records as one that does
// not.
func TestHookAndRecords(t *testing.T) {
	plain := newStory()
	hooked := &hookedStory{story: newStory()}
	hooked.Reducer = gclog.NewReducer(hooked.Observe)
	hooked.Reducer.Events = hooked.event
	for _, s := range []*story{plain, hooked.story} {
		s.plain(u, 1, 0).event(u, &clr.GCAllocationTick{Amount: 5}).plain(u, 2, 1)
		background(s).at(500).suspend(g, clr.SuspendForGCPrep).restart(g).finish(g, 5, 2)
		s.Finish(s.now * 1000)
	}
	hooked.want(t, plain.emitted...)
	if hooked.events < 30 {
		t.Errorf("%d events were shown", hooked.events)
	}
}

// hookedStory also receives the events.
type hookedStory struct {
	*story
	events int
}

func (s *hookedStory) event(gclog.Stamp, clr.Event, *gclog.GCDetails) { s.events++ }

// TestRecordedStart: a recording made by gclog restores what was known about the process, and its
// age, but not a start time in the future.
func TestRecordedStart(t *testing.T) {
	sync := time.Date(2026, 1, 31, 14, 3, 0, 0, time.UTC)
	for _, c := range []struct {
		process int64
		started int64
		name    string
		uptime  time.Duration
	}{
		{1, sync.Add(-time.Minute).UnixNano(), "shop", time.Minute},
		{1, sync.Add(time.Minute).UnixNano(), "shop", 0},
		{1, 0, "shop", 0},
		{1, -5, "shop", 0},
		{2, sync.Add(-time.Minute).UnixNano(), "", 0}, // this is another process
	} {
		p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
		p.Begin(&parse.Trace{PointerSize: 8, TicksPerSecond: 1e9, SyncTime: sync})
		p.Event(&parse.Event{
			Meta: &parse.Metadata{Provider: clr.RecordingProvider, EventID: clr.IDRecordedProcess}, Process: 1,
			Payload: recordedProcess("shop", "8.0.14", gclog.FlavorCoreCLR, "server", c.started),
		})
		if len(p.List()) != 0 {
			t.Error("the event alone makes a process")
		}
		p.Event(&parse.Event{Meta: &parse.Metadata{Index: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCRestartEEEnd}, Process: c.process})
		x := p.List()[0]
		known := c.process == 1
		if x.Name != c.name || (x.RuntimeVersion == "8.0.14") != known || (x.Flavor == gclog.FlavorCoreCLR) != known || (x.Server == gclog.Yes) != known || x.UptimeAtSync != c.uptime || x.Uptime(5) != c.uptime+5 {
			t.Errorf("%+v: %+v", c, x)
		}
		if c.started > 0 && known && x.Started.UnixNano() != c.started || c.started <= 0 && !x.Started.IsZero() {
			t.Errorf("started at %v, want %d", x.Started, c.started)
		}
	}
}

// recordedProcess is the payload of the event.
func recordedProcess(name, version, flavor, gc string, started int64) []byte {
	return clr.AppendRecordedProcess(nil, &clr.RecordedProcess{
		Name: clr.EncodeUTF16(name), RuntimeVersion: clr.EncodeUTF16(version), Flavor: clr.EncodeUTF16(flavor), GC: clr.EncodeUTF16(gc), Started: started,
	})
}

// TestRecordedFlavour checks the names of the GC kinds; other names mean unknown.
func TestRecordedFlavour(t *testing.T) {
	for said, want := range map[string]gclog.Known{"server": gclog.Yes, "workstation": gclog.No, "": gclog.Unknown, "else": gclog.Unknown} {
		p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
		p.Begin(&parse.Trace{PointerSize: 8, TicksPerSecond: 1e9})
		p.Event(&parse.Event{
			Meta: &parse.Metadata{Provider: clr.RecordingProvider, EventID: clr.IDRecordedProcess}, Process: 1,
			Payload: recordedProcess("", "", "", said, 0),
		})
		p.Event(&parse.Event{Meta: &parse.Metadata{Index: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCRestartEEEnd}, Process: 1})
		if got := p.List()[0].Server; got != want {
			t.Errorf("%q: %v", said, got)
		}
	}
}

// spanCalls records the order of the calls it receives.
type spanCalls struct {
	calls *[]string
	end   int64
}

// Observe takes a record.
func (s *spanCalls) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		*s.calls = append(*s.calls, fmt.Sprint("begin ", r.At))
	case *gclog.GCDetails:
		*s.calls = append(*s.calls, "gc")
	case *gclog.End:
		*s.calls, s.end = append(*s.calls, "end"), r.At
	}
}

// TestReadSpan: before and after everything else, an Observer receives the start and the end of the whole
// stream.
func TestReadSpan(t *testing.T) {
	for _, tr := range recordings.Repository(t) {
		var spans []*spanCalls
		newest := int64(0)
		err := gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(*gclog.Process) gclog.Observer {
			spans = append(spans, &spanCalls{calls: new([]string)})
			return spans[len(spans)-1].Observe
		})
		if _, cut := errors.AsType[*parse.FormatError](err); err != nil && !cut {
			t.Errorf("%s: %v", tr.Path, err)
		}
		for _, s := range spans {
			calls := *s.calls
			if calls[0] != "begin 0" || calls[len(calls)-1] != "end" || slices.ContainsFunc(calls[1:len(calls)-1], func(x string) bool { return x != "gc" }) {
				t.Errorf("%s: %q", tr.Path, calls)
			}
			newest = max(newest, s.end)
		}
		if len(spans) == 0 || newest == 0 {
			t.Errorf("%s: nothing was observed", tr.Path)
		}
	}
}

// TestLearn: what is known about the runtime and its GC is copied, each fact by itself, and unknown
// values overwrite nothing. The process's identity is unchanged.
func TestLearn(t *testing.T) {
	runtime := []string{"RuntimeVersion", "Flavor", "GCLibrary", "Server", "Concurrent", "HeapCount", "Processors", "Limits", "HasLimits"}
	known := func(text string, n int64) *gclog.Process {
		p := &gclog.Process{}
		for _, f := range reflect.ValueOf(p).Elem().Fields() {
			switch f.Kind() {
			case reflect.String:
				f.SetString(text)
			case reflect.Int, reflect.Int64:
				f.SetInt(n)
			case reflect.Uint8, reflect.Uint64:
				f.SetUint(uint64(n))
			case reflect.Bool:
				f.SetBool(true)
			}
		}
		p.Limits.HardLimit = uint64(n)
		return p
	}
	fields := reflect.TypeFor[gclog.Process]()
	for i := range fields.NumField() {
		name := fields.Field(i).Name
		other := &gclog.Process{}
		reflect.ValueOf(other).Elem().Field(i).Set(reflect.ValueOf(known("new", 2)).Elem().Field(i))
		other.Limits.HardLimit = 2
		got, want := known("old", 1), known("old", 1)
		if name == "Server" {
			other.ServerFrom = 2
			want.ServerFrom = 2
		}
		got.Merge(other)
		if slices.Contains(runtime, name) && name != "Limits" { // Limits is known only if HasLimits is set
			reflect.ValueOf(want).Elem().Field(i).Set(reflect.ValueOf(other).Elem().Field(i))
		}
		if name == "HasLimits" {
			want.Limits = other.Limits
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	p := &gclog.Process{}
	if p.Merge(known("new", 1)); p.Server != gclog.No || p.HeapCount != 1 || p.Processors != 1 || !p.HasLimits || p.Name != "" {
		t.Errorf("%+v", p)
	}
}

// TestServerEvidence: what runs is not what is configured where the runtime sees one processor (seen on
// .NET 8 to 11 with taskset), and what events show decides.
func TestServerEvidence(t *testing.T) {
	configured := func(server bool) *parse.Event {
		payload := make([]byte, 45)
		payload[20] = 1 // concurrent
		if server {
			payload[21] = 0x10
		}
		return &parse.Event{Meta: &parse.Metadata{Index: 1, Provider: clr.RuntimeProvider, EventID: clr.IDRuntimeInformation}, Payload: payload}
	}
	heaps := func(n byte) *parse.Event {
		payload := make([]byte, 28)
		payload[8] = n
		return &parse.Event{Meta: &parse.Metadata{Index: 2, Provider: clr.RuntimeProvider, EventID: clr.IDGCGlobalHeapHistory}, Payload: payload}
	}
	for _, c := range []struct {
		processors int
		events     []*parse.Event
		want       gclog.Known
		from       gclog.Evidence
	}{
		{2, []*parse.Event{configured(true)}, gclog.Yes, gclog.EvidenceReported},
		{2, []*parse.Event{configured(false)}, gclog.No, gclog.EvidenceReported},
		{1, []*parse.Event{configured(true)}, gclog.No, gclog.EvidenceProcessors},
		{1, []*parse.Event{heaps(1)}, gclog.No, gclog.EvidenceProcessors},
		{2, []*parse.Event{heaps(1)}, gclog.Unknown, gclog.EvidenceNone},
		{2, []*parse.Event{heaps(2), configured(false)}, gclog.Yes, gclog.EvidenceEvents},
		{0, []*parse.Event{configured(true)}, gclog.Yes, gclog.EvidenceReported},
	} {
		p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return nil })
		p.Begin(&parse.Trace{PointerSize: 8, TicksPerSecond: 1e9, Processors: c.processors})
		for _, e := range c.events {
			p.Event(e)
		}
		if x := p.List()[0]; x.Server != c.want || x.ServerFrom != c.from {
			t.Errorf("%d processors: %v from %v, want %v from %v", c.processors, x.Server, x.ServerFrom, c.want, c.from)
		}
	}
	// Merged in any order, the stronger evidence stays.
	threads, told := gclog.Process{}, gclog.Process{}
	threads.SetServer(gclog.No, gclog.EvidenceThreads)
	told.SetServer(gclog.Yes, gclog.EvidenceReported)
	for _, x := range [][2]gclog.Process{{threads, told}, {told, threads}} {
		if x[0].Merge(&x[1]); x[0].Server != gclog.No || x[0].ServerFrom != gclog.EvidenceThreads {
			t.Errorf("%v from %v", x[0].Server, x[0].ServerFrom)
		}
	}
}
