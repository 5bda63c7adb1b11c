package cli

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestStatIsTheSummary: the last line of stat has the numbers of the summary.
func TestStatIsTheSummary(t *testing.T) {
	extent.Long(t)
	for _, tr := range recordings.Repository(t) {
		if len(recordedPIDs(t, tr.Path)) != 1 {
			continue
		}
		metrics := summaryMetrics(t, tr.Path)
		for _, interval := range []string{"", "1s", "100"} {
			args := append([]string{"stat", tr.Path}, strings.Fields(interval)...)
			out, _, _ := run(args...)
			lines := strings.Split(strings.TrimSpace(out), "\n")
			got := strings.Fields(lines[len(lines)-1])
			for column, metric := range map[string]string{
				"G0C": "gen0.count", "G0T": "gen0.pause.total", "G1C": "gen1.count", "G1T": "gen1.pause.total", "G2B": "gen2.blocking.count", "G2BT": "gen2.blocking.pause.total",
				"BGC": "background.count", "BGCT": "background.pause.total", "GCT": "pause.total", "HEAP": "heap.last", "COMMIT": "heap.committed", "PAUSE%": "pause.share",
			} {
				if column == "PAUSE%" && interval != "" {
					continue
				}
				m, there := metrics[metric]
				if !there {
					t.Fatalf("no metric %s", metric)
				}
				cell := got[slices.Index(strings.Fields(lines[0]), column)]
				if want := statCell(m); cell != want {
					t.Errorf("%s every %q: %s is %s, %s is %s", tr.Name, interval, column, cell, metric, want)
				}
			}
		}
	}
}

// statCell formats a metric of the summary in the unit that stat has for it.
func statCell(m map[string]any) string {
	for unit, x := range map[string]struct {
		per      float64
		decimals int
	}{"ns": {1e9, 3}, "bytes": {1e6, 1}, "value": {1, 0}, "pct": {0.01, 2}} {
		if v, ok := m[unit].(float64); ok {
			return strconv.FormatFloat(v/x.per, 'f', x.decimals, 64)
		}
	}
	return "-"
}

func summaryMetrics(t *testing.T, path string) map[string]map[string]any {
	t.Helper()
	out, _, _ := run("summary", path, "-f", "json")
	var v struct {
		Dotnet struct {
			GC struct{ Metrics map[string]map[string]any }
		}
	}
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	return v.Dotnet.GC.Metrics
}

// TestStatShare: the share of each interval is that of the pauses in it, which gclog pauses lists, and
// their sum has grown by them.
func TestStatShare(t *testing.T) {
	for name, begin := range map[string]string{"net10-datas-bgc": "2026-11-21T00:30:37.3Z", "net9-wks-attach": "2026-11-21T00:39:22.029Z"} {
		type pause struct{ from, to float64 } // seconds since the start
		began, err := time.Parse(time.RFC3339Nano, begin)
		if err != nil {
			t.Fatal(err)
		}
		list, _, _ := run("pauses", trace(name), "-f", "json")
		var pauses []pause
		for line := range strings.Lines(list) {
			var v struct {
				Event struct{ Start, End time.Time }
			}
			if err := json.Unmarshal([]byte(line), &v); err != nil {
				t.Fatal(err)
			}
			pauses = append(pauses, pause{v.Event.Start.Sub(began).Seconds(), v.Event.End.Sub(began).Seconds()})
		}
		out, _, _ := run("stat", trace(name), "500ms")
		lines := strings.Split(strings.TrimSpace(out), "\n")
		titles, lines := strings.Fields(lines[0]), lines[1:len(lines)-1] // the last interval is shorter
		if len(lines) < 9 {
			t.Fatalf("%d lines", len(lines))
		}
		sum := 0.0
		for i, line := range lines {
			from, to, paused := 0.5*float64(i), 0.5*float64(i+1), 0.0
			for _, p := range pauses {
				paused += max(0, min(to, p.to)-max(from, p.from))
			}
			cells := strings.Fields(line)
			got, err := strconv.ParseFloat(cells[len(cells)-1], 64)
			if want := 100 * paused / 0.5; err != nil || math.Abs(got-want) > 0.3 { // the start is known to a millisecond
				t.Errorf("%s: interval %d was paused for %v %%, by the list of pauses %v %%", name, i, got, want)
			}
			sum += paused
			total, err := strconv.ParseFloat(cells[len(cells)-2], 64)
			if err != nil || math.Abs(total-sum) > 0.003 {
				t.Errorf("%s: until the end of interval %d the pauses are %v s, by the list of pauses %v s", name, i, total, sum)
			}
			classes := 0.0
			for _, title := range []string{"G0T", "G1T", "G2BT", "BGCT"} {
				v, err := strconv.ParseFloat(cells[slices.Index(titles, title)], 64)
				if err != nil {
					t.Fatal(err)
				}
				classes += v
			}
			if classes > total+0.003 {
				t.Errorf("%s: at the end of interval %d the pauses of collections are %v s, all %v s", name, i, classes, total)
			}
		}
	}
}

// TestStatOfLaterProcess: the process of the second recording starts long after the first one.
func TestStatOfLaterProcess(t *testing.T) {
	b := recordings.Read(t, trace("net10-datas-bgc"))
	head := bytes.Index(b, []byte("\xea\x07\x0b\x00")) // SYSTEMTIME: November 2026
	if head < 0 || head > 100 {
		t.Fatalf("no date at %d", head)
	}
	binary.LittleEndian.PutUint16(b[head+10:], binary.LittleEndian.Uint16(b[head+10:])-1) // the minute
	binary.LittleEndian.PutUint32(b[head+36:], 777)                                       // the pid
	earlier := filepath.Join(t.TempDir(), "earlier.nettrace")
	if err := os.WriteFile(earlier, b, 0o600); err != nil {
		t.Fatal(err)
	}
	alone, _, _ := run("stat", trace("net10-datas-bgc"), "1s")
	both, said, code := run("stat", earlier, trace("net10-datas-bgc"), "--pid", "29336", "1s")
	if code != 0 || both != alone {
		t.Errorf("exit code %d, %s\n%s\nwant\n%s", code, said, both, alone)
	}
}
