package cli

import (
	"os"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/output"
)

// A recording is the file of a raw stream: a new one, or what is no file, such as
// a pipe, which is written to plainly.
type recording struct {
	*os.File
	made bool // here: it was not there before
}

// checkRecording finds what can be found wrong with the file of a recording.
func checkRecording(path string) error {
	if path == output.Stdout {
		return usagef("the recording cannot go to standard output here: give a file, or use gclog record -o -")
	}
	if bad := output.BadRecordingPlace(path); bad != "" {
		return usagef("%s: there is no %s in the name of a recording: %s", path, bad, output.RecordingPlaces)
	}
	if err := checkOutput(path); err != nil {
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
		return &recording{File: f}, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if err != nil {
		return nil, &output.PathError{Path: path, Err: err}
	}
	return &recording{File: f, made: true}, nil
}

// remove removes the file of a recording, if it was made here.
func (r *recording) remove() {
	if r.made {
		_ = os.Remove(r.Name())
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
