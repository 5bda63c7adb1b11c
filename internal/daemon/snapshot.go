package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// A snapshotTask takes the heap snapshot of a process, compares it with the snapshots before it, and
// deletes the oldest if there are too many. A goroutine of its own runs commands of gclog for that.
type snapshotTask struct {
	target  *host.Target
	facts   *gclog.Process
	dir     string
	o       config.HeapAuto
	running []runningProcess // the process is one of them
	environ []string         // of the commands
	run     runGclog
	say     func(string) // in the daemon's own log
}

// runGclog runs a command of gclog in a process of its own: command.Self.
type runGclog func(ctx context.Context, args, environ []string, say func(string)) (out []byte, err error)

// A snapshotResult is what came of a snapshotTask.
type snapshotResult struct {
	file   string // of the snapshot
	took   time.Duration
	growth *gclog.HeapGrowth // since the ones before it; nil: there are none
	failed error             // why there is no growth
	err    error             // why there is no snapshot
	before time.Time         // when an earlier daemon started a snapshot whose cooldown is not over; zero: never
	begun  bool              // that daemon did not finish it
}

const (
	// snapshotMost is how long a snapshot and the comparison may take.
	snapshotMost = 30 * time.Minute
	// grownMost is how many types that grew are reported, of the diffTypes that grew most.
	grownMost = 10
	// typeName is the most bytes of the name of a type in the log. It comes from the process, and a
	// reader need not accept longer lines than 1 MB.
	typeName  = 4 << 10
	diffTypes = 200
)

// do takes the snapshot.
func (t *snapshotTask) do(ctx context.Context) (r snapshotResult) {
	began := time.Now()
	defer func() { r.took = time.Since(began) }()
	dir, err := (&rotate.Options{MakeDirs: true, NoLinks: true}).OpenFolder(t.dir)
	if err != nil {
		r.err = fmt.Errorf("heap.auto.directory: %w", err)
		return r
	}
	defer dir.Close()
	own := asRunning(&t.target.Process)
	before := t.earlier(&own)
	var newest time.Time
	if n := len(before); n > 0 {
		newest = before[n-1].time
	}
	if begun := t.clearBegun(dir, &own, began); begun.After(newest) {
		newest, r.begun = begun, true
	}
	if t.cooling(newest, began) {
		r.before = newest
		return r
	}
	at := began.UTC().Truncate(time.Millisecond) // as in the name
	if !at.After(newest) {                       // the clock was set back, or the cooldown is short
		at = newest.Add(time.Millisecond)
	}
	if !t.target.Alive() {
		r.err = errors.New("it has exited")
		return r
	}
	name := output.Expand(snapshotName+"-"+at.Format(snapshotTime)+".gcdump", t.facts, "")
	path := filepath.Join(t.dir, name)
	if err := dir.WriteFile(begunName(name), nil, 0o640); err != nil {
		r.err = err
		return r
	}
	defer func() { _ = dir.Remove(begunName(name)) }()
	args := []string{
		"heap", "snapshot", "--pid", strconv.Itoa(t.target.PID),
		"--start-key", strconv.FormatUint(t.target.StartKey, 10), "--output", path,
	}
	_, err = t.run(ctx, args, t.environ, t.say)
	if _, complete := inspectSnapshot(path); err != nil && !complete { // it may be interrupted when it is done
		r.err = err
		removeParts(dir, name)
		return r
	}
	rotate.OwnerOf(t.facts).SetOwnerIn(dir, name)
	r.file = path
	if len(before) > 0 {
		r.growth, r.failed = t.compare(ctx, append(before, snapshotFile{path: path, time: at}))
	}
	t.removeSurplus(own, path)
	return r
}

// removeSurplus deletes the snapshots that are too many with the one that was taken.
func (t *snapshotTask) removeSurplus(own runningProcess, path string) {
	taken, _ := asSnapshot(path)
	files := map[string]leftFile{}
	list := slices.DeleteFunc(snapshotsIn(t.dir), func(f snapshotFile) bool {
		left, ok := inspectSnapshot(f.path)
		files[f.path] = left
		return !ok
	})
	for i := range list {
		list[i].user = files[list[i].path].owner.UserID
	}
	owner := rotate.Owner{UserID: files[path].owner.UserID, Service: taken.service} // as the files have it
	for _, f := range surplus(list, own, owner, t.running, t.o.Keep) {
		left := files[f.path]
		if err := left.remove(); err != nil {
			t.say(fmt.Sprintf("%s, one more than heap.auto.keep, cannot be deleted: %v", f.path, err))
			continue
		}
		t.say("deleted " + f.path)
	}
}

