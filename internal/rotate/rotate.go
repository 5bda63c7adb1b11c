package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"gopkg.in/natefinch/lumberjack.v2"

	"github.com/gclog/gclog/formats"
)

// Files opens rotating files. It reuses the loggers of closed files, because each lumberjack.Logger
// starts a goroutine that never ends.
type Files struct {
	// IsOurs reports from the start of a file, at most 8 KB, whether gclog wrote it; nil: the name
	// alone decides. Only such files are deleted or replaced during rotation.
	IsOurs func(begin []byte) bool

	mu   sync.Mutex
	idle []*lumberjack.Logger
}

// Naming is how rotated files are named.
type Naming uint8

const (
	// NameByTime is lumberjack's scheme: gc-2026-11-20T12-56-56.272.log.
	NameByTime Naming = iota
	// NameByIndex is HotSpot's scheme: gc.log.0, gc.log.1, ..., in turn. GCToolKit reads these as a
	// series.
	NameByIndex
)

// Options configure the rotation of a file.
type Options struct {
	Count    int         // number of archived files to keep; 0: no rotation
	Size     int64       // size in bytes at which a new file is started
	Naming   Naming      //
	Mode     fs.FileMode // of the files; 0: 0640
	Buffered bool        // collect groups of lines: for conversions, not for a live log
	MakeDirs bool        // create the file's directory if it is missing, at any time
	NoLinks  bool        // reject a path that is a link: for paths that other users can predict
	Sudo     int         // user who ran gclog with sudo, whose directories are trusted like our own; 0: none
	As       Account     // account whose rights apply to the files, and who will own them
}

const (
	defaultMode = 0o640
	// hugeMB is the size limit given to lumberjack, in MB: it never rotates by itself.
	hugeMB = 1 << 30

	// The limits after which a rotation no longer waits for the end of a background collection.
	maxHold       = 60 * time.Second
	maxHoldFactor = 2 // times Size

	// bufferSize is how many bytes a buffered file collects.
	bufferSize = 64 << 10

	// beginSize is how much of a file is read to find out whether gclog wrote it.
	beginSize = 8 << 10

	// lookEvery is how often gclog checks that the file is still where it was created.
	lookEvery = 100 * time.Millisecond
)

// A File is a log file that always consists of whole groups of lines. Its name is always
// that of the latest file; older files are archived next to it. A file that already exists is
// archived, never appended to.
//
// While it is being written it is locked: no other File, in any program, takes it over.
//
// lumberjack opens and writes the file. When to start a new file, how old files are named and which
// are deleted is decided here, because lumberjack knows neither groups nor headers, and overwrites
// files that it archives within the same millisecond.
//
// A File must not be used by several goroutines at once.
type File struct {
	files *Files
	log   *lumberjack.Logger
	path  string
	o     Options
	now   func() time.Time

	// file is our own descriptor, open while the file is ours, to identify and lock it; nil where that
	// is not possible.
	file      *os.File
	locked    bool                   // no other File takes the file over
	open      bool                   // the file at path is ours and log writes to it
	looked    time.Time              // when that was last checked
	ours      fs.FileInfo            // to recognize the file
	size      int64                  // of the whole groups in it
	hasHeader bool                   // its header was written
	torn      bool                   // it may end in the middle of a line, in front of the bytes in left
	left      int64                  // bytes at its end that failed writes left and that could not be removed yet
	number    int                    // number of files started
	index     int                    // next index for NameByIndex; -1: not chosen yet
	user      string                 // of the process that the file being archived is about; "": unknown
	logs      map[string]archivedLog // files with the names of archived ones
	holding   time.Time              // since when a rotation has been waiting; zero: none is
	retryAt   int64                  // size at which a failed rotation is tried again
	total     int64                  // bytes written to all files
	pending   []byte                 // groups not written yet, if Buffered
	lost      error                  // error of the first groups that Write accepted and that could not be written
	buf       []byte
}

