package daemon

import (
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/output"
)

// The files of processes that are gone: nobody rotates them any more, so their age and
// their total size are limited here.

// cleanEvery is how often it is looked for files to delete.
const cleanEvery = time.Minute

// clean deletes in a goroutine of its own, one at a time.
func (d *Daemon) clean() {
	r := d.config.Retention
	if r.Total <= 0 && r.Age <= 0 || d.cleaning || time.Since(d.cleaned) < cleanEvery {
		return
	}
	d.cleaning, d.cleaned = true, time.Now()
	paths := d.config.Paths()
	go func() {
		deleted, bytes := clean(leftFiles(paths, d.opener.Paths()), r, time.Now())
		d.post(func() {
			d.cleaning = false
			if deleted > 0 {
				d.log.Info().Int("files", deleted).Int64("bytes", bytes).Msg("files of processes that are gone were deleted")
			}
		})
	}()
}

// A leftFile is a file of a process that is gone.
type leftFile struct {
	path    string
	size    int64
	written time.Time
}

// leftFiles returns the files that outputs with these paths have made, but for those that
// belong to an open one, of this gclog or another. Nothing else than a regular file with a name of ours counts, in a
// folder that no link leads to.
func leftFiles(paths, open []string) (list []leftFile) {
	inUse := map[string]bool{}
	for _, path := range open {
		inUse[filepath.Clean(path)] = true
	}
	used := func(name string) bool { return inUse[name] || formats.IsWritten(name) }
	seen := map[string]bool{}
	for _, path := range paths {
		for _, name := range output.Made(path) {
			if seen[name] || used(name) || used(formats.ArchivedFrom(name)) {
				continue
			}
			seen[name] = true
			if info, err := os.Lstat(name); err == nil && info.Mode().IsRegular() {
				list = append(list, leftFile{name, info.Size(), info.ModTime()})
			}
		}
	}
	return list
}

// clean deletes what is too old, then the oldest until the rest is not too much.
func clean(list []leftFile, r config.Retention, now time.Time) (deleted int, bytes int64) {
	slices.SortFunc(list, func(a, b leftFile) int { return a.written.Compare(b.written) })
	var total int64
	for _, f := range list {
		total += f.size
	}
	for _, f := range list {
		old := r.Age > 0 && now.Sub(f.written) > r.Age
		much := r.Total > 0 && total > r.Total
		if !old && !much {
			continue
		}
		if os.Remove(f.path) == nil {
			deleted++
			bytes += f.size
		}
		total -= f.size
	}
	return deleted, bytes
}
