package outfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
)

// A Recording is the file of a raw stream: a new file, or something that exists and is not a
// regular file, such as a pipe.
type Recording struct {
	*os.File
	Path string
	Dir  *os.Root // the folder in which it was created; nil: it existed before
}

// CheckRecording finds problems with the file of a recording before a session begins.
func CheckRecording(p *program.Run, path string) error {
	if path == output.Stdout {
		return exit.Usagef("the recording cannot go to standard output here: give a file, or use gclog record -o -")
	}
	if bad := output.BadRecordingPlace(path); bad != "" {
		return exit.Usagef("%s: there is no %s in the name of a recording: %s", path, bad, output.RecordingPlaces)
	}
	if err := CheckOutput(p, path); err != nil {
		return err
	}
	if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
		return exit.Usagef("%s exists already: choose another name for the recording", path)
	}
	return nil
}

// OpenRecording opens the file of a recording.
func OpenRecording(path string) (*Recording, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		f, err := output.OpenDevice(path, info)
		return &Recording{File: f, Path: path}, err
	}
	dir, err := (&rotate.Options{Sudo: SudoUser()}).OpenFolder(filepath.Dir(path))
	if err != nil {
		return nil, &output.PathError{Path: path, Err: err}
	}
	f, err := dir.OpenFile(filepath.Base(path), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		_ = dir.Close()
		return nil, &output.PathError{Path: path, Err: err}
	}
	return &Recording{f, path, dir}, nil
}

// Write implements io.Writer. Its errors contain the whole path, not only the file's name in its
// folder.
func (r *Recording) Write(b []byte) (int, error) {
	n, err := r.File.Write(b)
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		at.Path = r.Path
	}
	return n, err
}

// Close closes the file.
func (r *Recording) Close() error {
	if r.Dir != nil {
		defer r.Dir.Close()
	}
	return r.File.Close()
}

// End closes the file, and removes it if it is not kept or is empty.
func (r *Recording) End(keep bool) {
	if !keep {
		_ = r.File.Close()
		r.Remove()
	} else {
		r.RemoveEmpty()
	}
	_ = r.Close()
}

// Remove removes the file of a recording, if it was created here.
func (r *Recording) Remove() {
	if r.Dir != nil {
		_ = r.Dir.Remove(filepath.Base(r.Path))
	}
}

// RemoveEmpty removes it if it is empty.
func (r *Recording) RemoveEmpty() {
	if info, err := r.Stat(); err == nil && info.Size() == 0 {
		r.Remove()
	}
}

// RecordingName returns the name that dotnet-trace would choose.
func RecordingName(program string, t time.Time) string {
	name := strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || r == '%' || r < 0x20 {
			return '_'
		}
		return r
	}, program)
	if strings.HasPrefix(name, "-") { // no command takes the name for an option
		name = "_" + name[1:]
	}
	return name + "_" + t.Format("20060102_150405") + ".nettrace"
}

// CheckDump finds problems with the files of a snapshot before it is taken.
func CheckDump(p *program.Run, path string, keepTrace bool) error {
	if filepath.Ext(path) != ".gcdump" {
		return exit.Usagef("-o %s: the name of a snapshot must end with .gcdump", path)
	}
	if keepTrace {
		if err := CheckRecording(p, TracePath(path)); err != nil {
			return err
		}
	}
	return CheckOutput(p, path)
}

// TracePath returns the path of the recording of a snapshot, if it is kept.
func TracePath(path string) string { return strings.TrimSuffix(path, ".gcdump") + ".nettrace" }