// Open returns a File for path, whose directory must exist. An existing file is archived
// immediately; the new one is created when the first group is written.
func (f *Files) Open(path string, o Options) (*File, error) {
	if o.Mode == 0 {
		o.Mode = defaultMode
	}
	path, err := o.Place(path)
	if err != nil {
		return nil, err
	}
	r := &File{files: f, path: path, o: o, now: time.Now, index: -1}
	if err := r.clear(); err != nil {
		return nil, err
	}
	r.log = f.logger()
	return r, nil
}

// clear archives an existing file at the path.
func (r *File) clear() error {
	there := r.o
	there.MakeDirs = false
	err := there.inFolder(filepath.Dir(r.path), func(dir *os.Root) error {
		info, err := dir.Lstat(r.base())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return err
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s is not a regular file", r.path)
		}
		if err := r.takeOver(dir); errors.Is(err, ErrInUse) {
			return err
		} else if err != nil {
			return fmt.Errorf("archiving the existing %s: %w", r.path, err)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) && r.o.MakeDirs {
		return nil // the directory is created with the file
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory of %s: %w", r.path, err)
	}
	return err
}

// base returns the name of the file in its directory.
func (r *File) base() string { return filepath.Base(r.path) }

// takeOver archives an existing file at the path, unless another File is writing it.
func (r *File) takeOver(dir *os.Root) error {
	if IsInUse(r.path) {
		return ErrInUse
	}
	return r.archive(dir)
}

// ErrInUse is the error of opening a file that is already being written.
var ErrInUse = errors.New("another gclog is writing to it: give each its own file")

func (f *Files) logger() *lumberjack.Logger {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.idle); n > 0 {
		l := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return l
	}
	return &lumberjack.Logger{MaxSize: hugeMB}
}

func (f *Files) put(l *lumberjack.Logger) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.idle = append(f.idle, l)
}

// Bytes returns the number of bytes written to all files.
func (r *File) Bytes() int64 { return r.total }

// Started returns the number of files started.
func (r *File) Started() int { return r.number }

// Reopen ends the file, as external log rotation requires: if it was renamed, it is closed,
// otherwise it is archived. The next write creates a new one.
func (r *File) Reopen() {
	_ = r.flush() // the error is kept in lost
	r.takeBack(0)
	if r.open {
		r.rotate()
	}
}

// Follow checks what others have done with the file: if it was renamed or deleted it is closed, and
// the next write creates a new one; if it was truncated it starts with a header again. Write does
// the same ten times a second.
func (r *File) Follow() {
	if !r.open || r.o.Buffered {
		return
	}
	r.looked = r.now()
	if r.file != nil && !r.locked {
		r.locked = LockFile(r.file) // a reader's lock may have been in the way
	}
	info, err := os.Lstat(r.path)
	switch {
	case errors.Is(err, syscall.EIO): // unknown: it stays ours
	case err != nil || !os.SameFile(info, r.ours):
		r.leave()
	case info.Size() == 0 && r.size > 0:
		r.size, r.hasHeader, r.torn, r.left = 0, false, false, 0
	case info.Size() < r.size:
		r.size = info.Size()
	}
}

// Write implements Output. If it returns nil, the group is in the file (or, if buffered, will be
// when Close returns nil); if it returns an error, the group is not, and any part of it that was
// written is removed. If several Writers share a file, the one that writes the first group provides
// the header.
func (r *File) Write(head formats.Head, group []byte, hold bool) error {
	if now := r.now(); now.Sub(r.looked) >= lookEvery || now.Before(r.looked) {
		r.Follow()
	}
	r.takeBack(0)
	if r.open && r.left == 0 && r.due(int64(len(group)), hold) {
		if err := r.flush(); err != nil {
			return err
		}
		r.rotate()
	}
	if !r.open {
		if err := r.create(OwnerOf(head.Process)); err != nil {
			return err
		}
	}
	if !r.hasHeader {
		return r.writeFirst(head, group)
	}
	if !r.o.Buffered {
		return r.append(group)
	}
	r.pending = append(r.pending, group...)
	if len(r.pending) >= bufferSize {
		return r.flush()
	}
	return nil
}

