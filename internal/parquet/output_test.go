package parquet

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/shares"
	"github.com/gclog/gclog/internal/testing/extent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A listener collects what an Output says.
type listener struct {
	mu   sync.Mutex
	said []string
}

func (l *listener) say(warn bool, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.said = append(l.said, fmt.Sprintf("%v: %s", warn, text))
}

func (l *listener) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Join(l.said, "\n")
}

// started returns an Output that writes to a folder.
func started(t testing.TB, dir string) (*Output, *listener) {
	t.Helper()
	l := &listener{}
	o := NewOutput(Host{Name: "h", Say: l.say})
	must(t)(o.Configure(hourly(dir)))
	return o, l
}

func hourly(dir string) OutputOptions {
	return OutputOptions{Options: Options{Path: filepath.Join(dir, "date=%d", "%hn.parquet"), Rotate: rotate.Options{MakeDirs: true, NoLinks: true}}, Interval: time.Hour, MaxRows: 1e6}
}

func closeOutput(t testing.TB, o *Output) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	o.Close(ctx)
	if ctx.Err() != nil {
		t.Error("the Output does not end")
	}
}

// await waits until something is true.
func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for start := time.Now(); !is(); time.Sleep(time.Millisecond) {
		if time.Since(start) > time.Minute {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}

// numbers returns the numbers of the collections of a process.
func numbers(rows []record, pid int64) (list []int) {
	for _, r := range rows {
		if r["process_pid"] == pid && r["event_action"] == "gc" {
			list = append(list, int(r["gc_number"].(int64)))
		}
	}
	return list
}

func upTo(n int) (list []int) {
	for i := range n {
		list = append(list, i+1)
	}
	return list
}

// TestOutput: every record is in one of the files, which are complete after a rotation and at the end;
// nothing else is left. What is known only at the end of a process is in all its rows.
func TestOutput(t *testing.T) {
	dir := t.TempDir()
	o, l := started(t, dir)
	a, b := o.Observe(testProcess("a", 1), ""), o.Observe(testProcess("b", 2), "")
	a(&gclog.Start{})
	for i := range uint32(10) {
		a(collection(i+1, float64(i)))
		b(collection(i+1, 100_000+float64(i))) // of the next day
	}
	o.Rotate()
	await(t, "two files are complete", func() bool { return strings.Count(l.text(), "false: wrote ") == 2 })
	for i := range uint32(10) {
		a(collection(i+11, 20+float64(i)))
	}
	a(&gclog.End{At: 40e9, Reason: gclog.EndExited, Process: &gclog.Process{RuntimeVersion: "10.0.1"}})
	closeOutput(t, o)
	rows := readAll(t, filepath.Join(dir, "*", "*.parquet"))
	if !slices.Equal(numbers(rows, 1), upTo(20)) || !slices.Equal(numbers(rows, 2), upTo(10)) || len(rows) != 32 {
		t.Errorf("%d rows: %v, %v", len(rows), numbers(rows, 1), numbers(rows, 2))
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() {
			t.Errorf("left is %s", e.Name())
		}
	}
	for _, path := range glob(t, dir, "*", "*.parquet") {
		if rotate.ArchivedFrom(path) == path {
			t.Errorf("%s has no time in its name", path)
		}
	}
	last := readAll(t, glob(t, dir, "date=2026-03-17", "*.parquet")[1])
	for _, r := range last {
		if r["runtime_version"] != "10.0.1" {
			t.Errorf("a row does not have what was known at the end: %v", r)
		}
	}
}

func glob(t *testing.T, parts ...string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(parts...))
	must(t)(err)
	return list
}

// TestQuiet: an Output that got nothing leaves nothing.
func TestQuiet(t *testing.T) {
	dir := t.TempDir()
	o, l := started(t, dir)
	o.Rotate()
	closeOutput(t, o)
	left(t, dir)
	if l.text() != "" {
		t.Errorf("it says %s", l.text())
	}
}

