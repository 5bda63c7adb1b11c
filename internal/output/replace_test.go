package output

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestReplace: a file is there completely or not at all, and nothing else remains.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	path := filepath.Join(dir, "x")
	content := func() string {
		b, err := os.ReadFile(path)
		if errors.Is(err, os.ErrNotExist) {
			return "none"
		}
		return string(b)
	}
	failed := errors.New("failed")
	for _, c := range []struct {
		text         string
		err          error
		before, then string
	}{
		{"half", failed, "none", "none"},
		{"one", nil, "none", "one"},
		{"half", failed, "one", "one"},
		{"two", nil, "one", "two"},
	} {
		size, err := Replace(root, "x", 0o640, func(w io.Writer) error {
			_, err := io.WriteString(w, c.text)
			if got := content(); got != c.before {
				t.Errorf("%s: while it is written, the file has %q, want %q", c.text, got, c.before)
			}
			return errors.Join(err, c.err)
		})
		want := int64(len(c.text))
		if c.err != nil {
			want = 0
		}
		if !errors.Is(err, c.err) || size != want || content() != c.then {
			t.Errorf("%s: size %d, %v, and the file has %q, want %q", c.text, size, err, content(), c.then)
		}
		entries, err := os.ReadDir(dir)
		if err != nil || len(entries) > 1 {
			t.Errorf("%s: what remains: %v, %v", c.text, entries, err)
		}
	}
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("the mode: %v, %v", info, err)
	}
}
