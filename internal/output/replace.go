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
// that when it is complete. It returns the file's size once the file is on the disk: a file that
// replaces another is synced before it gets the name, a new one after, so that it can be read meanwhile.
func Replace(dir *os.Root, name string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	part := "." + name + "-" + strings.ToLower(rand.Text()[:16])
	f, err := dir.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, cause.Of(err)
	}
	size, err = Fill(f, write)
	err = errors.Join(err, f.Chmod(mode))
	_, missing := dir.Lstat(name)
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

// Fill writes the contents of a file, and returns its size.
func Fill(f *os.File, write func(io.Writer) error) (size int64, err error) {
	w := bufio.NewWriterSize(f, 256<<10)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return 0, err
	}
	size, _ = f.Seek(0, io.SeekCurrent) // a pipe has none
	return size, nil
}
