package flight

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/nettrace"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/shares"
)

// Files is a directory of recordings: SERVICE-PID-TIME.nettrace, with the time at which the trigger
// began. If a recording has parts of several sessions, the second has the name
// SERVICE-PID-TIME.2.nettrace, and so on. Several goroutines may use it at a time.
type Files struct {
	Dir string
	// Keep is how many recordings of a process are kept, and how many of those processes of a user and
	// a service that have exited.
	Keep int
	Size int64 // how many bytes all files may have, apart from the latest recording; 0: no limit
	// Running reports whether the process with a pid, of which there is a recording of a time, is
	// still running; nil: no recording is deleted because its process has exited.
	Running func(pid int64, at time.Time) bool
	Folder  rotate.Options // has the options of the directory

	mu      sync.Mutex   // held while a recording is written
	asking  sync.Mutex   // guards waiting
	waiting *shares.Room // of recordings that are being written, or wait for that; nil: none has
}

const (
	// fileName is the name without the time, with places: see output.Expand.
	fileName = "%s-%p-"
	// fileTime is the format of the time in the name, as in the names of heap snapshots.
	fileTime = "2006-01-02T15-04-05.000"
	fileMode = 0o640
	// maxWaiting is how many recordings may wait for the disk, with what they hold in memory. No user
	// has all of these places.
	maxWaiting = 32
)

var (
	filePattern = regexp.MustCompile(
		`^(.+)-([0-9]+)-([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}\.[0-9]{3})(?:\.[0-9]+)?\.nettrace$`)
	partPattern = regexp.MustCompile(`^\.(.+)-[a-z0-9]{16}$`)
)

// A Saved is a recording that was written.
type Saved struct {
	Files     []File
	Deleted   []string      // files that were too many
	Missing   time.Duration // see Recording.Missing
	Exhausted bool
}

// A File is a file that was written.
type File struct {
	Path string
	Contents
}

// Save waits until a recording is complete, writes and releases it, and deletes the recordings that
// are too many. What was written is returned with an error too.
func (f *Files) Save(r *Recording, of *gclog.Process) (s Saved, err error) {
	<-r.Done()
	defer r.Release()
	s.Missing, s.Exhausted = r.Missing()
	parts, err := r.Parts()
	if err != nil {
		return s, err
	}
	leave, err := f.enter(of.UserID)
	if err != nil {
		return s, err
	}
	defer leave()
	f.mu.Lock()
	defer f.mu.Unlock()
	err = f.Folder.As.Do(func() error {
		dir, err := f.Folder.OpenFolder(f.Dir)
		if err != nil {
			return &output.PathError{Path: f.Dir, Err: cause.Of(err)}
		}
		defer dir.Close()
		begin := output.Expand(fileName, of, "") + r.trigger.Time.UTC().Format(fileTime)
		for i, p := range parts {
			name := begin + ".nettrace"
			if i > 0 {
				name = begin + "." + strconv.Itoa(i+1) + ".nettrace"
			}
			written := File{Path: filepath.Join(f.Dir, name)}
			_, err := output.Replace(dir, name, fileMode, func(w io.Writer) (err error) {
				written.Contents, err = p.Write(w, of)
				return err
			})
			if err != nil {
				return &output.PathError{Path: written.Path, Err: err}
			}
			rotate.OwnerOf(of).SetOwnerIn(dir, name)
			s.Files = append(s.Files, written)
		}
		s.Deleted, err = f.tidy(dir, asName(begin+".nettrace"), of)
		return err
	})
	return s, err
}

// enter takes one of the places for recordings that wait.
func (f *Files) enter(user string) (leave func(), err error) {
	f.asking.Lock()
	defer f.asking.Unlock()
	if f.waiting == nil {
		f.waiting = shares.NewRoom(maxWaiting)
	}
	place := f.waiting.Of(user)
	if !place.Take(1) {
		return nil, &output.PathError{
			Path: f.Dir,
			Err:  fmt.Errorf("%d recordings are waiting for it: it is too slow", f.waiting.Used()),
		}
	}
	return func() {
		f.asking.Lock()
		defer f.asking.Unlock()
		place.Give(1)
	}, nil
}

