package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
)

// A fakeGclog does what gclog heap snapshot and diff do for the daemon.
type fakeGclog struct {
	t      *testing.T
	called [][]string
	fail   map[string]error // by the second word of a command
	rows   []growthRow      // what grew; nil: one type, from each snapshot to the next
	during func(context.Context)
}

func (f *fakeGclog) run(ctx context.Context, args, environ []string, say func(string)) ([]byte, error) {
	f.called = append(f.called, args)
	if f.during != nil {
		f.during(ctx)
	}
	say(args[1] + " does something")
	if err := f.fail[args[1]]; err != nil {
		return nil, err
	}
	if args[1] == "snapshot" {
		path := args[len(args)-1]
		makeSnapshot(f.t, filepath.Dir(path), filepath.Base(path))
		return nil, nil
	}
	rows := f.rows
	if files := filesIn(args); rows == nil {
		rows = []growthRow{{Name: "Shop.Order", Objects: int64(len(files)), Bytes: 5 << 20, Always: true, Counts: make([]growthCount, len(files))}}
		rows[0].Counts[len(files)-1].Bytes = 20 << 20
	}
	b, err := json.Marshal(rows)
	return b, err
}

// filesIn returns the snapshots among the arguments of a command.
func filesIn(args []string) (files []string) {
	for _, a := range args {
		if filepath.Ext(a) == ".gcdump" {
			files = append(files, a)
		}
	}
	return files
}

// self is this process as a target.
func self(t *testing.T) *host.Target {
	t.Helper()
	p, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	return &host.Target{Process: *p}
}

// newTask returns a task for this process.
func newTask(t *testing.T) (*snapshotTask, *fakeGclog) {
	t.Helper()
	f, target := &fakeGclog{t: t}, self(t)
	return &snapshotTask{
		target: target, facts: &gclog.Process{ID: int64(target.PID), Service: "my shop"}, dir: filepath.Join(t.TempDir(), "new", "heap"),
		o: config.HeapAuto{Keep: 2, Cooldown: time.Nanosecond}, running: []runningProcess{{target.PID, target.Started}}, run: f.run, say: func(string) {},
	}, f
}

// TestSnapshotTask: snapshots get names of their own in a directory that is created, each is
// compared with those that are kept, and the oldest is deleted after that.
func TestSnapshotTask(t *testing.T) {
	task, gclog := newTask(t)
	var files []string
	for i := range 4 {
		r := task.do(t.Context())
		if r.err != nil || r.failed != nil || r.took <= 0 {
			t.Fatalf("%d: %+v", i, r)
		}
		files = append(files, r.file)
		if want := fmt.Sprintf("my_shop-%d-%s", os.Getpid(), time.Now().UTC().Format("2006-01-02T")); !strings.HasPrefix(filepath.Base(r.file), want) {
			t.Errorf("%s, want %s...", r.file, want)
		}
		if info, err := os.Stat(task.dir); err != nil || info.Mode().Perm() != 0o750 {
			t.Errorf("the directory: %v, %v", info, err)
		}
		call := gclog.called[0]
		if want := []string{"heap", "snapshot", "--pid", fmt.Sprint(os.Getpid()), "--start-key", fmt.Sprint(task.target.StartKey), "--output", r.file}; !slices.Equal(call, want) {
			t.Errorf("%q, want %q", call, want)
		}
		compared := files[max(0, i-2):] // keep is 2, and the new one
		if i == 0 {
			if r.growth != nil || len(gclog.called) != 1 {
				t.Errorf("nothing to compare with: %+v", r.growth)
			}
		} else if got := filesIn(gclog.called[1]); !slices.Equal(got, compared) {
			t.Errorf("%q are compared, want %q", got, compared)
		} else {
			var named []string
			for _, s := range r.growth.Snapshots {
				named = append(named, s.File)
			}
			if !slices.Equal(named, compared) {
				t.Errorf("the record names %q, want %q", named, compared)
			}
			if g := r.growth.Types[0]; g.Type != "Shop.Order" || g.BytesDiff != 5<<20 || g.Bytes != 20<<20 || g.EveryTime != (i > 1) {
				t.Errorf("%d: %+v", i, g)
			}
		}
		var kept []string
		for _, f := range files[max(0, i-1):] {
			kept = append(kept, filepath.Base(f))
		}
		if got := namesIn(t, task.dir); !slices.Equal(got, kept) {
			t.Errorf("%q are kept, want %q", got, kept)
		}
		gclog.called = nil
	}
}

