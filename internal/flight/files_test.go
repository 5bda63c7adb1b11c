package flight

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/nettrace"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// recorded returns a complete recording of a trigger at a time in seconds, with an event of a size.
func recorded(seconds float64, size int) *Recording {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	s := session(o, 0)
	s.event(seconds, size)
	r, _ := o.Record(at(seconds))
	o.Close()
	return r
}

// list returns the names of the files in a directory.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// name returns the name of the recording of a process at a time in seconds.
func nameOf(process string, seconds int) string {
	return process + "-" + began.Add(time.Duration(seconds)*time.Second).Format("2006-01-02T15-04-05.000") + ".nettrace"
}

// TestSave: a recording is in a file with the service, the pid and the time in its name, which only
// gclog's user and group can read.
func TestSave(t *testing.T) {
	f := &Files{Dir: filepath.Join(t.TempDir(), "new"), Keep: 3, Folder: rotate.Options{MakeDirs: true}}
	r := recorded(20, 1000)
	s, err := f.Save(r, &gclog.Process{ID: 4711, Name: "app", Service: "../orders"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(f.Dir, nameOf("_orders-4711", 20))
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err, list(t, f.Dir))
	}
	if info.Mode() != 0o640 || len(s.Files) != 1 || s.Files[0].Path != path || s.Files[0].Bytes != info.Size() || s.Files[0].Events != 1 || len(s.Deleted) > 0 {
		t.Errorf("%v, %+v", info.Mode(), s)
	}
	if parts, _ := r.Parts(); parts != nil || r.o.held != 0 {
		t.Errorf("it was not released: %d bytes are held", r.o.held)
	}
}

// TestSaveParts: the parts of a recording are in files of their own.
func TestSaveParts(t *testing.T) {
	o := NewMemory(1<<20).NewRecorder("", 10*time.Second)
	first := session(o, 0)
	first.event(19, 10)
	second := session(o, 19.5)
	first.ring.Close()
	second.event(20, 10)
	r, _ := o.Record(at(20))
	o.Close()
	f := &Files{Dir: t.TempDir(), Keep: 1}
	s, err := f.Save(r, &gclog.Process{ID: 1, Name: "app"})
	want := []string{strings.TrimSuffix(nameOf("app-1", 20), ".nettrace") + ".2.nettrace", nameOf("app-1", 20)}
	if got := list(t, f.Dir); err != nil || !slices.Equal(got, want) || len(s.Files) != 2 {
		t.Errorf("%v, %q, %+v", err, got, s)
	}
}

// TestSaveFails: a recording that cannot be written leaves nothing, neither in the directory nor in
// memory, and the error is one sentence.
func TestSaveFails(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ dir, want string }{
		"missing":         {filepath.Join(dir, "missing"), "cannot write to " + filepath.Join(dir, "missing") + ": no such file or directory"},
		"not a directory": {filepath.Join(dir, "file"), "cannot write to " + filepath.Join(dir, "file") + ": not a directory"},
	} {
		r := recorded(20, 1000)
		_, err := (&Files{Dir: c.dir, Keep: 1}).Save(r, &gclog.Process{ID: 1, Name: "app"})
		if _, ok := errors.AsType[*output.PathError](err); !ok || err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if r.o.held != 0 {
			t.Errorf("%s: %d bytes are held", name, r.o.held)
		}
	}
	o := NewMemory(1<<20).NewRecorder("", time.Second)
	r, _ := o.Record(at(1))
	if s, err := (&Files{Dir: dir, Keep: 1}).Save(r, &gclog.Process{ID: 1}); !errors.Is(err, errNothing) || len(s.Files) > 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if got := list(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("%q", got)
	}
}

// TestSaveHangs: when the disk hangs, not everything that is recorded waits for it, and processes of
// one user take no other user all places.
func TestSaveHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Files{Dir: t.TempDir(), Keep: 100}
		f.mu.Lock()
		const most = maxWaiting * 3 / 4
		failed := make(chan error, maxWaiting+1)
		for i := range most + 1 {
			go func() {
				_, err := f.Save(recorded(float64(i), 10), &gclog.Process{ID: 1, Name: "app", UserID: "65534"})
				failed <- err
			}()
		}
		if err := <-failed; err == nil || err.Error() != "cannot write to "+f.Dir+": 24 recordings are waiting for it: it is too slow" {
			t.Error(err)
		}
		leave, err := f.enter("1000")
		if err != nil {
			t.Fatal(err)
		}
		leave()
		f.mu.Unlock()
		for range most {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		if got := list(t, f.Dir); len(got) != most {
			t.Errorf("%d files", len(got))
		}
	})
}

