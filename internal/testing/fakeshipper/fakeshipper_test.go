package fakeshipper_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/testing/fakeshipper"
)

// A log counts how often each line was shipped.
type log map[string]int

func (l log) ship(line []byte) { l[string(line)]++ }

func (l log) want(t *testing.T, lines ...string) {
	t.Helper()
	want := log{}
	for _, s := range lines {
		want[s]++
	}
	if !maps.Equal(l, want) {
		t.Errorf("shipped %v, want %v", l, want)
	}
}

func scan(t *testing.T, s *fakeshipper.Shipper, l log) {
	t.Helper()
	if err := s.Scan(l.ship); err != nil {
		t.Error(err)
	}
}

// add appends to a file.
func add(t *testing.T, path, s string) {
	t.Helper()
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err == nil {
		_, err = f.WriteString(s)
		_ = f.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
}

func rename(t *testing.T, from, to string) {
	t.Helper()
	if err := os.Rename(from, to); err != nil {
		t.Fatal(err)
	}
}

var head = strings.Repeat("h", 1100)

func TestShipper(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	add := func(path, s string) { t.Helper(); add(t, path, s) }
	s, l := fakeshipper.New(filepath.Join(dir, "*.json")), log{}
	add(path, "too short")
	scan(t, s, l)
	l.want(t)
	add(path, head+"\none\ntw")
	scan(t, s, l)
	l.want(t, "too short"+head, "one")
	// Half a line counts once it is complete, and a renamed file is still the same file.
	add(path, "o\nthree\n")
	rename(t, path, filepath.Join(dir, "b.json"))
	scan(t, s, l)
	l.want(t, "too short"+head, "one", "two", "three")
	// After a restart reading continues where it stopped.
	s.Restart()
	add(filepath.Join(dir, "b.json"), "four\n")
	add(path, "other"+head+"\nfive\n")
	scan(t, s, l)
	l.want(t, "too short"+head, "one", "two", "three", "four", "other"+head, "five")
	// A file that starts with the same bytes is taken for the same file: therefore each file has a
	// unique id.
	add(filepath.Join(dir, "c.json"), "other"+head+"\nsix\n")
	scan(t, s, l)
	l.want(t, "too short"+head, "one", "two", "three", "four", "other"+head, "five")
	// A deleted file is read to its end.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a", "b", "c"} {
		if err := os.Remove(filepath.Join(dir, name+".json")); err != nil {
			t.Fatal(err)
		}
	}
	_, _ = f.WriteString("seven\n")
	_ = f.Close()
	scan(t, s, l)
	l.want(t, "too short"+head, "one", "two", "three", "four", "other"+head, "five", "seven")
}

// TestInactive: a file that was closed because nothing was written to it is not opened again when it was
// written to and renamed between two scans (elastic/beats#39732). With the settings of samples/filebeat it
// is not closed.
func TestInactive(t *testing.T) {
	const scanInterval = 10 * time.Second
	for _, x := range []struct {
		name     string
		inactive time.Duration
		lost     bool
	}{
		{"Filebeat's default", 5 * time.Minute, true},
		{"a long time", 30 * time.Minute, true},
		{"samples/filebeat", sampleInactive(t), false},
	} {
		t.Run(x.name, func(t *testing.T) {
			dir := t.TempDir()
			current, renamed, archived := filepath.Join(dir, "gc.json"), filepath.Join(dir, "gc-1.json"), filepath.Join(dir, "gc-2.json")
			s, l := fakeshipper.New(filepath.Join(dir, "*.json")), log{}
			s.Inactive = x.inactive
			quiet := func(d time.Duration) {
				for passed := time.Duration(0); passed < d; passed += scanInterval {
					s.Wait(scanInterval)
					scan(t, s, l)
				}
			}
			add(t, current, head+"\none\n")
			quiet(time.Hour)
			add(t, current, "two\n") // a scan finds it longer
			quiet(time.Hour)
			l.want(t, head, "one", "two")
			add(t, current, "three\n")
			rename(t, current, renamed)
			add(t, current, "other"+head+"\nfour\n")
			quiet(time.Hour)
			want := []string{head, "one", "two", "other" + head, "four"}
			if !x.lost {
				want = append(want, "three")
			}
			l.want(t, want...)
			// A restart finds it, if it has not been deleted.
			add(t, current, "five\n")
			rename(t, current, archived)
			add(t, current, "third"+head+"\n")
			scan(t, s, l)
			if err := os.Remove(renamed); err != nil {
				t.Fatal(err)
			}
			s.Restart()
			scan(t, s, l)
			l.want(t, append(want, "five", "third"+head)...)
		})
	}
}

