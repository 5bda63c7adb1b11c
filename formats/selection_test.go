package formats_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// selected returns the lines of a recording in the unified format with a selection.
func selected(t *testing.T, recording string, s formats.Selection) (lines []string) {
	t.Helper()
	format, err := formats.Find("unified")
	if err != nil {
		t.Fatal(err)
	}
	stream := recordings.Read(t, filepath.Join("..", "testdata", "traces", recording+".nettrace.gz"))
	var outputs []*memory
	_, _ = read(stream, everything, gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		out := &memory{}
		outputs = append(outputs, out)
		process := *p
		process.Sync = time.Date(2026, 3, 28, 23, 59, 58, 123_456_789, time.UTC)
		process.UptimeAtSync = 90*time.Second + 700*time.Microsecond
		process.HasLimits, process.Limits.HighMemoryPercent = true, 90
		return formats.NewWriter(format, out, formats.Options{Process: process, Host: "shop 1\n", Selection: &s}).Observe
	}))
	for _, out := range outputs {
		if text := string(out.text()); text != "" {
			lines = append(lines, strings.Split(strings.TrimSuffix(text, "\n"), "\n")...)
		}
	}
	return lines
}

func levelled(level formats.Level, sets ...int) (s formats.Selection) {
	for _, i := range sets {
		s.Levels[i] = level
	}
	return s
}

// Kinds of lines that only -Xlog selects, after level and tags.
var (
	amount   = `-?\d+(?:\.\d{3}ms|K)?`
	fields   = `[a-z0-9_]+=(?:gen[0-3]|` + amount + `(?:(?:->|/)` + amount + `)?|[A-Za-z0-9()+]+)`
	workers  = `(?:, ` + fields + `)*, workers=(?:\d+|unknown)$`
	moreKind = map[string]*regexp.Regexp{
		"info gc,ergo":    regexp.MustCompile(`^GC\(\d+\)` + nine + `Condemned: ` + fields + workers),
		"info gc,alloc":   regexp.MustCompile(`^GC\(\d+\)` + nine + `Program: ` + fields + workers),
		"info gc,ref":     regexp.MustCompile(`^GC\(\d+\)` + nine + `References: ` + fields + workers),
		"info gc,phases":  regexp.MustCompile(`^GC\(\d+\)` + nine + `Phases: ` + fields + workers),
		"debug gc,phases": regexp.MustCompile(`^GC\(\d+\)` + nine + `Roots: ` + fields + workers),
		"debug gc,heap":   regexp.MustCompile(`^GC\(\d+\)` + nine + `Heap \d+: ` + fields + workers),
		"debug gc,init":   regexp.MustCompile(`^        Settings: ` + fields + workers),
		"info safepoint":  regexp.MustCompile(`^Total time for which application threads were stopped: \d+\.\d{7} seconds, Stopping threads took: \d+\.\d{7} seconds, reason: [A-Za-z0-9()]+$`),
	}
)

// TestSelections: a selection contains exactly its part of the whole log, line by line, and each
// kind of line has its only form.
func TestSelections(t *testing.T) {
	extent.Long(t)
	names := formats.TagSets()
	decorated := regexp.MustCompile(`^\[([a-z]+)\]\[([a-z,]+)\] (.*)$`)
	for _, recording := range []string{"net10-datas-bgc", "core31-svr-induced", "net9-wks-attach"} {
		var sets []int
		for i := range names {
			sets = append(sets, i)
		}
		everything := levelled(formats.LevelTrace, sets...)
		everything.Decorators = formats.Of(formats.DecLevel, formats.DecTags)
		whole := selected(t, recording, everything)
		seen := map[string]bool{}
		for _, line := range whole {
			m := decorated.FindStringSubmatch(line)
			if m == nil {
				t.Fatalf("%s: %q", recording, line)
			}
			key := m[1] + " " + m[2]
			seen[key] = true
			if kind, ok := moreKind[key]; ok && !kind.MatchString(m[3]) {
				t.Errorf("%s: %q is not of its form", recording, line)
			}
		}
		for key := range moreKind {
			// .NET Core 3.1 does not report its times.
			if !seen[key] && !(recording == "core31-svr-induced" && key == "info gc,phases") {
				t.Errorf("%s: no line of %s", recording, key)
			}
		}
		for i, name := range names {
			if i == int(formats.TagInit) {
				continue // a header is not written without lines after it
			}
			for _, level := range []formats.Level{formats.LevelInfo, formats.LevelDebug} {
				s := levelled(level, i)
				s.Decorators = everything.Decorators
				var want []string
				for _, line := range whole {
					m := decorated.FindStringSubmatch(line)
					if m[2] == strings.ReplaceAll(name, "+", ",") && (m[1] == "info" || level == formats.LevelDebug) {
						want = append(want, line)
					}
				}
				if got := selected(t, recording, s); !slices.Equal(got, want) {
					t.Errorf("%s: %s=%s has %d lines, the whole log has %d of them: %s", recording, name, formats.LevelNames[level], len(got), len(want),
						generated.Difference(strings.Join(got, "\n"), strings.Join(want, "\n")))
				}
			}
		}
	}
}

