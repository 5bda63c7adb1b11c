package formats_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// paths are the paths of all members of all records with their kinds: for a shipper, a name is
// always either a value or an object.
type paths struct {
	mu    sync.Mutex
	kinds map[string]string
	first map[string]string // where each was first seen
}

// seenPaths are the paths from all tests.
var seenPaths = &paths{kinds: map[string]string{}, first: map[string]string{}}

func (p *paths) note(t *testing.T, where, path, kind string) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kinds[path] == kind {
		return // the objects that contain it are known too
	}
	set := func(path, kind string) {
		if was, there := p.kinds[path]; !there {
			p.kinds[path], p.first[path] = kind, where
		} else if was != kind {
			t.Errorf("%s is of type %s in %s, but %s in %s", path, kind, where, was, p.first[path])
		}
	}
	set(path, kind)
	for i, c := range path { // log.level makes log an object
		if c == '.' {
			set(path[:i], "object")
		}
	}
}

// A member is one value in a record, with the names that lead to it.
type member struct {
	path  string
	value any // string, json.Number, bool, nil
}

// members walks through a record and rejects duplicate names: encoding/json accepts them, shippers
// do not.
func members(t *testing.T, where string, line []byte) (top []string, all []member) {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	next := func() json.Token {
		token, err := dec.Token()
		if err != nil {
			t.Fatalf("%s: %v\n\t%s", where, err, line)
		}
		return token
	}
	var value func(path string, depth int)
	value = func(path string, depth int) {
		token := next()
		switch token := token.(type) {
		case json.Delim:
			if token == '[' {
				seenPaths.note(t, where, path, "array")
				for dec.More() {
					value(path+"[]", depth)
				}
				next()
				return
			}
			if path != "" {
				seenPaths.note(t, where, path, "object")
				path += "."
			}
			seen := map[string]bool{}
			for dec.More() {
				name := next().(string)
				if seen[name] {
					t.Errorf("%s: %s%s occurs twice\n\t%s", where, path, name, line)
				}
				seen[name] = true
				if depth == 0 {
					top = append(top, name)
				}
				value(path+name, depth+1)
			}
			next()
		default:
			kind := fmt.Sprintf("%T", token)
			seenPaths.note(t, where, path, kind)
			all = append(all, member{path, token})
		}
	}
	value("", 0)
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		t.Errorf("%s: more than one value: %v\n\t%s", where, err, line)
	}
	return top, all
}

