package logs_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
)

// A damagedLog is a sample followed by a line of another process: that line must be read whatever
// comes before it.
type damagedLog struct {
	format string
	head   []byte // header lines, which must come first
	lines  [][]byte
	last   []byte
	want   *observed // the contents of the last line alone
}

func damagedLogs(t testing.TB) []damagedLog {
	t.Helper()
	split := func(text []byte) [][]byte { return bytes.Split(bytes.TrimSuffix(text, []byte{'\n'}), []byte{'\n'}) }
	j, c := split(sample(t, "gc.json")), split(sample(t, "gc.csv"))
	last := func(line []byte, was, is string) []byte { return bytes.ReplaceAll(line, []byte(was), []byte(is)) }
	list := []damagedLog{
		{format: "json", lines: j[1:], last: last(j[len(j)-2], "5d2b7c1e", "00000000")},
		{format: "csv", head: append(c[0], '\n'), lines: c[1:], last: last(c[len(c)-1], ",28077,", ",4242,")},
	}
	for i := range list {
		x := &list[i]
		_, all, _ := read(t, slices.Concat(x.head, x.last, []byte{'\n'}))
		x.want = all[0]
	}
	return list
}

// read reads the log with a damaged line in it. The last line must be read as a record, and the
// damaged one must be read as a record or skipped.
func (x *damagedLog) read(t *testing.T, line []byte, what string) (skipped logs.Skipped) {
	t.Helper()
	text := slices.Concat(x.head, line, []byte{'\n'}, x.last, []byte{'\n'})
	var all []*observed
	r, err := logs.NewReader(logs.Head{Format: x.format}, func(p *gclog.Process) gclog.Observer {
		all = append(all, &observed{process: *p})
		return all[len(all)-1].Observe
	})
	if err != nil {
		t.Fatal(err)
	}
	skipped, err = r.Read(bytes.NewReader(text))
	r.Finish()
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %v, %d processes", what, err, len(all))
	}
	got := all[len(all)-1]
	if len(x.want.calls) != len(got.calls) {
		t.Fatalf("%s: the last line has %d calls, want %d:\n%s", what, len(got.calls), len(x.want.calls), text)
	}
	if !slices.Equal(x.want.order, got.order) {
		t.Fatalf("%s: %v, want %v", what, got.order, x.want.order)
	}
	return skipped
}

func TestCut(t *testing.T) {
	for _, x := range damagedLogs(t) {
		for _, line := range x.lines[:2] {
			for n := 1; n < len(line); n++ {
				skipped := x.read(t, line[:n], fmt.Sprintf("%s cut at %d", x.format, n))
				if x.format == "json" && !slices.Equal(skipped.Lines, []int64{1}) {
					t.Fatalf("cut at %d, lines %v were skipped", n, skipped.Lines)
				}
			}
		}
	}
}

func TestBitFlips(t *testing.T) {
	extent.Long(t)
	const trials = 3000
	for _, x := range damagedLogs(t) {
		random := rand.New(rand.NewPCG(3, 4))
		taken := 0
		for i := range trials {
			line := slices.Clone(x.lines[random.IntN(len(x.lines))])
			for range 1 + random.IntN(4) {
				line[random.IntN(len(line))] = byte(random.IntN(256))
			}
			line = bytes.ReplaceAll(line, []byte{'\n'}, nil)
			if s := x.read(t, line, fmt.Sprintf("%s, trial %d", x.format, i)); s.Count == 0 {
				taken++
			}
		}
		if taken == 0 || taken == trials {
			t.Errorf("%s: %d of %d damaged lines were taken", x.format, taken, trials)
		}
	}
}

// TestProcesses: processes whose lines are interleaved are each read as if they were alone.
func TestProcesses(t *testing.T) {
	for name, know := range map[string]func(*gclog.Process){
		"json": func(p *gclog.Process) { p.Cookie = fmt.Sprint("cookie-", p.ID) },
		"JSON": func(p *gclog.Process) { p.Started = p.Sync.Add(-100) }, // identified by pid and start
		"csv":  func(*gclog.Process) {},
	} {
		format := strings.ToLower(name)
		var texts [][][]byte
		var alone []*observed
		for i, stream := range [][]byte{recording(t, "net9-wks-attach"), recording(t, "v6-wksb"), recording(t, "net10-datas-bgc")} {
			text, _ := record(t, stream, format, func(p *gclog.Process) {
				p.ID = int64(i + 1)
				know(p)
			})
			texts = append(texts, bytes.SplitAfter(text, []byte{'\n'}))
			_, all, _ := read(t, text)
			alone = append(alone, all...)
		}
		mixed := texts[0][0]
		for i := 1; i < len(texts[0]) || i < len(texts[1]) || i < len(texts[2]); i++ {
			for _, lines := range texts {
				if i < len(lines) {
					mixed = append(mixed, lines[i]...)
				}
			}
		}
		_, all, skipped := read(t, mixed)
		if len(all) != 3 || skipped.Count != 0 {
			t.Fatalf("%s: %d processes, lines %v skipped", name, len(all), skipped.Lines)
		}
		for i, x := range all {
			if x.process.ID != int64(i+1) {
				t.Errorf("%s: process %d has the number %d", name, i, x.process.ID)
			}
			sameCalls(t, alone[i], x)
		}
	}
}