// TestSnapshotTaskKeep: snapshots of processes of the same service that have exited are deleted too,
// also if its name ends as that of a rotated file does. The daemon's log has what was deleted.
func TestSnapshotTaskKeep(t *testing.T) {
	for _, service := range []string{"shop", "shop-v1.2", "api.7", "a-2026-01-31T12-00-00.000"} {
		task, _ := newTask(t)
		task.facts.Service, task.o.Keep = service, 1
		var said []string
		task.say = func(s string) { said = append(said, s) }
		if err := os.MkdirAll(task.dir, 0o750); err != nil {
			t.Fatal(err)
		}
		oldest := makeSnapshot(t, task.dir, stamp(service, 1<<22+1, 1)) // larger than any pid
		kept := []string{stamp(service, 1<<22+1, 2), stamp("x"+service, 1<<22+2, 1)}
		for _, name := range kept {
			makeSnapshot(t, task.dir, name)
		}
		r := task.do(t.Context())
		if r.err != nil {
			t.Fatal(r.err)
		}
		kept = append(kept, filepath.Base(r.file))
		slices.Sort(kept)
		if got := namesIn(t, task.dir); !slices.Equal(got, kept) {
			t.Errorf("%s: left are %q, want %q", service, got, kept)
		}
		if !slices.Contains(said, "deleted "+oldest) {
			t.Errorf("%s: %q", service, said)
		}
	}
}

