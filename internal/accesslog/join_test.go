package accesslog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/google/go-cmp/cmp"
)

// The start of all histories below. Pauses are given in milliseconds since then.
var sync = time.Date(2026, 1, 31, 14, 0, 0, 0, time.UTC)

// timeline returns a history of one minute: #1 from 1000 to 1100 ms, #2 from 2000 to 2020 ms, a
// pause without a collection from 3000 to 3005 ms, and lost events from 10 s to 11 s.
func timeline() *analysis.Timeline {
	t := analysis.NewTimeline(analysis.Always())
	ms := int64(time.Millisecond)
	t.Observe(&gclog.Start{At: 0})
	for _, p := range []struct {
		from, to int64
		number   uint32
	}{{1000, 1100, 1}, {2000, 2020, 2}, {3000, 3005, 0}} {
		g := &gclog.Pause{PausePart: gclog.PausePart{Start: p.from * ms, Duration: (p.to - p.from) * ms}}
		if p.number != 0 {
			g.GC = &gclog.GCDetails{Number: p.number, Known: gclog.GroupNumber}
		}
		t.Observe(g)
	}
	t.Observe(&gclog.Gap{Reason: gclog.GapLostEvents, Since: 10000 * ms, Time: 11000 * ms})
	t.Observe(&gclog.End{At: 60000 * ms})
	return t
}

func join(t *testing.T, log string, o Options) (string, *Report, error) {
	t.Helper()
	var out strings.Builder
	r, err := Join(&out, strings.NewReader(log), timeline(), sync, o)
	return out.String(), r, err
}

var options = Options{Time: "time", Duration: "took"}

