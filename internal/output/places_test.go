package output

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

func ignore(*formats.Writer) {}

// TestSharedChanges: processes that share a file switch to a new format one after the other. Each
// file has lines of one format, whichever process comes first.
func TestSharedChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	opener := Opener{}
	before, after := spec(t, "all.log", "json"), spec(t, "all.log", "csv")
	var sets []*Set
	for id := range 8 {
		s, err := opener.Open([]Spec{before}, formats.Options{Process: gclog.Process{ID: int64(id)}})
		if err != nil {
			t.Fatal(err)
		}
		s.Each(record(1))
		sets = append(sets, s)
	}
	var group sync.WaitGroup
	for id, s := range sets {
		group.Go(func() {
			s.Each(record(2))
			if err := s.Change(&opener, []Spec{after}, formats.Options{Process: gclog.Process{ID: int64(id)}}, ignore, ignore); err != nil {
				t.Error(err)
			}
			s.Each(record(3))
		})
	}
	group.Wait()
	for _, s := range sets {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	files, err := filepath.Glob("all*.log")
	if err != nil || len(files) != 2 {
		t.Fatalf("the files are %q: %v", files, err)
	}
	for _, name := range files {
		want := 1 + 16 // the header and two records of each
		if name == "all.log" {
			want = 1 + 8
		}
		objects, all := lines(t, name, "{\""), lines(t, name, "\n")
		if all != want || objects > 0 == (name == "all.log") {
			t.Errorf("%s has %d lines, want %d, and %d objects", name, all, want, objects)
		}
	}
}

// TestSharedStays: a file that others keep writing in another format is refused.
func TestSharedStays(t *testing.T) {
	t.Chdir(t.TempDir())
	synctest.Test(t, func(t *testing.T) {
		opener := Opener{}
		a, err := opener.Open([]Spec{spec(t, "all.log", "json")}, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := opener.Open([]Spec{spec(t, "all.log", "csv")}, formats.Options{}); err == nil || !strings.Contains(err.Error(), "it is already written as json") {
			t.Errorf("another format is opened: %v", err)
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		b, err := opener.Open([]Spec{spec(t, "all.log", "csv")}, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
}

// TestChangeOfName: a process whose name changes gets another file, although the configured path is
// the same.
func TestChangeOfName(t *testing.T) {
	t.Chdir(t.TempDir())
	opener := Opener{}
	specs := []Spec{spec(t, "%s.json", "json"), spec(t, "%p.json", "json")}
	s, err := opener.Open(specs, formats.Options{Process: gclog.Process{ID: 7, Service: "old"}})
	if err != nil {
		t.Fatal(err)
	}
	s.Each(record(1))
	if err := s.Change(&opener, specs, formats.Options{Process: gclog.Process{ID: 7, Service: "new"}}, ignore, ignore); err != nil {
		t.Error(err)
	}
	s.Each(record(2))
	if got := slices.Sorted(slices.Values(s.Paths())); !slices.Equal(got, []string{"7.json", "new.json"}) {
		t.Errorf("open are %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]int{"old.json": 1, "new.json": 1, "7.json": 2} {
		if n := lines(t, name, `"number":`); n != want {
			t.Errorf("%s has %d records, want %d", name, n, want)
		}
	}
}

// TestHungDisk: while a disk hangs, other outputs are opened, closed and rotated, and nothing piles
// up.
func TestHungDisk(t *testing.T) {
	t.Chdir(t.TempDir())
	opener := Opener{}
	open := func(name string) *Set {
		s, err := opener.Open([]Spec{spec(t, name, "json")}, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Each(record(1))
		return s
	}
	hung, well := open("hung.json"), open("well.json")
	disk := &hung.outputs[0].mu
	disk.Lock() // as a write does
	before := runtime.NumGoroutine()
	for range 100 {
		opener.Rotate()
		opener.Follow()
	}
	if n := runtime.NumGoroutine() - before; n > 2 {
		t.Errorf("%d goroutines more, want one for each file", n)
	}
	for archived := 0; archived == 0; runtime.Gosched() {
		list, err := filepath.Glob("well-*.json")
		if err != nil {
			t.Fatal(err)
		}
		archived = len(list)
	}
	closed := make(chan error)
	go func() { closed <- hung.Close() }()
	if err := open("other.json").Close(); err != nil {
		t.Error(err)
	}
	if err := well.Close(); err != nil {
		t.Error(err)
	}
	if got := opener.Paths(); !slices.Equal(got, []string{"hung.json"}) {
		t.Errorf("open are %q", got)
	}
	disk.Unlock()
	if err := <-closed; err != nil {
		t.Error(err)
	}
	if got := opener.Paths(); len(got) > 0 {
		t.Errorf("closed, but open are %q", got)
	}
}