// TestSafepoints: the suspensions in the log are those of the recording, for the GC or not.
func TestSafepoints(t *testing.T) {
	for _, recording := range []string{"net10-datas-bgc", "core31-svr-induced"} {
		count := &suspensions{}
		stream := recordings.Read(t, filepath.Join("..", "testdata", "traces", recording+".nettrace.gz"))
		if _, err := read(stream, everything, gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return count.Observe })); err != nil {
			t.Fatal(err)
		}
		s := levelled(formats.LevelInfo, int(formats.TagSafepoint))
		lines := selected(t, recording, s)
		if len(lines) != count.n || count.other == 0 || count.gc+count.pausesWithout < count.pauses {
			t.Errorf("%s: %d lines, %+v", recording, len(lines), *count)
		}
	}
}

type suspensions struct {
	n, gc, other, pauses, pausesWithout int
}

// Observe takes a record.
func (s *suspensions) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		if r.GC == nil {
			s.pausesWithout++
		} else if !r.GC.InsideBGCStart {
			s.pauses++
		}
	case *gclog.Suspension:
		s.n++
		if r.Reason == 1 || r.Reason == 6 {
			s.gc++
		} else {
			s.other++
		}
	}
}

// TestDecorators tests each decorator, alone and in the fixed order.
func TestDecorators(t *testing.T) {
	local := time.Local
	time.Local = time.FixedZone("", -(3*3600 + 1800))
	t.Cleanup(func() { time.Local = local })
	forms := []string{
		`2026-03-2\dT\d\d:\d\d:\d\d\.\d{3}-0330`, `2026-03-2\dT\d\d:\d\d:\d\d\.\d{3}\+0000`, `9\d\.\d{3}s`, `17747\d{8}ms`, `9\d{4}ms`, `17747\d{14}ns`, `9\d{10}ns`,
		`shop 1_`, `29336`, `\d+`, `info`, `gc,cpu`,
	}
	all := formats.Selection{}
	all.Levels[formats.TagCPU] = formats.LevelInfo
	text := ``
	for i, form := range forms {
		one := all
		one.Decorators = formats.Of(formats.Decorator(i))
		all.Decorators |= one.Decorators
		text += `\[` + form + `\]`
		for _, line := range selected(t, "net10-datas-bgc", one) {
			if !regexp.MustCompile(`^\[` + form + `\] GC\(\d+\) User=`).MatchString(line) {
				t.Errorf("%s: %q", formats.DecoratorNames[i][0], line)
				break
			}
		}
	}
	all.Levels[formats.TagCPU] = formats.LevelInfo
	lines := selected(t, "net10-datas-bgc", all)
	for _, line := range lines {
		if !regexp.MustCompile(`^` + text + ` GC`).MatchString(line) {
			t.Fatalf("all: %q", line)
		}
	}
	// The times of a line are the same time.
	m := regexp.MustCompile(`^\[([^]]+)\]\[([^]]+)\]\[([0-9.]+)s\]\[(\d+)ms\]\[(\d+)ms\]\[(\d+)ns\]\[(\d+)ns\]`).FindStringSubmatch(lines[0])
	zoned, _ := time.Parse("2006-01-02T15:04:05.000-0700", m[1])
	utc, _ := time.Parse("2006-01-02T15:04:05.000-0700", m[2])
	if !zoned.Equal(utc) || fmt.Sprint(utc.UnixMilli()) != m[4] || m[6][:13] != m[4] || strings.Replace(m[3], ".", "", 1) != m[5] || m[7][:5] != m[5] {
		t.Errorf("%q", lines[0])
	}
	if none := selected(t, "net10-datas-bgc", levelled(formats.LevelInfo, int(formats.TagCPU))); !strings.HasPrefix(none[0], "GC(1) User=") {
		t.Errorf("none: %q", none[0])
	}
}

