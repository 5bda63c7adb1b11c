package cli

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/internal/top"
)

// kept keeps the records of a recording for top.
type kept struct {
	list []gclog.Record
	end  int64
}

// Observe takes a record.
func (k *kept) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.End:
		k.end = r.At
	case *gclog.Pause:
		k.list = append(k.list, &gclog.Pause{PausePart: r.PausePart, Ticks: r.Ticks, Thread: r.Thread, UsedNumber: r.UsedNumber})
	case *gclog.GCDetails:
		k.list = append(k.list, r.Clone())
	}
}

// topScreen returns the page of a recording's process at its end, on a screen that has room for
// everything.
func topScreen(t *testing.T, path string) string {
	t.Helper()
	var k kept
	var process gclog.Process
	_ = gclog.Read(bytes.NewReader(recordings.Read(t, path)), func(p *gclog.Process) gclog.Observer {
		process = *p
		return k.Observe
	})
	m := top.New(top.Options{Single: true, Replay: true})
	m.Update(top.Size{Width: 300, Height: 250})
	m.Update(top.Started{ID: 1, Process: process, From: "replay"})
	m.Update(top.Records{ID: 1, List: k.list})
	m.Update(top.Tick{Now: time.Now(), At: map[int]int64{1: k.end}})
	return m.View()
}

// TestViewsAgree: the text log, the list of pauses, the explanation, the summary, stat, top, the
// report and the comparison have the same numbers about the same recording. What its page shows is compared with the
// records in a browser (make report-test).
func TestViewsAgree(t *testing.T) {
	path := trace("net10-datas-bgc")
	screen := topScreen(t, path)
	log, _, _ := run("convert", path, "--format", "text", "-o", "-")
	pauses, _, _ := run("pauses", path)
	rows := regexp.MustCompile(`(?m)^(\S+) +(\d+) +\S+ +(\w+) +\S+ +.*?([0-9.+]+) +([0-9.]+ [KM]?B) +-> +([0-9.]+ [KM]?B)`).FindAllStringSubmatch(log, -1)
	if len(rows) != 10 {
		t.Fatalf("%d collections in\n%s", len(rows), log)
	}
	for _, r := range rows {
		if line := strings.TrimSpace(r[0]); !strings.Contains(screen, line) {
			t.Errorf("top has no line\n%s\nbut\n%s", line, screen)
		}
		var total float64
		for part := range strings.SplitSeq(r[4], "+") {
			ms, err := strconv.ParseFloat(part, 64)
			if err != nil {
				t.Fatal(err)
			}
			total += ms
			if !regexp.MustCompile(`(?m)^\S+ +` + regexp.QuoteMeta(part) + ` +\S+ +#` + r[2] + ` `).MatchString(pauses) {
				t.Errorf("the list of pauses has no pause of %s ms for #%s:\n%s", part, r[2], pauses)
			}
		}
		explanation, _, _ := run("explain", path, r[2])
		if want := fmt.Sprintf("%.3f", total); !regexp.MustCompile(`(?m)^ +total +`+regexp.QuoteMeta(want)+` `).MatchString(explanation) && r[3] != "background" {
			t.Errorf("the explanation of #%s has no total of %s ms:\n%s", r[2], want, explanation)
		}
	}
	summary, _, _ := run("summary", path)
	stat, _, _ := run("stat", path)
	report, _, _ := run("report", path, "-f", "md")
	compared, _, _ := run("compare", path, path)
	cells := strings.Fields(strings.Split(strings.TrimSpace(stat), "\n")[1])
	for _, x := range []struct{ in, pattern, what string }{
		{summary, `share +paused (\S+ %) `, "share of the summary"},
		{screen, `since the start: paused (\S+ %),`, "share of top"},
		{report, `\| \*\*(\S+ %)\*\*`, "share of the report"},
		{compared, `(?m)^ +pause\.share +(\S+ %) +9\.39 %$`, "share of the comparison"},
	} {
		m := regexp.MustCompile(x.pattern).FindStringSubmatch(x.in)
		if m == nil || m[1] != "9.39 %" || cells[17] != "9.39" {
			t.Errorf("%s: %q, stat %s", x.what, m, cells[17])
		}
	}
	for metric, class := range map[string]string{"pause": "all", "gen0.pause": "gen0", "gen1.pause": "gen1", "background.pause": "background"} {
		inReport := regexp.MustCompile(`(?m)^\| ` + class + ` \| \d+ \| [^|]+ \| [^|]+ \| ([^|]+) \|`).FindStringSubmatch(report)
		inSummary := regexp.MustCompile(`(?m)^  ` + class + ` +\d+ +\S+ \S+ +\S+ \S+ +(\S+ \S+) `).FindStringSubmatch(summary)
		m := regexp.MustCompile(`(?m)^ +` + regexp.QuoteMeta(metric) + `\.p50 +(\S+ \S+) `).FindStringSubmatch(compared)
		if m == nil || inReport == nil || inSummary == nil || m[1] != inReport[1] || m[1] != inSummary[1] {
			t.Errorf("the median of %s is %q in the comparison, %q in the report, %q in the summary", class, m, inReport, inSummary)
		}
	}
	for name, want := range map[string]string{"gen0": cells[8], "gen1": cells[10], "gen2": cells[12], "background": cells[14]} {
		inSummary := regexp.MustCompile(`(?m)^  ` + name + `( blocking)? +` + want + ` `)
		if !regexp.MustCompile(`(?m)^\| ` + name + `( blocking)? \| ` + want + ` \|`).MatchString(report) {
			t.Errorf("%s: stat has %s, but the report\n%s", name, want, report)
		}
		if !regexp.MustCompile(`, (blocking )?`+name+` `+want+`\b`).MatchString(screen) || !inSummary.MatchString(summary) {
			t.Errorf("%s: stat has %s, but top\n%s\nand the summary\n%s", name, want, screen[:600], summary)
		}
	}
}
