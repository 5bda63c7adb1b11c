package output

import (
	"bufio"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/gclog/gclog/internal/cause"
)

// Replace writes a file of a directory completely or not at all: it writes another one, and renames
// that when it is complete. It returns the file's size when the file is on the disk: one that replaces
// another is before it gets the name, a new one can be read meanwhile.
func Replace(dir *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	part := "." + name + "-" + strings.ToLower(rand.Text()[:16])
	f, err := dir.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, cause.Of(err)
	}
	size, err = Fill(f, write)
	err = errors.Join(err, f.Chmod(mode))
	_, missing := dir.Lstat(name)
	if err == nil && missing == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close()) // some systems rename no open file
	if err == nil {
		err = dir.Rename(part, name)
	}
	if err != nil {
		_ = dir.Remove(part)
		return 0, cause.Of(err)
	}
	if missing == nil {
		return size, nil
	}
	if err := syncFile(dir, name); err != nil {
		_ = dir.Remove(name)
		return 0, cause.Of(err)
	}
	return size, nil
}

// syncFile waits until a file is on the disk.
func syncFile(dir *os.Root, name string) error {
	f, err := dir.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Fill writes the contents of a file, and returns its size.
func Fill(f *os.File, write func(io.Writer) error) (size int64, err error) {
	w := bufio.NewWriterSize(f, 256<<10)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return 0, err
	}
	size, _ = f.Seek(0, io.SeekCurrent) // a pipe has none
	return size, nil
}
