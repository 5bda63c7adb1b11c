package formats

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
)

// Files opens rotating files. It keeps the loggers of closed ones for the next,
// because each lumberjack.Logger starts a goroutine that never ends.
type Files struct {
	// IsOurs tells by the begin of a file, 8 KB at most, whether gclog has written it; nil: the
	// name alone tells. Only such files are deleted or replaced when a file is rotated.
	IsOurs func(begin []byte) bool

	mu   sync.Mutex
	idle []*lumberjack.Logger
}

// Naming is how the files that were rotated away are called.
type Naming uint8

const (
	// NameByTime is lumberjack's way: gc-2026-11-20T12-56-56.272.log.
	NameByTime Naming = iota
	// NameByIndex is HotSpot's: gc.log.0, gc.log.1, ..., in turn. GCToolKit reads
	// these as a series.
	NameByIndex
)

// RotateOptions is how a file is rotated.
type RotateOptions struct {
	Count    int         // archived files that are kept; 0: no rotation
	Size     int64       // bytes from which on another file is begun
	Naming   Naming      //
	Mode     fs.FileMode // of the files; 0: 0640
	Buffered bool        // collect groups of lines: for conversions, not for a live log
	MakeDirs bool        // make the directory of the file when it is not there, also later
	NoLinks  bool        // refuse a path that is a link: for a path that others can foresee
	Sudo     int         // the user who has called gclog by sudo, whose directories are as good as ours; 0: nobody
	As       Account     // whose rights count for the files; theirs they are then
}

const (
	defaultMode = 0o640
	// hugeMB is what lumberjack takes for its limit, in MB: it never rotates by itself.
	hugeMB = 1 << 30

	// A rotation that waits for the end of a background collection waits no longer.
	maxHold       = 60 * time.Second
	maxHoldFactor = 2 // times Size

	// beginSize is how much of a file tells whose it is.
	beginSize = 8 << 10

	// lookEvery is how often a file is looked for where it was made.
	lookEvery = 100 * time.Millisecond
)

// A RotatingFile is a log file that consists of whole groups of lines, whatever
// happens. Its name always is that of the newest file; what is older is archived
// beside it. A file that exists at the beginning is archived, never appended to.
//
// While it is written it is locked: no other RotatingFile, of whatever program, takes it
// away.
//
// lumberjack opens and writes the file. When to begin another one, what
// the old ones are called and which are deleted is decided here, because
// lumberjack knows neither groups nor heads, and overwrites what it archives
// within the same millisecond.
//
// A RotatingFile must not be used by several goroutines at once.
type RotatingFile struct {
	files *Files
	log   *lumberjack.Logger
	path  string
	o     RotateOptions
	now   func() time.Time

	file    *os.File        // open as long as it is ours, to know and to lock it; nil where that cannot be
	locked  bool            // no other RotatingFile takes it away
	open    bool            // the file of the path is ours and log writes to it
	looked  time.Time       // when that was made sure of
	ours    fs.FileInfo     // to know it again
	size    int64           // of the whole groups in it
	begun   bool            // it has its head
	torn    bool            // it may end inside a line, before what is left
	left    int64           // bytes that failed writes have left at its end, and that could not be taken back yet
	number  int             // of files begun
	index   int             // next one of NameByIndex; -1: not chosen yet
	logs    map[string]bool // by name, whether a file that looks archived is a log
	holding time.Time       // since when a rotation waits; zero: none does
	retryAt int64           // size from which on a failed rotation is tried again
	total   int64           // bytes written to all files
	pending []byte          // Buffered
	lost    error           // of the first groups that Write took and the file did not
	buf     []byte
}

// Open returns a RotatingFile for path, whose directory must exist. A file that
// exists is archived at once; the new one is made when the first group is written.
func (f *Files) Open(path string, o RotateOptions) (*RotatingFile, error) {
	if o.Mode == 0 {
		o.Mode = defaultMode
	}
	path, err := o.Place(path)
	if err != nil {
		return nil, err
	}
	r := &RotatingFile{files: f, path: path, o: o, now: time.Now, index: -1}
	if err := r.clear(); err != nil {
		return nil, err
	}
	r.log = f.logger()
	return r, nil
}

