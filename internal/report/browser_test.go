package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/parse/clr"
)

// expected is what testdata/report/check.mjs compares a page with.
type expected struct {
	Collections int           `json:"collections"`
	Tiles       []string      `json:"tiles"`
	Rows        []expectedRow `json:"rows,omitempty"`
	Explained   struct {
		Number   string `json:"number"`
		Sentence string `json:"sentence"`
	} `json:"explained"`
	Types   int  `json:"types,omitempty"`
	Callers bool `json:"callers,omitempty"` // there is an icicle of allocations
	Limit   bool `json:"limit,omitempty"`   // the chart of the heap has the hard limit
	Sides   int  `json:"sides,omitempty"`   // of a comparison
	// Charts are places on the time axis, from 0 to 1, and what charts have there.
	Charts *expectedCharts `json:"charts,omitempty"`
}

type expectedCharts struct {
	Known   float64 `json:"known"`   // the sizes of the generations are known
	Unknown float64 `json:"unknown"` // they are not
	Paused  float64 `json:"paused"`  // within a long pause, which started far before
	Ran     float64 `json:"ran"`     // no pause, and no point near it
}

type expectedRow struct {
	Number     string `json:"number"`
	Generation int    `json:"generation"`
	Pause      string `json:"pause"` // milliseconds
	After      string `json:"after"`
}

// browse uses a page in Chromium, and returns the folder with what was exported.
func browse(t *testing.T, d interface{ WriteHTML(io.Writer) error }, want *expected) (folder string) {
	t.Helper()
	if os.Getenv("GCLOG_BROWSER") == "" {
		t.Skip("no browser: make report-test has one")
	}
	var content bytes.Buffer
	if err := d.WriteHTML(&content); err != nil {
		t.Fatal(err)
	}
	folder = t.TempDir()
	page, record := filepath.Join(folder, "report.html"), filepath.Join(folder, "expected.json")
	b, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{page: content.Bytes(), record: b} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("node", filepath.Join(recordings.Root(), "testdata", "report", "check.mjs"), page, record, folder).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	return folder
}

// expectation returns what a page of records should show.
func expectation(in *Input, d *Data, records []*gclog.GCDetails) *expected {
	x := &expected{Collections: len(records)}
	for _, tile := range d.Tiles {
		x.Tiles = append(x.Tiles, tile.Value)
	}
	slices.SortStableFunc(records, func(a, b *gclog.GCDetails) int { return int(max(-1, min(started(a)-started(b), 1))) })
	peers, longest := analysis.NewPeers(), records[0]
	for _, r := range records {
		peers.Observe(r)
		if r.Pause() > longest.Pause() {
			longest = r
		}
		row := expectedRow{Number: "n/a", Generation: r.Generation, Pause: "–", After: "–"}
		if r.Known.Has(gclog.GroupNumber) {
			row.Number = strconv.FormatUint(uint64(r.Number), 10)
		}
		if len(r.Pauses) > 0 {
			row.Pause = fmt.Sprintf("%.3f", float64(r.Pause())/1e6)
		}
		if r.Known.Has(gclog.GroupAfter) {
			row.After = fixedSize(float64(r.SizeAfter()))
		}
		x.Rows = append(x.Rows, row)
	}
	e := analysis.Explain(longest, analysis.Context{Process: in.Process, Begin: in.Begin, HasBegin: true, Log: in.Format, Peers: peers})
	x.Explained.Number, x.Explained.Sentence = strconv.FormatUint(uint64(longest.Number), 10), e.Result[0].Text
	return x
}

// fixedSize formats bytes with three digits.
func fixedSize(v float64) string {
	units := []string{"B", "KB", "MB", "GB"}
	i := 0
	for ; v >= 999.5 && i < len(units)-1; i++ {
		v /= 1000
	}
	switch {
	case i == 0:
		return fmt.Sprintf("%.0f B", v)
	case v >= 99.95:
		return fmt.Sprintf("%.0f %s", v, units[i])
	case v >= 9.995:
		return fmt.Sprintf("%.1f %s", v, units[i])
	}
	return fmt.Sprintf("%.2f %s", v, units[i])
}

