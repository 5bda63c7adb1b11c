package output

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/gclog/gclog/internal/cause"
)

// Replace writes a file of a directory completely or not at all: it writes another one, and renames
// that when it is complete. A new file gets mode, but for the umask; one that replaces another keeps
// its permissions. It returns the file's size once the file is on the disk: a file that
// replaces another is synced before it gets the name, a new one after, so that it can be read meanwhile.
func Replace(dir *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	part := "." + name + "-" + strings.ToLower(rand.Text()[:16])
	f, size, err := fillPart(dir, part, mode, write)
	if f == nil {
		return 0, cause.Of(err)
	}
	old, missing := dir.Lstat(name)
	if missing == nil {
		err = errors.Join(err, f.Chmod(old.Mode().Perm()))
	}
	isNew := errors.Is(missing, fs.ErrNotExist) && runtime.GOOS != "windows" // which renames no open file
	if err == nil && !isNew {
		err = errors.Join(f.Sync(), f.Close())
	}
	if err == nil {
		err = dir.Rename(part, name)
	}
	if err == nil && isNew {
		part, err = name, errors.Join(f.Sync(), f.Close())
	}
	if err != nil {
		_ = f.Close() // some systems remove no open file
		_ = dir.Remove(part)
		return 0, cause.Of(err)
	}
	return size, nil
}

// fillPart creates a file of a directory when there is something to write, and writes it: a command that
// is interrupted before leaves nothing.
func fillPart(
	dir *os.Root, name string, mode fs.FileMode, write func(io.Writer) error,
) (f *os.File, size int64, err error) {
	create := func() (err error) {
		if f == nil {
			f, err = dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		}
		return err
	}
	w := bufio.NewWriterSize(writer(func(b []byte) (int, error) {
		if err := create(); err != nil {
			return 0, err
		}
		return f.Write(b)
	}), 256<<10)
	if err = errors.Join(write(w), w.Flush()); err == nil {
		err = create()
	}
	if f != nil {
		size, _ = f.Seek(0, io.SeekCurrent)
	}
	return f, size, err
}

// A writer is a function as an io.Writer.
type writer func([]byte) (int, error)

// Write implements io.Writer.
func (w writer) Write(b []byte) (int, error) { return w(b) }

// Fill writes the contents of a file, and returns its size.
func Fill(f *os.File, write func(io.Writer) error) (size int64, err error) {
	w := bufio.NewWriterSize(f, 256<<10)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return 0, err
	}
	size, _ = f.Seek(0, io.SeekCurrent) // a pipe has none
	return size, nil
}
