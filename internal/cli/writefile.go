package cli

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
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
			size, err = output.Fill(f, write)
			err = errors.Join(err, f.Close())
		}
		if err != nil {
			err = &output.PathError{Path: path, Err: cause.Of(err)}
		}
		return size, err
	}
	o := rotate.Options{Sudo: sudoUser()}
	dir, err := o.OpenFolder(filepath.Dir(path))
	if err != nil {
		return 0, &output.PathError{Path: path, Err: err}
	}
	defer dir.Close()
	if size, err = output.Replace(dir, filepath.Base(path), mode, write); err != nil {
		return 0, &output.PathError{Path: path, Err: err}
	}
	return size, nil
}