// clear archives what is in the place of the file.
func (r *RotatingFile) clear() error {
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
		if err := r.takeOver(dir); errors.Is(err, ErrWritten) {
			return err
		} else if err != nil {
			return fmt.Errorf("archiving the existing %s: %w", r.path, err)
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) && r.o.MakeDirs {
		return nil // the directory is made with the file
	}
	if err != nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("the directory of %s: %w", r.path, err)
	}
	return err
}

// base is the name of the file in its directory.
func (r *RotatingFile) base() string { return filepath.Base(r.path) }

// takeOver archives what is in the place of the file, unless it is another one's.
func (r *RotatingFile) takeOver(dir *os.Root) error {
	if IsWritten(r.path) {
		return ErrWritten
	}
	return r.archive(dir)
}

// ErrWritten is the error of opening a file that is being written already.
var ErrWritten = errors.New("another gclog is writing it: give each its own file")

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

// Bytes is how much was written, to all files together.
func (r *RotatingFile) Bytes() int64 { return r.total }

// Reopen ends the file, as log rotation by others needs it: where it was moved away
// it is closed, else it is archived. The next write makes another.
func (r *RotatingFile) Reopen() {
	_ = r.flush() // kept in lost
	r.takeBack(0)
	if r.open {
		r.rotate()
	}
}

// Follow notices what others have done with the file: one that was moved away or
// deleted is closed, and the next write makes another; one that was cut off begins
// with a head again. Writing does the same ten times a second.
func (r *RotatingFile) Follow() {
	if !r.open || r.o.Buffered {
		return
	}
	r.looked = r.now()
	if r.file != nil && !r.locked {
		r.locked = lockFile(r.file) // a reader may have been in the way
	}
	info, err := os.Lstat(r.path)
	switch {
	case errors.Is(err, syscall.EIO): // nobody knows: it stays ours
	case err != nil || !os.SameFile(info, r.ours):
		r.leave()
	case info.Size() == 0 && r.size > 0:
		r.size, r.begun, r.torn, r.left = 0, false, false, 0
	case info.Size() < r.size:
		r.size = info.Size()
	}
}

