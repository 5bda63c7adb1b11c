package formats_test

import (
	"bytes"
	"encoding/csv"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// csvForms are the forms that fields of a column may have, if they are not empty.
var csvForms = map[string]*regexp.Regexp{
	"Type":         regexp.MustCompile(`^(NonConcurrentGC|BackgroundGC|ForegroundGC)$`),
	"Reason":       regexp.MustCompile(`^(AllocSmall|Induced|LowMemory|Empty|AllocLarge|OutOfSpaceSOH|OutOfSpaceLOH|InducedNotForced|Internal|InducedLowMemory|InducedCompacting|LowMemoryHost|PMFullGC|LowMemoryHostBlocking|BgcTuningSOH|BgcTuningLOH|BgcStepping|InducedAggressive)$`),
	"IsCompacting": regexp.MustCompile(`^(True|False)$`),
	"Complete":     regexp.MustCompile(`^(True|False)$`),
	"StartTime":    regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`),
	"Kind":         regexp.MustCompile(`^(blocking|background|foreground)$`),
}

var (
	csvMillis = regexp.MustCompile(`^-?\d+\.\d{3}$`)
	csvNumber = regexp.MustCompile(`^\d+$`)
)

// checkCSV: one row per record, in their order, with the numbers that were told.
func checkCSV(t *testing.T, x *conversion) {
	t.Helper()
	var gcs []*gclog.GCDetails
	byProcess := map[string][]*gclog.GCDetails{}
	var told int64
	parts := int64(0)
	for _, c := range x.processes {
		key := strconv.FormatInt(c.process.ID, 10)
		byProcess[key] = append(byProcess[key], c.gcs...)
		gcs = append(gcs, c.gcs...)
		for _, p := range c.pauses {
			if p.GC != nil {
				told += p.Duration
				parts++
			}
		}
	}
	if len(gcs) == 0 {
		return
	}
	r := csv.NewReader(bytes.NewReader(x.outputs["csv"].text()))
	rows, err := r.ReadAll() // it wants as many fields in each row as in the first
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
	if off := sum - told; off < -1000*parts || off > 1000*parts {
		t.Errorf("csv: the pauses add up to %d ns, told were %d", sum, told)
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
	for column, want := range map[string]string{
		"Number":                      bytes(uint64(d.Number), d.HasNumber),
		"Generation":                  strconv.Itoa(d.Generation),
		"PauseDurationInMilliSeconds": ms(d.Pause(), paused), "SuspensionDurationInMilliSeconds": ms(d.Suspend(), paused),
		"FinalPauseDurationInMilliSeconds": ms(d.FinalPause(), paused && d.Kind == gclog.KindBackground),
		"Gen0Size":                         bytes(g[0].After, d.HasSizesAfter), "Gen1Size": bytes(g[1].After, d.HasSizesAfter),
		"Gen2Size": bytes(g[2].After, d.HasSizesAfter), "LOHSize": bytes(g[3].After, d.HasSizesAfter),
		"ObjGen0Before": bytes(g[0].ObjectsBefore, d.HasHistory), "ObjGen1Before": bytes(g[1].ObjectsBefore, d.HasHistory),
		"ObjGen2Before": bytes(g[2].ObjectsBefore, d.HasHistory), "ObjLOHBefore": bytes(g[3].ObjectsBefore, d.HasHistory),
		"ObjGen0After": bytes(g[0].ObjectsAfter, d.HasHistory), "ObjGen1After": bytes(g[1].ObjectsAfter, d.HasHistory),
		"ObjGen2After": bytes(g[2].ObjectsAfter, d.HasHistory), "ObjLOHAfter": bytes(g[3].ObjectsAfter, d.HasHistory),
		"HeapBefore": bytes(d.SizeBefore(), d.HasBefore), "HeapAfter": bytes(d.SizeAfter(), d.HasSizesAfter),
		"Promoted": bytes(d.PromotedBytes, d.HasPromoted), "Complete": title[d.Complete],
		"Gen0Before": bytes(g[0].Before, d.HasBefore), "Gen1Before": bytes(g[1].Before, d.HasBefore), "Gen2Before": bytes(g[2].Before, d.HasBefore),
		"Resident": "", "CgroupMemory": "", "CgroupLimit": "", // only live sessions know them
		"LOHBefore": bytes(g[3].Before, d.HasBefore), "POHBefore": bytes(g[4].Before, d.HasBefore && d.GenerationCount > 4),
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
