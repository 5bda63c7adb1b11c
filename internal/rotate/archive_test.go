package rotate

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestArchivedFrom(t *testing.T) {
	for path, want := range map[string]string{
		"gc.log": "gc.log", "a/gc.log.0": "a/gc.log", "gc.log.12": "gc.log", "a/gc-2026-11-20T12-56-56.272.log": "a/gc.log",
		"gc-2026-11-20.log": "gc-2026-11-20.log", "gc": "gc", "gc.log.x": "gc.log.x",
		"gc-2026-11-20T12-56-56.272": "gc", "": "",
		"-2026-11-20T12-56-56.272.log": ".log", "2026-11-20T12-56-56.272.log": "2026-11-20T12-56-56.272.log", "gc+2026-11-20T12-56-56.272.log": "gc+2026-11-20T12-56-56.272.log",
		"gc.log.65535": "gc.log", "gc.log.65536": "gc.log.65536", "gc-2026-13-20T12-56-56.272.log": "gc-2026-13-20T12-56-56.272.log",
	} {
		if got := ArchivedFrom(path); got != want {
			t.Errorf("%s was %s, want %s", path, got, want)
		}
	}
}

// TestForeignArchives: files with the names of archived ones that gclog did not write, or that are
// being written, are neither deleted nor replaced, and do not stop the rotation.
func TestForeignArchives(t *testing.T) {
	isOurs := func(b []byte) bool { return bytes.HasPrefix(b, []byte("head")) }
	for _, c := range []struct {
		name    string
		naming  Naming
		foreign map[string]string
		want    int // number of our own files that remain
	}{
		{"a time that has not come", NameByTime, map[string]string{"gc-9999-12-31T23-59-59.999.log": "head of another log"}, 3},
		{"others' files", NameByTime, map[string]string{"gc-2020-01-01T00-00-00.000.log": "others'", "gc-2020-01-01T00-00-00.001.log": "others'"}, 3},
		{"others' index", NameByIndex, map[string]string{"gc.log.0": "others'"}, 2},
		{"others' files everywhere", NameByIndex, map[string]string{"gc.log.0": "others'", "gc.log.1": "others'"}, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range c.foreign {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			r := openFrom(t, &Files{IsOurs: isOurs}, filepath.Join(dir, "gc.log"), Options{Count: 2, Size: perFile(1), Naming: c.naming})
			write(t, r, 0, 6)
			closeFile(t, r)
			files := content(t, dir)
			for name, text := range c.foreign {
				if files[name] != text {
					t.Errorf("%s is %q, want %q", name, files[name], text)
				}
				delete(files, name)
			}
			if len(files) != c.want {
				t.Errorf("the files of ours are %q, want %d", names(files), c.want)
			}
			if text := files["gc.log"]; !strings.HasSuffix(text, string(record(5))) {
				t.Errorf("the newest file is %q", text)
			}
		})
	}
}

// TestWrittenArchive: a file that another log is currently written to is not an archived file of
// this log, whatever its name.
func TestWrittenArchive(t *testing.T) {
	if !keepsOpen {
		t.Skip("files are not locked here")
	}
	dir := t.TempDir()
	files := &Files{IsOurs: func([]byte) bool { return true }}
	other := openFrom(t, files, filepath.Join(dir, "gc-2020-01-01T00-00-00.000.log"), Options{})
	write(t, other, 0, 1)
	r := openFrom(t, files, filepath.Join(dir, "gc.log"), Options{Count: 1, Size: perFile(1)})
	write(t, r, 0, 5)
	write(t, other, 1, 2)
	closeFile(t, r)
	closeFile(t, other)
	wantRecords(t, numbers(t, "the other log", content(t, dir)["gc-2020-01-01T00-00-00.000.log"]), 0, 2)
}

// TestArchived: the archived files of a path are those that it was rotated to, with either kind of
// name; those with a time latest first.
func TestArchived(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"gc.log", "gc-2020-01-01T00-00-00.000.log", "gc-2020-01-02T00-00-00.000.log", "gc.log.0", "gc.log.10", "gc.log.65535",
		"gc.log.65536", "gc.log.x", "gc.log.", "gc-2020.log", "gc-9999-01-01T00-00-00.000.log", "other-2020-01-01T00-00-00.000.log", "other.log.0", "gc-2020-01-01T00-00-00.000.txt",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, path := range Archived(filepath.Join(dir, "gc.log")) {
		if filepath.Dir(path) != dir {
			t.Errorf("%s is in another directory", path)
		}
		got = append(got, filepath.Base(path))
	}
	want := []string{"gc-2020-01-02T00-00-00.000.log", "gc-2020-01-01T00-00-00.000.log", "gc.log.0", "gc.log.10", "gc.log.65535"}
	if !slices.Equal(got, want) {
		t.Errorf("archived are %v, want %v", got, want)
	}
	if none := Archived(filepath.Join(dir, "none", "gc.log")); none != nil {
		t.Errorf("in no directory there are %v", none)
	}
}

// TestFarFuture: a file with a future time is an archived one if the clock may have been set back
// since, but not if that would have been by years.
func TestFarFuture(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC)
	for days, archived := range map[int]bool{0: true, 365: true, 366: false, 3650: false} {
		dir := t.TempDir()
		ahead := "gc-" + now.AddDate(0, 0, days).Format(timeInName) + ".log"
		if err := os.WriteFile(filepath.Join(dir, ahead), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		r := open(t, filepath.Join(dir, "gc.log"), Options{Count: 1, Size: perFile(1)})
		r.now = func() time.Time { return now }
		write(t, r, 0, 2)
		closeFile(t, r)
		files := names(content(t, dir))
		if left := slices.Contains(files, ahead); left == archived {
			t.Errorf("%d days ahead: %v", days, files)
		}
	}
}

// TestRememberedLogs: what is known of archived files is forgotten with them, however long a log is
// rotated; what is no log is not deleted, and not taken for one because it looks archived.
func TestRememberedLogs(t *testing.T) {
	dir := t.TempDir()
	foreign := filepath.Join(dir, "gc-2020-11-20T12-56-56.272.log")
	folder := filepath.Join(dir, "gc-2020-11-20T12-56-57.272.log")
	if err := errors.Join(os.WriteFile(foreign, []byte("a diary"), 0o600), os.Mkdir(folder, 0o700)); err != nil {
		t.Fatal(err)
	}
	files := &Files{IsOurs: func(b []byte) bool { return bytes.HasPrefix(b, []byte("head")) }}
	r := openFrom(t, files, filepath.Join(dir, "gc.log"), Options{Count: 3, Size: perFile(1)})
	clock := time.Now()
	r.now = func() time.Time { clock = clock.Add(time.Second); return clock }
	write(t, r, 0, 200)
	closeFile(t, r)
	if len(r.logs) > 10 {
		t.Errorf("%d files are remembered", len(r.logs))
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) != 3+1+2 {
		t.Errorf("there are %v: %v", list, err)
	}
	for _, path := range []string{foreign, folder} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
}