// earlier returns the snapshots of the process that are kept, oldest first.
func (t *snapshotTask) earlier(own *runningProcess) []snapshotFile {
	list := slices.DeleteFunc(snapshotsIn(t.dir), func(f snapshotFile) bool {
		_, ok := inspectSnapshot(f.path)
		return !ok || !own.has(&f)
	})
	return list[max(0, len(list)-t.o.Keep):]
}

// cooling reports whether the cooldown of a snapshot that was taken at a time is not over.
func (t *snapshotTask) cooling(at, now time.Time) bool {
	since := now.Sub(at)
	return since >= 0 && since < t.o.Cooldown
}

// clearBegun removes what is left of snapshots that were begun when an earlier daemon ended, and
// returns when the last one of the process was begun. Perhaps it was the reason: if memory runs out,
// the kernel may end the whole container. So its mark stays until the cooldown is over.
func (t *snapshotTask) clearBegun(dir *os.Root, own *runningProcess, now time.Time) (last time.Time) {
	list, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range list {
		name, ok := begunSnapshot(e.Name())
		if !ok {
			continue
		}
		removeParts(dir, name)
		f, _ := asSnapshot(name)
		if own.has(&f) && f.time.After(last) {
			last = f.time
		}
		if ownerOf(&f, t.running) < 0 || !t.cooling(f.time, now) {
			_ = dir.Remove(e.Name())
		}
	}
	return last
}

// removeParts removes what a command has left that could not complete a file: it may have been
// killed.
func removeParts(dir *os.Root, name string) {
	list, _ := fs.ReadDir(dir.FS(), ".")
	for _, e := range list {
		if strings.HasPrefix(e.Name(), "."+name) && e.Name() != begunName(name) {
			_ = dir.Remove(e.Name())
		}
	}
}

// A growthRow is a row of the output of heap diff.
type growthRow struct {
	Name    string        `json:"name"`
	Objects int64         `json:"objects"` // last - first
	Bytes   int64         `json:"bytes"`
	Always  bool          `json:"grew_every_time"`
	Counts  []growthCount `json:"snapshots"`
}

type growthCount struct {
	Objects uint64 `json:"objects"`
	Bytes   uint64 `json:"bytes"`
}

// compare returns what grew in a series of snapshots.
func (t *snapshotTask) compare(ctx context.Context, list []snapshotFile) (*gclog.HeapGrowth, error) {
	args := []string{"heap", "diff", "-f", "json", "--top", strconv.Itoa(diffTypes)}
	g := &gclog.HeapGrowth{}
	for _, f := range list {
		args = append(args, f.path)
		g.Snapshots = append(g.Snapshots, gclog.HeapSnapshot{File: f.path, Time: f.time})
	}
	out, err := t.run(ctx, args, t.environ, t.say)
	if err != nil {
		return nil, err
	}
	var rows []growthRow
	if err := json.Unmarshal(out, &rows); err != nil {
		return nil, fmt.Errorf("the output of gclog heap diff: %w", err)
	}
	g.Types = grown(rows, len(list))
	return g, nil
}

// grown returns the types that have grown most in a number of snapshots. If there are more than two,
// those that grew every time come first.
func grown(rows []growthRow, snapshots int) (list []gclog.TypeGrowth) {
	for i := range rows {
		r := &rows[i]
		if r.Bytes <= 0 || len(r.Counts) != snapshots {
			continue
		}
		last := r.Counts[len(r.Counts)-1]
		list = append(list, gclog.TypeGrowth{
			Type:        shortName(r.Name),
			Objects:     last.Objects,
			Bytes:       last.Bytes,
			ObjectsDiff: r.Objects,
			BytesDiff:   r.Bytes,
			EveryTime:   r.Always && snapshots > 2,
		})
	}
	slices.SortStableFunc(list, func(a, b gclog.TypeGrowth) int {
		if a.EveryTime != b.EveryTime {
			if a.EveryTime {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.BytesDiff, a.BytesDiff)
	})
	return list[:min(len(list), grownMost)]
}

// shortName cuts the name of a type.
func shortName(name string) string {
	if len(name) <= typeName {
		return name
	}
	return strings.ToValidUTF8(name[:typeName-len("…")], "") + "…"
}
