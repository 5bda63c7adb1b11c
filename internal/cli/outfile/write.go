// Package outfile has the files that commands write: checked before anything is written, complete or
// not there afterwards.
package outfile

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// The modes of files: all users can read reports, but not data from a process, as with logs and
// recordings.
const (
	ReportMode   fs.FileMode = 0o644
	SnapshotMode fs.FileMode = 0o640
)

// Write writes a file completely or not at all: an existing one is replaced by a complete one. It
// returns the file's size. The error is an *output.PathError. Like logs, it follows links of the user
// and of root only.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) (size int64, err error) {
	if output.IsStream(output.Named(path)) { // which may be redirected to a file: that is not replaced
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		if err != nil {
			return 0, &output.PathError{Path: path, Err: err}
		}
		return fillDevice(f, write)
	}
	o := rotate.Options{Sudo: SudoUser()}
	place, err := o.Place(path)
	if err == nil {
		if info, missing := os.Lstat(place); missing == nil && !info.Mode().IsRegular() {
			f, err := output.OpenDevice(place, info)
			if err != nil {
				return 0, err
			}
			return fillDevice(f, write)
		}
		size, err = replaceFile(&o, place, mode, write)
	}
	if err != nil {
		return 0, &output.PathError{Path: path, Err: err}
	}
	return size, nil
}

func replaceFile(
	o *rotate.Options, place string, mode fs.FileMode, write func(io.Writer) error,
) (size int64, err error) {
	dir, err := o.OpenFolder(filepath.Dir(place))
	if err != nil {
		return 0, err
	}
	defer dir.Close()
	return output.Replace(dir, filepath.Base(place), mode, write)
}

// fillDevice writes to what is not replaced, such as a pipe, and closes it.
func fillDevice(f *os.File, write func(io.Writer) error) (size int64, err error) {
	defer f.Close()
	if size, err = output.Fill(f, write); err != nil {
		return 0, &output.PathError{Path: f.Name(), Err: cause.Of(err)}
	}
	return size, nil
}

// IsDevice reports whether path exists and is not a regular file.
func IsDevice(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && !info.Mode().IsRegular()
}
