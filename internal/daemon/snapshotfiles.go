package daemon

import (
	"cmp"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// The files of heap snapshots: SERVICE-PID-TIME.gcdump. The time also shows of which of several
// processes with this pid a snapshot is.

// snapshotName is the name without the time, with places: see output.Expand.
const snapshotName = "%s-%p"

// snapshotTime is the format of the time in the name, as in the names of rotated logs.
const snapshotTime = "2006-01-02T15-04-05.000"

// A snapshotFile is a file with the name of a snapshot.
type snapshotFile struct {
	path    string
	service string // or the name of the process: what %s stands for
	pid     int
	time    time.Time
	user    string // of the process; "": unknown. Only surplus needs it
}

var snapshotFileName = regexp.MustCompile(
	`^(.+)-([0-9]+)-([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}\.[0-9]{3})\.gcdump$`)

// asSnapshot returns what the path of a snapshot says. ok is false if the name is not that of one.
func asSnapshot(path string) (f snapshotFile, ok bool) {
	parts := snapshotFileName.FindStringSubmatch(filepath.Base(path))
	if parts == nil {
		return f, false
	}
	pid, err := strconv.Atoi(parts[2])
	at, wrong := time.Parse(snapshotTime, parts[3])
	return snapshotFile{path: path, service: parts[1], pid: pid, time: at}, err == nil && wrong == nil
}

// begunName returns the name of the empty file that marks a snapshot as begun, until it is taken or
// has failed.
func begunName(name string) string { return "." + name + "-trying" }

// begunSnapshot returns the name of the snapshot that a file with this name marks as begun.
func begunSnapshot(mark string) (name string, ok bool) {
	name = strings.TrimSuffix(strings.TrimPrefix(mark, "."), "-trying")
	_, ok = asSnapshot(name)
	return name, ok && mark == begunName(name)
}

// snapshotsIn returns the snapshots in a directory, oldest first.
func snapshotsIn(dir string) (list []snapshotFile) {
	for _, path := range output.Made(filepath.Join(strings.ReplaceAll(dir, "%", "%%"), snapshotName+".gcdump")) {
		if f, ok := asSnapshot(path); ok {
			list = append(list, f)
		}
	}
	slices.SortFunc(list,
		func(a, b snapshotFile) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.path, b.path)) })
	return list
}

// A runningProcess is a process of this host. Its snapshots are not deleted because of their age.
type runningProcess struct {
	pid     int
	started time.Time
}

// asRunning returns the process as the owner of snapshots. Their names have the time of the clock of
// then: if it was set since, the start by the clock of now may be later than they are, or that by the
// clock when the process was found.
func asRunning(p *host.Process) runningProcess {
	r := runningProcess{p.PID, p.Started}
	if now := p.StartedByNow(); now.Before(r.started) {
		r.started = now
	}
	return r
}

// has reports whether a snapshot is of the process, not of an earlier one with its pid.
func (p *runningProcess) has(f *snapshotFile) bool {
	return f.pid == p.pid && !f.time.Before(p.started.Truncate(time.Millisecond))
}

// ownerOf returns the index of the process that a snapshot is of; -1: it has exited.
func ownerOf(f *snapshotFile, running []runningProcess) int {
	return slices.IndexFunc(running, func(p runningProcess) bool { return p.has(f) })
}

// surplus returns the snapshots that are too many: all but the latest keep of a running process, and
// all but the latest keep of those processes of its user and service that have exited.
func surplus(
	list []snapshotFile, of runningProcess, owner rotate.Owner, running []runningProcess, keep int,
) (delete []snapshotFile) {
	own, exited := 0, 0
	for _, f := range slices.Backward(list) {
		count := &own
		if !of.has(&f) {
			if f.service != owner.Service || f.user != owner.UserID || ownerOf(&f, running) >= 0 {
				continue
			}
			count = &exited
		}
		if *count++; *count > keep {
			delete = append(delete, f)
		}
	}
	return delete
}

// leftSnapshots returns the snapshots in a directory whose processes have exited.
func leftSnapshots(dir string, running []runningProcess) (list []leftFile) {
	for _, f := range snapshotsIn(dir) {
		if ownerOf(&f, running) >= 0 {
			continue
		}
		if left, ok := inspectSnapshot(f.path); ok {
			list = append(list, left)
		}
	}
	return list
}

// inspectSnapshot reports whether a file is a heap snapshot.
func inspectSnapshot(path string) (f leftFile, ok bool) {
	info, begin, owner, ok := inspect(path)
	if !ok || !heap.IsDump(head(begin)) {
		return f, false
	}
	return leftFile{path: path, size: info.Size(), written: info.ModTime(), info: info, owner: owner}, true
}

// head is the start of a file.
type head []byte

// Peek returns the first n bytes, or as many as there are.
func (h head) Peek(n int) ([]byte, error) { return h[:min(n, len(h))], nil }