// TestConcurrently: processes write while files are completed; each record is in one of them.
func TestConcurrently(t *testing.T) {
	dir := t.TempDir()
	o, _ := started(t, dir)
	const n = 300
	var group sync.WaitGroup
	for pid := range int64(6) {
		group.Go(func() {
			x := o.Observe(testProcess("s", pid+1), "")
			x(&gclog.Start{})
			for i := range uint32(n) {
				x(collection(i+1, float64(i)))
				if i%50 == 0 {
					o.Rotate()
					time.Sleep(time.Millisecond) // so that there are rows on both sides
				}
			}
			x(&gclog.End{At: n * 1e9, Reason: gclog.EndDetached})
		})
	}
	group.Wait()
	closeOutput(t, o)
	rows := readAll(t, filepath.Join(dir, "*", "*.parquet"))
	for pid := range int64(6) {
		got := numbers(rows, pid+1)
		slices.Sort(got)
		if !slices.Equal(got, upTo(n)) {
			t.Errorf("process %d has %d collections", pid+1, len(got))
		}
	}
	if list := ids(rows); len(slices.Compact(list)) != len(rows) || len(rows) != 6*(n+2) {
		t.Errorf("%d rows, %d different", len(rows), len(list))
	}
}

// crashed returns the journal of an Output that was killed when process 1 had made 10 collections and
// process 2 had ended.
func crashed(t *testing.T) []byte {
	t.Helper()
	dir := t.TempDir()
	o, _ := started(t, dir)
	defer closeOutput(t, o)
	a, b := o.Observe(testProcess("a", 1), ""), o.Observe(testProcess("b", 2), "")
	a(&gclog.Start{})
	b(&gclog.Start{})
	for i := range uint32(10) {
		a(collection(i+1, float64(i)))
	}
	b(&gclog.End{At: 1e9, Reason: gclog.EndExited})
	if !o.do(t.Context(), func() { o.flush() }) {
		t.Fatal("the journal is not written")
	}
	journal, err := os.ReadFile(filepath.Join(dir, journalName("h")))
	must(t)(err)
	return journal
}

// TestCrash: the next Output writes what a killed one has left, and names whose records may be
// missing, and from when on.
func TestCrash(t *testing.T) {
	journal := crashed(t)
	dir := t.TempDir()
	must(t)(os.WriteFile(filepath.Join(dir, journalName("h")), journal, 0o600))
	o, l := started(t, dir)
	closeOutput(t, o)
	if !strings.Contains(l.text(), "true: "+filepath.Join(dir, ".gclog-h-")) || !strings.Contains(l.text(), " has a gc-gap in the files (1)") {
		t.Errorf("it says %s", l.text())
	}
	rows := readAll(t, filepath.Join(dir, "*", "*.parquet"))
	if !slices.Equal(numbers(rows, 1), upTo(10)) || len(rows) != 14 {
		t.Errorf("%d rows, %v", len(rows), numbers(rows, 1))
	}
	gaps := slices.DeleteFunc(rows, func(r record) bool { return r["event_action"] != "gc-gap" })
	if len(gaps) != 1 || gaps[0]["process_pid"] != int64(1) || gaps[0]["gc_gap_reason"] != "stopped" {
		t.Errorf("the gaps are %v", gaps)
	}
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), journalEnd) {
			t.Errorf("left is %s", e.Name())
		}
	}
}

// TestTorn: wherever a journal ends, what was complete before is read.
func TestTorn(t *testing.T) {
	journal := crashed(t)
	most := 0
	for end := len(journalMagic); end <= len(journal); end += 7 {
		table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
		torn := append(bytes.Clone(journal[:end]), bytes.Repeat([]byte{0}, end%3)...)
		lost, err := table.take(bytes.NewReader(torn), time.Now())
		if err != nil || lost == nil {
			t.Fatalf("of %d bytes: %v, %v", end, lost, err)
		}
		if n := int(table.Rows()) - lost.processes; n < most {
			t.Fatalf("of %d bytes %d rows are read, of fewer %d", end, n, most)
		} else {
			most = n
		}
		table.Discard()
	}
	if most < 12 {
		t.Errorf("at most %d rows were read", most)
	}
}