// TestTidy: which recordings are deleted when there is one more.
func TestTidy(t *testing.T) {
	head := nettrace.AppendHead(nil, make([]byte, 48))
	const size = 1000
	make := func(t *testing.T, dir string, names ...string) {
		t.Helper()
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(dir, name), append(slices.Clone(head), make([]byte, size-len(head))...), 0o640); err != nil {
				t.Fatal(err)
			}
		}
	}
	process := gclog.Process{ID: 7, StartKey: 1, Name: "app", Started: began.Add(5 * time.Second)}
	for name, c := range map[string]struct {
		f     *Files
		there []string
		gone  []string
	}{
		"few":  {&Files{Keep: 2}, []string{nameOf("app-7", 10)}, nil},
		"many": {&Files{Keep: 2}, []string{nameOf("app-7", 10), nameOf("app-7", 11), nameOf("app-7", 12)}, []string{nameOf("app-7", 10), nameOf("app-7", 11)}},
		"all parts": {
			&Files{Keep: 2},
			[]string{nameOf("app-7", 10), "app-7-2026-11-24T12-00-10.000.2.nettrace", nameOf("app-7", 12), "app-7-2026-11-24T12-00-12.000.2.nettrace"},
			[]string{"app-7-2026-11-24T12-00-10.000.2.nettrace", nameOf("app-7", 10)},
		},
		"of other processes":                 {&Files{Keep: 1}, []string{nameOf("app-8", 10), nameOf("app-8", 11), nameOf("other-7", 10)}, []string{nameOf("other-7", 10)}},
		"of an earlier process with the pid": {&Files{Keep: 1}, []string{nameOf("app-7", 3), nameOf("app-7", 4)}, nil},
		"of processes that have exited": {
			&Files{Keep: 1, Running: func(pid int64, _ time.Time) bool { return pid == 9 }},
			[]string{nameOf("app-8", 10), nameOf("app-8", 11), nameOf("app-9", 10), nameOf("app-9", 11), nameOf("app-7", 3), nameOf("other-8", 10)},
			[]string{nameOf("app-7", 3), nameOf("app-8", 10)},
		},
		"the total size": {
			&Files{Keep: 9, Size: 3 * size},
			[]string{nameOf("app-8", 10), nameOf("app-8", 11), nameOf("app-7", 12), nameOf("other-1", 9)},
			[]string{nameOf("app-8", 10), nameOf("other-1", 9)},
		},
		"the latest alone is larger": {&Files{Keep: 9, Size: 10}, []string{nameOf("app-7", 12)}, []string{nameOf("app-7", 12)}},
		"what is not ours":           {&Files{Keep: 1, Size: 10}, []string{"app-7.nettrace", "notes.txt", ".hidden"}, nil},
	} {
		dir := t.TempDir()
		make(t, dir, c.there...)
		c.f.Dir = dir
		before := list(t, dir)
		s, err := c.f.Save(recorded(20, 10), &process)
		if err != nil {
			t.Fatal(err)
		}
		after := list(t, dir)
		var gone []string
		for _, n := range before {
			if !slices.Contains(after, n) {
				gone = append(gone, n)
			}
		}
		slices.Sort(gone)
		slices.Sort(c.gone)
		if !slices.Equal(gone, c.gone) || !slices.Contains(after, nameOf("app-7", 20)) {
			t.Errorf("%s: deleted %q, want %q; left %q", name, gone, c.gone, after)
		}
		if len(s.Deleted) != len(gone) {
			t.Errorf("%s: said to be deleted: %q", name, s.Deleted)
		}
	}
}

