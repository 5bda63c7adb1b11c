package doctor

import (
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/nettracetest"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// wants fails unless a report has a cause exactly once, with these words.
func wants(t *testing.T, r *Report, id, words string) {
	t.Helper()
	found := 0
	for _, f := range r.Findings {
		if f.Cause.ID == id && strings.Contains(f.Text, words) {
			found++
		}
	}
	if found != 1 {
		t.Errorf("%d findings %s with %q in %+v", found, id, words, r.Findings)
	}
}

func lacks(t *testing.T, r *Report, id string) {
	t.Helper()
	for _, f := range r.Findings {
		if f.Cause.ID == id {
			t.Errorf("unexpected finding %s: %s", id, f.Text)
		}
	}
}

// without returns a copy of a .NET 10 recording without the kinds of events for which drop returns
// true.
func without(t *testing.T, drop func(*parse.Metadata) bool) []byte {
	t.Helper()
	f, err := os.Open(filepath.Join("..", "..", "testdata", "traces", "net10-datas-bgc.nettrace.gz"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var w nettracetest.V4
	clock := nettracetest.DefaultClock()
	w.Begin(clock)
	declared := map[int]bool{}
	r := parse.NewReader(z, parse.All)
	for r.Scan() {
		e := r.Event()
		if e == nil || drop(e.Meta) {
			continue
		}
		id := uint32(e.Meta.Index + 1)
		if !declared[e.Meta.Index] {
			declared[e.Meta.Index] = true
			w.Metadata(nettracetest.Kind{
				ID: id, Provider: e.Meta.Provider, EventID: uint32(e.Meta.EventID), Version: uint32(e.Meta.Version),
				Level: uint32(e.Meta.Level), Keywords: e.Meta.Keywords,
			})
		}
		w.Events(nettracetest.Row{Kind: id, Thread: e.Thread, Ticks: clock.Ticks + e.Time, Payload: slices.Clone(e.Payload), Sorted: true})
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	w.End()
	return w.Bytes
}

// examine is File for bytes.
func examine(t *testing.T, b []byte) *Report {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.nettrace")
	if err := os.WriteFile(name, b, 0o644); err != nil {
		t.Fatal(err)
	}
	r := File(name, unpack.LimitPassed)
	if !r.OK() {
		t.Errorf("it cannot be read: %+v", r.Findings)
	}
	return r
}

func dropped(provider string, ids ...int) func(*parse.Metadata) bool {
	return func(m *parse.Metadata) bool {
		return m.Provider == provider && (len(ids) == 0 || slices.Contains(ids, m.EventID))
	}
}

func TestMissingEvents(t *testing.T) {
	r := examine(t, without(t, func(*parse.Metadata) bool { return false }))
	for _, id := range []string{"no-gc-events", "no-pauses", "no-heap-stats", "no-heap-history", "no-private-events", "missing-gcs", "late-events"} {
		lacks(t, r, id)
	}
	r = examine(t, without(t, dropped(clr.RuntimeProvider, clr.IDGCSuspendEEBegin, clr.IDGCRestartEEEnd)))
	wants(t, r, "no-pauses", "no pauses")
	r = examine(t, without(t, dropped(clr.RuntimeProvider, clr.IDGCHeapStats)))
	wants(t, r, "no-heap-stats", "no GCHeapStats")
	lacks(t, r, "no-heap-history")
	r = examine(t, without(t, dropped(clr.RuntimeProvider, clr.IDGCPerHeapHistory)))
	wants(t, r, "no-heap-history", "no sizes before")
	r = examine(t, without(t, dropped(clr.PrivateProvider)))
	wants(t, r, "no-private-events", "1 background collections")
	r = examine(t, without(t, dropped(clr.RuntimeProvider)))
	wants(t, r, "no-gc-events", "was not recorded")
	r = examine(t, without(t, dropped(clr.RuntimeProvider, clr.IDGCStart, clr.IDGCEnd)))
	wants(t, r, "no-gc-events", "no collection happened")
	var v inventory // of gclog record, which enabled the events
	v.of(&parse.Metadata{Provider: clr.RecordingProvider, EventID: clr.IDRecordedProcess}).count = 1
	r = &Report{}
	r.missingEvents(&v, &tally{}, false)
	wants(t, r, "no-gc-events", "no collection happened")
}

// TestMissingNumbers leaves out a collection in the middle.
func TestMissingNumbers(t *testing.T) {
	var v nettracetest.V4
	clock := nettracetest.DefaultClock()
	v.Begin(clock)
	v.Metadata(
		nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCStart, Version: 2, Level: 4, Keywords: 1},
		nettracetest.Kind{ID: 2, Provider: clr.RuntimeProvider, EventID: clr.IDGCEnd, Version: 1, Level: 4, Keywords: 1},
	)
	for i, number := range []byte{1, 2, 5} {
		start := append([]byte{number}, make([]byte, 25)...)
		end := append([]byte{number}, make([]byte, 9)...)
		at := clock.Ticks + int64(i)*1000
		v.Events(
			nettracetest.Row{Kind: 1, Thread: 1, Ticks: at, Payload: start, Sorted: true},
			nettracetest.Row{Kind: 2, Thread: 1, Ticks: at + 10, Payload: end, Sorted: true},
		)
	}
	v.End()
	wants(t, examine(t, v.Bytes), "missing-gcs", "missing collection numbers: 2")
}

func TestLateEvents(t *testing.T) {
	var v nettracetest.V4
	clock := nettracetest.DefaultClock()
	v.Begin(clock)
	v.Metadata(nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCTriggered, Level: 4, Keywords: 1})
	for _, after := range []int64{1000, 500} {
		v.Events(nettracetest.Row{Kind: 1, Thread: 1, Ticks: clock.Ticks + after, Payload: make([]byte, 6), Sorted: true})
	}
	v.End()
	wants(t, examine(t, v.Bytes), "late-events", "1 events")
}

// TestProcesses: a recorder of a whole machine records for each event which process it belongs to,
// if any.
func TestProcesses(t *testing.T) {
	recording := func(threads ...nettracetest.Thread) []byte {
		var v nettracetest.V6
		clock := nettracetest.DefaultClock()
		v.Begin(clock)
		v.Metadata(nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCTriggered, Version: 1, Level: 4, Keywords: 1})
		v.Threads(threads...)
		for i, thread := range threads {
			v.Events(nettracetest.Row{Kind: 1, Thread: thread.Index, Ticks: clock.Ticks + int64(i), Payload: make([]byte, 6), Sorted: true})
		}
		v.End()
		return v.Bytes
	}
	r := examine(t, recording(nettracetest.Thread{Index: 1, Process: 11, ID: 11}, nettracetest.Thread{Index: 2, Process: 22, ID: 22}))
	wants(t, r, "several-processes", "2 processes")
	lacks(t, r, "no-process-info")
	r = examine(t, recording(nettracetest.Thread{Index: 1, ID: 11}))
	wants(t, r, "no-process-info", "which process")
	lacks(t, r, "several-processes")
}

// TestNoDate: a recording whose date is impossible can be read, and it is said.
func TestNoDate(t *testing.T) {
	var v nettracetest.V4
	clock := nettracetest.DefaultClock()
	clock.Time = time.Time{}
	v.Begin(clock)
	v.Metadata(nettracetest.Kind{ID: 1, Provider: clr.RuntimeProvider, EventID: clr.IDGCTriggered, Version: 1, Level: 4, Keywords: 1})
	v.Events(nettracetest.Row{Kind: 1, Thread: 1, Ticks: clock.Ticks, Payload: make([]byte, 6), Sorted: true})
	v.SequencePoint(clock.Ticks + 3e7)
	v.End()
	r := examine(t, v.Bytes)
	wants(t, r, "no-date", "does not say when")
	for _, f := range r.Facts {
		if f.Name == "begin" || f.Name == "length" && f.Value != "30ms" {
			t.Errorf("%s is %s", f.Name, f.Value)
		}
	}
}

// TestLogInRecording: a recording may contain lines of a log in its strings.
func TestLogInRecording(t *testing.T) {
	const line = "\n[2026-11-21T16:18:58.720+0000][3.097s][info][gc] GC(11) Pause Young (Allocation Failure) 112026K->100832K(119904K) 9.124ms\n"
	var v nettracetest.V6
	v.Begin(nettracetest.DefaultClock())
	v.Metadata(nettracetest.Kind{ID: 1, Provider: "Shop", EventID: 1, Name: line, Version: 1, Level: 4})
	v.End()
	wants(t, examine(t, v.Bytes), "no-gc-events", "was not recorded")
}