// tidy deletes the recordings that are too many with the latest one of a process, and what an earlier
// gclog has not completed. It returns the paths of what it deleted.
func (f *Files) tidy(dir *os.Root, latest name, of *gclog.Process) (deleted []string, err error) {
	entries, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, err
	}
	user, _ := recordingUser(dir, latest.file()) // unknown where files have no owners
	slices.SortStableFunc(entries,
		func(a, b fs.DirEntry) int { return cmp.Compare(asName(b.Name()).time, asName(a.Name()).time) })
	kept := map[bool][]name{} // files of the process, and of processes that have exited
	var size int64
	for _, e := range entries {
		info, wrong := e.Info()
		if wrong != nil || !info.Mode().IsRegular() {
			continue
		}
		remove := isAbandoned(info)
		x := asName(e.Name())
		owner, ok := "", false
		if x.time != "" {
			owner, ok = recordingUser(dir, e.Name())
		}
		if ok {
			own := x.pid == latest.pid && !x.at().Before(of.Started.Truncate(time.Millisecond)) &&
				(of.StartKey != 0 || x.service == latest.service) // in another pid namespace others have the pid
			counts := own ||
				x.service == latest.service && owner == user && f.Running != nil && !f.Running(x.pid, x.at())
			known := slices.Contains(kept[own], x) // another part of it
			remove = x != latest &&
				(counts && !known && len(kept[own]) >= f.Keep || f.Size > 0 && size+info.Size() > f.Size)
			if !remove {
				size += info.Size()
			}
			if !remove && counts && !known {
				kept[own] = append(kept[own], x)
			}
		}
		if remove {
			err = errors.Join(err, dir.Remove(e.Name()))
			deleted = append(deleted, filepath.Join(f.Dir, e.Name()))
		}
	}
	return deleted, err
}

// A name is what the name of a recording says.
type name struct {
	service string // what %s stands for
	pid     int64
	time    string // ""; it is not the name of a recording
}

func asName(file string) name {
	m := filePattern.FindStringSubmatch(file)
	if m == nil {
		return name{}
	}
	pid, err := strconv.ParseInt(m[2], 10, 64)
	if err != nil {
		return name{}
	}
	return name{m[1], pid, m[3]}
}

// file returns the name of the file of its first part.
func (n *name) file() string { return fmt.Sprintf("%s-%d-%s.nettrace", n.service, n.pid, n.time) }

// at returns the time; the zero time if there is no such time.
func (n *name) at() time.Time {
	t, _ := time.Parse(fileTime, n.time)
	return t
}

// ParseName returns of which process and of which time a recording is, by the name of its file.
func ParseName(path string) (pid int64, at time.Time, ok bool) {
	n := asName(filepath.Base(path))
	return n.pid, n.at(), n.time != ""
}

// recordingUser returns the user of the process that a recording is of, "" if that is unknown. ok is
// false if a file does not begin like a recording.
func recordingUser(dir *os.Root, name string) (user string, ok bool) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", false
	}
	defer f.Close()
	info, err := f.Stat()
	head := make([]byte, nettrace.HeadSize)
	if _, wrong := io.ReadFull(f, head); err != nil || wrong != nil || !nettrace.MayBeHead(head) {
		return "", false
	}
	return rotate.FileOwner(f, info).UserID, true
}

// isAbandoned reports whether a file was not completed by a gclog that has ended.
func isAbandoned(info fs.FileInfo) bool {
	const longEnough = time.Hour
	m := partPattern.FindStringSubmatch(info.Name())
	return m != nil && filePattern.MatchString(m[1]) && time.Since(info.ModTime()) > longEnough
}
