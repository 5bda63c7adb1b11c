// Package output opens what records are written to: rotated files, standard output, pipes and
// devices. It is for the commands and the daemon.
package output

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"syscall"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/rotate"
)

// A Spec is where records go and in which format.
type Spec struct {
	Path      string // Stdout, Stderr or a file, with places: see Expand
	Format    formats.Format
	Selection *formats.Selection // which lines of the unified format; nil: the default ones
	Rotate    rotate.Options
}

// Paths that are not files.
const (
	Stdout = "-"
	Stderr = "/dev/stderr"
)

// IsStream reports whether a path is that of standard output or standard error.
func IsStream(path string) bool { return path == Stdout || path == Stderr }

// Named returns the path of an output that people have named: /dev/stdout is standard output, and not
// the file that it may be redirected to.
func Named(path string) string {
	if path == "/dev/stdout" {
		return Stdout
	}
	return path
}

// StreamName returns what people call such a path.
func StreamName(path string) string {
	if path == Stderr {
		return "standard error"
	}
	return "standard output"
}

// Suspensions reports whether any of the outputs has lines for all suspensions.
func Suspensions(specs []Spec) bool {
	return slices.ContainsFunc(specs, func(s Spec) bool { return s.Selection.Suspensions() })
}

// key returns the path, expanded for a process.
func (s *Spec) key(opts *formats.Options) string {
	if IsStream(s.Path) {
		return s.Path
	}
	return Expand(s.Path, &opts.Process, opts.Host)
}

// A Set is what one session writes to: one Writer for each Spec.
type Set struct {
	outputs []*opened
	warn    func(string) // for people
}

// opened is one Writer with the place that it writes to.
type opened struct {
	*formats.Writer
	*place
	spec    Spec
	former  int64 // groups dropped by earlier Writers
	dropped int64 // groups dropped, when last checked
	written int64 // groups written, when one was last dropped
	failing bool  // the failure was reported
}

// A PathError reports that an output cannot be opened.
type PathError struct {
	Path string
	Err  error
}

func (e *PathError) Error() string { return fmt.Sprintf("cannot write to %s: %v", e.Path, e.Err) }

// Unwrap returns Err.
func (e *PathError) Unwrap() error { return e.Err }

// Open opens the outputs for a process. If one of them cannot be opened, none is. A place that is
// already open is shared.
func (o *Opener) Open(specs []Spec, opts formats.Options) (*Set, error) {
	s := &Set{warn: o.Warn}
	for _, spec := range specs {
		x, err := o.open(spec, &opts)
		if err != nil {
			_ = s.Close()
			return nil, err
		}
		s.outputs = append(s.outputs, &opened{Writer: spec.writer(x, opts), place: x, spec: spec})
	}
	return s, nil
}

func (s *Spec) writer(x *place, o formats.Options) *formats.Writer {
	o.Selection = s.Selection
	o.Color, o.Screen = x.colored, x.screen
	return formats.NewWriter(s.Format, x, o)
}

// Renew creates new Writers for another session with the process.
func (s *Set) Renew(opts formats.Options) {
	for _, o := range s.outputs {
		o.former += o.Dropped()
		o.dropped, o.written = 0, 0
		w := o.spec.writer(o.place, opts)
		w.TakeOver(o.Writer)
		o.Writer = w
	}
}

// OpenDevice opens something that is not a regular file for writing: what a look at it has shown. It
// does not wait until a pipe has a reader.
func OpenDevice(path string, info fs.FileInfo) (*os.File, error) {
	if info.IsDir() {
		return nil, &PathError{path, errors.New("it is a directory")}
	}
	flags := os.O_WRONLY | os.O_APPEND
	if info.Mode()&fs.ModeNamedPipe != 0 {
		flags = os.O_WRONLY | syscall.O_NONBLOCK
	}
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, syscall.ENXIO) {
		err = errors.New("no process reads from this pipe")
	}
	if err != nil {
		return nil, &PathError{path, err}
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(info, opened) {
		_ = f.Close()
		return nil, &PathError{path, errors.Join(err, errors.New("it was replaced while being opened"))}
	}
	return f, nil
}

// Each calls f with every Writer, and reports failures.
func (s *Set) Each(f func(*formats.Writer)) {
	for _, o := range s.outputs {
		f(o.Writer)
		o.check(s.warn)
	}
}

// Flush tries again to write the gaps for what could not be written.
func (s *Set) Flush() {
	for _, o := range s.outputs {
		o.Flush()
		if o.failing && o.Unwritten().Records == 0 {
			o.sayWritable(s.warn)
		}
	}
}

// Failing reports whether the last record could not be written to one of the outputs.
func (s *Set) Failing() bool {
	return slices.ContainsFunc(s.outputs, func(o *opened) bool { return o.failing })
}