var (
	jsonTime   = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$`)
	anyTime    = regexp.MustCompile(`^\d{4}-\d\d-\d\d`)
	jsonWhole  = regexp.MustCompile(`\.(bytes|ns|count)$`)
	hexID      = regexp.MustCompile(`^[0-9a-f]{32}$`)
	headIDs    = regexp.MustCompile(`"gclog_file_id":"[0-9a-f]{16}"(.*?"gclog_doc_id":)"[0-9a-f]{32}"`)
	fileIDHead = regexp.MustCompile(`^\{"gclog_file_id":"[0-9a-f]{16}",`)
	jsonActs   = []string{"gc", "gc-session-start", "gc-session-end", "gc-suspension", "gc-gap", "gc-stall", "gc-heap-growth", "gc-counters", "gc-settings", "gc-summary", "gc-finding"}
)

// checkRecord checks one record against section 3a of spec/users-and-conventions.md and returns its
// members by path.
func checkRecord(t *testing.T, where string, line []byte) map[string]any {
	t.Helper()
	top, all := members(t, where, line)
	if want := []string{"@timestamp", "log.level", "message", "ecs.version"}; len(top) < 4 || !slices.Equal(top[:4], want) {
		t.Errorf("%s begins with %v, not with %v", where, top[:min(4, len(top))], want)
	}
	byPath := map[string]any{}
	for _, m := range all {
		byPath[m.path] = m.value
		s, _ := m.value.(string)
		n, _ := m.value.(json.Number)
		switch {
		case m.value == nil:
			t.Errorf("%s: %s is null: what is unknown is left out", where, m.path)
		case anyTime.MatchString(s) && !jsonTime.MatchString(s):
			t.Errorf("%s: %s is %q: times have nine decimals and Z", where, m.path, s)
		case jsonWhole.MatchString(m.path) && !csvNumber.MatchString(n.String()):
			t.Errorf("%s: %s is %v: not a whole number", where, m.path, m.value)
		case strings.HasSuffix(m.path, ".pct"):
			if v, err := n.Float64(); err != nil || v < 0 {
				t.Errorf("%s: %s is %v", where, m.path, m.value)
			}
		}
	}
	for path, want := range map[string]any{"event.module": "dotnet", "event.dataset": "dotnet.gc", "log.logger": "gclog", "gclog.schema": formats.Schema} {
		if byPath[path] != want {
			t.Errorf("%s: %s is %v, want %v", where, path, byPath[path], want)
		}
	}
	if message, _ := byPath["message"].(string); byPath["event.action"] == "gc" && byPath["dotnet.gc.pause.count"] == nil && strings.Contains(message, "pause") {
		t.Errorf("%s: its pause is not known, its message is %q", where, message)
	}
	if act, _ := byPath["event.action"].(string); !slices.Contains(jsonActs, act) {
		t.Errorf("%s: event.action is %v", where, byPath["event.action"])
	}
	if level := byPath["log.level"]; level != "info" && level != "warn" {
		t.Errorf("%s: log.level is %v", where, level)
	}
	if id, _ := byPath["gclog_doc_id"].(string); !hexID.MatchString(id) {
		t.Errorf("%s: gclog_doc_id is %q", where, id)
	}
	return byPath
}

// checkHeader checks the first line of a JSON file: shippers distinguish files by their first 1024
// bytes.
func checkHeader(t *testing.T, where string, line []byte) {
	t.Helper()
	top, all := members(t, where, line)
	if want := []string{"gclog_file_id", "@timestamp", "log.level", "message", "ecs.version", "gclog_doc_id"}; len(top) < 6 || !slices.Equal(top[:6], want) {
		t.Errorf("%s begins with %v, not with %v", where, top[:min(6, len(top))], want)
	}
	if !fileIDHead.Match(line[:min(64, len(line))]) {
		t.Errorf("%s has no id in its first 64 bytes: %s", where, line[:min(64, len(line))])
	}
	if len(line)+1 < 1100 {
		t.Errorf("%s is only %d bytes long", where, len(line)+1)
	}
	for _, m := range all {
		if s, _ := m.value.(string); anyTime.MatchString(s) && !jsonTime.MatchString(s) {
			t.Errorf("%s: %s is %q: times have nine decimals and Z", where, m.path, s)
		}
		if id, _ := m.value.(string); m.path == "gclog_doc_id" && !hexID.MatchString(id) {
			t.Errorf("%s: gclog_doc_id is %v", where, m.value)
		}
		if m.path == "event.action" && m.value != "gc-log-header" {
			t.Errorf("%s: event.action is %v", where, m.value)
		}
	}
}

// checkJSON checks that every line is a record as shippers require, and that the pauses in the
// records add up to those that were reported, to the nanosecond.
func checkJSON(t *testing.T, x *conversion, name string) {
	t.Helper()
	var want, sum int64
	records := 0
	for _, c := range x.processes {
		records += 2 + len(c.gcs) + c.gaps // including the start and the end
		for _, p := range c.pauses {
			want += p.Duration
			if p.GC == nil {
				records++
			}
		}
	}
	if records == 0 {
		return
	}
	list := lines(x.outputs["json"].text())
	checkHeader(t, name+" line 1", []byte(list[0]))
	if len(list)-1 != records {
		t.Errorf("json: %d records, want %d", len(list)-1, records)
	}
	ids := map[string]int{}
	for i, line := range list[1:] {
		where := fmt.Sprintf("%s line %d", name, i+2)
		byPath := checkRecord(t, where, []byte(line))
		id, _ := byPath["gclog_doc_id"].(string)
		if at := ids[id]; at != 0 {
			t.Errorf("%s has the gclog_doc_id of line %d: a shipper drops it\n\t%s\n\t%s", where, at, list[at-1], line)
		}
		ids[id] = i + 2
		sum += pausesOf(t, where, line)
	}
	if sum != want {
		t.Errorf("json: the pauses add up to %d ns, want %d", sum, want)
	}
}

// pausesOf returns the sum of the pauses in a record.
func pausesOf(t *testing.T, where, line string) (sum int64) {
	t.Helper()
	var r struct {
		Dotnet struct {
			GC struct {
				Suspension struct{ NS int64 }
				Pause      struct {
					Total struct{ NS int64 }
					Count int
					Parts []struct{ NS int64 }
				}
			}
		}
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%s: %v", where, err)
	}
	p := &r.Dotnet.GC.Pause
	for _, part := range p.Parts {
		sum += part.NS
	}
	if sum != p.Total.NS || len(p.Parts) != p.Count {
		t.Errorf("%s: %d parts of %d ns in all, its total is %d parts of %d ns", where, len(p.Parts), sum, p.Count, p.Total.NS)
	}
	return sum + r.Dotnet.GC.Suspension.NS
}

// TestJSONRecords checks the records that are not collections against section 3a.2 of
// spec/users-and-conventions.md.
func TestJSONRecords(t *testing.T) {
	const hour = int64(time.Hour)
	open := gclog.Open{Kind: gclog.OpenGC, Since: hour - 1e9, Ticks: 77, Number: 17, HasNumber: true, Generation: 2, Type: clr.TypeBackground, Reason: clr.ReasonAllocLarge, HasReason: true}
	for _, c := range []struct {
		name  string
		write func(w *formats.Writer)
		want  map[string]any
	}{
		{
			"start", func(w *formats.Writer) {
				w.Observe(&gclog.Start{At: hour, Ticks: 1, Providers: "Microsoft-Windows-DotNETRuntime:0x1:4"})
			},
			map[string]any{
				"event.action": "gc-session-start", "dotnet.runtime.version": "10.0.14", "dotnet.gc.settings.server": true,
				"dotnet.gc.settings.concurrent": false, "gclog.providers": "Microsoft-Windows-DotNETRuntime:0x1:4",
			},
		},
		{
			"end exited", func(w *formats.Writer) {
				w.Observe(&gclog.End{At: hour, Ticks: 1, Reason: gclog.EndExited, ExitCode: -1, HasCode: true})
			},
			map[string]any{"event.action": "gc-session-end", "event.reason": "exited", "process.exit_code": -1, "process.pid": 4711},
		},
		{
			"end killed", func(w *formats.Writer) { w.Observe(&gclog.End{At: hour, Ticks: 2, Reason: gclog.EndKilled}) },
			map[string]any{"event.reason": "killed", "process.exit_code": nil},
		},
		{
			"end by a signal", func(w *formats.Writer) {
				w.Observe(&gclog.End{At: hour, Ticks: 2, Reason: gclog.EndKilled, Signal: 15})
			},
			map[string]any{"event.reason": "killed", "process.exit_signal": 15, "process.exit_code": nil},
		},
		{
			"end for want of memory", func(w *formats.Writer) {
				w.Observe(&gclog.End{At: hour, Ticks: 2, Reason: gclog.EndOOMKilled, Signal: 9})
			},
			map[string]any{"event.reason": "oom-killed", "process.exit_signal": 9, "message": "session with process 4711 ended: oom-killed by SIGKILL", "log.level": "warn"},
		},
		{
			"end detached", func(w *formats.Writer) { w.Observe(&gclog.End{At: hour, Ticks: 3, Reason: gclog.EndDetached}) },
			map[string]any{"event.reason": "detached"},
		},
		{
			"end broken", func(w *formats.Writer) {
				w.Observe(&gclog.End{At: hour, Ticks: 4, Reason: gclog.EndStreamError, Message: "a \"block\"\nof 7 bytes"})
			},
			map[string]any{"event.reason": "stream-error", "log.level": "warn", "error.message": "a \"block\"\nof 7 bytes"},
		},
		{
			"suspension", func(w *formats.Writer) {
				w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseNoGCRegion, Start: hour, Duration: 1234567, Suspend: 4567, HasSuspend: true}, Ticks: 5, UsedNumber: 18})
			},
			map[string]any{
				"event.action": "gc-suspension", "event.duration": 1234567, "dotnet.gc.suspension.kind": "no-gc-region",
				"dotnet.gc.suspension.ns": 1234567, "dotnet.gc.suspension.suspend.ns": 4567,
			},
		},
		{
			"pins", func(w *formats.Writer) {
				w.Observe(&gclog.GCDetails{Start: hour, Known: gclog.GroupEnd, End: hour, Complete: true, PinEvents: 3, PinEventBytes: 300, PinPlugs: 2, PinPlugBytes: 1200})
			},
			map[string]any{"dotnet.gc.pinned_seen.bytes": 300, "dotnet.gc.pinned_plugs.bytes": 1200, "dotnet.gc.pinned_user.pct": "0.2500"},
		},
		{
			"pins without their stretches", func(w *formats.Writer) {
				w.Observe(&gclog.GCDetails{Start: hour, Known: gclog.GroupEnd, End: hour, Complete: true, PinEvents: 3, PinEventBytes: 300})
			},
			map[string]any{"dotnet.gc.pinned_seen.count": 3, "dotnet.gc.pinned_user.pct": nil},
		},
		{
			"long suspension", func(w *formats.Writer) {
				w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown, Start: hour, Duration: 300e6}, Ticks: 6})
			},
			map[string]any{"log.level": "warn", "dotnet.gc.suspension.kind": "unknown", "dotnet.gc.suspension.suspend.ns": nil},
		},
		{
			"lost events", func(w *formats.Writer) {
				w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Time: hour, Ticks: 7, LostEvents: 5})
			},
			map[string]any{
				"event.action": "gc-gap", "log.level": "warn", "dotnet.gc.gap.reason": "lost-events", "dotnet.gc.gap.lost_events.count": 5,
				"dotnet.gc.gap.from": nil, "dotnet.gc.gap.to": nil,
			},
		},
		{
			"missed collections", func(w *formats.Writer) {
				w.Observe(&gclog.Gap{Reason: gclog.GapMissedGCs, Time: hour, Ticks: 8, From: 3, To: 4})
			},
			map[string]any{"dotnet.gc.gap.reason": "missed-gcs", "dotnet.gc.gap.from": 3, "dotnet.gc.gap.to": 4},
		},
		{
			"reattached", func(w *formats.Writer) { w.Observe(&gclog.Gap{Reason: gclog.GapReattached, Time: hour, Ticks: 9}) },
			map[string]any{"dotnet.gc.gap.reason": "reattached"},
		},
		{
			"queue full", func(w *formats.Writer) {
				w.Observe(&gclog.Gap{Reason: gclog.GapQueueFull, Time: hour, Ticks: 10, Records: 6})
			},
			map[string]any{"dotnet.gc.gap.reason": "queue-full", "dotnet.gc.gap.records.count": 6, "dotnet.gc.gap.from": nil},
		},
		{
			"unwritten", func(w *formats.Writer) {
				w.Observe(&gclog.Gap{Reason: gclog.GapUnwritten, Time: hour, Ticks: 10, Records: 6, From: 7, To: 9})
			},
			map[string]any{
				"dotnet.gc.gap.reason": "unwritten", "dotnet.gc.gap.records.count": 6, "dotnet.gc.gap.from": 7, "dotnet.gc.gap.to": 9,
				"message": "the output could not be written: 6 records are missing, of collections from 7 to 9",
			},
		},
		{
			"stopped", func(w *formats.Writer) {
				w.Observe(&gclog.Gap{Reason: gclog.GapStopped, Time: hour, Ticks: 10, Records: 6, From: 7, To: 9})
			},
			map[string]any{
				"dotnet.gc.gap.reason": "stopped", "dotnet.gc.gap.records.count": 6, "dotnet.gc.gap.from": 7, "dotnet.gc.gap.to": 9,
				"message": "the session was ended before everything could be read or written: 6 records are missing, of collections from 7 to 9",
			},
		},
		{
			"summary", func(w *formats.Writer) {
				w.Observe(&gclog.Summary{From: hour - 300e9, To: hour, Ticks: 11, Tally: gclog.Tally{
					Collections: [3]uint64{10, 2, 0}, Background: 1, Pauses: 14, PauseTotal: 34_500_000, PauseMax: 5_200_000,
					Promoted: 1_234_567, SizeAfter: 65_000_000, HasSize: true,
				}})
			},
			map[string]any{
				"@timestamp": "2026-11-05T11:00:00.000000000Z", "log.level": "info",
				"message":    "in 300 s 13 collections (10 gen0, 2 gen1, 1 background), paused for 34.500 ms, at most 5.200 ms, heap 65.0 MB",
				"event.kind": "metric", "event.action": "gc-summary", "event.start": "2026-11-05T10:55:00.000000000Z", "event.end": "2026-11-05T11:00:00.000000000Z", "event.duration": 300_000_000_000,
				"dotnet.gc.summary.collections.gen0.count": 10, "dotnet.gc.summary.collections.gen1.count": 2, "dotnet.gc.summary.collections.gen2.count": 0,
				"dotnet.gc.summary.collections.background.count": 1, "dotnet.gc.summary.pause.total.ns": 34_500_000, "dotnet.gc.summary.pause.max.ns": 5_200_000,
				"dotnet.gc.summary.pause.count": 14, "dotnet.gc.summary.paused.pct": "0.0001", "dotnet.gc.summary.promoted.bytes": 1_234_567,
				"dotnet.gc.summary.heap.after.bytes": 65_000_000, "dotnet.gc.summary.lost_events.count": 0, "dotnet.gc.summary.missing_records.count": 0,
			},
		},
		{
			"summary of nothing", func(w *formats.Writer) { w.Observe(&gclog.Summary{From: hour, To: hour}) },
			map[string]any{
				"message": "in 0 s 0 collections, paused for 0.000 ms, at most 0.000 ms", "dotnet.gc.summary.collections.gen0.count": 0,
				"dotnet.gc.summary.paused.pct": nil, "dotnet.gc.summary.heap.after.bytes": nil,
			},
		},
		{
			"summary with gaps", func(w *formats.Writer) {
				w.Observe(&gclog.Summary{From: hour - 1e9, To: hour, Partial: true, Tally: gclog.Tally{LostEvents: 1, Missing: 2}})
			},
			map[string]any{
				"log.level": "warn", "dotnet.gc.summary.lost_events.count": 1, "dotnet.gc.summary.missing_records.count": 2,
				"dotnet.gc.summary.partial": true,
				"message":                   "in 1 s (not a whole interval) 0 collections, paused for 0.000 ms, at most 0.000 ms, 1 event is missing, 2 records are missing",
			},
		},
		{
			"memory", func(w *formats.Writer) {
				d := &gclog.GCDetails{Number: 3, Known: gclog.GroupNumber, Complete: true, Start: hour}
				d.Memory = gclog.Memory{Resident: 300_000_000, Cgroup: 400_000_000, CgroupLimit: 500_000_000, At: hour + 5_000_000}
				w.Observe(d)
			},
			map[string]any{
				"process.memory.rss.bytes": 300_000_000, "process.cgroup.memory.usage.bytes": 400_000_000, "process.cgroup.memory.limit.bytes": 500_000_000,
				"dotnet.gc.memory_read": "2026-11-05T11:00:00.005000000Z",
			},
		},
		{
			"memory of no group", func(w *formats.Writer) {
				w.Observe(&gclog.GCDetails{Number: 3, Known: gclog.GroupNumber, Complete: true, Memory: gclog.Memory{Resident: 1}})
			},
			map[string]any{"process.memory.rss.bytes": 1, "process.cgroup.memory.usage.bytes": nil, "process.cgroup.memory.limit.bytes": nil, "dotnet.gc.memory_read": nil},
		},
		{
			"memory of a group without a limit", func(w *formats.Writer) {
				w.Observe(&gclog.GCDetails{Number: 3, Known: gclog.GroupNumber, Complete: true, Memory: gclog.Memory{Cgroup: 2}})
			},
			map[string]any{"process.memory.rss.bytes": nil, "process.cgroup.memory.usage.bytes": 2, "process.cgroup.memory.limit.bytes": nil},
		},
		{
			"heap growth", func(w *formats.Writer) {
				w.Observe(&gclog.HeapGrowth{
					At: hour, Snapshots: []gclog.HeapSnapshot{{File: "/heap/a.gcdump", Time: time.Date(2026, 11, 5, 10, 0, 0, 5, time.UTC)}},
					Types: []gclog.TypeGrowth{{Type: "Shop\x1b[2J\"", Objects: 10, Bytes: 5e6, ObjectsDiff: 7, BytesDiff: 3e6, EveryTime: true}, {Type: "B", BytesDiff: 2048}},
				})
			},
			map[string]any{
				"event.action": "gc-heap-growth", "log.level": "warn", "dotnet.heap.snapshots[].file": "/heap/a.gcdump", "dotnet.heap.snapshots[].time": "2026-11-05T10:00:00.000000005Z",
				"message":                      "since the first heap snapshot Shop\ufffd[2J\" has grown by 3.0 MB (every time), B by 2.0 KB",
				"dotnet.heap.growth[].type":    "B", // the last one
				"dotnet.heap.growth[].objects": 0, "dotnet.heap.growth[].bytes_diff": 2048, "dotnet.heap.growth[].grew_every_time": false,
			},
		},
		{
			"counters", func(w *formats.Writer) {
				c := &gclog.Counters{At: hour, Interval: 10e9, Locks: gclog.LockWaits{Count: 3, Total: 15e8, Max: 1e9}}
				for name, v := range map[string][2]float64{gclog.InstrumentQueue: {22000, math.NaN()}, gclog.InstrumentThreads: {25, 1}, gclog.InstrumentContentions: {math.NaN(), 40}, gclog.InstrumentExceptions: {7, 2}} {
					c.Add(&gclog.Counter{Meter: "System.Runtime", Name: name, Value: v[0], Delta: v[1]})
				}
				c.Add(&gclog.Counter{Meter: "System.Runtime", Name: gclog.CounterCPU, Unit: "%", Value: 83, Delta: math.NaN()})
				w.Observe(c)
			},
			map[string]any{
				"event.action": "gc-counters", "event.kind": "metric", "log.level": "info",
				"message":                     "counters of 10.0 s: 83 % CPU, 25 pool threads, 22000 work items wait, 40 lock contentions, 1.5 s of waiting for locks, 2 exceptions",
				"dotnet.counters.interval.ns": int(10e9), "dotnet.counters.locks.waits": 3, "dotnet.counters.locks.total.ns": int(15e8), "dotnet.counters.locks.max.ns": int(1e9),
				"dotnet.counters.values[].name": "cpu-usage", "dotnet.counters.values[].unit": "%", "dotnet.counters.problem": nil, "dotnet.counters.omitted.count": nil, // the last one
			},
		},
		{
			"counters that are incomplete", func(w *formats.Writer) {
				w.Observe(&gclog.Counters{At: hour, Problem: gclog.CountersTooMany, Omitted: 4})
			},
			map[string]any{
				"log.level": "warn", "message": "counters: 0 values; incomplete: too-many", "dotnet.counters.problem": "too-many",
				"dotnet.counters.omitted.count": 4, "dotnet.counters.interval.ns": nil, "dotnet.counters.locks.waits": nil,
			},
		},
		{
			"heap growth since a snapshot without a time", func(w *formats.Writer) {
				w.Observe(&gclog.HeapGrowth{At: hour, Snapshots: []gclog.HeapSnapshot{{File: "/heap/a.gcdump"}}})
			},
			map[string]any{"dotnet.heap.snapshots[].file": "/heap/a.gcdump", "dotnet.heap.snapshots[].time": nil},
		},
		{
			"no heap growth", func(w *formats.Writer) { w.Observe(&gclog.HeapGrowth{At: hour}) },
			map[string]any{"log.level": "info", "message": "no type has grown since the first heap snapshot"},
		},
		{
			"stalled collection", func(w *formats.Writer) { w.Observe(&gclog.Stall{Open: open, Now: hour + 500, Threshold: 1e9}) },
			map[string]any{
				"event.action": "gc-stall", "log.level": "warn", "dotnet.gc.stall.kind": "gc", "dotnet.gc.stall.since": "2026-11-05T10:59:59.000000000Z",
				"dotnet.gc.stall.ns": 1_000_000_500, "dotnet.gc.stall.threshold.ns": 1_000_000_000,
				"dotnet.gc.number": 17, "dotnet.gc.generation": 2, "dotnet.gc.type": "background", "dotnet.gc.reason": "AllocLarge",
			},
		},
		{
			"stalled suspension", func(w *formats.Writer) {
				w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenSuspension, Since: hour - 1e9, Ticks: 77}, Now: hour + 500, Threshold: 1e9})
			},
			map[string]any{"dotnet.gc.stall.kind": "suspension", "dotnet.gc.stall.ns": 1_000_000_500, "dotnet.gc.number": nil, "dotnet.gc.type": nil},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			head, records := written(t, "json", formats.Options{Process: someone(), Version: "1.0", Session: "s", Host: "node-1"}, c.write)
			checkHeader(t, c.name+" head", []byte(head))
			if len(records) != 1 {
				t.Fatalf("%d records", len(records))
			}
			byPath := checkRecord(t, c.name, []byte(records[0]))
			for path, want := range c.want {
				got := byPath[path]
				if n, ok := got.(json.Number); ok {
					got = n.String()
				}
				if n, ok := want.(int); ok {
					want = strconv.Itoa(n)
				}
				if got != want {
					t.Errorf("%s is %v, want %v\n\t%s", path, got, want, records[0])
				}
			}
			for path, want := range map[string]any{
				"process.entity_id": someone().Cookie, "process.name": "MyApp", "process.executable": "/usr/bin/dotnet",
				"service.name": "shop", "host.name": "node-1", "container.id": "0123456789ab", "gclog.session.id": "s",
				"service.version": "1.2.3", "container.name": "api", "orchestrator.type": "kubernetes", "orchestrator.namespace": "prod",
				"orchestrator.resource.type": "pod", "orchestrator.resource.name": "shop-0", "orchestrator.resource.id": "4f6b5d5e",
				"labels.team": "orders", "labels.app_kubernetes_io/name": "shop",
			} {
				if byPath[path] != want {
					t.Errorf("%s is %v, want %v", path, byPath[path], want)
				}
			}
		})
	}
}

// TestJSONUnknown: a member whose value is unknown is left out, while those around it are present.
func TestJSONUnknown(t *testing.T) {
	hour := int64(time.Hour)
	record := func(change func(*gclog.GCDetails)) *gclog.GCDetails {
		d := &gclog.GCDetails{
			Number: 7, Known: gclog.GroupNumber | gclog.GroupTrigger, Trigger: 3, Start: hour, Suspended: hour, Triggered: hour - 5,
			Pauses:  []gclog.PausePart{{Start: hour, Duration: 100, Suspend: 20, HasSuspend: true, Resume: 10, HasResume: true}},
			Summary: &gclog.HeapSummary{Gen0Imbalance: 1.5, SurvivedImbalance: 2},
		}
		change(d)
		return d
	}
	const of = "dotnet.gc."
	known := map[string]string{
		"trigger.thread": "3", "trigger.delay.ns": "5", "imbalance.gen0": "1.5", "imbalance.survived": "2.0",
	}
	for _, c := range []struct {
		without []string
		change  func(*gclog.GCDetails)
	}{
		{nil, func(*gclog.GCDetails) {}},
		{[]string{"trigger.delay.ns"}, func(d *gclog.GCDetails) { d.Triggered = hour }},
		{[]string{"trigger.delay.ns"}, func(d *gclog.GCDetails) { d.Triggered = hour + 5 }},
		{[]string{"imbalance.gen0"}, func(d *gclog.GCDetails) { d.Summary.Gen0Imbalance = 0 }},
		{[]string{"imbalance.survived"}, func(d *gclog.GCDetails) { d.Summary.SurvivedImbalance = 0 }},
	} {
		_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(record(c.change)) })
		byPath := checkRecord(t, "record", []byte(records[0]))
		for path, want := range known {
			got, there := byPath[of+path]
			if without := slices.Contains(c.without, path); there == without || there && fmt.Sprint(got) != want {
				t.Errorf("without %v: %s is %v (%v), want %s", c.without, path, got, there, want)
			}
		}
	}
}

// TestDocumentIDs: an id belongs to a fact, in whichever session it was seen.
func TestDocumentIDs(t *testing.T) {
	id := func(o formats.Options, write func(w *formats.Writer)) (ids []string) {
		_, records := written(t, "json", o, write)
		for _, r := range records {
			ids = append(ids, regexp.MustCompile(`"gclog_doc_id":"([0-9a-f]{32})"`).FindStringSubmatch(r)[1])
		}
		return ids
	}
	a := formats.Options{Process: someone(), Session: "a", Host: "node-1"}
	later := a
	later.Session, later.Version = "b", "2.0"
	later.Process.Sync = a.Process.Sync.Add(time.Minute)
	stolen, thief := a, a // others may claim a cookie
	stolen.Process.StartKey++
	thief.Process.ID++
	elsewhere := a
	elsewhere.Host = "node-2"
	restarted := a
	restarted.Process.Cookie = "1b8a56c0-0000-4000-8000-4a4f5c9e0002"
	old, oldRestarted, oldElsewhere := a, a, a // .NET Core 3.1 has no cookie
	old.Process.Cookie, oldRestarted.Process.Cookie, oldElsewhere.Process.Cookie = "", "", ""
	oldRestarted.Process.StartKey++
	oldElsewhere.Host = "node-2"

	gc := func(number uint32) func(w *formats.Writer) {
		return func(w *formats.Writer) { w.Observe(&gclog.GCDetails{Number: number, Known: gclog.GroupNumber}) }
	}
	if x, y := id(a, gc(5)), id(later, gc(5)); x[0] != y[0] {
		t.Errorf("a collection has the ids %s and %s in two sessions", x[0], y[0])
	}
	seen := map[string]string{}
	note := func(what string, ids []string) {
		for _, id := range ids {
			if was := seen[id]; was != "" {
				t.Errorf("%s has the id of %s: a shipper drops it", what, was)
			}
			seen[id] = what
		}
	}
	note("collection 5", id(a, gc(5)))
	note("collection 6", id(a, gc(6)))
	note("collection 5 of another runtime with that pid", id(restarted, gc(5)))
	note("collection 5 of another process with that cookie", id(stolen, gc(5)))
	note("collection 5 of another pid with that cookie", id(thief, gc(5)))
	note("collection 5 of another host with that cookie", id(elsewhere, gc(5)))
	note("collection 5 of 3.1", id(old, gc(5)))
	note("collection 5 of 3.1, restarted", id(oldRestarted, gc(5)))
	note("collection 5 of 3.1 on another host", id(oldElsewhere, gc(5)))
	// Sessions of which none has seen all of it: the first ended before it did.
	for what, d := range map[string]gclog.GCDetails{
		"its start":             {Start: 7, Flaws: gclog.FlawNoEnd | gclog.FlawCutOff},
		"its start, once more":  {Start: 7, Flaws: gclog.FlawNoEnd | gclog.FlawCutOff | gclog.FlawLostEvents, LostEvents: 3},
		"its middle":            {Start: 8, Flaws: gclog.FlawNoStart | gclog.FlawNoEnd | gclog.FlawCutOff},
		"its end":               {Start: 8, End: 9, Known: gclog.GroupEnd, Flaws: gclog.FlawNoStart},
		"its end, a bit longer": {Start: 7, End: 9, Known: gclog.GroupEnd, Flaws: gclog.FlawNoStart},
	} {
		d.Number = 5
		d.Known |= gclog.GroupNumber
		note(what, id(a, func(w *formats.Writer) { w.Observe(&d) }))
		if x, y := id(a, func(w *formats.Writer) { w.Observe(&d) }), id(a, func(w *formats.Writer) { w.Observe(&d) }); x[0] != y[0] {
			t.Errorf("%s has the ids %s and %s", what, x[0], y[0])
		}
	}
	// Of collections that were already in progress only that is known.
	for number := range uint32(2) {
		note("what was in progress", id(a, func(w *formats.Writer) {
			w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Ticks: 7, Number: number, HasNumber: number > 0}, Threshold: 1e9})
		}))
	}
	for _, ticks := range []int64{5, 6} {
		note("suspension", id(a, func(w *formats.Writer) {
			w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Kind: gclog.PauseUnknown}, Ticks: ticks})
		}))
	}
	for _, threshold := range gclog.StallThresholds {
		note("stall", id(a, func(w *formats.Writer) { w.Observe(&gclog.Stall{Threshold: threshold}) }))
	}
	// The losses of all threads are reported at one point in the stream.
	note("a loss", id(a, func(w *formats.Writer) {
		w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Time: 9, Ticks: 9, Since: 3, LostEvents: 5})
	}))
	note("the loss of another thread", id(a, func(w *formats.Writer) {
		w.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Time: 9, Ticks: 9, Since: 4, LostEvents: 70})
	}))
	// While one session takes over from another, both may see the same last event.
	for began, what := range []string{"a session", "the session that takes over from it"} {
		note(what, id(a, func(w *formats.Writer) {
			w.Observe(&gclog.Start{Ticks: int64(began)})
			w.Observe(&gclog.Summary{From: 1, To: 9, Ticks: 9})
			w.Observe(&gclog.End{At: 9, Ticks: 9})
		}))
	}
}

// hostile is a name that a target may give itself.
const hostile = "My\"App\\ (young)][gc\x1b[31m\n\t\x00\x7f\u0085\u2028\xff{}\u00e9\U0001f600"

// TestJSONGroups: what a collection is and the group of its reason have the same names in all
// records.
func TestJSONGroups(t *testing.T) {
	for reason := range clr.Reason(20) {
		want := "other"
		switch reason {
		case clr.ReasonInduced, clr.ReasonInducedNotForced, clr.ReasonInducedLowMemory, clr.ReasonInducedCompacting, clr.ReasonInducedAggressive:
			want = "induced"
		case clr.ReasonLowMemory, clr.ReasonLowMemoryHost, clr.ReasonLowMemoryHostBlocking, clr.ReasonOutOfSpaceSOH, clr.ReasonOutOfSpaceLOH:
			want = "low_memory"
		case clr.ReasonAllocSmall, clr.ReasonAllocLarge:
			want = "allocation"
		}
		_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&gclog.GCDetails{Reason: reason, Known: gclog.GroupReason}) })
		if got := checkRecord(t, "record", []byte(records[0]))["dotnet.gc.reason_group"]; got != want {
			t.Errorf("%v is of the group %v, want %s", reason, got, want)
		}
	}
	for kind, want := range map[clr.GCType]string{clr.TypeBlocking: "blocking", clr.TypeBackground: "background", clr.TypeForeground: "foreground", 7: clr.GCType(7).String()} {
		_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) {
			w.Observe(&gclog.Stall{Open: gclog.Open{Kind: gclog.OpenGC, Number: 17, HasNumber: true, Type: kind}, Now: 1e9})
		})
		if !strings.Contains(records[0], `"type":"`+want+`"`) {
			t.Errorf("a stall of a collection of type %v: no %s in %s", kind, want, records[0])
		}
	}
}
