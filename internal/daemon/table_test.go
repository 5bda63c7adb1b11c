package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/parquet"
	"github.com/gclog/gclog/internal/rotate"
)

// TestLeftTables: complete Parquet files of the daemon count for the retention, nothing else does, and
// the folders of deleted ones are deleted when they are empty.
func TestLeftTables(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "date=%d", "hour=%H", "%hn.parquet")
	write := func(at, stamp time.Time) string {
		table := parquet.NewTable(parquet.Options{Path: path, Rotate: rotate.Options{MakeDirs: true}, Version: "1.0", Stamp: stamp})
		o := table.Observe(&gclog.Process{ID: 1, Sync: at}, "node-1", func(err error) { t.Error(err) })
		o(&gclog.GCDetails{Number: 1, Known: gclog.GroupNumber})
		files, err := table.Finish()
		if err != nil || len(files) != 1 {
			t.Fatalf("%v, %v", files, err)
		}
		return files[0].Path
	}
	day := time.Date(2026, 3, 17, 9, 0, 0, 0, time.UTC)
	old, recent := write(day, day.Add(time.Hour)), write(day.Add(time.Hour), day.Add(2*time.Hour))
	if err := os.Chtimes(old, day, day); err != nil {
		t.Fatal(err)
	}
	byHand := write(day, time.Time{}) // of gclog convert
	content, err := os.ReadFile(recent)
	if err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(filepath.Dir(recent), "node-1-2026-03-17T12-00-00.000.parquet")
	for name, b := range map[string][]byte{foreign: []byte("PAR1 of somebody PAR1"), filepath.Join(filepath.Dir(recent), ".node-1.parquet.part"): content} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	list := leftTables(path)
	for _, f := range list {
		got = append(got, f.path)
	}
	slices.Sort(got)
	if want := []string{old, recent}; !slices.Equal(got, want) {
		t.Errorf("they are %q, want %q", got, want)
	}
	if err := os.Remove(byHand); err != nil {
		t.Fatal(err)
	}
	deleted := clean(list, config.Retention{Age: 24 * time.Hour}, day.Add(25*time.Hour))
	if len(deleted) != 1 || deleted[0].path != old {
		t.Errorf("deleted are %v", deleted)
	}
	if _, err := os.Stat(filepath.Dir(old)); err == nil {
		t.Error("the empty folder is still there")
	}
	if _, err := os.Stat(recent); err != nil {
		t.Error(err)
	}
}