// FuzzJournal: nothing that a journal may contain makes reading it fail in another way.
func FuzzJournal(f *testing.F) {
	f.Add([]byte(journalMagic))
	entries := appendProcess([]byte(journalMagic), 1, newProcess(testProcess("a", 1), ""))
	f.Add(appendEnd(appendRow(entries, 1, make(row, rowHead))))
	f.Fuzz(func(t *testing.T, b []byte) {
		// A right checksum for whatever the entries contain.
		table := NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
		known := appendProcess([]byte(journalMagic), 1, newProcess(testProcess("a", 1), ""))
		_, _ = table.take(bytes.NewReader(appendRow(known, 1, b)), time.Unix(0, 0))
		if _, err := table.Finish(); err != nil {
			t.Error(err)
		}
		table = NewTable(Options{Path: filepath.Join(t.TempDir(), "a.parquet")})
		_, _ = table.take(bytes.NewReader(b), time.Unix(0, 0))
		table.Discard()
	})
}

// TestFalseTimes: a process that sends false times does not fill the disk with files, and its records
// are complete.
func TestFalseTimes(t *testing.T) {
	extent.Long(t)
	dir := t.TempDir()
	o, _ := started(t, dir)
	const n = 1000
	bad, good := o.Observe(testProcess("bad", 1), ""), o.Observe(testProcess("good", 2), "")
	for i := range uint32(n) {
		bad(collection(i+1, float64(i)*24*3600))
		if i < 300 {
			good(collection(i+1, float64(i)*3600))
		}
	}
	for _, x := range []gclog.Observer{bad, good} {
		x(&gclog.End{At: n * 1e9, Reason: gclog.EndExited})
	}
	closeOutput(t, o)
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.parquet"))
	if err != nil || len(files) > stampedSpans+20 {
		t.Errorf("%d files, %v", len(files), err)
	}
	rows := readAll(t, filepath.Join(dir, "*", "*.parquet"))
	for pid, want := range map[int64]int{1: n, 2: 300} {
		if got := len(numbers(rows, pid)); got != want {
			t.Errorf("%d collections of process %d, want %d", got, pid, want)
		}
	}
}

// TestFull: while the disk is full nothing waits, and memory is limited; then everything that was kept
// is written, and a gap for the rest.
func TestFull(t *testing.T) {
	dir := t.TempDir()
	o, l := started(t, dir)
	ctx := context.Background()
	o.mu.Lock()
	o.room = shares.NewRoom(200_000)
	o.mu.Unlock()
	x := o.Observe(testProcess("a", 1), "")
	x(collection(1, 1))
	path := filepath.Join(dir, journalName("h"))
	await(t, "the journal is written", func() bool { info, err := os.Stat(path); return err == nil && info.Size() > 100 })
	var journal *os.File
	o.do(ctx, func() { journal, o.file = o.file, readOnly(t, path) })
	const n = 10_000
	for i := range uint32(n) {
		x(collection(i+2, float64(i+2)))
	}
	await(t, "the failure is reported", func() bool { return strings.Contains(l.text(), "true: cannot write to "+path) })
	o.mu.Lock()
	if len(o.pending) > 200_000 {
		t.Errorf("%d bytes are waiting", len(o.pending))
	}
	o.mu.Unlock()
	b := testProcess("b", 2)
	b.UserID = "1000"
	other := o.Observe(b, "") // another user has a share of what can wait
	for i := range uint32(20) {
		other(collection(i+1, float64(i+1)))
	}
	o.do(ctx, func() { _ = o.file.Close(); o.file = journal })
	x(collection(n+2, n+2))
	await(t, "it is writable again", func() bool { return strings.Contains(l.text(), "is writable again") })
	x(&gclog.End{At: (n + 3) * 1e9, Reason: gclog.EndExited})
	closeOutput(t, o)
	rows := readAll(t, filepath.Join(dir, "*", "*.parquet"))
	if got := len(numbers(rows, 2)); got != 20 {
		t.Errorf("of the other process %d collections are there", got)
	}
	missing := int64(0)
	for _, r := range rows {
		if r["gc_gap_reason"] == "unwritten" {
			n, _ := r["gc_gap_records_count"].(int64) // absent in further gaps of the same records
			missing += n
		}
	}
	if got := int64(len(numbers(rows, 1))); got+missing != n+2 || missing == 0 || got < 1000 {
		t.Errorf("%d collections and %d missing, of %d", got, missing, n+2)
	}
	if strings.Count(l.text(), "cannot write") != 1 {
		t.Errorf("it says %s", l.text())
	}
}