// Write implements Output. When it returns nil the group is in the file (or, of
// a buffered file, will be when Close returns nil); when it returns an error the
// group is not, and what is there of it is taken back. Where several Writers share
// a file, that of its first group makes its head.
func (r *RotatingFile) Write(head Head, group []byte, hold bool) error {
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
		if err := r.create(); err != nil {
			return err
		}
	}
	if !r.begun {
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

// writeFirst writes the head and the first group of a file.
func (r *RotatingFile) writeFirst(head Head, group []byte) error {
	r.buf = head.Append(r.buf[:0], r.number+1)
	if head.Joined || len(r.buf) == 0 {
		r.buf = append(r.buf, group...)
		group = nil
	}
	if err := r.append(r.buf); err != nil {
		return err
	}
	r.begun = true
	r.number++
	if group == nil {
		return nil
	}
	return r.append(group)
}

// append writes b with one write.
func (r *RotatingFile) append(b []byte) error {
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

// bare is an error of a file without the name that it was opened by, a descriptor's or one in an
// open directory: people know it by its path.
func bare(err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return at.Err
	}
	return err
}

// takeBack removes the n bytes that a write has left of its group, and what others have left
// before. Where that fails it is tried again before the next group, which else begins a new line.
// What the file has before them is not ours to know: others may have cut it off, and these bytes
// too.
func (r *RotatingFile) takeBack(n int64) {
	if n += r.left; n == 0 {
		return
	}
	r.left = 0
	info, err := os.Stat(r.path)
	cut := func(size int64) error { return os.Truncate(r.path, size) }
	if r.file != nil { // whatever it is called by now
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

func (r *RotatingFile) flush() error {
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

// Close writes what is buffered and closes the file. Its error also tells of
// groups that a buffered file took before, and could not write.
func (r *RotatingFile) Close() error {
	_ = r.flush() // kept in lost
	err := errors.Join(r.lost, r.log.Close())
	r.release()
	r.open = false
	r.files.put(r.log)
	r.log = nil
	return err
}

// due reports whether another file must be begun before a group of n bytes.
func (r *RotatingFile) due(n int64, hold bool) bool {
	size := r.size + int64(len(r.pending))
	if r.o.Count <= 0 || r.o.Size <= 0 || !r.begun || size+n <= r.o.Size || size < r.retryAt {
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

// rotate archives the file. If that fails, writing goes on in it, and the next
// try comes when it has grown by another eighth.
func (r *RotatingFile) rotate() {
	r.holding = time.Time{}
	r.retryAt = 0
	info, err := os.Lstat(r.path)
	if errors.Is(err, syscall.EIO) {
		r.retryAt = r.size + r.o.Size/8
		return
	}
	if err != nil || !os.SameFile(info, r.ours) {
		r.leave() // somebody moved it away: what is there now is not ours
		return
	}
	if runtime.GOOS == "windows" {
		_ = r.log.Close() // an open file cannot be renamed there; the next write opens it again
	}
	if err := r.o.inFolder(filepath.Dir(r.path), r.archive); err != nil {
		r.retryAt = r.size + r.o.Size/8
		return
	}
	r.leave()
}

// leave closes the file; the next write makes another.
func (r *RotatingFile) leave() {
	r.takeBack(0)
	// An error of close has no consequence here: every write was reported already.
	_ = r.log.Close()
	r.release()
	r.open, r.begun, r.torn = false, false, false
	r.size, r.left = 0, 0
}

// release closes our own descriptor of the file, and with it the lock.
func (r *RotatingFile) release() {
	if r.file != nil {
		_ = r.file.Close()
		r.file, r.locked = nil, false
	}
}

// create makes the file, empty, and has lumberjack open it.
//
// Made here, it is new, or the empty one that was looked at, has the mode that was asked for and
// follows no link. lumberjack opens it with the first, empty write, where it can by our own
// descriptor: nobody can lay anything in its way. Elsewhere lumberjack may move the file away and
// make its own, so the two are compared.
func (r *RotatingFile) create() error {
	const tries = 3
	var err error
	for range tries {
		var again bool
		if again, err = r.tryCreate(); !again {
			return err
		}
	}
	return err
}

// tryCreate reports whether it is worth another try.
func (r *RotatingFile) tryCreate() (again bool, err error) {
	err = r.o.inFolder(filepath.Dir(r.path), func(dir *os.Root) error {
		f, err := r.make(dir)
		if err != nil {
			return fmt.Errorf("creating %s: %w", r.path, bare(err))
		}
		made, err := f.Stat()
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("creating %s: %w", r.path, err)
		}
		if r.log.Filename = reopenable(f, r.path); keepsOpen {
			r.file, r.locked = f, lockFile(f)
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
				_ = dir.Remove(r.base()) // lumberjack's, without our mode
			}
			return errors.Join(err, fmt.Errorf("%s was replaced while it was opened", r.path))
		}
		r.open, r.ours, r.size, r.begun, r.torn, r.looked = true, made, made.Size(), false, false, r.now()
		r.left = 0
		return nil
	})
	return again, err
}

// make makes the file, or takes an empty one that another program has put there
// for us. Anything else in its place is archived.
func (r *RotatingFile) make(dir *os.Root) (*os.File, error) {
	if err := r.o.checkFile(dir, r.path); err != nil {
		return nil, err
	}
	name := r.base()
	f, err := dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, r.o.Mode)
	if !errors.Is(err, fs.ErrExist) {
		// The umask may have taken away more than was asked for; that is the user's wish.
		return f, err
	}
	info, err := dir.Lstat(name)
	if err == nil && info.Mode().IsRegular() && info.Size() == 0 && hasOneName(info) && !IsWritten(r.path) {
		return openSame(dir, name, info)
	}
	if err := r.takeOver(dir); err != nil {
		return nil, err
	}
	return dir.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, r.o.Mode)
}

// openSame opens the file that info tells of, and no other that came into its place.
func openSame(dir *os.Root, name string, info fs.FileInfo) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_APPEND|syscall.O_NONBLOCK, 0) // a pipe must not be waited for
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		_ = f.Close()
		return nil, errors.Join(err, errors.New("it was replaced while it was opened"))
	}
	return f, nil
}

// unmake closes and removes an empty file of ours, wherever lumberjack has moved it.
func (r *RotatingFile) unmake(dir *os.Root, made fs.FileInfo) {
	_ = r.log.Close()
	r.release()
	for _, e := range entries(dir) {
		if info, err := dir.Lstat(e); err == nil && strings.HasPrefix(e, filepath.Base(r.stem())) && os.SameFile(info, made) && info.Size() == 0 {
			_ = dir.Remove(e)
		}
	}
}