// TestTooManyProcesses: beyond the limit lines are skipped.
func TestTooManyProcesses(t *testing.T) {
	var text []byte
	for i := range 10_002 {
		text = fmt.Appendf(text, `{"@timestamp":"2026-11-21T00:30:37.3Z","event":{"action":"gc-session-start"},"process":{"pid":%d},"gclog":{"schema":"1.0"}}`+"\n", i)
	}
	r, _ := logs.NewReader(logs.Head{Format: "json"}, func(*gclog.Process) gclog.Observer { return nil })
	skipped, err := r.Read(bytes.NewReader(text))
	if err != nil || !slices.Equal(skipped.Lines, []int64{10_001, 10_002}) {
		t.Errorf("lines %v were skipped, %v", skipped.Lines, err)
	}
	r.Finish()
}

func TestRecognize(t *testing.T) {
	j, c := string(sample(t, "gc.json")), string(sample(t, "gc.csv"))
	for _, x := range []struct{ name, text, format, at string }{
		{"json", j, "json", "2026-11-21T00:28:26.188436868Z"},
		{"json behind lines of others", "starting\n{}\n" + j, "json", "2026-11-21T00:28:26.188436868Z"},
		{"csv", c, "csv", "2026-11-21T00:28:24.186583Z"},
		{"csv behind a byte order mark", "\ufeff" + c, "csv", "2026-11-21T00:28:24.186583Z"},
		{"csv without dates", "StartRelativeMSec,Number,Generation\n1.5,1,0\n", "csv", "0001-01-01T00:00:00Z"},
		{"another csv", "Number,Generation\n1,0\n", "", ""},
		{"another json", `{"@timestamp":"2026-11-21T00:30:37.300Z","message":"schema"}` + "\n", "", ""},
		{"nothing", "", "", ""},
	} {
		h, ok := logs.Recognize([]byte(x.text))
		if ok != (x.format != "") || h.Format != x.format {
			t.Errorf("%s is %+v, %v", x.name, h, ok)
		} else if ok && h.Time.Format("2006-01-02T15:04:05.999999999Z07:00") != x.at {
			t.Errorf("%s begins at %v, want %s", x.name, h.Time, x.at)
		}
	}
	for _, format := range []string{"json", "csv"} {
		if lacks := logs.Lacks(format); !strings.HasPrefix(lacks, format+" ") {
			t.Errorf("what %s lacks: %q", format, lacks)
		}
	}
}

func FuzzJSON(f *testing.F) { fuzz(f, "json") }
func FuzzCSV(f *testing.F)  { fuzz(f, "csv") }

// fuzz reads arbitrary input. The result is written in every format: records must not break those
// either.
func fuzz(f *testing.F, format string) {
	for _, x := range damagedLogs(f) {
		if x.format == format {
			for _, line := range x.lines {
				f.Add(slices.Concat(x.head, line, []byte{'\n'}, x.last))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		logs.Recognize(text[:min(len(text), logs.HeadSize)])
		r, err := logs.NewReader(logs.Head{Format: format}, func(p *gclog.Process) gclog.Observer { return newEverything(p).Observe })
		if err != nil {
			t.Fatal(err)
		}
		skipped, err := r.Read(bytes.NewReader(text))
		if lines := int64(bytes.Count(text, []byte{'\n'}) + 1); failed(err) || skipped.Count > lines {
			t.Errorf("%d of %d lines were skipped, %v", skipped.Count, lines, err)
		}
		r.Finish()
	})
}

// TestWildNumbers: numbers that no runtime would report are skipped, or written in every format
// without harm.
func TestWildNumbers(t *testing.T) {
	extent.Long(t)
	wild := []string{
		"0", "1", "3", "255", "256", "65535", "4294967295", "4294967296", "72057594037927936", "72057594037927937",
		"9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "99999999999999999999999", "-1", "1e9", "0.0001", "null", "",
	}
	digits := regexp.MustCompile(`\b\d+\b`)
	random := rand.New(rand.NewPCG(7, 8))
	const logsOfEach = 100
	for _, x := range damagedLogs(t) {
		for range logsOfEach {
			text := slices.Clone(x.head)
			for _, i := range random.Perm(len(x.lines))[:min(50, len(x.lines))] { // none twice: that is rejected
				line := x.lines[i]
				places := digits.FindAllIndex(line, -1)
				p := places[random.IntN(len(places))]
				text = slices.Concat(text, line[:p[0]], []byte(wild[random.IntN(len(wild))]), line[p[1]:], []byte{'\n'})
			}
			r, _ := logs.NewReader(logs.Head{Format: x.format}, func(p *gclog.Process) gclog.Observer { return newEverything(p).Observe })
			if _, err := r.Read(bytes.NewReader(text)); failed(err) {
				t.Fatal(err)
			}
			r.Finish()
		}
	}
}

// failed reports whether err is an error other than an OverlapError.
func failed(err error) bool {
	_, twice := errors.AsType[*logs.OverlapError](err)
	return err != nil && !twice
}