// TestDecoration tests the decorations for the last moment of 2026 in UTC and in two zones.
func TestDecoration(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	s := levelled(formats.LevelInfo, int(formats.TagCPU))
	for d := formats.DecTime; d <= formats.DecTags; d++ {
		s.Decorators |= formats.Of(d)
	}
	for _, c := range []struct {
		zone         int
		host         string
		thread       uint64
		uptime       time.Duration
		want, uptext string
	}{
		{2*3600 + 45*60, "shop-1", 139, 75 * time.Second, "[2027-01-01T02:44:59.999+0245]", "[75.015s][1798761599999ms][75015ms][1798761599999000000ns][75015000000ns][shop-1][4711][139]"},
		{-3 * 3600, "", 0, 0, "[2026-12-31T20:59:59.999-0300]", "[0.015s][1798761599999ms][15ms][1798761599999000000ns][15000000ns][unknown][4711][0]"},
		{0, "a b", 1 << 63, -time.Second, "[2026-12-31T23:59:59.999+0000]", "[0.000s][1798761599999ms][0ms][1798761599999000000ns][0ns][a b][4711][9223372036854775808]"},
	} {
		time.Local = time.FixedZone("", c.zone)
		at := time.Date(2026, 12, 31, 23, 59, 59, 999_000_000, time.UTC)
		p := gclog.Process{ID: 4711, Sync: at.Add(-15 * time.Millisecond), UptimeAtSync: c.uptime}
		_, records := written(t, "unified", formats.Options{Process: p, Host: c.host, Selection: &s}, func(w *formats.Writer) {
			w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Start: 10e6, Duration: 5e6}, Thread: c.thread, GC: &gclog.GCDetails{Number: 12, Known: gclog.GroupNumber}})
		})
		want := c.want + "[2026-12-31T23:59:59.999+0000]" + c.uptext + "[info][gc,cpu] GC(12) User=0.00s Sys=0.00s Real=0.01s"
		if got := strings.Join(records, "|"); got != want {
			t.Errorf("got\n%s, want\n%s", got, want)
		}
	}
}

// TestDaylightSaving: a time has the zone offset of its own moment, to the nanosecond.
func TestDaylightSaving(t *testing.T) {
	local := time.Local
	t.Cleanup(func() { time.Local = local })
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip("no time zones here: ", err)
	}
	time.Local = berlin
	s := levelled(formats.LevelInfo, int(formats.TagCPU))
	s.Decorators |= formats.Of(formats.DecTime)
	change := time.Date(2026, 10, 25, 1, 0, 0, 0, time.UTC)
	p := gclog.Process{ID: 1, Sync: change.Add(-time.Second)}
	for _, c := range []struct {
		end  time.Duration
		want string
	}{
		{time.Second - 1, "[2026-10-25T02:59:59.999+0200]"},
		{time.Second, "[2026-10-25T02:00:00.000+0100]"},
	} {
		_, records := written(t, "unified", formats.Options{Process: p, Selection: &s}, func(w *formats.Writer) {
			w.Observe(&gclog.Pause{PausePart: gclog.PausePart{Duration: int64(c.end)}, GC: &gclog.GCDetails{Number: 1, Known: gclog.GroupNumber}})
		})
		if got := strings.Join(records, "|"); !strings.HasPrefix(got, c.want) {
			t.Errorf("%v after %v: %q, want %s", c.end, p.Sync, got, c.want)
		}
	}
}

// TestSelect tests which lines tags select, and the contents of a selection.
func TestSelect(t *testing.T) {
	for _, c := range []struct {
		tags     string
		wildcard bool
		want     []formats.TagSet
	}{
		{"gc", false, []formats.TagSet{formats.TagGC}},
		{"gc+heap", false, []formats.TagSet{formats.TagHeap}},
		{"heap+gc", false, []formats.TagSet{formats.TagHeap}},
		{"heap", false, nil},
		{"heap", true, []formats.TagSet{formats.TagHeap}},
		{"gc+heap+x", true, nil},
		{"safepoint", true, []formats.TagSet{formats.TagSafepoint}},
		{"gc+init", false, []formats.TagSet{formats.TagInit}},
	} {
		var s formats.Selection
		found := s.Select(strings.Split(c.tags, "+"), c.wildcard, formats.LevelInfo)
		var got []formats.TagSet
		for i, level := range s.Levels {
			if level == formats.LevelInfo {
				got = append(got, formats.TagSet(i))
			}
		}
		if !slices.Equal(got, c.want) || found != (c.want != nil) {
			t.Errorf("%s, %v: %v, %v, want %v", c.tags, c.wildcard, got, found, c.want)
		}
		if empty := c.want == nil || c.tags == "gc+init"; s.Empty() != empty {
			t.Errorf("%s: empty is %v, want %v", c.tags, s.Empty(), empty)
		}
		if want := c.tags == "safepoint"; s.Suspensions() != want {
			t.Errorf("%s: suspensions are %v, want %v", c.tags, s.Suspensions(), want)
		}
		s.Select(nil, true, formats.LevelWarning)
		if !s.Empty() || s.Suspensions() {
			t.Errorf("%s: there are no warnings, and the selection has lines", c.tags)
		}
	}
	if (*formats.Selection)(nil).Suspensions() {
		t.Error("the default has lines for suspensions")
	}
}
