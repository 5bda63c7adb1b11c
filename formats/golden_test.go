package formats_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// goldenLines is the maximum number of lines of each format in a golden file.
var goldenLines = map[string]int{"json": 12, "csv": 30, "text": 60, "unified": 60, "jdk8": 60}

// sampleIDs replaces the random ids of a header.
const sampleIDs = `"gclog_file_id":"0123456789abcdef"${1}"0123456789abcdef0123456789abcdef"`

// TestGolden compares the start of four recordings in all formats with the files in
// testdata/golden: users see any change there.
func TestGolden(t *testing.T) {
	golden := []string{"core31-svr-induced", "net10-datas-bgc", "net10-wks-oom", "net9-wks-attach"}
	for _, tr := range recordings.Repository(t) {
		if !slices.Contains(golden, tr.Name) {
			continue
		}
		x := convert(recordings.Read(t, tr.Path), everything, nil)
		for _, f := range formats.All() {
			t.Run(tr.Name+"."+f.Name, func(t *testing.T) {
				text := x.processes[0].outputs[f.Name].text()
				list := bytes.SplitAfter(text, []byte("\n"))
				got := bytes.Join(list[:min(len(list), goldenLines[f.Name])], nil)
				got = headIDs.ReplaceAll(got, []byte(sampleIDs))
				generated.File(t, filepath.Join("testdata", "golden", tr.Name+"."+f.Name), string(got))
			})
		}
	}
}

// samples are the logs in the folder samples.
var samples = map[string]string{
	"gc.log": "unified", "gc-jdk8.log": "jdk8", "gc.json": "json", "gc.csv": "csv", "gc.txt": "text",
}

// TestSamples: the samples are what the formats write for a recorded session, with the facts that a
// live one has. Some of its collections are left out, to show losses and to keep the files short. A
// stall is added.
func TestSamples(t *testing.T) {
	stream := recordings.Read(t, filepath.Join("..", "testdata", "traces", "net8-datas-induced.nettrace.gz"))
	for name, format := range samples {
		t.Run(name, func(t *testing.T) {
			f, err := formats.Find(format)
			if err != nil {
				t.Fatal(err)
			}
			out := &memory{}
			var w *formats.Writer
			var summary gclog.Summary
			processes := gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
				p.Flavor = gclog.FlavorCoreCLR // without it, there is no memory-limit
				facts := *p
				facts.Name, facts.Service, facts.EntryAssembly = "Shop", "shop", "Shop.dll"
				facts.RuntimeVersion, facts.Server, facts.Concurrent = "8.0.22", gclog.Yes, gclog.Yes
				facts.Executable, facts.CommandLine, facts.User = "/usr/bin/dotnet", "dotnet Shop.dll", "app"
				facts.OS, facts.Architecture, facts.Cookie = "Linux", "x64", "5d2b7c1e-9a40-4f83-b6de-0c8e1a7f4b92"
				facts.UptimeAtSync = 90 * time.Second
				facts.Started = facts.Sync.Add(-facts.UptimeAtSync)
				w = formats.NewWriter(f, out, formats.Options{Process: facts, Version: "0.1.0", Session: "8c1f0e5a9d3b7642", Host: "shop-1"})
				w.Observe(&gclog.Start{Providers: "Microsoft-Windows-DotNETRuntime:0x1:4,Microsoft-Windows-DotNETRuntimePrivate:0x1:4"})
				return tallied{w, &summary.Tally}.Observe
			})
			newest := readSample(t, stream, processes)
			summary.To = newest + 5e7
			w.Observe(&summary)
			w.Observe(&gclog.Stall{
				Open: gclog.Open{Kind: gclog.OpenSuspension, Since: newest + 1e8, Ticks: newest + 1e8},
				Now:  newest + 11e8, Threshold: 1e9,
			})
			grown := newest + 15e8
			w.Observe(&gclog.HeapGrowth{
				At: grown, Ticks: grown,
				Snapshots: []gclog.HeapSnapshot{
					{File: "/var/log/gclog/heap/shop-28077-2026-11-21T00-20-31.250.gcdump", Time: time.Date(2026, 11, 21, 0, 20, 31, 250e6, time.UTC)},
					{File: "/var/log/gclog/heap/shop-28077-2026-11-21T00-28-24.500.gcdump", Time: time.Date(2026, 11, 21, 0, 28, 24, 500e6, time.UTC)},
				},
				Types: []gclog.TypeGrowth{
					{Type: "Shop.Session", Objects: 81250, Bytes: 5200000, ObjectsDiff: 60000, BytesDiff: 3840000},
					{Type: "System.Collections.Generic.Dictionary`2+Entry[System.String,Shop.Session][]", Objects: 1, Bytes: 2097176, BytesDiff: 1048576},
				},
			})
			counters := &gclog.Counters{At: newest + 1500e6, Interval: 10e9, Locks: gclog.LockWaits{Count: 8, Total: 4e9, Max: 6e8}}
			for _, v := range []gclog.Counter{
				{Name: gclog.InstrumentThreads, Unit: "{thread}", Value: 25, Delta: 1},
				{Name: gclog.InstrumentQueue, Unit: "{work_item}", Value: 3867, Delta: 348},
				{Name: gclog.InstrumentContentions, Unit: "{contention}", Value: 412, Delta: 8},
				{Name: gclog.InstrumentExceptions, Unit: "{exception}", Tags: "error.type=System.TimeoutException", Value: 31, Delta: 4},
			} {
				v.Meter = "System.Runtime"
				counters.Add(&v)
			}
			w.Observe(counters)
			w.Observe(&gclog.End{At: newest + 2e9, Reason: gclog.EndExited, ExitCode: 134, HasCode: true})
			generated.File(t, filepath.Join("..", "samples", name), string(headIDs.ReplaceAll(out.text(), []byte(sampleIDs))))
		})
	}
}

