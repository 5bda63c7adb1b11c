package formats_test

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// csvForms are the formats of the non-empty fields of each column.
var csvForms = map[string]*regexp.Regexp{
	"Type":         regexp.MustCompile(`^(NonConcurrentGC|BackgroundGC|ForegroundGC)$`),
	"Reason":       regexp.MustCompile(`^(AllocSmall|Induced|LowMemory|Empty|AllocLarge|OutOfSpaceSOH|OutOfSpaceLOH|InducedNotForced|Internal|InducedLowMemory|InducedCompacting|LowMemoryHost|PMFullGC|LowMemoryHostBlocking|BgcTuningSOH|BgcTuningLOH|BgcStepping|InducedAggressive)$`),
	"IsCompacting": regexp.MustCompile(`^(True|False)$`),
	"Complete":     regexp.MustCompile(`^(True|False)$`),
	"StartTime":    regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`),
	"Kind":         regexp.MustCompile(`^(blocking|background|foreground)$`),
	"HeapDumpBy":   regexp.MustCompile(`^(gclog|other)$`),
	"Provisional":  regexp.MustCompile(`^True$`),
}

var (
	csvMillis = regexp.MustCompile(`^-?\d+\.\d{3}$`)
	csvNumber = regexp.MustCompile(`^\d+$`)
)

// checkCSV checks that there is one row per record, in their order, with the numbers that were
// reported.
func checkCSV(t *testing.T, x *conversion) {
	t.Helper()
	var gcs []*gclog.GCDetails
	byProcess := map[string][]*gclog.GCDetails{}
	var paused int64
	parts := int64(0)
	for _, c := range x.processes {
		key := strconv.FormatInt(c.process.ID, 10)
		byProcess[key] = append(byProcess[key], c.gcs...)
		gcs = append(gcs, c.gcs...)
		for _, p := range c.pauses {
			if p.GC != nil {
				paused += p.Duration
				parts++
			}
		}
	}
	if len(gcs) == 0 {
		return
	}
	r := csv.NewReader(bytes.NewReader(x.outputs["csv"].text()))
	rows, err := r.ReadAll() // it requires as many fields in each row as in the first
	if err != nil {
		t.Fatal(err)
	}
	columns := rows[0]
	if got := strings.Join(columns[:min(21, len(columns))], ","); got != criteo {
		t.Errorf("csv: the first columns are %s", got)
	}
	if len(rows)-1 != len(gcs) {
		t.Fatalf("csv: %d rows, %d records", len(rows)-1, len(gcs))
	}
	sum := int64(0)
	for i, fields := range rows[1:] {
		row := map[string]string{}
		for c, v := range fields {
			row[columns[c]] = v
			form := csvForms[columns[c]]
			switch {
			case form != nil:
			case strings.HasSuffix(columns[c], "MSec"), strings.HasSuffix(columns[c], "MilliSeconds"):
				form = csvMillis
			default:
				form = csvNumber
			}
			if v != "" && !form.MatchString(v) {
				t.Errorf("csv row %d: %s is %q", i+1, columns[c], v)
			}
		}
		list := byProcess[row["ProcessID"]]
		if len(list) == 0 {
			t.Fatalf("csv row %d: no record is left of process %s", i+1, row["ProcessID"])
		}
		d := list[0]
		byProcess[row["ProcessID"]] = list[1:]
		checkCSVRow(t, i+1, row, d)
		if v := row["PauseDurationInMilliSeconds"]; v != "" {
			sum += fixed(v) * 1000
		}
	}
	if off := sum - paused; off < -1000*parts || off > 1000*parts {
		t.Errorf("csv: the pauses add up to %d ns, told were %d", sum, paused)
	}
}

func checkCSVRow(t *testing.T, n int, row map[string]string, d *gclog.GCDetails) {
	t.Helper()
	ms := func(ns int64, known bool) string {
		if !known {
			return ""
		}
		return strconv.FormatFloat(float64(ns)/1e6, 'f', 3, 64)
	}
	bytes := func(v uint64, known bool) string {
		if !known {
			return ""
		}
		return strconv.FormatUint(v, 10)
	}
	title := map[bool]string{true: "True", false: "False"}
	g := &d.Generations
	paused := len(d.Pauses) > 0
	suspend, suspended := d.Suspend()
	for column, want := range map[string]string{
		"Number":                      bytes(uint64(d.Number), d.Known.Has(gclog.GroupNumber)),
		"Generation":                  strconv.Itoa(d.Generation),
		"PauseDurationInMilliSeconds": ms(d.Pause(), paused), "SuspensionDurationInMilliSeconds": ms(suspend, paused && suspended),
		"FinalPauseDurationInMilliSeconds": ms(d.FinalPause(), paused && d.Kind == gclog.KindBackground),
		"Gen0Size":                         bytes(g[0].After, d.Known.Has(gclog.GroupAfter)), "Gen1Size": bytes(g[1].After, d.Known.Has(gclog.GroupAfter)),
		"Gen2Size": bytes(g[2].After, d.Known.Has(gclog.GroupAfter)), "LOHSize": bytes(g[3].After, d.Known.Has(gclog.GroupAfter)),
		"ObjGen0Before": bytes(g[0].ObjectsBefore, d.Known.Has(gclog.GroupHistory)), "ObjGen1Before": bytes(g[1].ObjectsBefore, d.Known.Has(gclog.GroupHistory)),
		"ObjGen2Before": bytes(g[2].ObjectsBefore, d.Known.Has(gclog.GroupHistory)), "ObjLOHBefore": bytes(g[3].ObjectsBefore, d.Known.Has(gclog.GroupHistory)),
		"ObjGen0After": bytes(g[0].ObjectsAfter, d.Known.Has(gclog.GroupHistory)), "ObjGen1After": bytes(g[1].ObjectsAfter, d.Known.Has(gclog.GroupHistory)),
		"ObjGen2After": bytes(g[2].ObjectsAfter, d.Known.Has(gclog.GroupHistory)), "ObjLOHAfter": bytes(g[3].ObjectsAfter, d.Known.Has(gclog.GroupHistory)),
		"HeapBefore": bytes(d.SizeBefore(), d.Known.Has(gclog.GroupBefore)), "HeapAfter": bytes(d.SizeAfter(), d.Known.Has(gclog.GroupAfter)),
		"Promoted": bytes(d.PromotedBytes, d.Known.Has(gclog.GroupPromoted)), "Complete": title[d.Complete],
		"HeapDumpBy": map[bool]string{true: d.HeapDumpBy.String()}[d.HeapDump],
		"Gen0Before": bytes(g[0].Before, d.Known.Has(gclog.GroupBefore)), "Gen1Before": bytes(g[1].Before, d.Known.Has(gclog.GroupBefore)), "Gen2Before": bytes(g[2].Before, d.Known.Has(gclog.GroupBefore)),
		"Resident": "", "CgroupMemory": "", "CgroupLimit": "", // known only to live sessions
		"LOHBefore": bytes(g[3].Before, d.Known.Has(gclog.GroupBefore)), "POHBefore": bytes(g[4].Before, d.Known.Has(gclog.GroupBefore) && d.GenerationCount > 4),
	} {
		got, there := row[column]
		if !there {
			t.Errorf("csv: no column %s", column)
		}
		// The last digit of a half may be rounded either way.
		if a, err := strconv.ParseFloat(got, 64); err == nil && strings.Contains(want, ".") {
			if b, _ := strconv.ParseFloat(want, 64); a-b < 0.0011 && b-a < 0.0011 {
				continue
			}
		}
		if got != want {
			t.Errorf("csv row %d (#%d): %s is %q, want %q", n, d.Number, column, got, want)
		}
	}
}

// TestCSVColumns: each column contains the fact that its title names, and is empty while that is
// unknown; the other columns do not change.
func TestCSVColumns(t *testing.T) {
	record := func() *gclog.GCDetails {
		const ms = int64(time.Millisecond)
		d := &gclog.GCDetails{
			Number: 7, Known: gclog.GroupNumber | gclog.GroupReason | gclog.GroupEnd | gclog.GroupBefore | gclog.GroupAfter | gclog.GroupObjects | gclog.GroupFragmentation | gclog.GroupPromoted | gclog.GroupAllocated | gclog.GroupCommittedBefore | gclog.GroupCommittedAfter | gclog.GroupHandles | gclog.GroupFinalizationCount | gclog.GroupPinned, Generation: 2, Type: clr.TypeBackground, Kind: gclog.KindBackground, Reason: clr.ReasonAllocLarge, Complete: true, LostEvents: 3,
			Start: 1000 * ms, End: 1025 * ms,
			Pauses: []gclog.PausePart{
				{Kind: gclog.PauseInitial, Start: 999 * ms, Duration: 2 * ms, Suspend: 1000, HasSuspend: true},
				{Kind: gclog.PauseFinal, Start: 1010 * ms, Duration: 3 * ms, Suspend: 5000, HasSuspend: true},
			},
			GenerationCount: 5, PromotedBytes: 61, Peak: 62,
			CommittedBefore: 63, CommittedAfter: 64, Handles: 65,
			FinalizationCount: 66, PinnedObjects: 67,
			Memory: gclog.Memory{Resident: 71, Cgroup: 72, CgroupLimit: 73},
		}
		d.Global.Heaps, d.Global.MemoryLoad = 4, 81
		for g := range d.Generations {
			n := uint64(g)
			d.Generations[g] = gclog.GenerationDetails{Before: 10 + n, After: 20 + n, ObjectsBefore: 30 + n, ObjectsAfter: 40 + n, Budget: 90 + n}
			d.Fragmentation, d.Allocated = d.Fragmentation+1+n, d.Allocated+2+n
		}
		return d
	}
	row := func(d *gclog.GCDetails) map[string]string {
		head, records := written(t, "csv", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(d) })
		row, fields := map[string]string{}, strings.Split(records[0], ",")
		for i, title := range strings.Split(head, ",") {
			row[title] = fields[i]
		}
		return row
	}
	whole := map[string]string{
		"StartRelativeMSec": "1000.000", "Number": "7", "Generation": "2", "Type": "BackgroundGC", "Reason": "AllocLarge", "IsCompacting": "False",
		"SuspensionDurationInMilliSeconds": "0.006", "PauseDurationInMilliSeconds": "5.000", "FinalPauseDurationInMilliSeconds": "3.000",
		"Gen0Size": "20", "Gen1Size": "21", "Gen2Size": "22", "LOHSize": "23", "POHSize": "24",
		"ObjGen0Before": "30", "ObjGen1Before": "31", "ObjGen2Before": "32", "ObjLOHBefore": "33", "ObjPOHBefore": "34",
		"ObjGen0After": "40", "ObjGen1After": "41", "ObjGen2After": "42", "ObjLOHAfter": "43", "ObjPOHAfter": "44",
		"ProcessID": "4711", "StartTime": "2026-11-05T10:00:01.000000Z", "DurationInMilliSeconds": "25.000", "Kind": "background", "PauseStartRelativeMSec": "999.000",
		"HeapBefore": "60", "HeapAfter": "110", "HeapPeak": "62", "Promoted": "61", "Fragmentation": "15", "CommittedBefore": "63", "CommittedAfter": "64", "Allocated": "20", "Gen0Budget": "",
		"HeapCount": "4", "MemoryLoadPercent": "81", "PinnedObjects": "", "Handles": "65", "FinalizationCount": "66", "Complete": "True", "LostEvents": "3",
		"Gen0Before": "10", "Gen1Before": "11", "Gen2Before": "12", "LOHBefore": "13", "POHBefore": "14",
		"FinalPauseStartRelativeMSec": "1010.000", "FinalSuspensionDurationInMilliSeconds": "0.005", "Resident": "71", "CgroupMemory": "72", "CgroupLimit": "73", "HeapDumpBy": "",
		"Gen2Budget": "92", "LOHBudget": "93", "POHBudget": "94", "HardLimit": "1",
	}
	started := []string{"StartRelativeMSec", "Type", "StartTime", "DurationInMilliSeconds"}
	paused := []string{"SuspensionDurationInMilliSeconds", "PauseDurationInMilliSeconds", "FinalPauseDurationInMilliSeconds", "PauseStartRelativeMSec", "FinalPauseStartRelativeMSec", "FinalSuspensionDurationInMilliSeconds"}
	poh := []string{"POHSize", "ObjPOHBefore", "ObjPOHAfter", "POHBefore", "POHBudget"}
	sizes := []string{"Gen0Size", "Gen1Size", "Gen2Size", "LOHSize", "POHSize"}
	before := []string{"Gen0Before", "Gen1Before", "Gen2Before", "LOHBefore", "POHBefore"}
	for _, c := range []struct {
		name   string
		change func(*gclog.GCDetails)
		empty  []string
		other  map[string]string
	}{
		{"all", func(*gclog.GCDetails) {}, nil, nil},
		{"no start", func(d *gclog.GCDetails) { d.Flaws = gclog.FlawNoStart }, started, nil},
		{"no end", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupEnd }, []string{"DurationInMilliSeconds"}, nil},
		{"no number", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupNumber }, []string{"Number"}, nil},
		{"no reason", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupReason }, []string{"Reason"}, nil},
		{"not complete", func(d *gclog.GCDetails) { d.Complete = false }, nil, map[string]string{"Complete": "False"}},
		{"no pause", func(d *gclog.GCDetails) { d.Pauses = nil }, paused, map[string]string{}},
		{
			"one pause", func(d *gclog.GCDetails) { d.Pauses = d.Pauses[:1] },
			[]string{"FinalPauseStartRelativeMSec", "FinalSuspensionDurationInMilliSeconds"},
			map[string]string{"SuspensionDurationInMilliSeconds": "0.001", "PauseDurationInMilliSeconds": "2.000", "FinalPauseDurationInMilliSeconds": "0.000"},
		},
		{
			"an unknown suspension", func(d *gclog.GCDetails) { d.Pauses[1].HasSuspend = false },
			[]string{"SuspensionDurationInMilliSeconds", "FinalSuspensionDurationInMilliSeconds"},
			nil,
		},
		{
			"suspended in no time", func(d *gclog.GCDetails) { d.Pauses[0].Suspend, d.Pauses[1].Suspend = 0, 0 }, nil,
			map[string]string{"SuspensionDurationInMilliSeconds": "0.000", "FinalSuspensionDurationInMilliSeconds": "0.000"},
		},
		{"no sizes before", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupBefore }, append(before, "HeapBefore"), nil},
		{"no sizes after", func(d *gclog.GCDetails) {
			d.Known &^= gclog.GroupAfter | gclog.GroupHandles | gclog.GroupFinalizationCount
		}, append(sizes, "HeapAfter", "Handles", "FinalizationCount"), nil},
		{"no objects", func(d *gclog.GCDetails) { d.Known &^= gclog.GroupObjects }, []string{
			"ObjGen0Before", "ObjGen1Before", "ObjGen2Before", "ObjLOHBefore", "ObjPOHBefore", "ObjGen0After", "ObjGen1After", "ObjGen2After", "ObjLOHAfter", "ObjPOHAfter",
		}, nil},
		{"no pinned object heap", func(d *gclog.GCDetails) {
			d.GenerationCount, d.Generations[gclog.POH] = 4, gclog.GenerationDetails{}
		}, poh, map[string]string{"HeapBefore": "46", "HeapAfter": "86"}},
		{"nothing else", func(d *gclog.GCDetails) {
			d.Peak = 0
			d.Known &^= gclog.GroupPromoted | gclog.GroupFragmentation | gclog.GroupCommittedBefore | gclog.GroupCommittedAfter | gclog.GroupAllocated
			d.Global.Heaps, d.Global.MemoryLoad, d.Memory = 0, 0, gclog.Memory{}
			d.Known &^= gclog.GroupHandles | gclog.GroupFinalizationCount
		}, []string{
			"HeapPeak", "Promoted", "Fragmentation", "CommittedBefore", "CommittedAfter", "Allocated", "HeapCount", "MemoryLoadPercent", "Handles", "FinalizationCount",
			"Resident", "CgroupMemory", "CgroupLimit",
		}, nil},
		{"the least", func(d *gclog.GCDetails) {
			d.Peak, d.Global.Heaps, d.Global.MemoryLoad, d.Handles, d.Memory = 1, 1, 1, 0, gclog.Memory{Resident: 1, Cgroup: 1, CgroupLimit: 1}
		}, nil, map[string]string{"HeapPeak": "1", "HeapCount": "1", "MemoryLoadPercent": "1", "Handles": "0", "Resident": "1", "CgroupMemory": "1", "CgroupLimit": "1"}},
		{"a blocking one", func(d *gclog.GCDetails) {
			d.Kind, d.Type, d.Pauses = gclog.KindBlocking, clr.TypeBlocking, d.Pauses[:1]
			d.Global.Mechanisms = clr.MechanismCompaction
			d.Known |= gclog.GroupCompaction
		}, []string{"FinalPauseDurationInMilliSeconds", "FinalPauseStartRelativeMSec", "FinalSuspensionDurationInMilliSeconds"}, map[string]string{
			"Kind": "blocking", "Type": "NonConcurrentGC", "IsCompacting": "True", "Gen0Budget": "90", "Gen1Budget": "91", "PinnedObjects": "67",
			"SuspensionDurationInMilliSeconds": "0.001", "PauseDurationInMilliSeconds": "2.000",
		}},
		{"a heap snapshot", func(d *gclog.GCDetails) { d.HeapDump, d.HeapDumpBy = true, gclog.RequesterGclog }, nil, map[string]string{"HeapDumpBy": "gclog"}},
		{"a heap snapshot of another", func(d *gclog.GCDetails) { d.HeapDump, d.HeapDumpBy = true, gclog.RequesterOther }, nil, map[string]string{"HeapDumpBy": "other"}},
		{"a blocking one without budget", func(d *gclog.GCDetails) {
			d.Kind, d.Generations[gclog.Gen0].Budget = gclog.KindBlocking, 0
			d.Known &^= gclog.GroupPinned
		}, []string{"IsCompacting", "FinalPauseDurationInMilliSeconds"}, map[string]string{"Kind": "blocking", "Gen1Budget": "91"}},
	} {
		d := record()
		c.change(d)
		got := row(d)
		for column := range whole {
			if _, there := got[column]; !there {
				t.Errorf("%s: no column %s", c.name, column)
			}
		}
		for column, v := range got {
			want := whole[column]
			if slices.Contains(c.empty, column) {
				want = ""
			}
			if other, ok := c.other[column]; ok {
				want = other
			}
			if v != want {
				t.Errorf("%s: %s is %q, want %q", c.name, column, v, want)
			}
		}
	}
}

// TestCSVUnknown: if nothing is known about a record, its row has what every record has, and no
// number that was not reported.
func TestCSVUnknown(t *testing.T) {
	for _, kind := range []gclog.Kind{gclog.KindBlocking, gclog.KindForeground, gclog.KindBackground} {
		var d gclog.GCDetails
		d.Reset()
		d.Kind, d.Flaws = kind, gclog.FlawNoStart|gclog.FlawNoEnd
		head, records := written(t, "csv", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&d) })
		known := map[string]string{"Generation": "0", "ProcessID": "4711", "Kind": kind.String(), "Complete": "False", "LostEvents": "0", "HardLimit": "1"}
		if kind == gclog.KindBackground {
			known["IsCompacting"] = "False"
		}
		fields := strings.Split(records[0], ",")
		for i, title := range strings.Split(head, ",") {
			if fields[i] != known[title] {
				t.Errorf("%v: %s is %q, want %q", kind, title, fields[i], known[title])
			}
		}
	}
}

// TestCSVEnd: the end of the process has a row of its own, that of a session has none.
func TestCSVEnd(t *testing.T) {
	for _, c := range []struct {
		end  gclog.End
		want map[string]string
	}{
		{gclog.End{At: 1e9, Reason: gclog.EndOOMKilled, Signal: 9}, map[string]string{"EndReason": "oom-killed", "ExitSignal": "9", "StartTime": "2026-11-05T10:00:01.000000Z", "ProcessID": "4711"}},
		{gclog.End{At: 1e9, Reason: gclog.EndExited, ExitCode: -3, HasCode: true}, map[string]string{"EndReason": "exited", "ExitCode": "-3", "Number": "", "Generation": ""}},
		{gclog.End{At: 1e9, Reason: gclog.EndDetached}, nil},
	} {
		head, records := written(t, "csv", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(&c.end) })
		if c.want == nil {
			if len(records) > 0 {
				t.Errorf("%v has %q", c.end.Reason, records)
			}
			continue
		}
		values := strings.Split(records[0], ",")
		for i, title := range strings.Split(head, ",") {
			if want, known := c.want[title]; known && values[i] != want {
				t.Errorf("%v: %s is %q, want %q", c.end.Reason, title, values[i], want)
			}
		}
	}
}