func TestRows(t *testing.T) {
	const none = `"gc_pause_ms":null,"gc_count":null,"gc_numbers":null`
	for _, x := range []struct {
		name, log, want string
		o               Options
	}{
		{
			"ended in a pause",
			`{"time":"2026-01-31T14:00:01.050Z","took":100}` + "\n",
			`{"time":"2026-01-31T14:00:01.050Z","took":100,"gc_pause_ms":50.000,"gc_count":1,"gc_numbers":[1]}` + "\n", options,
		},
		{
			"began in a pause",
			`{"time":"2026-01-31T14:00:01.080Z","took":100}`,
			`{"time":"2026-01-31T14:00:01.080Z","took":100,"gc_pause_ms":20.000,"gc_count":1,"gc_numbers":[1]}`,
			Options{Time: "time", Duration: "took", AtStart: true},
		},
		{
			"two pauses, and one without a collection",
			`{"time":"2026-01-31T14:00:04Z","took":"3.5s"}`,
			`{"time":"2026-01-31T14:00:04Z","took":"3.5s","gc_pause_ms":125.000,"gc_count":3,"gc_numbers":[1,2]}`, options,
		},
		{
			"no pause, up to the border of one",
			`{"time":"2026-01-31T14:00:01.000Z","took":10}`,
			`{"time":"2026-01-31T14:00:01.000Z","took":10,"gc_pause_ms":0,"gc_count":0,"gc_numbers":[]}`, options,
		},
		{
			"a microsecond of a pause",
			`{"time":"2026-01-31T14:00:01.000001Z","took":10}`,
			`{"time":"2026-01-31T14:00:01.000001Z","took":10,"gc_pause_ms":0.001,"gc_count":1,"gc_numbers":[1]}`, options,
		},
		{
			"blanks stay, also at the ends",
			" { \"took\" : 100 , \"time\" : \"2026-01-31T14:00:01.050Z\" } \r\n\n\t\n",
			" { \"took\" : 100 , \"time\" : \"2026-01-31T14:00:01.050Z\" ,\"gc_pause_ms\":50.000,\"gc_count\":1,\"gc_numbers\":[1]} \r\n\n\t\n", options,
		},
		{
			"nested", `{"http":{"a":{"time":1},"time":"2026-01-31T14:00:01.050Z","request":{"took":100}}}`,
			`{"http":{"a":{"time":1},"time":"2026-01-31T14:00:01.050Z","request":{"took":100}},"gc_pause_ms":50.000,"gc_count":1,"gc_numbers":[1]}`,
			Options{Time: "http.time", Duration: "http.request.took"},
		},
		{
			"dots in keys", `{"http.request":{"took":100},"http":{"request":{"x":1}},"http.time":"2026-01-31T14:00:01.050Z"}`,
			`{"http.request":{"took":100},"http":{"request":{"x":1}},"http.time":"2026-01-31T14:00:01.050Z","gc_pause_ms":50.000,"gc_count":1,"gc_numbers":[1]}`,
			Options{Time: "http.time", Duration: "http.request.took"},
		},
		{
			"escapes", `{"\u0074ime":"2026-01-31T14\u003a00:01.050Z","to\"ok":"}\\","x":"\\\"\\","took":"100\u006ds"}`,
			`{"\u0074ime":"2026-01-31T14\u003a00:01.050Z","to\"ok":"}\\","x":"\\\"\\","took":"100\u006ds","gc_pause_ms":50.000,"gc_count":1,"gc_numbers":[1]}`, options,
		},
		{
			"one field is both: a point", `{"time":1769868001.05,"took":[{"time":3},"]}"]}`,
			`{"time":1769868001.05,"took":[{"time":3},"]}"],` + none + `}`, options,
		},
		{"no fields", `{}` + "\n" + `{"took":5}` + "\n", `{` + none + `}` + "\n" + `{"took":5,` + none + `}` + "\n", options},
		{"null", `{"time":null,"took":5}`, `{"time":null,"took":5,` + none + `}`, options},
		{
			"not to be read", `{"time":"yesterday","took":5}` + "\n" + `{"time":"2026-01-31T14:00:01.050Z","took":-5}`,
			`{"time":"yesterday","took":5,` + none + `}` + "\n" + `{"time":"2026-01-31T14:00:01.050Z","took":-5,` + none + `}`, options,
		},
		{
			"before and after the recording, and in part", `{"time":"2026-01-31T14:00:01Z","took":1001}` + "\n" + `{"time":"2026-01-31T15:00:01Z","took":1}`,
			`{"time":"2026-01-31T14:00:01Z","took":1001,` + none + `}` + "\n" + `{"time":"2026-01-31T15:00:01Z","took":1,` + none + `}`, options,
		},
		{"lost events", `{"time":"2026-01-31T14:00:10.5Z","took":1}`, `{"time":"2026-01-31T14:00:10.5Z","took":1,` + none + `}`, options},
		{"no JSON", `{"time":` + "\nhello\n" + `{"a":1} x` + "\n", `{"time":` + "\nhello\n" + `{"a":1} x` + "\n", options},
		{"joined already", `{"gc_count":1,"time":"2026-01-31T14:00:01.050Z","took":100}`, `{"gc_count":1,"time":"2026-01-31T14:00:01.050Z","took":100}`, options},
		{
			"byte order mark", "\ufeff" + `{"time":"2026-01-31T14:00:01.050Z","took":100}`,
			"\ufeff" + `{"time":"2026-01-31T14:00:01.050Z","took":100,"gc_pause_ms":50.000,"gc_count":1,"gc_numbers":[1]}`, options,
		},

		{
			"csv", "a,time,took\n1,2026-01-31 14:00:01.05,100\n2,2026-01-31 14:00:04,3500\n",
			"a,time,took,gc_pause_ms,gc_count,gc_numbers\n1,2026-01-31 14:00:01.05,100,50.000,1,1\n2,2026-01-31 14:00:04,3500,125.000,3,1 2\n", options,
		},
		{
			"csv, end of line of Windows, none at the end", "took,time\r\n100,2026-01-31 14:00:01.05\r\n\r\n10,2026-01-31 14:00:00.5",
			"took,time,gc_pause_ms,gc_count,gc_numbers\r\n100,2026-01-31 14:00:01.05,50.000,1,1\r\n\r\n10,2026-01-31 14:00:00.5,0,0,", options,
		},
		{
			"csv, quotes and line ends", "\"time\",\"a \"\"b\"\",c\",took\n\"2026-01-31 14:00:01.05\",\"x,\n\"\"y\"\"\n\",\"100\"\n\"2026-01-31 14:00:01.05\",5\" disk,100\n",
			"\"time\",\"a \"\"b\"\",c\",took,gc_pause_ms,gc_count,gc_numbers\n\"2026-01-31 14:00:01.05\",\"x,\n\"\"y\"\"\n\",\"100\",50.000,1,1\n\"2026-01-31 14:00:01.05\",5\" disk,100,50.000,1,1\n", options,
		},
		{
			"csv, what is missing", "time,took\n\n,5\n2026-01-31 14:00:01.05\nx,5\n2026-01-31 14:00:01.05,x\n2027-01-31 14:00:01,5\n",
			"time,took,gc_pause_ms,gc_count,gc_numbers\n\n,5,,,\n2026-01-31 14:00:01.05,,,,\nx,5,,,\n2026-01-31 14:00:01.05,x,,,\n2027-01-31 14:00:01,5,,,\n", options,
		},
		{
			"csv, rows of another width", "time,took,a,b\n2026-01-31 14:00:01.05,100\n2026-01-31 14:00:01.05,100,1,2,3\n2026-01-31 14:00:01.05,100,1,2\n",
			"time,took,a,b,gc_pause_ms,gc_count,gc_numbers\n2026-01-31 14:00:01.05,100,,,50.000,1,1\n2026-01-31 14:00:01.05,100,1,2,3\n2026-01-31 14:00:01.05,100,1,2,50.000,1,1\n", options,
		},
		{
			"csv, quotes that open nothing", "time,took,a\n2026-01-31 14:00:01.05,100,\"x\n2026-01-31 14:00:01.05,100,\"x\"y,\n2026-01-31 14:00:01.05,100,\"\"\n\"2026-01-31 14:00:01.05\" ,100,\n\"",
			"time,took,a,gc_pause_ms,gc_count,gc_numbers\n2026-01-31 14:00:01.05,100,\"x,50.000,1,1\n2026-01-31 14:00:01.05,100,\"x\"y,\n2026-01-31 14:00:01.05,100,\"\",50.000,1,1\n\"2026-01-31 14:00:01.05\" ,100,,50.000,1,1\n\",,,,,", options,
		},
		{"semicolons", "time;took\n2026-01-31T14:00:01,05;100\n", "time;took;gc_pause_ms;gc_count;gc_numbers\n2026-01-31T14:00:01,05;100;50.000;1;1\n", options},
		{"tabs", "time\ttook\n2026-01-31 14:00:01.05\t100\n", "time\ttook\tgc_pause_ms\tgc_count\tgc_numbers\n2026-01-31 14:00:01.05\t100\t50.000\t1\t1\n", options},
		{"nothing", "", "", options},
	} {
		t.Run(x.name, func(t *testing.T) {
			got, _, err := join(t, x.log, x.o)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(x.want, got); d != "" {
				t.Error(d)
			}
			var slow strings.Builder // reads of one byte must give the same
			if _, err := Join(&slow, iotest.OneByteReader(strings.NewReader(x.log)), timeline(), sync, x.o); err != nil || slow.String() != got {
				t.Errorf("byte by byte: %q, %v", slow.String(), err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for _, x := range []struct {
		log, want string
		o         Options
	}{
		{"[{}]", "it is a JSON array", options},
		{"time,took,gc_count\n", "it has a column gc_count already", options},
		{"time,x\n", `it is read as CSV, because it does not start with {, and it has no column "took"; its columns are time, x`, options},
		{"a;b;c\n", `it has no column "time"; its columns are a, b, c`, options},
		{`10.0.0.1 - - [31/Jan/2026:14:00:01 +0000] "GET / HTTP/1.1" 200` + "\n", `it has no column "time"`, options},
		{strings.Repeat("x", 2<<20), "its first line is longer than 1 MB", options},
	} {
		out, _, err := join(t, x.log, x.o)
		if err == nil || !strings.Contains(err.Error(), x.want) || out != "" {
			t.Errorf("%.40q: %v, %.40q written", x.log, err, out)
		}
	}
}

// TestAllRows: a field that no row has is an error that lists the existing ones.
func TestAllRows(t *testing.T) {
	for _, x := range []struct{ log, want string }{
		{`{"when":1,"http":{"took":1,"a":{}}}` + "\n{}\n", `no row has the field "time"; the fields are http.took, when`},
		{`{"time":1}`, `no row has the field "took"; the fields are time`},
		{`{"time":"now","took":1}`, `no row has a valid time in time: the first is "now"`},
		{`{`, `no row is a JSON object`},
		{`{"` + strings.Repeat("x", 70) + `":1,"\n":2}`, `no row has the field "time"; the fields are  , ` + strings.Repeat("x", 60)},
		{`{"time":1769868001,"took":"long"}`, `no row has a valid duration in took: the first is "long"`},
	} {
		_, r, err := join(t, x.log+"\nno JSON\n", options)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Err(); err == nil || err.Error() != x.want {
			t.Errorf("%q: %v, want %s", x.log, err, x.want)
		}
	}
	_, r, err := join(t, "time,took\n1,2,\n3,4,\n", options)
	if err != nil || r.Err() == nil || r.Err().Error() != "all rows have more fields than the header" {
		t.Errorf("%v, %v", err, r.Err())
	}
	for _, log := range []string{`{"gc_count":1}`, `{"time":1769868001,"took":1}` + "\n{}\n"} {
		_, r, err := join(t, "{\n"+log, options)
		if err != nil || r.Err() != nil {
			t.Errorf("%q: %v, %v", log, err, r.Err())
		}
	}
}

// TestLongRows: a row of more than 1 MB is passed on unchanged, in bounded memory, and the rows
// before and after it are joined.
func TestLongRows(t *testing.T) {
	row := `{"time":"2026-01-31T14:00:01.050Z","took":100}` + "\n"
	joined := `{"time":"2026-01-31T14:00:01.050Z","took":100,"gc_pause_ms":50.000,"gc_count":1,"gc_numbers":[1]}` + "\n"
	for _, n := range []int{maxRow - 1, maxRow, maxRow + 1, 3*maxRow + 17} {
		long := `{"x":"` + strings.Repeat("x", n-8) + `"}`
		want := row + long + "\n" + row
		got, r, err := join(t, want, options)
		passed := n >= maxRow
		want = strings.ReplaceAll(want, row, joined)
		if !passed {
			want = strings.Replace(want, `x"}`, `x","gc_pause_ms":null,"gc_count":null,"gc_numbers":null}`, 1)
		}
		if err != nil || got != want || r.Rows != 3 || r.Joined != 2 {
			t.Errorf("%d bytes: %v, %d rows, %d joined, equal: %v", n, err, r.Rows, r.Joined, got == want)
		}
		if n := r.problems[problemLong]; passed && (n.count != 1 || n.lines[0] != 2) {
			t.Errorf("told: %+v", n)
		}
	}
	long := "x,\"" + strings.Repeat("a", 2*maxRow) + "\",y\n"
	log := "time,took\n" + long + "2026-01-31 14:00:01.05,100\n"
	want := "time,took,gc_pause_ms,gc_count,gc_numbers\n" + long + "2026-01-31 14:00:01.05,100,50.000,1,1\n"
	if got, r, err := join(t, log, options); err != nil || got != want || r.Rows != 2 {
		t.Errorf("csv: %v, %d rows, equal: %v", err, r.Rows, got == want)
	}
}

// TestStrayQuote: a single quote does not hide the rows after it.
func TestStrayQuote(t *testing.T) {
	const rows = 60000
	row := "2026-01-31 14:00:01.05,/a,100\n"
	log := "time,path,took\n" + row + "2026-01-31 14:00:01.05,\"/b,100\n" + strings.Repeat(row, rows) + "2026-01-31 14:00:01.05,\"/c,100\n" + row
	_, r, err := join(t, log, options)
	if err != nil || r.Rows != rows+4 || r.Joined != r.Rows {
		t.Errorf("%v, %d rows, %d joined", err, r.Rows, r.Joined)
	}
}

func TestReadAndWriteFail(t *testing.T) {
	row := `{"time":"2026-01-31T14:00:01.050Z","took":100}` + "\n"
	broken := errors.New("broken")
	var out strings.Builder
	r, err := Join(&out, io.MultiReader(strings.NewReader(row+row), iotest.ErrReader(broken)), timeline(), sync, options)
	if !errors.Is(err, broken) || r.Rows != 2 || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("reading: %v, %d rows, %q", err, r.Rows, out.String())
	}
	if _, err := Join(failing{broken}, strings.NewReader(strings.Repeat(row, 1e4)), timeline(), sync, options); !errors.Is(err, broken) {
		t.Errorf("writing: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestSentences(t *testing.T) {
	var log strings.Builder
	for i := range 990 {
		fmt.Fprintf(&log, `{"time":"2026-01-31T14:00:05.%03d","took":1}`+"\n", i)
	}
	for range 6 {
		log.WriteString(`{"time":"2026-01-31T14:00:01.2","took":200}` + "\n")
	}
	for range 4 {
		log.WriteString(`{"time":"2026-01-31T14:00:06","took":500}` + "\n")
	}
	log.WriteString(strings.Repeat("{\n", 12) + `{"took":1}` + "\n" + `{"time":"2026-01-31T13:00:06","took":500}` + "\n")
	_, r, err := join(t, log.String(), options)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"12 rows are not JSON objects and were left unchanged: lines 1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010, ...",
		"1 row has no time: line 1013",
		"1 row is outside of the recorded time, which is KNOWN, while the log spans 2026-01-31T13:00:05.500Z to 2026-01-31T14:00:06.000Z: line 1014",
		"took has no unit and was read as milliseconds: set its unit with --duration-unit",
		"time has no time zone and was read as UTC",
		"6 of 1000 requests overlapped a pause; of the slowest 1 % (from 200.000 ms on) 60.0 % did; the GC accounts for 600.000 ms of 4190.000 ms (14.3 %)",
	}
	if d := cmp.Diff(want, r.Sentences("KNOWN")); d != "" {
		t.Error(d)
	}
	_, r, _ = join(t, "time,took\n2026-01-31T14:00:06.1Z,5ms,1\n2026-01-31T14:00:06.1Z,5ms\n", options)
	want = []string{"1 row has more fields than the header and was left unchanged: line 2", "0 of 1 requests overlapped a pause; the GC accounts for 0 ms of 5.000 ms (0.0 %)"}
	if d := cmp.Diff(want, r.Sentences("")); d != "" {
		t.Error(d)
	}
	_, r, _ = join(t, "time,took,a\n2026-01-31T14:00:06.1Z,5ms\n", options)
	if s := r.Sentences(""); s[0] != "1 row has fewer fields than the header: the rest were treated as empty: line 2" {
		t.Errorf("%q", s)
	}
	_, r, _ = join(t, `{"time":"2026-01-31T14:00:06Z","took":"5ms"}`, options)
	if s := r.Sentences(""); len(s) != 2 || !strings.Contains(s[0], "whole seconds") {
		t.Errorf("%q", s)
	}
}

func TestHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		ns := r.Uint64() >> (1 + r.IntN(63))
		if b := bucket(ns); bucket(ns+ns/64+1) == b || b > 0 && bucket(ns-ns/32) > b {
			t.Fatalf("%d is in the bucket %d", ns, b)
		}
	}
}

var added = regexp.MustCompile(`,?"gc_pause_ms":(?:null|[0-9.]+),"gc_count":(?:null|[0-9]+),"gc_numbers":(?:null|\[[0-9,]*\])(}[\x00- ]*)$`)

// TestRoundTrip: what is written is what was read, except for the added fields.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		var log strings.Builder
		for range r.IntN(8) {
			log.WriteString(randomRow(r))
			log.WriteString([]string{"\n", "\r\n", "\n\n"}[r.IntN(3)])
		}
		checkRoundTrip(t, []byte(log.String()))
	}
}

// randomRow returns an object that looks like a row, or a damaged one.
func randomRow(r *rand.Rand) string {
	values := []string{
		`"2026-01-31T14:00:01.050Z"`, `1769868001.05`, `100`, `"5ms"`, `null`, `true`, `[1,{"a":"]"}]`, `{"took":5,"b":{"time":"x"}}`, `"\"\\"`, `"ü\u1234"`, `-1e5`, `{}`, `""`,
	}
	keys := []string{"time", "took", "a", "b", `\"`, "", "a.b", "time.x"}
	var b strings.Builder
	b.WriteString("{")
	for i := range r.IntN(5) {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(strings.Repeat(" ", r.IntN(2)) + `"` + keys[r.IntN(len(keys))] + `":` + values[r.IntN(len(values))])
	}
	b.WriteString(strings.Repeat(" ", r.IntN(2)) + "}")
	s := []byte(b.String())
	if r.IntN(4) == 0 {
		s[r.IntN(len(s))] = byte(r.IntN(128))
	}
	return string(s)
}

func checkRoundTrip(t *testing.T, log []byte) {
	t.Helper()
	if bytes.Contains(log, []byte("gc_")) || bytes.Contains(log, []byte(`\u00`)) {
		return // it may contain our field names itself
	}
	var out bytes.Buffer
	if _, err := Join(&out, bytes.NewReader(log), timeline(), sync, options); err != nil {
		return
	}
	var back []byte
	trimmed := bytes.TrimLeft(bytes.TrimPrefix(log, byteOrderMark), " \t\r\n")
	if len(trimmed) > 0 && trimmed[0] != '{' {
		back = withoutColumns(out.Bytes(), log)
	} else {
		for line := range bytes.Lines(out.Bytes()) {
			back = append(back, added.ReplaceAll(line, []byte("$1"))...)
		}
	}
	if !bytes.Equal(back, log) {
		t.Errorf("%q\nbecame %q\nand back %q", log, out.Bytes(), back)
	}
}

// withoutColumns removes the columns that were added to CSV, and the separators for fields that a
// row of log lacked.
func withoutColumns(b, log []byte) (back []byte) {
	c := &csv{separator: ','}
	first := c.row(log, true)
	if first == 0 {
		first = len(log)
	}
	_ = c.head(log[:first], options)
	names, original := c.columns, *c
	for len(b) > 0 {
		row, was := firstRow(c, b), firstRow(&original, log)
		b, log = b[len(row):], log[len(was):]
		text, end := cutEnd(row)
		had := fieldsOf(&original, was) // a row with more fields than names is left unchanged
		if c.find(row); !blank(row) && c.fields == names+3 && had <= names {
			for range 3 + names - had {
				text = text[:bytes.LastIndexByte(text, c.separator)]
			}
		}
		back = append(append(back, text...), end...)
	}
	return back
}

func firstRow(c *csv, b []byte) []byte {
	if n := c.row(b, true); n > 0 {
		return b[:n]
	}
	return b
}

func fieldsOf(c *csv, row []byte) int {
	c.find(row)
	return c.fields
}

// FuzzJoin: whatever a log contains, nothing of it is lost or changed.
func FuzzJoin(f *testing.F) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		f.Add([]byte(randomRow(r) + "\n" + randomRow(r)))
	}
	f.Add([]byte("time,took,a\n2026-01-31 14:00:01.05,100,\"x,\n\"\"\"\r\n\n,,\n"))
	f.Add([]byte("\ufefftime;took\r\n[31/Jan/2026:14:00:01 +0000];00:00:00.1000000"))
	f.Add([]byte("took\ttime\n1.5s\t1769868001050\n\t\n"))
	f.Add([]byte("took\ttime\n\t\t\t0\t"))
	f.Fuzz(checkRoundTrip)
}
