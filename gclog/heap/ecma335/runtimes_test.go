package ecma335

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/gcload"
)

// assemblies lists those of the runtimes.
func assemblies(t *testing.T) (list []string) {
	t.Helper()
	runtimes, err := gcload.Shared()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range runtimes {
		files, err := filepath.Glob(filepath.Join(filepath.Dir(r.Program("wks")), "*.dll"))
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
	path := assemblies(t)[0]
	for _, p := range assemblies(t) {
		if strings.HasSuffix(p, "net9/System.Threading.dll") {
			path = p
		}
	}
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
