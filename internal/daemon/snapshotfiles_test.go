package daemon

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/rotate"
)

// makeSnapshot creates a file that starts as a heap snapshot does, and returns its path.
func makeSnapshot(t *testing.T, dir, name string) string {
	t.Helper()
	const magic = "!FastSerialization.1"
	path := filepath.Join(dir, name)
	b := append(binary.LittleEndian.AppendUint32(nil, uint32(len(magic))), magic...)
	if err := os.WriteFile(path, b, 0o640); err != nil {
		t.Fatal(err)
	}
	return path
}

// second returns a time.
func second(n int) time.Time { return time.Date(2026, 1, 31, 12, 0, n, 0, time.UTC) }

// stamp returns the name of a snapshot of a process that was taken at a time.
func stamp(service string, pid, seconds int) string {
	return fmt.Sprintf("%s-%d-%s.gcdump", service, pid, second(seconds).Format(snapshotTime))
}

// namesIn returns the names of the files in a directory.
func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names
}

// TestSnapshotsIn: the files with names of snapshots are found, with what the names say.
func TestSnapshotsIn(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "%s")
	if err := os.Mkdir(dir, 0o750); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		stamp("a", 7, 2), stamp("my-service-1", 12, 1), stamp("a", 7, 3) + ".gz", "." + stamp("a", 7, 4) + "-xyz", "a-7.gcdump", "a-7-2026.gcdump",
		"a_20260101_120000.gcdump", "a-99999999999999999999999-2000-01-01T00-00-00.000.gcdump", "a-7-2000-13-01T00-00-00.000.gcdump",
	} {
		makeSnapshot(t, dir, name)
	}
	if err := os.Mkdir(filepath.Join(dir, stamp("a", 7, 5)), 0o750); err != nil {
		t.Fatal(err)
	}
	want := []snapshotFile{
		{path: filepath.Join(dir, stamp("my-service-1", 12, 1)), service: "my-service-1", pid: 12, time: second(1)},
		{path: filepath.Join(dir, stamp("a", 7, 2)), service: "a", pid: 7, time: second(2)},
	}
	if got := snapshotsIn(dir); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := snapshotsIn(filepath.Join(dir, "none")); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

// TestSurplus: the latest snapshots of a process are kept, and the latest of those processes of its
// service that have exited; those of other processes are not its concern.
func TestSurplus(t *testing.T) {
	own := runningProcess{pid: 7, started: second(10)}
	running := []runningProcess{{pid: 8, started: second(0)}, own}
	var list []snapshotFile
	add := func(service string, pid int, seconds ...int) {
		for _, s := range seconds {
			list = append(list, snapshotFile{service: service, pid: pid, time: second(s), path: stamp(service, pid, s)})
		}
	}
	add("a", 7, 1, 2) // of an earlier process with its pid
	add("a", 9, 3, 4) // has exited
	add("b", 9, 3, 4) // of another service
	add("a", 8, 5, 6, 7)
	add("a", 7, 10, 11, 12)
	add("before", 7, 13) // the service had another name
	for i := range 9 {   // another user's processes imitate them
		list = append(list, snapshotFile{service: "a", pid: 20 + i, time: second(20 + i), path: stamp("a", 20+i, 20+i), user: "65534"})
	}
	list = append(list, snapshotFile{service: "a", pid: 3, time: second(0), path: stamp("a", 3, 0)}) // of an earlier gclog
	for i := range list {
		if list[i].user == "" && list[i].pid != 3 {
			list[i].user = "1001"
		}
	}
	slices.SortFunc(list, func(a, b snapshotFile) int { return a.time.Compare(b.time) })
	for keep, want := range map[int][]string{
		1: {stamp("a", 7, 12), stamp("a", 7, 11), stamp("a", 7, 10), stamp("a", 9, 3), stamp("a", 7, 2), stamp("a", 7, 1)},
		2: {stamp("a", 7, 11), stamp("a", 7, 10), stamp("a", 7, 2), stamp("a", 7, 1)},
		3: {stamp("a", 7, 10), stamp("a", 7, 1)},
		4: nil,
	} {
		var got []string
		for _, f := range surplus(list, own, rotate.Owner{UserID: "1001", Service: "a"}, running, keep) {
			got = append(got, f.path)
		}
		if !slices.Equal(got, want) {
			t.Errorf("keep %d:\n%s, want\n%s", keep, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
}

// TestLeftSnapshots: the retention deletes snapshots of processes that have exited, and no other
// files.
func TestLeftSnapshots(t *testing.T) {
	dir := t.TempDir()
	old, running := makeSnapshot(t, dir, stamp("a", 7, 1)), makeSnapshot(t, dir, stamp("a", 8, 1))
	foreign := filepath.Join(dir, stamp("a", 7, 2))
	if err := os.WriteFile(foreign, []byte("a note"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(old, filepath.Join(dir, stamp("a", 7, 3))); err != nil {
		t.Fatal(err)
	}
	list := leftSnapshots(dir, []runningProcess{{8, second(0)}, {7, second(60)}})
	if len(list) != 1 || list[0].path != old {
		t.Fatalf("%+v, want %s", list, old)
	}
	clean(list, config.Retention{Age: time.Hour}, time.Now().Add(2*time.Hour))
	want := []string{stamp("a", 7, 2), stamp("a", 7, 3), filepath.Base(running)}
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}
