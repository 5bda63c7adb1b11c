package cli

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
)

// The modes of files: a report is for everybody, what was taken from a process is not, as with logs
// and recordings.
const (
	modeReport   fs.FileMode = 0o644
	modeSnapshot fs.FileMode = 0o640
)

// writeFile writes a file completely or not at all: an existing one is replaced by a complete one. It
// returns the file's size. The error is an *output.PathError.
func writeFile(path string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	if isDevice(path) {
		var f *os.File
		if f, err = os.OpenFile(path, os.O_WRONLY|os.O_TRUNC, 0); err == nil {
			size, err = fill(f, write)
			err = cause.Of(errors.Join(err, f.Close()))
		}
	} else {
		size, err = replaceFile(path, mode, write)
	}
	if err != nil {
		return 0, &output.PathError{Path: path, Err: err}
	}
	return size, nil
}

// replaceFile writes a new file in the same folder, and renames it when it is complete.
func replaceFile(path string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	dir, err := (&formats.RotateOptions{Sudo: sudoUser()}).OpenFolder(filepath.Dir(path))
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	name := filepath.Base(path)
	part := "." + name + "-" + randomID()
	f, err := dir.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, cause.Of(err)
	}
	size, err = fill(f, write)
	err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close())
	if err == nil {
		err = dir.Rename(part, name)
	}
	if err != nil {
		_ = dir.Remove(part)
	}
	return size, cause.Of(err)
}

// fill writes the contents of a file, and returns its size.
func fill(f *os.File, write func(io.Writer) error) (size int64, err error) {
	w := bufio.NewWriterSize(f, 256<<10)
	if err := errors.Join(write(w), w.Flush()); err != nil {
		return 0, err
	}
	size, _ = f.Seek(0, io.SeekCurrent) // a pipe has none
	return size, nil
}