// writeFirst writes the header and the first group of a file.
func (r *File) writeFirst(head formats.Head, group []byte) error {
	r.buf = head.Append(r.buf[:0], r.number+1)
	if head.Joined || len(r.buf) == 0 {
		r.buf = append(r.buf, group...)
		group = nil
	}
	if err := r.append(r.buf); err != nil {
		return err
	}
	r.hasHeader = true
	r.number++
	if group == nil {
		return nil
	}
	return r.append(group)
}

// append writes b with a single write.
func (r *File) append(b []byte) error {
	if r.torn || r.left > 0 {
		b = append(append(make([]byte, 0, len(b)+1), '\n'), b...)
	}
	n, err := r.log.Write(b)
	if err == nil {
		r.torn, r.left = false, 0
		r.size += int64(n)
		r.total += int64(n)
		return nil
	}
	r.takeBack(int64(n))
	return fmt.Errorf("writing %s: %w", r.path, bare(err))
}

// bare returns an error of a file without the name that it was opened by, such as a descriptor's or
// a name in an open directory: users know the file by its path.
func bare(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// takeBack removes the n bytes that a failed write left, and those left earlier. If that fails, it
// is tried again before the next group, which otherwise starts on a new line. What is in front of
// them in the file is unknown: others may have truncated it, including these bytes.
func (r *File) takeBack(n int64) {
	if n += r.left; n == 0 {
		return
	}
	r.left = 0
	info, err := os.Stat(r.path)
	cut := func(size int64) error { return os.Truncate(r.path, size) }
	if r.file != nil { // whatever its current name is
		info, err = r.file.Stat()
		cut = r.file.Truncate
	}
	switch {
	case err == nil && !os.SameFile(info, r.ours):
		r.torn = true
	case err == nil && info.Size() < n:
		r.torn = info.Size() > 0
	case err != nil || cut(info.Size()-n) != nil:
		r.left = n
	}
}

func (r *File) flush() error {
	if len(r.pending) == 0 {
		return nil
	}
	err := r.append(r.pending)
	r.pending = r.pending[:0]
	if r.lost == nil {
		r.lost = err
	}
	return err
}

// Close writes what is buffered and closes the file. Its error includes groups that a buffered file
// accepted earlier and could not write.
func (r *File) Close() error {
	_ = r.flush() // the error is kept in lost
	err := errors.Join(r.lost, r.log.Close())
	r.release()
	r.open = false
	r.files.put(r.log)
	r.log = nil
	return err
}

// due reports whether a new file must be started before a group of n bytes.
func (r *File) due(n int64, hold bool) bool {
	size := r.size + int64(len(r.pending))
	if r.o.Count <= 0 || r.o.Size <= 0 || !r.hasHeader || size+n <= r.o.Size || size < r.retryAt {
		return false
	}
	if !hold {
		return true
	}
	if r.holding.IsZero() {
		r.holding = r.now()
	}
	return size+n > maxHoldFactor*r.o.Size || r.now().Sub(r.holding) > maxHold
}

// rotate archives the file. If that fails, writing continues in it, and rotation is tried again
// when it has grown by another eighth.
func (r *File) rotate() {
	r.holding = time.Time{}
	r.retryAt = 0
	info, err := os.Lstat(r.path)
	if errors.Is(err, syscall.EIO) {
		r.retryAt = r.size + r.o.Size/8
		return
	}
	if err != nil || !os.SameFile(info, r.ours) {
		r.leave() // it was renamed: what is there now is not ours
		return
	}
	if runtime.GOOS == "windows" {
		_ = r.log.Close() // an open file cannot be renamed on Windows; the next write opens it again
	}
	if err := r.o.inFolder(filepath.Dir(r.path), r.archive); err != nil {
		r.retryAt = r.size + r.o.Size/8
		return
	}
	r.leave()
}

// leave closes the file; the next write creates a new one.
func (r *File) leave() {
	r.takeBack(0)
	// An error of Close has no consequence here: every write was already reported.
	_ = r.log.Close()
	r.release()
	r.open, r.hasHeader, r.torn = false, false, false
	r.size, r.left = 0, 0
}

// release closes our own descriptor of the file, if there is one, and thereby unlocks it.
func (r *File) release() { _ = r.file.Close() }

// create creates the file, empty, and makes lumberjack open it.
//
// The file created here is new, or the empty one that was checked, has the requested mode and
// follows no link. lumberjack opens it with the first, empty write, if possible through our own
// descriptor, so that no other user can put anything in its way. Otherwise lumberjack may rename
// the file and create its own, so the two are compared.
func (r *File) create(owner Owner) error {
	const tries = 3
	var err error
	for range tries {
		var again bool
		if again, err = r.tryCreate(owner); !again {
			return err
		}
	}
	return err
}

// tryCreate creates the file once. It reports whether another attempt makes sense.
func (r *File) tryCreate(owner Owner) (again bool, err error) {
	err = r.o.inFolder(filepath.Dir(r.path), func(dir *os.Root) error {
		f, err := r.make(dir)
		if err != nil {
			return fmt.Errorf("creating %s: %w", r.path, bare(err))
		}
		owner.SetOwner(f)
		made, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("creating %s: %w", r.path, err)
		}
		if r.log.Filename = reopenable(f, r.path); keepsOpen {
			r.file, r.locked = f, LockFile(f)
		} else {
			_ = f.Close()
		}
		if _, err := r.log.Write(nil); err != nil {
			r.unmake(dir, made)
			return fmt.Errorf("opening %s: %w", r.path, bare(err))
		}
		info, err := dir.Lstat(r.base())
		if err != nil || !os.SameFile(info, made) {
			again = true
			r.unmake(dir, made)
			if err == nil && info.Size() == 0 && r.log.Filename == r.path {
				_ = dir.Remove(r.base()) // created by lumberjack, without our mode
			}
			return errors.Join(err, fmt.Errorf("%s was replaced while being opened", r.path))
		}
		r.open, r.ours, r.size, r.looked = true, made, made.Size(), r.now()
		return nil
	})
	return again, err
}