// TestSamplesAreWhole: the samples show every kind of event.
func TestSamplesAreWhole(t *testing.T) {
	for name, kinds := range map[string][]string{
		"gc.json": {
			`"gc-log-header"`, `"gc-session-start"`, `"action":"gc"`, `"gc-suspension"`, `"gc-gap"`, `"gc-stall"`, `"gc-heap-growth"`, `"gc-counters"`, `"gc-summary"`, `"gc-session-end"`,
			`"type":"blocking"`, `"type":"background"`, `"type":"foreground"`, `"generation":0`, `"generation":1`, `"generation":2`, `"inside_background_start":true`,
			`"compacting":true`, `"compacting":false`, `"Induced"`, `"AllocSmall"`, `"no-gc-region"`, `"memory-limit"`, `"lost-events"`, `"missed-gcs"`, `"complete":false`,
		},
		"gc.log":      {"Pause Young (Allocation Failure)", "Pause Young (System.gc())", "Pause Full (System.gc())", "Pause Initial Mark", "Pause Remark", "Concurrent Mark", "Concurrent Sweep", "Concurrent Reset", "Old: ", "foreground"},
		"gc-jdk8.log": {"[GC (Allocation Failure)", "[Full GC (System.gc())", "CMS Initial Mark", "CMS Final Remark", "[CMS-concurrent-mark-start]", "[CMS-concurrent-sweep: ", "[CMS-concurrent-reset: "},
		"gc.csv":      {",blocking,", ",background,", ",foreground,", ",False,"},
		"gc.txt":      {"blocking", "background", "foreground", "suspension", "are missing", "has been suspended", "has grown by 3.8 MB, ", "exited with code 134", "incomplete: "},
	} {
		b, err := os.ReadFile(filepath.Join("..", "samples", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range kinds {
			if !bytes.Contains(b, []byte(kind)) {
				t.Errorf("%s has no %s", name, kind)
			}
		}
	}
}

// readSample reads a recording except for most of its collections, as if the runtime had dropped
// their events.
func readSample(t *testing.T, stream []byte, processes *gclog.Processes) (newest int64) {
	t.Helper()
	kept := []struct{ after, upTo uint32 }{{0, 3}, {29, 41}, {69, 78}, {124, 129}, {143, 1 << 30}}
	ends := map[uint32]int64{0: 0, 1 << 30: 1 << 60}
	all := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return endings(ends).Observe })
	if _, err := read(stream, everything, all); err != nil {
		t.Fatal(err)
	}
	r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	trace, err := r.ReadTrace()
	if err != nil {
		t.Fatal(err)
	}
	processes.Begin(trace)
	lost := parse.Loss{}
	for r.Scan() {
		e := r.Event()
		keep := e.Meta.EventID == clr.IDRuntimeInformation
		for _, k := range kept {
			keep = keep || e.Time > ends[k.after] && e.Time <= ends[k.upTo]
		}
		switch {
		case !keep && lost.Events == 0:
			lost.From = newest
			fallthrough
		case !keep:
			lost.Events++
			lost.To, lost.Ticks = e.Time, e.Ticks
			continue
		case lost.Events > 0:
			processes.Loss(&lost)
			lost = parse.Loss{}
		}
		newest = e.Time
		processes.Event(e)
	}
	processes.Finish()
	return newest
}

// tallied is a Writer whose calls are also summed up in a Tally.
type tallied struct {
	*formats.Writer
	tally *gclog.Tally
}

// Observe takes a record.
func (x tallied) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		x.tally.Observe(r)
		x.Writer.Observe(r)
	case *gclog.GCDetails:
		x.tally.Observe(r)
		x.Writer.Observe(r)
	case *gclog.Gap:
		x.tally.Observe(r)
		x.Writer.Observe(r)
	default:
		x.Writer.Observe(r)
	}
}

// endings records when the pauses of collections ended.
type endings map[uint32]int64

// Observe takes a record.
func (e endings) Observe(r gclog.Record) {
	if p, ok := r.(*gclog.Pause); ok {
		if p.GC != nil {
			e[p.GC.Number] = p.Start + p.Duration
		}
	}
}
