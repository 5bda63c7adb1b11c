package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/output"
)

// A recording is the file of a raw stream: a new one, or what is no file, such as
// a pipe, which is written to plainly.
type recording struct {
	*os.File
	path string
	dir  *os.Root // that it was made in; nil: it was there before
}

// checkRecording finds what can be found wrong with the file of a recording.
func (p *program) checkRecording(path string) error {
	if path == output.Stdout {
		return usagef("the recording cannot go to standard output here: give a file, or use gclog record -o -")
	}
	if bad := output.BadRecordingPlace(path); bad != "" {
		return usagef("%s: there is no %s in the name of a recording: %s", path, bad, output.RecordingPlaces)
	}
	if err := p.checkOutput(path); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return usagef("%s exists already: choose another name for the recording", path)
	}
	return nil
}

// openRecording opens the file of a recording.
func openRecording(path string) (*recording, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := output.OpenDevice(path, info)
		return &recording{File: f, path: path}, err
	}
	dir, err := (&formats.RotateOptions{Sudo: sudoUser()}).OpenFolder(filepath.Dir(path))
	if err != nil {
		return nil, &output.PathError{Path: path, Err: err}
	}
	f, err := dir.OpenFile(filepath.Base(path), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		_ = dir.Close()
		return nil, &output.PathError{Path: path, Err: err}
	}
	return &recording{f, path, dir}, nil
}

// Write implements io.Writer. An error names the path, and not only the file in its directory.
func (r *recording) Write(b []byte) (int, error) {
	n, err := r.File.Write(b)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = r.path
	}
	return n, err
}

// Close closes the file.
func (r *recording) Close() error {
	if r.dir != nil {
		defer r.dir.Close()
	}
	return r.File.Close()
}

// remove removes the file of a recording, if it was made here.
func (r *recording) remove() {
	if r.dir != nil {
		_ = r.dir.Remove(filepath.Base(r.path))
	}
}

// removeEmpty does so if there is nothing in it.
func (r *recording) removeEmpty() {
	if info, err := r.Stat(); err == nil && info.Size() == 0 {
		r.remove()
	}
}

// recordingName is what dotnet-trace would call it.
func recordingName(program string, t time.Time) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == '%' || r < 0x20 {
			return '_'
		}
		return r
	}, program)
	return name + "_" + t.Format("20060102_150405") + ".nettrace"
}
