package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/rotate"
)

// makeFile creates a log with a size and an age.
func makeFile(t *testing.T, name string, size int, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("%-*s", size, `{"gclog_file_id":"0123456789abcdef"`)
	if err := os.WriteFile(name, []byte(text[:size]), 0o644); err != nil {
		t.Fatal(err)
	}
	at := time.Now().Add(-age)
	if err := os.Chtimes(name, at, at); err != nil {
		t.Fatal(err)
	}
}

func names(list []leftFile) (names []string) {
	for _, f := range list {
		names = append(names, f.path)
	}
	slices.Sort(names)
	return names
}

// TestLeftFiles: of the files with names that gclog gives, those whose process has exited count.
func TestLeftFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"logs/a-1.json", "logs/a-1-2026-11-20T12-56-56.272.json", "logs/a-2.json", "logs/a-2-2026-11-20T12-56-56.272.json", "logs/a-2.json.3",
		"logs/notes.txt", "logs/a-x.json", "logs/b/a-1.json", "x/a-3.csv",
	} {
		makeFile(t, name, 40, 0)
	}
	for name, to := range map[string]string{"logs/a-4.json": "notes.txt", "logs/a-9.json": "none"} {
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("logs/a-5.json", 0o755); err != nil {
		t.Fatal(err)
	}
	// Another gclog writes this one, and has archived another.
	var files rotate.Files
	other, err := files.Open("logs/a-6.json", rotate.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Write(formats.Head{Append: func(b []byte, _ int) []byte { return b }}, []byte("x\n"), false); err != nil {
		t.Fatal(err)
	}
	makeFile(t, "logs/a-6-2026-11-20T12-56-56.272.json", 40, 0)

	// Others have given such names to their files.
	for _, name := range []string{"logs/a-7.json", "logs/a-8.json"} {
		if err := os.WriteFile(name, []byte("{}"), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	want := []string{"logs/a-1-2026-11-20T12-56-56.272.json", "logs/a-1.json"}
	paths := []string{"logs/%s-%p.json", "logs/%n-%p.json", "logs/../logs/%s-%p.json"} // two of them are equal
	if got := names(leftFiles(paths, []string{"./logs/a-2.json"})); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	makeFile(t, "app/shop.json", 40, 0)
	makeFile(t, "app/empty.json", 0, 0)
	for name, text := range map[string]string{"app/package.json": "{\n  \"name\": \"shop\"\n}\n", "app/tsconfig.json": "{}"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := names(leftFiles([]string{"app/%s.json"}, nil)); !slices.Equal(got, []string{"app/shop.json"}) {
		t.Errorf("left are %q, want shop.json", got)
	}
	makeFile(t, "empty/1.json", 0, 0)
	if got := names(leftFiles([]string{"empty/%p.json"}, nil)); len(got) != 1 {
		t.Errorf("left are %q, want an empty file of a process", got)
	}
	if got := leftFiles(nil, nil); got != nil {
		t.Errorf("without outputs %q are left", names(got))
	}
}

// TestClean: the oldest files are deleted first, and no more than necessary.
func TestClean(t *testing.T) {
	for _, x := range []struct {
		retention config.Retention
		stay      string
	}{
		{config.Retention{}, "0 1 2 3 4 5 6 7 8 9"},
		{config.Retention{Age: 150 * time.Minute}, "0 1 2"},
		{config.Retention{Age: 1}, ""},
		{config.Retention{Age: 100 * time.Hour}, "0 1 2 3 4 5 6 7 8 9"},
		{config.Retention{Total: 1000}, "0 1 2 3 4 5 6 7 8 9"},
		{config.Retention{Total: 999}, "0 1 2 3 4 5 6 7 8"},
		{config.Retention{Total: 300}, "0 1 2"},
		{config.Retention{Total: 1}, ""},
		{config.Retention{Total: 500, Age: 90 * time.Minute}, "0 1"},
		{config.Retention{Total: 100, Age: 290 * time.Minute}, "0"},
	} {
		t.Run(fmt.Sprintf("total %d age %v", x.retention.Total, x.retention.Age), func(t *testing.T) {
			dir := t.TempDir()
			for i := range 10 {
				makeFile(t, filepath.Join(dir, fmt.Sprintf("%d.json", i)), 100, time.Duration(i)*time.Hour)
			}
			deleted := clean(leftFiles([]string{dir + "/%p.json"}, nil), x.retention, time.Now())
			var stay []string
			for _, name := range names(leftFiles([]string{dir + "/%p.json"}, nil)) {
				stay = append(stay, strings.TrimSuffix(filepath.Base(name), ".json"))
			}
			if got := strings.Join(stay, " "); got != x.stay {
				t.Errorf("%q stay, want %q", got, x.stay)
			}
			if want := 10 - len(stay); len(deleted) != want {
				t.Errorf("it tells %d files, want %d", len(deleted), want)
			}
		})
	}
}

// TestCleanLinks: a link that replaces a folder in the meantime, or a new file in place of an old
// one, does not cause anything else to be deleted.
func TestCleanLinks(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{"logs/a/gc.json", "logs/b/gc.json", "logs/c/gc.json", "far/gc.json", "new.json"} {
		makeFile(t, name, 40, time.Hour)
	}
	list := leftFiles([]string{"logs/%s/gc.json"}, nil)
	if len(list) != 3 {
		t.Fatalf("left are %q", names(list))
	}
	if err := errors.Join(os.Rename("logs/a", "gone"), os.Symlink("../far", "logs/a"), os.Rename("new.json", "logs/b/gc.json")); err != nil {
		t.Fatal(err)
	}
	if got := names(clean(list, config.Retention{Age: time.Minute}, time.Now())); !slices.Equal(got, []string{"logs/c/gc.json"}) {
		t.Errorf("deleted are %q", got)
	}
	for _, name := range []string{"far/gc.json", "gone/gc.json", "logs/b/gc.json"} {
		if _, err := os.Stat(name); err != nil {
			t.Error(err)
		}
	}
}