// TestSnapshotTaskFails: what cannot be done is reported, nothing is left, and no snapshot is lost.
func TestSnapshotTaskFails(t *testing.T) {
	task, gclog := newTask(t)
	first := task.do(t.Context()).file
	kept := []string{filepath.Base(first)}
	gclog.fail = map[string]error{"snapshot": errors.New("refused: too little memory")}
	gclog.during = func(context.Context) { // a part of what was written
		path := filesIn(gclog.called[len(gclog.called)-1])[0]
		makeSnapshot(t, task.dir, "."+filepath.Base(path)+"-x1y2")
	}
	r := task.do(t.Context())
	if r.err == nil || r.err.Error() != "refused: too little memory" || r.file != "" || r.growth != nil {
		t.Errorf("%+v", r)
	}
	if got := namesIn(t, task.dir); !slices.Equal(got, kept) {
		t.Errorf("left are %q, want %q", got, kept)
	}

	gclog.during = nil
	gclog.fail = map[string]error{"diff": errors.New("is truncated")}
	r = task.do(t.Context())
	if r.err != nil || r.failed == nil || r.growth != nil || r.file == "" {
		t.Errorf("without a comparison: %+v", r)
	}
	gclog.fail = nil
	gclog.rows = []growthRow{}
	if r = task.do(t.Context()); r.growth == nil || len(r.growth.Types) != 0 || len(r.growth.Snapshots) != 3 {
		t.Errorf("nothing has grown: %+v", r)
	}

	gclog.fail = map[string]error{"snapshot": errors.New("signal: interrupt")}
	gclog.during = func(context.Context) { // it was complete
		if args := gclog.called[len(gclog.called)-1]; args[1] == "snapshot" {
			path := filesIn(args)[0]
			makeSnapshot(t, filepath.Dir(path), filepath.Base(path))
		}
	}
	if r = task.do(t.Context()); r.err != nil || r.file == "" || r.growth == nil {
		t.Errorf("interrupted at the end: %+v", r)
	}
	gclog.fail, gclog.during = nil, nil

	task.target.StartKey++ // another process has the pid
	calls := len(gclog.called)
	if r = task.do(t.Context()); r.err == nil || len(gclog.called) != calls {
		t.Errorf("of another process: %+v", r)
	}
	task.target.StartKey--
	if err := os.WriteFile(filepath.Join(filepath.Dir(task.dir), "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	task.dir = filepath.Join(filepath.Dir(task.dir), "file")
	if r = task.do(t.Context()); r.err == nil || !strings.Contains(r.err.Error(), "heap.auto.directory: ") || len(gclog.called) != calls {
		t.Errorf("in a file: %+v", r)
	}
}

// TestSnapshotTaskAgain: after a restart of the daemon the cooldown continues, and earlier snapshots
// are compared, but not those of an earlier process with the same pid.
func TestSnapshotTaskAgain(t *testing.T) {
	task, gclog := newTask(t)
	earlier := makeSnapshotAt(t, task, task.target.Started.Add(-time.Hour))
	ours := makeSnapshotAt(t, task, task.target.Started)
	task.o.Cooldown = 24 * time.Hour
	if r := task.do(t.Context()); !r.before.Equal(ours.time) || r.err != nil || len(gclog.called) != 0 {
		t.Errorf("in the cooldown: %+v, %q", r, gclog.called)
	}
	task.o.Cooldown = time.Nanosecond
	if r := task.do(t.Context()); r.growth == nil || r.growth.Snapshots[0].File != ours.path || len(r.growth.Snapshots) != 2 {
		t.Errorf("%+v, want it compared with %s, and not with %s", r.growth, ours.path, earlier.path)
	}
	// The clock was set back: the latest snapshot still has the latest name.
	future := makeSnapshotAt(t, task, time.Now().Add(time.Hour))
	r := task.do(t.Context())
	if want := future.time.Add(time.Millisecond).Format(snapshotTime); !strings.Contains(r.file, want) {
		t.Errorf("%s, want %s", r.file, want)
	}
}

// TestSnapshotTaskBegun: if a daemon was ended while it took a snapshot, the next one tries again after
// the cooldown only, and removes what is left.
func TestSnapshotTaskBegun(t *testing.T) {
	task, gclog := newTask(t)
	var during []string
	gclog.during = func(context.Context) { during = namesIn(t, task.dir) }
	name := filepath.Base(task.do(t.Context()).file)
	if mark := "." + name + "-trying"; !slices.Equal(during, []string{mark}) {
		t.Errorf("there is %q while a snapshot is taken, want %q", during, mark)
	}
	if err := os.Remove(filepath.Join(task.dir, name)); err != nil {
		t.Fatal(err)
	}
	put := func(names ...string) {
		for _, name := range names {
			if err := os.WriteFile(filepath.Join(task.dir, name), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	now := time.Now().UTC()
	begun := fmt.Sprintf(".my_shop-%d-%s.gcdump", os.Getpid(), now.Format(snapshotTime))
	exited := "." + stamp("my_shop", 1<<22+1, 1)
	put(begun+"-trying", begun+"-x1y2", exited+"-trying", exited+"-x1y2", ".other-trying")
	task.o.Cooldown = time.Hour
	calls := len(gclog.called)
	for range 2 { // the daemon may be ended again
		r := task.do(t.Context())
		if !r.before.Equal(now.Truncate(time.Millisecond)) || !r.begun || r.err != nil || len(gclog.called) != calls {
			t.Errorf("in the cooldown: %+v, %q", r, gclog.called[calls:])
		}
	}
	want := []string{begun + "-trying", ".other-trying"}
	if got := namesIn(t, task.dir); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
	task.o.Cooldown = time.Nanosecond
	r := task.do(t.Context())
	if r.err != nil || r.begun && !r.before.IsZero() {
		t.Errorf("after the cooldown: %+v", r)
	}
	want = []string{".other-trying", filepath.Base(r.file)}
	if got := namesIn(t, task.dir); !slices.Equal(got, want) {
		t.Errorf("left are %q, want %q", got, want)
	}
}

// makeSnapshotAt creates a snapshot with the name that a task would have given it at a time.
func makeSnapshotAt(t *testing.T, task *snapshotTask, at time.Time) snapshotFile {
	t.Helper()
	if err := os.MkdirAll(task.dir, 0o750); err != nil {
		t.Fatal(err)
	}
	at = at.UTC().Truncate(time.Millisecond)
	return snapshotFile{path: makeSnapshot(t, task.dir, fmt.Sprintf("my_shop-%d-%s.gcdump", task.target.PID, at.Format(snapshotTime))), time: at}
}

// TestAsRunning: if the clock was set, forward or back, since a process was found, the snapshots taken
// before and after that are its own.
func TestAsRunning(t *testing.T) {
	p := self(t).Process
	now := p.Started
	for _, then := range []time.Time{now.Add(time.Hour), now.Add(-time.Hour)} {
		p.Started = then
		own := asRunning(&p)
		for _, at := range []time.Time{then, now.Add(time.Second)} {
			if !own.has(&snapshotFile{pid: p.PID, time: at}) {
				t.Errorf("found at %v, started at %v by the present clock: a snapshot of %v is not its own", then, now, at)
			}
		}
	}
}

// TestGrown: of the types that grew, those that grew every time come first, then those that grew
// most; there are ten at most.
func TestGrown(t *testing.T) {
	row := func(name string, bytes int64, always bool, snapshots int) growthRow {
		return growthRow{Name: name, Bytes: bytes, Objects: 1, Always: always, Counts: slices.Repeat([]growthCount{{3, 4}}, snapshots)}
	}
	var rows []growthRow
	for i := range 12 {
		rows = append(rows, row(fmt.Sprint("large", i), int64(1000-i), false, 3))
	}
	rows = append(rows, row("leak", 5, true, 3), row("shrunk", -5, false, 3), row("malformed", 5000, true, 0), row("larger leak", 6, true, 3))
	got := grown(rows, 3)
	if len(got) != grownMost || got[2].Type != "large0" || got[9].Type != "large7" {
		t.Errorf("%+v", got)
	}
	if want := []gclog.TypeGrowth{
		{Type: "larger leak", Objects: 3, Bytes: 4, ObjectsDiff: 1, BytesDiff: 6, EveryTime: true},
		{Type: "leak", Objects: 3, Bytes: 4, ObjectsDiff: 1, BytesDiff: 5, EveryTime: true},
	}; !reflect.DeepEqual(got[:2], want) {
		t.Errorf("%+v, want %+v", got[:2], want)
	}
	// A name is cut between characters.
	for _, prefix := range []string{"", "a", "aa"} {
		got := grown([]growthRow{row(prefix+strings.Repeat("€", 20000), 5, true, 2)}, 2)[0].Type
		if len(got) > 4096 || len(got) < 4090 || !utf8.ValidString(got) || !strings.HasPrefix(got, prefix+"€") || !strings.HasSuffix(got, "€…") {
			t.Errorf("%d bytes, %q...", len(got), got[:10])
		}
	}
	// Of two snapshots every growth is every time.
	if got := grown([]growthRow{row("small", 5, true, 2), row("large", 9, false, 2)}, 2); got[0].Type != "large" || got[1].EveryTime {
		t.Errorf("%+v", got)
	}
}
