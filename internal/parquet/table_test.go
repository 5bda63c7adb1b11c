package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/testing/extent"
)

// testProcess is a process of a service.
func testProcess(service string, pid int64) *gclog.Process {
	return &gclog.Process{ID: pid, Name: "dotnet", Service: service, Host: "h", Cookie: fmt.Sprintf("c-%s-%d", service, pid), Sync: time.Date(2026, 3, 17, 9, 59, 59, 0, time.UTC)}
}

// collection is a collection that starts seconds after the sync point.
func collection(number uint32, seconds float64) *gclog.GCDetails {
	at := int64(seconds * 1e9)
	return &gclog.GCDetails{
		Number: number, Known: gclog.GroupNumber | gclog.GroupEnd, Start: at, End: at + 1e6, Complete: true,
		Pauses: []gclog.PausePart{{Start: at, Duration: 1e6}},
	}
}

func must(t testing.TB) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestOrder: whatever order rows arrive in, and however many runs that takes, a file has each of them
// once, by service, process and time.
func TestOrder(t *testing.T) {
	for _, sizes := range []struct{ inMemory, fanIn, batch int }{{sortBytes, mergedRuns, batchBytes}, {2000, 1000, batchBytes}, {2000, 3, 1}, {300, 2, 1000}} {
		t.Run(fmt.Sprint(sizes), func(t *testing.T) {
			dir := t.TempDir()
			table := NewTable(Options{Path: filepath.Join(dir, "all.parquet")})
			table.sorter.inMemory, table.sorter.fanIn, table.sorter.batch = sizes.inMemory, sizes.fanIn, sizes.batch
			random := rand.New(rand.NewPCG(1, 2))
			type fact struct {
				service string
				pid     int64
				number  uint32
				at      float64
			}
			var facts []fact
			for i := range 700 {
				facts = append(facts, fact{[]string{"pay", "shop", "a"}[i%3], int64(i % 7), uint32(i), float64(random.IntN(20_000)) / 10})
			}
			for _, x := range append(slices.Clone(facts), facts[:200]...) { // some twice
				table.Observe(testProcess(x.service, x.pid), "", must(t))(collection(x.number, x.at))
			}
			files, err := table.Finish()
			must(t)(err)
			rows, file := readFile(t, files[0].Path)
			slices.SortFunc(facts, func(a, b fact) int {
				return cmp.Or(strings.Compare(a.service, b.service), cmp.Compare(a.pid, b.pid), cmp.Compare(a.at, b.at))
			})
			var got []fact
			for _, r := range rows {
				got = append(got, fact{r["service_name"].(string), r["process_pid"].(int64), uint32(r["gc_number"].(int64)), float64(r["timestamp"].(int64)-testProcess("", 0).Sync.UnixMicro()) / 1e6})
			}
			// Rows of the same time are in any order.
			for i := range min(len(got), len(facts)) {
				if g, w := got[i], facts[i]; g.service != w.service || g.pid != w.pid || math.Abs(g.at-w.at) > 2e-6 {
					t.Fatalf("row %d is %v, want %v", i, g, w)
				}
			}
			if len(got) != len(facts) || files[0].Rows != int64(len(facts)) || file.NumRows() != int64(len(facts)) {
				t.Errorf("%d rows, want %d", len(got), len(facts))
			}
			left(t, dir, "all.parquet")
		})
	}
}

// TestOrderStops: merging ends when a row cannot be used, whichever it is, and at whatever moment.
func TestOrderStops(t *testing.T) {
	for at := range 100 {
		table := NewTable(Options{Path: filepath.Join(t.TempDir(), "all.parquet")})
		table.sorter.inMemory, table.sorter.batch = 2000, 1+at%5*100
		for i := range 100 {
			table.Observe(testProcess("pay", int64(i%7)), "", must(t))(collection(uint32(i), float64(i)))
		}
		rows, no := 0, errors.New("no")
		err := table.sorter.each(func(*Process, int64, row) error {
			if rows++; rows > at {
				if at%2 == 0 {
					runtime.Gosched() // the other goroutine merges on
				}
				return no
			}
			return nil
		})
		if !errors.Is(err, no) || rows != at+1 {
			t.Errorf("%d rows, then %v", rows, err)
		}
		table.Discard()
	}
}

