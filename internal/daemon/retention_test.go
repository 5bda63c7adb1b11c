package daemon

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/config"
)

// make makes files of a size and an age.
func makeFile(t *testing.T, name string, size int, age time.Duration) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, make([]byte, size), 0o644); err != nil {
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

// TestLeftFiles: of the files with names of ours those count whose process is gone.
func TestLeftFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, name := range []string{
		"logs/a-1.json", "logs/a-1-2026-11-20T12-56-56.272.json", "logs/a-2.json", "logs/a-2-2026-11-20T12-56-56.272.json", "logs/a-2.json.3",
		"logs/notes.txt", "logs/a-x.json", "logs/b/a-1.json", "x/a-3.csv",
	} {
		makeFile(t, name, 10, 0)
	}
	if err := os.Symlink("notes.txt", "logs/a-4.json"); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("logs/a-5.json", 0o755); err != nil {
		t.Fatal(err)
	}
	// Another gclog writes this one, and has archived another.
	var files formats.Files
	other, err := files.Open("logs/a-6.json", formats.RotateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := other.Write(formats.Head{Append: func(b []byte, _ int) []byte { return b }}, []byte("x\n"), false); err != nil {
		t.Fatal(err)
	}
	makeFile(t, "logs/a-6-2026-11-20T12-56-56.272.json", 10, 0)

	want := []string{"logs/a-1-2026-11-20T12-56-56.272.json", "logs/a-1.json"}
	paths := []string{"logs/%s-%p.json", "logs/%n-%p.json", "logs/../logs/%s-%p.json"} // two are the same
	if got := names(leftFiles(paths, []string{"./logs/a-2.json"})); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	if got := leftFiles(nil, nil); got != nil {
		t.Errorf("without outputs %q are left", names(got))
	}
}

// TestClean: the oldest go first, and no more than must.
func TestClean(t *testing.T) {
	for _, x := range []struct {
		retention config.Retention
		stay      string
	}{
		{config.Retention{}, "0 1 2 3 4 5 6 7 8 9"},
		{config.Retention{Age: 150 * time.Minute}, "0 1 2"},
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
			deleted, bytes := clean(leftFiles([]string{dir + "/%p.json"}, nil), x.retention, time.Now())
			var stay []string
			for _, name := range names(leftFiles([]string{dir + "/%p.json"}, nil)) {
				stay = append(stay, strings.TrimSuffix(filepath.Base(name), ".json"))
			}
			if got := strings.Join(stay, " "); got != x.stay {
				t.Errorf("%q stay, want %q", got, x.stay)
			}
			if want := 10 - len(stay); deleted != want || bytes != int64(want)*100 {
				t.Errorf("it tells %d files with %d bytes, want %d", deleted, bytes, want)
			}
		})
	}
}
