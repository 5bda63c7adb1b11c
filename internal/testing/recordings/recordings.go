// Package recordings finds the recordings and runtimes next to the repository, for tests that need
// more than testdata contains.
package recordings

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
)

// Dir returns the folder of shared recordings. It skips the test unless everything is tested, and
// where there is no such folder; then it names GCLOG_SHARED, which can be set to its path.
func Dir(t testing.TB) string {
	t.Helper()
	extent.NeedFull(t)
	dir := Find()
	if dir == "" {
		t.Skip("no folder of shared recordings: set GCLOG_SHARED to its path")
	}
	return dir
}

// Find returns the folder, or "" where there is none.
func Find() string {
	dir := os.Getenv("GCLOG_SHARED") // allowed: it is looked for here
	if dir == "" {
		dir = filepath.Join(Root(), "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "traces")); err != nil {
		return ""
	}
	return dir
}

// A Trace is a recording and the files with what is known about it.
type Trace struct {
	Name string // without extension
	Path string
}

// Beside returns the path of a file that belongs to the recording.
func (tr Trace) Beside(extension string) string {
	return filepath.Join(filepath.Dir(tr.Path), tr.Name+extension)
}

// Root returns the root of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..", "..")
}

// Repository lists the recordings of the repository itself.
func Repository(t testing.TB) []Trace {
	t.Helper()
	return list(t, filepath.Join(Root(), "testdata", "traces"))
}

// ForEach runs a test for each recording of the repository, and if everything is tested, of the
// shared folder. It reports whether the shared recordings were included: only then may a test require what
// few recordings contain.
func ForEach(t *testing.T, run func(t *testing.T, tr Trace)) (all bool) {
	for _, tr := range Repository(t) {
		t.Run(tr.Name, func(t *testing.T) { run(t, tr) })
	}
	t.Run("shared", func(t *testing.T) {
		for _, tr := range Traces(t, "traces") {
			t.Run(tr.Name, func(t *testing.T) { run(t, tr) })
		}
		all = true
	})
	return all
}

// Traces lists the recordings in a subfolder of the shared folder, or skips the test as Dir does.
func Traces(t testing.TB, folder string) []Trace {
	t.Helper()
	return list(t, filepath.Join(Dir(t), folder))
}

func list(t testing.TB, dir string) []Trace {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.nettrace*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no recordings in %s: %v", dir, err)
	}
	var list []Trace
	for _, f := range files {
		name, _, _ := strings.Cut(filepath.Base(f), ".nettrace")
		list = append(list, Trace{name, f})
	}
	return list
}

// Read returns the content of a file, unpacked if its name ends in .gz.
func Read(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