// left checks that a folder contains only these files.
func left(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	must(t)(filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			got = append(got, rel)
		}
		return err
	}))
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

// TestPlaces: a path with places has a file for each service and hour, and a row is in that of its
// time.
func TestPlaces(t *testing.T) {
	dir := t.TempDir()
	table := NewTable(Options{Path: filepath.Join(dir, "date=%d", "hour=%H", "service=%s.parquet"), Rotate: rotate.Options{MakeDirs: true}})
	for _, service := range []string{"pay", "../x"} {
		o := table.Observe(testProcess(service, 1), "", must(t))
		for i, at := range []float64{0.5, 1.5, 3600.999, 3601, 86400} {
			o(collection(uint32(i+1), at))
		}
	}
	files, err := table.Finish()
	must(t)(err)
	want := map[string]int{}
	for _, service := range []string{"pay", "_x"} {
		want["date=2026-03-17/hour=09/service="+service+".parquet"] = 1
		want["date=2026-03-17/hour=10/service="+service+".parquet"] = 2
		want["date=2026-03-17/hour=11/service="+service+".parquet"] = 1
		want["date=2026-03-18/hour=09/service="+service+".parquet"] = 1
	}
	got := map[string]int{}
	for _, f := range files {
		rows, _ := readFile(t, f.Path)
		rel, _ := filepath.Rel(dir, f.Path)
		got[filepath.ToSlash(rel)] = len(rows)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("files are\n%v, want\n%v", got, want)
	}
}

// TestExisting: an existing file is kept until the new one is complete.
func TestExisting(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.parquet")
	must(t)(os.WriteFile(path, []byte("old"), 0o600))
	refuse := errors.New("no")
	table := NewTable(Options{Path: path, Check: func(string) error { return refuse }})
	table.Observe(testProcess("a", 1), "", must(t))(collection(1, 1))
	if _, err := table.Finish(); !errors.Is(err, refuse) {
		t.Errorf("the error is %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Error("the file was changed")
	}
	left(t, dir, "a.parquet")

	table = NewTable(Options{Path: path, Part: "-x"})
	table.Observe(testProcess("a", 1), "", must(t))(collection(1, 1))
	_, err := table.Finish()
	must(t)(err)
	readFile(t, path)
	left(t, dir, "a.parquet")
	if info, _ := os.Stat(path); info.Mode().Perm() != 0o640 {
		t.Errorf("its mode is %v", info.Mode())
	}
}

// TestNoFolder: the error names the file.
func TestNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing", "a.parquet")
	table := NewTable(Options{Path: path})
	table.Observe(testProcess("a", 1), "", must(t))(collection(1, 1))
	_, err := table.Finish()
	if x, ok := errors.AsType[*output.PathError](err); !ok || x.Path != path {
		t.Errorf("the error is %v", err)
	}
}

