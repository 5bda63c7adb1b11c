package heap

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A counted file counts what is read of it, before anything is.
type countedFile struct {
	*os.File
	read func(n int)
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	f.read(len(p))
	return f.File.ReadAt(p, off)
}

// reader returns Assemblies that call read before each access, and the notes that they give.
func reader(read func(n int), paths ...string) (a *Assemblies, notes *[]string) {
	notes = new([]string)
	a = &Assemblies{
		Notify: func(s string) { *notes = append(*notes, s) },
		Open: func(_ context.Context, path string) (File, error) {
			f, err := os.Open(path)
			return countedFile{f, read}, err
		},
	}
	a.Add(paths...)
	return a, notes
}

// TestSparse: a file that claims much more than it has on the disk is left out, with one note, and so
// is what is no regular file. The names in the others are found.
func TestSparse(t *testing.T) {
	path, dir := tiny(t, "tiny.dll")
	sparse := filepath.Join(dir, "sparse.dll")
	if err := os.WriteFile(sparse, []byte("MZ"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 4<<40); err != nil {
		t.Skip(err) // the file system has no such files
	}
	if info, err := os.Stat(sparse); err != nil || onDisk(info) > 1<<20 {
		t.Skip("this file system does not say that the file is sparse")
	}
	read := 0
	a, notes := reader(func(n int) { read += n }, sparse, path, filepath.Join(dir, "missing.dll"))
	types := tinyTypes()
	if n := a.Resolve(t.Context(), types, nil); n == 0 || exactNames(types) != known {
		t.Errorf("%d types, %q", n, exactNames(types))
	}
	if len(*notes) != 1 || !strings.Contains((*notes)[0], sparse+" is left out: it is sparse") {
		t.Errorf("%q", *notes)
	}
	if read > 1<<20 {
		t.Errorf("%d bytes were read", read)
	}
	a = &Assemblies{Notify: func(s string) { *notes = append(*notes, s) }}
	*notes = nil
	a.Add(os.DevNull, dir, sparse, path)
	if a.Resolve(t.Context(), tinyTypes(), nil) == 0 || len(*notes) != 2 || !strings.Contains((*notes)[0], "not a regular file") {
		t.Errorf("%q", *notes)
	}
}

// TestReadingStops: whoever reads stops when its context does, at once, and finds no names.
func TestReadingStops(t *testing.T) {
	path, _ := tiny(t, "tiny.dll")
	total := 0
	a, _ := reader(func(int) { total++ }, path)
	a.Resolve(t.Context(), tinyTypes(), nil)
	for at := range total {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		a, notes := reader(func(int) {
			if n++; n > at {
				cancel()
			}
			if n > at+1 {
				t.Errorf("read on after access %d", at)
			}
		}, path, path+"2")
		types := tinyTypes()
		g := &Graph{Types: types}
		g.Resolve(ctx, a)
		cancel()
		if at == 0 && exactNames(types) != unknown {
			t.Errorf("%q", exactNames(types))
		}
		if len(*notes) > 0 {
			t.Errorf("%d: %q", at, *notes)
		}
	}
}

// TestReadingLimits: at a limit, nothing is read any more, and a note says so.
func TestReadingLimits(t *testing.T) {
	for name, set := range map[string]func(*reading){
		"bytes": func(r *reading) { r.bytes = 2000 },
		"files": func(r *reading) { r.files = 1 },
		"time": func(r *reading) {
			ctx, cancel := context.WithCancelCause(r.ctx)
			cancel(errors.New("time is over"))
			r.ctx = ctx
		},
	} {
		path, _ := tiny(t, "tiny.dll")
		read := 0
		a, notes := reader(func(n int) { read += n }, path)
		finish := a.begin(t.Context())
		set(a.reading)
		types := tinyTypes()
		a.resolve(types, nil)
		finish()
		if exactNames(types) == known || read > 2000 {
			t.Errorf("%s: %d bytes, %q", name, read, exactNames(types))
		}
		if len(*notes) != 1 || !strings.Contains((*notes)[0], "the rest is left out") {
			t.Errorf("%s: %q", name, *notes)
		}
	}
}

// TestManyNotes: of many files that are left out, only some are named.
func TestManyNotes(t *testing.T) {
	var notes []string
	a := &Assemblies{
		Notify: func(s string) { notes = append(notes, s) },
		Open: func(context.Context, string) (File, error) {
			return nil, &fs.PathError{Op: "open", Path: "x", Err: errors.New("permission denied")}
		},
	}
	for i := range 100 {
		a.Add(strings.Repeat("a", i+1) + ".dll")
	}
	a.Resolve(t.Context(), tinyTypes(), nil)
	if len(notes) != maxFileNotes+1 || notes[0] != "names: a.dll is left out: permission denied" || notes[maxFileNotes] != "names: 95 more files are left out" {
		t.Errorf("%q", notes)
	}
}