// Unwritten returns what each output lacks that has no gap for it so far.
func (s *Set) Unwritten() (list []Unwritten) {
	for _, o := range s.outputs {
		if u := o.unwritten(); u.Records > 0 {
			list = append(list, u)
		}
	}
	return list
}

// check reports that an output fails, once, and that it works again.
func (o *opened) check(warn func(string)) {
	switch dropped := o.Dropped(); {
	case o.left():
	case dropped > o.dropped:
		o.dropped, o.written = dropped, o.Written()
		if !o.failing {
			o.failing = true
			warn(fmt.Sprintf("records are being dropped: %v", o.Err()))
		}
	case o.failing && o.Written() > o.written:
		o.sayWritable(warn)
	}
}

func (o *opened) sayWritable(warn func(string)) {
	o.failing = false
	warn(fmt.Sprintf("%s is writable again; %d records are missing from it", o.name, o.former+o.Dropped()))
}

// left reports whether the reader of standard output has closed it, which is not an error.
func (o *opened) left() bool { return o.key == Stdout && o.broken() }

// broken reports whether the reader of a pipe has closed it.
func (o *opened) broken() bool {
	return o.rotated == nil && o.Dropped() > 0 && errors.Is(o.Err(), syscall.EPIPE)
}

// is reports whether it is the output that a spec requires for a process.
func (o *opened) is(spec *Spec, opts *formats.Options) bool {
	return o.key == spec.key(opts) && o.spec.look() == spec.look() &&
		reflect.DeepEqual(o.spec.Selection, spec.Selection)
}

// Change replaces the outputs with those of specs, for what is now known of the process. An output
// that stays gets a new Writer; begin is called for new outputs, end for removed ones. Outputs that
// cannot be opened are missing afterwards, and the error says why, and what removed ones lack.
func (s *Set) Change(opener *Opener, specs []Spec, opts formats.Options, begin, end func(*formats.Writer)) (all error) {
	s.outputs = slices.DeleteFunc(s.outputs, func(o *opened) bool {
		if slices.ContainsFunc(specs, func(spec Spec) bool { return o.is(&spec, &opts) }) {
			return false
		}
		end(o.Writer)
		all = errors.Join(all, o.finish())
		return true
	})
	s.Renew(opts)
	for _, spec := range specs {
		if slices.ContainsFunc(s.outputs, func(o *opened) bool { return o.is(&spec, &opts) }) {
			continue
		}
		x, err := opener.open(spec, &opts)
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		o := &opened{Writer: spec.writer(x, opts), place: x, spec: spec}
		s.outputs = append(s.outputs, o)
		begin(o.Writer)
	}
	return all
}

// Paths returns what is written to, with the places in the paths replaced.
func (s *Set) Paths() (list []string) {
	for _, o := range s.outputs {
		list = append(list, o.key)
	}
	return list
}

// Files returns the files that contain records.
func (s *Set) Files() (list []string) {
	for _, o := range s.outputs {
		if o.rotated != nil && o.Writer.Written() > 0 {
			list = append(list, o.key)
		}
	}
	return list
}

// Bytes returns how much was written to all outputs.
func (s *Set) Bytes() (n int64) {
	for _, o := range s.outputs {
		n += o.size()
	}
	return n
}

// Written reports whether anything was written to an output.
func (s *Set) Written() bool {
	return slices.ContainsFunc(s.outputs, func(o *opened) bool { return o.Writer.Written() > 0 })
}

// Reopen makes every output start a new file: see rotate.File.
func (s *Set) Reopen() {
	for _, o := range s.outputs {
		o.file((*rotate.File).Reopen)
	}
}

// Err returns what went wrong with any of the outputs, or nil if all records were written.
func (s *Set) Err() error {
	var all error
	for _, o := range s.outputs {
		if n := o.former + o.Dropped(); n > 0 && !o.left() {
			all = errors.Join(all, fmt.Errorf("%d records could not be written: %w", n, o.Err()))
		}
	}
	return all
}

// Broken reports whether all outputs are pipes that their readers have closed.
func (s *Set) Broken() bool {
	for _, o := range s.outputs {
		if !o.broken() {
			return false
		}
	}
	return len(s.outputs) > 0
}

// Close closes all outputs. Its error includes what they lack that has no gap there, as *LackError.
func (s *Set) Close() error {
	var all error
	for _, o := range s.outputs {
		all = errors.Join(all, o.finish())
	}
	return all
}

// finish writes the gap for what could not be written, if there is room now, and closes the output.
func (o *opened) finish() (err error) {
	o.Flush()
	if u := o.unwritten(); u.Records > 0 {
		err = &LackError{u}
	}
	if failed := o.close(); failed != nil && !(o.key == Stdout && errors.Is(failed, syscall.EPIPE)) {
		err = errors.Join(err, &PathError{o.name, failed})
	}
	return err
}