// TestManyRows: several row groups, pages of each, rare values and lists anywhere in them.
func TestManyRows(t *testing.T) {
	extent.Long(t)
	dir := t.TempDir()
	table := NewTable(Options{Path: filepath.Join(dir, "a.parquet"), Version: "1.2"})
	const n = groupRows + groupRows/8 + 77
	o := table.Observe(testProcess("a", 1), "", must(t))
	lists := map[uint32]int{}
	for i := range uint32(n) {
		d := collection(i+1, float64(i))
		if i%3000 == 7 {
			d.Flaws, d.Complete = gclog.FlawLostEvents|gclog.FlawNoEnd, false
			lists[i+1] = 2
		}
		if i == groupRows+5000 {
			d.PromotedBytes = 42
			d.Known |= gclog.GroupPromoted
		}
		o(d)
	}
	files, err := table.Finish()
	must(t)(err)
	rows := 0
	file := eachRow(t, files[0].Path, func(r record) {
		i := rows
		rows++
		number := uint32(rows)
		flaws, _ := r["gc_flaws"].([]string)
		promoted, has := r["gc_heap_promoted_bytes"]
		if r["gc_number"] != int64(number) || len(flaws) != lists[number] || r["gc_complete"] != (lists[number] == 0) || has != (i == groupRows+5000) || has && promoted != int64(42) {
			t.Fatalf("row %d is %v", i, r)
		}
	})
	if rows != n || len(file.RowGroups()) != 2 {
		t.Fatalf("%d rows in %d groups", rows, len(file.RowGroups()))
	}
	for key, part := range map[string]string{"gclog.schema": Schema, "gclog.units": `"gc_pause_total_ns":"ns"`, "gclog.descriptions": `"gc_pause_total_ns":"how long the program was paused, in all parts"`} {
		if got, _ := file.Lookup(key); !strings.Contains(got, part) {
			t.Errorf("%s is %q", key, got)
		}
	}
	chunk := file.Metadata().RowGroups[1].Columns[columnTime].MetaData.Statistics
	if len(chunk.MinValue) != 8 || chunk.NullCount != 0 {
		t.Errorf("the statistics of the time are %v", chunk)
	}
	f, err := os.Open(files[0].Path)
	must(t)(err)
	defer f.Close()
	if !IsOurs(f, files[0].Size) {
		t.Error("it is not known as ours")
	}
}

// TestNothing: without rows there is no file.
func TestNothing(t *testing.T) {
	dir := t.TempDir()
	table := NewTable(Options{Path: filepath.Join(dir, "a.parquet")})
	table.Observe(testProcess("a", 1), "", must(t))
	files, err := table.Finish()
	if err != nil || len(files) != 0 {
		t.Errorf("%v, %v", files, err)
	}
	left(t, dir)
}

// TestHostile: what processes say of themselves, and numbers of any size, are in the file as far as a
// column can contain them.
func TestHostile(t *testing.T) {
	dir := t.TempDir()
	table := NewTable(Options{Path: filepath.Join(dir, "a.parquet")})
	p := testProcess("\xff\x00'; DROP TABLE gc --"+strings.Repeat("ü", 2000), -1)
	p.HasLimits, p.Limits.LOHThreshold = true, math.MaxUint64
	p.Labels = map[string]string{"\xfe": "", "a": "\xff"}
	o := table.Observe(p, "", must(t))
	d := collection(math.MaxUint32, -1e9)
	d.PromotedBytes = math.MaxUint64
	d.Known |= gclog.GroupPromoted
	d.AllocationRate = math.NaN()
	d.Known |= gclog.GroupAllocated
	o(d)
	d = collection(7, 1)
	d.AllocationRate = math.Inf(1)
	d.Known |= gclog.GroupAllocated
	o(d)
	o(&gclog.End{Reason: gclog.EndExited, HasCode: true, ExitCode: -1})
	files, err := table.Finish()
	must(t)(err)
	rows, _ := readFile(t, files[0].Path)
	for _, r := range rows {
		if name := r["service_name"].(string); r["process_pid"] != int64(-1) || !strings.HasPrefix(name, "\uFFFD\x00'; DROP") || len(name) > maxText+6 || r["gc_settings_loh_threshold_bytes"] != int64(math.MaxInt64) {
			t.Errorf("a row is %.200v", fmt.Sprint(r))
		}
	}
	if rows[0]["gc_heap_promoted_bytes"] != int64(math.MaxInt64) || rows[2]["process_exit_code"] != int64(-1) && rows[1]["process_exit_code"] != int64(-1) {
		t.Errorf("rows are %v", rows)
	}
}

func TestMicroseconds(t *testing.T) {
	for ns, want := range map[int64]int64{0: 0, 1: 0, 999: 0, 1000: 1, -1: -1, -1000: -1, -1001: -2} {
		if got := microseconds(uint64(ns)); got != want {
			t.Errorf("%d ns are %d µs, want %d", ns, got, want)
		}
	}
}
