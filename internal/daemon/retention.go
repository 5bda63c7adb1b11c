package daemon

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/parquet"
	"github.com/gclog/gclog/internal/rotate"
)

// The files of processes that have exited, logs, heap snapshots and recordings, and complete Parquet
// files: nothing rotates them any more, so their age and their total size are limited here.

// cleanEvery is how often to look for files to delete.
const cleanEvery = time.Minute

// A cleaner deletes them.
type cleaner struct {
	idle
	d       *Daemon
	busy    bool
	started time.Time // when it has begun the last time
}

// tick implements part: files are deleted by a goroutine, one at a time. Before all processes have been
// looked for, it is unknown which have exited.
func (x *cleaner) tick() {
	d := x.d
	r := d.config.Retention
	if r == (config.Retention{}) || !d.discovery.swept || x.busy || time.Since(x.started) < cleanEvery {
		return
	}
	x.busy, x.started = true, time.Now()
	paths, running, tables := d.config.Paths(), d.running(), d.config.Parquet.Path
	snapshots, recordings := d.snapshots.folder(), d.rules.recordings.Load().Dir
	go func() {
		list := slices.Concat(leftFiles(paths, d.opener.Paths()), leftSnapshots(snapshots, running),
			leftRecordings(recordings, running), leftTables(tables))
		deleted := clean(list, r, time.Now())
		d.post(func() {
			x.busy = false
			for _, f := range deleted {
				d.log.Info().Str("file", f.path).Int64("bytes", f.size).Time("written", f.written).
					Str("user", f.owner.UserID).Msg("deleted a file of a process that has exited")
			}
		})
	}()
}

// A leftFile is a file of a process that has exited.
type leftFile struct {
	path    string
	size    int64
	written time.Time
	info    fs.FileInfo // to recognize the file
	owner   rotate.Owner
	within  string // folders below this one are deleted with their last file; "": none are
}

// remove deletes the file that was inspected. Nobody can redirect it to another file in the
// meantime by replacing its folder with a link.
func (f *leftFile) remove() error {
	dir, err := os.OpenRoot(filepath.Dir(f.path))
	if err != nil {
		return err
	}
	defer dir.Close()
	name := filepath.Base(f.path)
	at, err := dir.Lstat(name)
	switch {
	case err != nil:
		return err
	case !os.SameFile(at, f.info):
		return errors.New("it has been replaced")
	}
	if err := dir.Remove(name); err != nil {
		return err
	}
	f.removeFolders()
	return nil
}

// removeFolders deletes the folders of the file that are empty now.
func (f *leftFile) removeFolders() {
	if f.within == "" {
		return
	}
	root, err := os.OpenRoot(f.within)
	if err != nil {
		return
	}
	defer root.Close()
	rest, err := filepath.Rel(f.within, filepath.Dir(f.path))
	for ; err == nil && rest != "."; rest = filepath.Dir(rest) {
		err = root.Remove(rest) // fails unless it is empty
	}
}

// leftFiles returns the files that outputs with these paths have written, except for those that
// belong to an open output, of this gclog or another. Only a regular file counts, with a name that
// gclog gives and content that starts as gclog's files do, in a folder that is not reached through
// a link.
func leftFiles(paths, open []string) (list []leftFile) {
	inUse := map[string]bool{}
	for _, path := range open {
		inUse[filepath.Clean(path)] = true
	}
	used := func(name string) bool { return inUse[name] || rotate.IsInUse(name) }
	seen := map[string]bool{}
	for _, path := range paths {
		for _, name := range output.Made(path) {
			if seen[name] || used(name) || used(rotate.ArchivedFrom(name)) {
				continue
			}
			seen[name] = true
			if info, owner, ok := isOurs(name, output.PerProcess(path)); ok {
				list = append(list,
					leftFile{path: name, size: info.Size(), written: info.ModTime(), info: info, owner: owner})
			}
		}
	}
	return list
}

// isOurs reports whether the content of a file is gclog's: other programs may choose such names
// too, such as package.json. An empty file shows nothing, and counts if the pid is in its name.
func isOurs(name string, hasPID bool) (info fs.FileInfo, owner rotate.Owner, ok bool) {
	info, begin, owner, ok := inspect(name)
	if len(begin) == 0 {
		return info, owner, ok && hasPID
	}
	return info, owner, logs.IsOurs(begin)
}

// inspect returns the start of a regular file that is not a link, and whose it is.
func inspect(name string) (info fs.FileInfo, begin []byte, owner rotate.Owner, ok bool) {
	err := look(name, func(f *os.File, i fs.FileInfo) (err error) {
		info, owner = i, rotate.FileOwner(f, i)
		begin, err = io.ReadAll(io.LimitReader(f, logs.BeginSize))
		return err
	})
	return info, begin, owner, err == nil
}

// look calls f with a regular file that is not a link.
func look(name string, do func(*os.File, fs.FileInfo) error) error {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe must not block
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if at, lerr := os.Lstat(name); err != nil || lerr != nil || !info.Mode().IsRegular() || !os.SameFile(at, info) {
		return errors.New("it is no regular file")
	}
	return do(f, info)
}

// tablesOwner is the owner of Parquet files, which are about processes of all users: it has a share like one.
var tablesOwner = rotate.Owner{UserID: "all"}

// leftTables returns the complete Parquet files of a path.
func leftTables(path string) (list []leftFile) {
	if path == "" {
		return nil
	}
	for _, name := range output.Made(path) {
		if rotate.ArchivedFrom(name) == name {
			continue // the daemon's have a time in their names
		}
		_ = look(name, func(f *os.File, info fs.FileInfo) error {
			if parquet.IsOurs(f, info.Size()) {
				list = append(list, leftFile{
					path:    name,
					size:    info.Size(),
					written: info.ModTime(),
					info:    info,
					owner:   tablesOwner,
					within:  output.KnownFolder(path),
				})
			}
			return nil
		})
	}
	return list
}

// clean deletes files that are too old, then files until the rest is within the total size: see quota.
func clean(list []leftFile, r config.Retention, now time.Time) (deleted []leftFile) {
	remove := func(f *leftFile) {
		if f.remove() == nil {
			deleted = append(deleted, *f)
		}
	}
	slices.SortFunc(list, func(a, b leftFile) int { return a.written.Compare(b.written) })
	rest := slices.DeleteFunc(slices.Clone(list), func(f leftFile) bool {
		old := r.Age > 0 && now.Sub(f.written) > r.Age
		if old {
			remove(&f)
		}
		return old
	})
	for _, disk := range byQuota(rest, r.Total) {
		for _, f := range surplusFiles(disk.files, disk.most) {
			remove(f)
		}
	}
	return deleted
}
