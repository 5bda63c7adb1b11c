package cli

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// A recording is the file of a raw stream: a new file, or something that exists and is not a
// regular file, such as a pipe.
type recording struct {
	*os.File
	path string
	dir  *os.Root // the folder in which it was created; nil: it existed before
}

// checkRecording finds problems with the file of a recording before a session begins.
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
	dir, err := (&rotate.Options{Sudo: sudoUser()}).OpenFolder(filepath.Dir(path))
	if err != nil {
		return nil, &output.PathError{Path: path, Err: err}
	}
	f, err := dir.OpenFile(filepath.Base(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		_ = dir.Close()
		return nil, &output.PathError{Path: path, Err: err}
	}
	return &recording{f, path, dir}, nil
}

// Write implements io.Writer. Its errors contain the whole path, not only the file's name in its
// folder.
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

// end closes the file, and removes it if it is not kept or is empty.
func (r *recording) end(keep bool) {
	if !keep {
		_ = r.File.Close()
		r.remove()
	} else {
		r.removeEmpty()
	}
	_ = r.Close()
}

// remove removes the file of a recording, if it was created here.
func (r *recording) remove() {
	if r.dir != nil {
		_ = r.dir.Remove(filepath.Base(r.path))
	}
}

// removeEmpty removes it if it is empty.
func (r *recording) removeEmpty() {
	if info, err := r.Stat(); err == nil && info.Size() == 0 {
		r.remove()
	}
}

// recordingName returns the name that dotnet-trace would choose.
func recordingName(program string, t time.Time) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == '%' || r < 0x20 {
			return '_'
		}
		return r
	}, program)
	return name + "_" + t.Format("20060102_150405") + ".nettrace"
}
