package ecma335

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/gcload"
)

// assemblies lists those of the runtimes.
func assemblies(t *testing.T) (list []string) {
	t.Helper()
	extent.NeedFull(t)
	runtimes, err := gcload.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runtimes {
		if r.AOT { // which has no assemblies
			continue
		}
		files, err := filepath.Glob(filepath.Join(r.Dir(), "*.dll"))
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, files...)
	}
	if len(list) == 0 {
		t.Skip("no runtimes in the folder of shared recordings, or not for this platform")
	}
	return list
}

// TestRuntimes reads all of all assemblies of the runtimes: those with code compiled ahead of time
// too.
func TestRuntimes(t *testing.T) {
	for _, path := range assemblies(t) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		a, err := Open(f, info.Size())
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		list, err := everything(a)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if strings.HasSuffix(path, "Private.CoreLib.dll") && !strings.Contains(strings.Join(list, "\n"), "\nSystem.Collections.Generic.Dictionary`2+Entry: System.ValueType ") {
			t.Errorf("%s has no entries of dictionaries", path)
		}
		f.Close()
	}
}

// TestRuntimesTruncated cuts an assembly off at thousands of places.
func TestRuntimesTruncated(t *testing.T) {
	i := slices.IndexFunc(assemblies(t), func(path string) bool { return filepath.Base(path) == "System.Threading.dll" })
	if i < 0 {
		t.Fatal("no runtime has the assembly")
	}
	path := assemblies(t)[i]
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for n := int64(0); n < int64(len(b)); n += max(1, int64(len(b))/5000) {
		a, err := Open(io.NewSectionReader(strings.NewReader(string(b[:n])), 0, n), n)
		if err == nil {
			_, err = everything(a)
		}
		if err != nil {
			failed++
		}
	}
	if failed < 1000 {
		t.Errorf("only %d errors", failed)
	}
}