// TestFullAtEnd: an Output that ends while the disk is full says what is missing where. The next one
// writes what was written before, and names the process of which something is missing.
func TestFullAtEnd(t *testing.T) {
	dir := t.TempDir()
	o, l := started(t, dir)
	x := o.Observe(testProcess("a", 1), "")
	x(collection(1, 1))
	path := filepath.Join(dir, journalName("h"))
	await(t, "the journal is written", func() bool { info, err := os.Stat(path); return err == nil && info.Size() > 100 })
	o.do(context.Background(), func() { _ = o.file.Close(); o.file = readOnly(t, path) })
	x(collection(2, 2))
	closeOutput(t, o)
	if want := "true: " + path + " could not be completed: it lacks "; !strings.Contains(l.text(), want) {
		t.Errorf("it says %s", l.text())
	}
	o, _ = started(t, dir)
	closeOutput(t, o)
	rows := readAll(t, filepath.Join(dir, "*", "*.parquet"))
	if !slices.Equal(numbers(rows, 1), []int{1}) || !slices.ContainsFunc(rows, func(r record) bool { return r["gc_gap_reason"] == "stopped" }) {
		t.Errorf("%v", rows)
	}
}

func readOnly(t *testing.T, path string) *os.File {
	f, err := os.Open(path)
	must(t)(err)
	return f
}

// TestConfigure: after a change, records go to the other place; none are lost. Two Outputs cannot have
// the same place.
func TestConfigure(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	o, _ := started(t, first)
	x := o.Observe(testProcess("a", 1), "")
	x(&gclog.Start{})
	x(collection(1, 1))

	other := NewOutput(Host{Name: "h", Say: func(bool, string) {}})
	if err := other.Configure(hourly(first)); err == nil || !strings.Contains(err.Error(), "another gclog is writing to it") {
		t.Errorf("another Output says %v", err)
	}
	closeOutput(t, other)
	if err := o.Configure(hourly(filepath.Join(first, journalName("h")))); err == nil {
		t.Error("a file counts as a folder")
	}
	x(collection(2, 2))
	must(t)(o.Configure(hourly(second)))
	x(collection(3, 3))
	options := hourly(second)
	options.Path = filepath.Join(second, "%s.parquet")
	must(t)(o.Configure(options))
	x(collection(4, 4))
	must(t)(o.Configure(OutputOptions{}))
	x(collection(5, 5))
	closeOutput(t, o)
	for pattern, want := range map[string][]int{
		filepath.Join(first, "*", "h-*.parquet"): {1, 2}, filepath.Join(second, "*", "h-*.parquet"): {3}, filepath.Join(second, "a-*.parquet"): {4},
	} {
		if got := numbers(readAll(t, pattern), 1); !slices.Equal(got, want) {
			t.Errorf("%s has %v, want %v", pattern, got, want)
		}
	}
}

// TestMaxRows: files are completed when there are that many records, and at the end of an interval.
func TestMaxRows(t *testing.T) {
	dir := t.TempDir()
	o, l := started(t, dir)
	options := hourly(dir)
	options.MaxRows = 10
	must(t)(o.Configure(options))
	x := o.Observe(testProcess("a", 1), "")
	for i := range uint32(10) {
		x(collection(i+1, float64(i)))
	}
	await(t, "a file is complete", func() bool { return strings.Contains(l.text(), ": 10 records") })
	options.Interval, options.MaxRows = 100*time.Millisecond, 1000
	must(t)(o.Configure(options))
	x(collection(11, 11))
	await(t, "a file is complete", func() bool { return strings.Contains(l.text(), ": 1 records") })
	closeOutput(t, o)
}