// TestTidyNamespaces: the pid of a process in a namespace that gclog does not know may be that of others.
func TestTidyNamespaces(t *testing.T) {
	f := &Files{Dir: t.TempDir(), Keep: 1}
	for i, service := range []string{"orders", "other", "orders"} {
		if _, err := f.Save(recorded(float64(20+i), 10), &gclog.Process{ID: 1, Service: service}); err != nil {
			t.Fatal(err)
		}
	}
	if got, want := list(t, f.Dir), []string{nameOf("orders-1", 22), nameOf("other-1", 21)}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestLongNames: a process may have a name that is longer than that of a file may be.
func TestLongNames(t *testing.T) {
	f := &Files{Dir: t.TempDir(), Keep: 1}
	if _, err := f.Save(recorded(20, 10), &gclog.Process{ID: 1, Service: strings.Repeat("\u00e4/", 2000)}); err != nil {
		t.Error(err)
	}
}

// TestTidyOthers: files with the name of a recording that are none are not deleted, nor are links, and
// of what another gclog is writing only what it has abandoned.
func TestTidyOthers(t *testing.T) {
	dir := t.TempDir()
	name := nameOf("app-7", 10)
	for file, age := range map[string]time.Duration{
		name: 0, "." + name + "-abcdefghijklmnop": 0, "." + nameOf("app-7", 11) + "-abcdefghijklmnop": 2 * time.Hour, ".other-abcdefghijklmnop": 2 * time.Hour,
	} {
		path := filepath.Join(dir, file)
		if err := os.WriteFile(path, []byte("notes"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-age)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(name, filepath.Join(dir, nameOf("app-7", 9))); err != nil {
		t.Fatal(err)
	}
	s, err := (&Files{Dir: dir, Keep: 1, Size: 1}).Save(recorded(20, 10), &gclog.Process{ID: 7, Name: "app"})
	want := []string{"." + name + "-abcdefghijklmnop", ".other-abcdefghijklmnop", nameOf("app-7", 9), name, nameOf("app-7", 20)}
	if got := list(t, dir); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %q\nwant %q", err, got, want)
	}
	if len(s.Deleted) != 1 {
		t.Errorf("%q", s.Deleted)
	}
}

// TestForeignFolder: a directory in which other users could replace files is refused.
func TestForeignFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has directories of other users")
	}
	dir := filepath.Join(t.TempDir(), "theirs")
	if err := errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, 65534)); err != nil {
		t.Fatal(err)
	}
	_, err := (&Files{Dir: dir, Keep: 1}).Save(recorded(20, 10), &gclog.Process{ID: 7, Name: "app"})
	if want := fmt.Sprintf("cannot write to %s: %s belongs to nobody", dir, dir); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
	if err := os.Chmod(dir, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
	if got := list(t, dir); len(got) > 0 {
		t.Errorf("%q", got)
	}
}

// TestTidyUsers: a process of another user that has the name of a service does not push its recordings
// out, and those of an earlier gclog are of nobody known.
func TestTidyUsers(t *testing.T) {
	f := &Files{Dir: t.TempDir(), Keep: 2, Running: func(int64, time.Time) bool { return false }}
	save := func(user string, pid int64, seconds float64) {
		t.Helper()
		at := began.Add(time.Duration(seconds) * time.Second)
		if _, err := f.Save(recorded(seconds, 10), &gclog.Process{ID: pid, StartKey: 1, Service: "orders", UserID: user, Started: at.Add(-time.Second)}); err != nil {
			t.Fatal(err)
		}
	}
	save("", 5, 20)
	if path := filepath.Join(f.Dir, nameOf("orders-5", 20)); !keepsOwners(t, path) {
		t.Skip("the file system of temporary files has no extended attributes")
	}
	save("1001", 6, 21)
	for i := range 5 {
		save("65534", int64(10+i), float64(22+i))
	}
	if got, want := list(t, f.Dir), []string{nameOf("orders-12", 24), nameOf("orders-13", 25), nameOf("orders-14", 26), nameOf("orders-5", 20), nameOf("orders-6", 21)}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// keepsOwners reports whether the file system of a file that has no owner keeps one.
func keepsOwners(t *testing.T, path string) bool {
	t.Helper()
	f, err := os.CreateTemp(filepath.Dir(path), "owner")
	if err != nil {
		t.Fatal(err)
	}
	defer os.Remove(f.Name())
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	rotate.Owner{UserID: "1"}.SetOwner(f)
	return rotate.FileOwner(f, info).UserID == "1"
}
