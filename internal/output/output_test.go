package output

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/rotate"
)

func spec(t *testing.T, path, format string) Spec {
	t.Helper()
	f, err := formats.Find(format)
	if err != nil {
		t.Fatal(err)
	}
	return Spec{Path: path, Format: f, Rotate: rotate.Options{Count: 5, Size: 1 << 20, MakeDirs: true}}
}

func record(number uint32) func(*formats.Writer) {
	return func(w *formats.Writer) {
		w.Observe(&gclog.GCDetails{Number: number, Known: gclog.GroupNumber, Start: int64(number) * 1e6, End: int64(number)*1e6 + 1000})
	}
}

func lines(t *testing.T, path, with string) (n int) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.Count(string(b), with)
}

// TestChange: outputs that stay are not interrupted, removed ones get an end, new ones a start; one
// that cannot be opened is reported, and the others are open.
func TestChange(t *testing.T) {
	t.Chdir(t.TempDir())
	opener := Opener{}
	opts := formats.Options{Process: gclog.Process{ID: 7, Name: "orders"}}
	stays, goes, comes, changes := spec(t, "stays-%p.json", "json"), spec(t, "goes.csv", "csv"), spec(t, "new/comes.json", "json"), spec(t, "changes.log", "json")
	s, err := opener.Open([]Spec{stays, goes, changes}, opts)
	if err != nil {
		t.Fatal(err)
	}
	s.Each(record(1))

	var started, ended int
	write(t, "x", "blocked") // a file in place of a folder
	other := changes
	other.Format = spec(t, "x", "csv").Format
	opts.Process.Service = "shop"
	err = s.Change(&opener, []Spec{stays, comes, other, spec(t, "blocked/x.json", "json")}, opts,
		func(*formats.Writer) { started++ }, func(*formats.Writer) { ended++ })
	var path *PathError
	if !errors.As(err, &path) || path.Path != "blocked/x.json" {
		t.Errorf("Change says %v", err)
	}
	if started != 2 || ended != 2 {
		t.Errorf("%d were begun and %d ended, want 2 and 2", started, ended)
	}
	s.Each(record(2))
	if got := opener.Paths(); !slices.Equal(slices.Sorted(slices.Values(got)), []string{"changes.log", "new/comes.json", "stays-7.json"}) {
		t.Errorf("open are %q", got)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := lines(t, "stays-7.json", `"number":`); n != 2 {
		t.Errorf("%d records in the file that stays, want 2", n)
	}
	if n := lines(t, "stays-7.json", `"gclog_file_id"`); n != 1 {
		t.Errorf("the file that stays was begun %d times", n)
	}
	if lines(t, "stays-7.json", `"service":{"name":"shop"`) == 0 {
		t.Error("records do not tell the new service")
	}
	if n := lines(t, "new/comes.json", `"number":`); n != 1 {
		t.Errorf("%d records in the file that came, want 1", n)
	}
	if n := lines(t, "goes.csv", "\n"); n != 2 {
		t.Errorf("%d lines in the file that went, want a head and a record", n)
	}
	if got := opener.Paths(); len(got) != 0 {
		t.Errorf("closed, but open are %q", got)
	}
}

// TestRenew: another session continues in the same files, and what the previous one could not write
// is not forgotten.
func TestRenew(t *testing.T) {
	t.Chdir(t.TempDir())
	reported := 0
	opener := Opener{Warn: func(string) { reported++ }}
	s, err := opener.Open([]Spec{spec(t, "in/a.json", "json")}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, "x", "in") // so that no folder can be created
	s.Each(record(1))
	if reported != 1 || s.Err() == nil {
		t.Fatalf("told %d times, the error is %v", reported, s.Err())
	}
	s.Renew(formats.Options{})
	if s.Err() == nil {
		t.Error("what the session before could not write is forgotten")
	}
	if err := os.Remove("in"); err != nil {
		t.Fatal(err)
	}
	s.Each(record(2))
	s.Renew(formats.Options{})
	s.Each(record(3))
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if n := lines(t, "in/a.json", `"number":`); n != 2 {
		t.Errorf("%d records, want 2", n)
	}
	if n := lines(t, "in/a.json", `"gclog_file_id"`); n != 1 {
		t.Errorf("the file has %d heads", n)
	}
}

// TestShared: processes that write to one file share it, and it is closed by the last one.
func TestShared(t *testing.T) {
	t.Chdir(t.TempDir())
	opener := Opener{}
	specs := []Spec{spec(t, "all.csv", "csv")}
	a, err := opener.Open(specs, formats.Options{Process: gclog.Process{ID: 1}})
	if err != nil {
		t.Fatal(err)
	}
	b, err := opener.Open(specs, formats.Options{Process: gclog.Process{ID: 2}})
	if err != nil {
		t.Fatal(err)
	}
	a.Each(record(1))
	b.Each(record(1))
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	b.Each(record(2))
	// Another gclog cannot open it meanwhile.
	var path *PathError
	if _, err := new(Opener).Open(specs, formats.Options{}); !errors.As(err, &path) || !strings.Contains(err.Error(), "another gclog is writing to it") {
		t.Errorf("another gclog opens it: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if n := lines(t, "all.csv", "\n"); n != 4 {
		t.Errorf("%d lines, want a head and 3 records", n)
	}
	if _, err := new(Opener).Open(specs, formats.Options{}); err != nil {
		t.Errorf("when all have closed it: %v", err)
	}
}

// TestRotateWhileClosing: all files may be checked while one is closed.
func TestRotateWhileClosing(t *testing.T) {
	t.Chdir(t.TempDir())
	opener := Opener{}
	stop := make(chan struct{})
	var group sync.WaitGroup
	for _, look := range []func(){opener.Follow, opener.Rotate} {
		group.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					look()
				}
			}
		})
	}
	for i := range 200 {
		s, err := opener.Open([]Spec{spec(t, "a.csv", "csv")}, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s.Each(record(uint32(i)))
		_ = os.Remove("a.csv") // the case for which Follow exists
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	group.Wait()
}