// sampleInactive returns close.on_state_change.inactive of the sample.
func sampleInactive(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "samples", "filebeat", "filebeat.yml"))
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^ +close\.on_state_change\.inactive: (\S+)$`).FindSubmatch(text)
	if m == nil {
		t.Fatal("the sample leaves close.on_state_change.inactive at its default")
	}
	d, err := time.ParseDuration(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestForgotten: what is remembered of a file is forgotten if a start does not find its path
// (clean_removed): then the file is read again.
func TestForgotten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.json")
	s, l := fakeshipper.New(filepath.Join(dir, "*.json")), log{}
	add(t, path, head+"\none\n")
	scan(t, s, l)
	s.Restart()
	scan(t, s, l)
	l.want(t, head, "one")
	s.Restart()
	rename(t, path, filepath.Join(dir, "b.json"))
	scan(t, s, l)
	l.want(t, head, "one", head, "one")
}

// TestRotations: over 1000 rotations of our files, a shipper that reads them concurrently and is
// restarted at random gets every record. It may get some twice, each time with the same document id: it
// forgets a file that is renamed while it looks for files.
func TestRotations(t *testing.T) {
	for _, naming := range []rotate.Naming{rotate.NameByTime, rotate.NameByIndex} {
		t.Run(fmt.Sprint(naming), func(t *testing.T) { rotations(t, naming) })
	}
}

func rotations(t *testing.T, naming rotate.Naming) {
	const kept, rotations = 20, 1000
	dir := t.TempDir()
	var files rotate.Files
	file, err := files.Open(filepath.Join(dir, "gc.json"), rotate.Options{Count: kept, Size: 4 << 10, Naming: naming})
	if err != nil {
		t.Fatal(err)
	}
	json, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	w := formats.NewWriter(json, file, formats.Options{Version: "test", Process: gclog.Process{ID: 1, Cookie: "c"}})

	// The shipper scans at any time, but at least once before a file is deleted: scanned is the
	// number of records that existed when its last scan began.
	var written, scanned atomic.Int64
	l, stop, done := log{}, make(chan struct{}), make(chan error)
	go func() {
		s := fakeshipper.New(filepath.Join(dir, "gc.json*"))
		if naming == rotate.NameByTime {
			s = fakeshipper.New(filepath.Join(dir, "gc*.json"))
		}
		random := rand.New(rand.NewPCG(1, 1))
		var err error
		for last := false; err == nil; {
			select {
			case <-stop:
				last = true
			default:
			}
			before := written.Load()
			err = s.Scan(l.ship)
			scanned.Store(before)
			if last {
				break
			}
			if random.IntN(3) == 0 {
				s.Restart()
			}
		}
		scanned.Store(1 << 40)
		done <- err
	}()
	const perFile = 2 // records, at least
	var d gclog.GCDetails
	started := 0
	seen := map[string]bool{}
	for n := uint32(1); started < rotations+1; n++ {
		d.Number = n
		d.Known |= gclog.GroupNumber
		w.Observe(&d)
		if err := w.Err(); err != nil {
			t.Fatal(err)
		}
		written.Store(int64(n))
		if id := headOf(t, filepath.Join(dir, "gc.json")); !seen[id] {
			seen[id] = true
			started++
		}
		for scanned.Load() < int64(n)-perFile*(kept-2) {
			runtime.Gosched() // a file is deleted only after a scan saw it
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	headers, records := 0, map[string]int{}
	for line, times := range l {
		if !strings.Contains(line, `"gclog_doc_id":"`) {
			t.Errorf("%d times, with no id: %.200s", times, line)
		}
		if strings.Contains(line, "gclog_file_id") {
			headers++
			continue
		}
		records[number.FindStringSubmatch(line)[1]]++
	}
	if headers != started || len(records) != int(written.Load()) {
		t.Errorf("%d headers of %d, %d records of %d", headers, started, len(records), written.Load())
	}
	for n, times := range records {
		if times != 1 {
			t.Errorf("#%s is there %d times", n, times)
		}
	}
}

var number = regexp.MustCompile(`"sequence":(\d+)`)

// headOf returns the start of a file.
func headOf(t *testing.T, path string) string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var b [64]byte
	if _, err := f.ReadAt(b[:], 0); err != nil {
		t.Fatal(err)
	}
	return string(b[:])
}