// make creates the file, or uses an empty one that another program put there for us. Anything else
// in its place is archived.
func (r *File) make(dir *os.Root) (*os.File, error) {
	if err := r.o.checkFile(dir, r.path); err != nil {
		return nil, err
	}
	name := r.base()
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, r.o.Mode)
	if !errors.Is(err, fs.ErrExist) {
		// The umask may have removed more permissions than requested; that is the user's choice.
		return f, err
	}
	info, err := dir.Lstat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 && hasOneName(info) && !IsInUse(r.path) {
		return openSame(dir, name, info)
	}
	if err := r.takeOver(dir); err != nil {
		return nil, err
	}
	return dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, r.o.Mode)
}

// openSame opens the file that info describes, but no other that has taken its place.
func openSame(dir *os.Root, name string, info fs.FileInfo) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0) // must not block on a pipe
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		_ = f.Close()
		return nil, errors.Join(err, errors.New("it was replaced while being opened"))
	}
	return f, nil
}

// unmake closes and removes an empty file of ours, wherever lumberjack has moved it.
func (r *File) unmake(dir *os.Root, made fs.FileInfo) {
	_ = r.log.Close()
	r.release()
	for _, e := range entries(dir) {
		if !strings.HasPrefix(e, filepath.Base(r.stem())) {
			continue
		}
		if info, err := dir.Lstat(e); err == nil && os.SameFile(info, made) && info.Size() == 0 {
			_ = dir.Remove(e)
		}
	}
}