// TestBrowser uses the pages of recordings in Chromium, and compares what they show and export with
// the records.
func TestBrowser(t *testing.T) {
	for _, tr := range recordings.Repository(t) {
		if !slices.Contains([]string{"core31-svr-induced", "net9-wks-attach"}, tr.Name) {
			continue
		}
		t.Run(tr.Name, func(t *testing.T) {
			in, records := inputOf(t, tr)
			d := New(in)
			folder := browse(t, d, expectation(in, d, records))
			b, err := os.ReadFile(filepath.Join(folder, "collections.json"))
			if err != nil {
				t.Fatal(err)
			}
			var rows []map[string]any
			if err := json.Unmarshal(b, &rows); err != nil || len(rows) != len(records) {
				t.Fatalf("%d rows of %d collections, %v", len(rows), len(records), err)
			}
			for i, r := range records {
				for _, c := range view.Columns() {
					if c.Value == nil || c.Unit == "%" || c.Unit == "bytes/s" || c.Key == "generation" || c.Key == "compacting" {
						continue
					}
					got, there := rows[i][c.Key].(float64)
					if want, known := c.Value(r); known != there || known && got != want {
						t.Errorf("%s of collection %d is %v, want %v, %v", c.Key, r.Number, rows[i][c.Key], want, known)
					}
				}
			}
		})
	}
}

// TestBrowserHostile opens the page of a process with names that are markup and scripts.
func TestBrowserHostile(t *testing.T) {
	in := newWorld(5).observe(300, 1000)
	in.Process.Name, in.Source, in.Command = hostile, hostile, hostile
	in.Facts = []Fact{{"command line", hostile}}
	root := &Node{Name: hostile, Bytes: 100, Below: []*Node{{Name: hostile, Bytes: 60, Count: 1, Below: []*Node{{Name: hostile, Bytes: 50, Count: 2}}}, {Name: "string", Bytes: 40, Count: 7}}}
	in.Snapshots = []*Snapshot{{
		Name: hostile, Facts: []Fact{{"file", hostile}}, Tree: root, Types: []Type{{Name: hostile}, {Name: "string", Objects: 7, Bytes: 40, Retained: 40}},
		Before: hostile, Growth: []Growth{{Name: hostile}}, Suspects: []Suspect{{Text: hostile, Held: hostile, Path: []string{hostile}, Advice: hostile}},
	}}
	in.Process.Limits.HardLimit, in.Process.HasLimits = 1<<30, true
	in.Stacks = hostileStacks()
	browse(t, New(in), &expected{Types: 2, Callers: true, Limit: true})
}

// TestBrowserCharts looks at what charts draw: a long pause is as long as it was, sizes that are unknown
// are not 0, the limit of the control group is shown, and a steady rate of allocation has a linear axis.
func TestBrowserCharts(t *testing.T) {
	const n, second, long, last = 20, int64(1e9), 8, 18
	w := newWorld(1)
	in := w.observed(n, 1000, func() *gclog.GCDetails {
		d := w.next()
		d.Kind, d.Generation, d.Reason, d.Background = gclog.KindBlocking, gclog.Gen1, clr.ReasonAllocSmall, nil
		d.AllocationRate = 100e6 + float64(d.Number)*1e5
		d.Start = int64(d.Number) * 10 * second
		d.Suspended = d.Start
		part := gclog.PausePart{Start: d.Start, Duration: 2e6}
		if d.Number == long {
			part.Duration = 5 * second
		}
		d.Pauses = []gclog.PausePart{part}
		d.End = d.Start + part.Duration
		d.Known.Set(gclog.GroupAfter, d.Number <= last)
		w.now = d.End + second
		return d
	})
	in.Process.Limits.HardLimit, in.Process.HasLimits = 64<<30, true // far above everything else
	window := in.Summary.Window
	at := func(seconds int64) float64 {
		return float64(seconds*second-window.From) / float64(window.To-window.From)
	}
	browse(t, New(in), &expected{Limit: true, Charts: &expectedCharts{Known: at(105), Unknown: at(last*10 + 5), Paused: at(long*10 + 3), Ran: at(long*10 + 8)}})
}

// TestBrowserComparison opens the page of two histories.
func TestBrowserComparison(t *testing.T) {
	browse(t, Compare(newWorld(1).observe(500, 1000), newWorld(2).observe(900, 1000)), &expected{Sides: 2})
}

// TestBrowserLarge opens a page of 100,000 collections.
func TestBrowserLarge(t *testing.T) {
	if os.Getenv("GCLOG_BROWSER") == "" {
		t.Skip("no browser: make report-test has one")
	}
	browse(t, New(newWorld(1).observe(100_000, mostRows)), &expected{})
}
