package parquet

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
)

// A File is a file that was written.
type File struct {
	Path string
	Rows int64
	Size int64 // bytes
}

// files writes sorted rows to the files that they belong to, one file after the other. A file has a
// name of its own until all are complete: an existing one is kept until then.
type files struct {
	o       *Options
	span    time.Duration
	process *Process // of the current row
	at      int64    // its span
	path    string   // of the current file; "": there is none
	file    *os.File
	buffer  *bufio.Writer
	w       *fileWriter
	rows    int64
	done    []File
}

// add adds a row to its file.
func (f *files) add(p *Process, span int64, r row) error {
	if p != f.process || span != f.at || f.path == "" {
		if path := f.o.file(p, span, f.span); path != f.path {
			if err := f.end(); err != nil {
				return err
			}
			if err := f.begin(path); err != nil {
				return err
			}
		}
		f.process, f.at = p, span
	}
	f.rows++
	return f.w.add(p, r)
}

// file returns the file of a process at a time.
func (o *Options) file(p *Process, span int64, length time.Duration) string {
	path := output.Expand(output.ExpandTime(o.Path, time.Unix(0, span*int64(length))), &p.Process, p.Host)
	if o.Stamp.IsZero() {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + o.Stamp.UTC().Format("2006-01-02T15-04-05.000") + ext
}

// partOf returns the name of a file that is not complete.
func (o *Options) partOf(path string) string { return "." + filepath.Base(path) + o.Part + ".part" }

// A refusal is an error of Options.Check.
type refusal struct{ error }

func (f *files) begin(path string) error {
	if f.o.Check != nil {
		if err := f.o.Check(path); err != nil {
			return refusal{err}
		}
	}
	dir, err := f.o.Rotate.OpenFolder(filepath.Dir(path))
	if err != nil {
		return &output.PathError{Path: path, Err: err}
	}
	defer dir.Close()
	f.file, err = dir.OpenFile(f.o.partOf(path), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return &output.PathError{Path: path, Err: cause.Of(err)}
	}
	f.path, f.rows = path, 0
	f.buffer = bufio.NewWriterSize(f.file, 64<<10)
	f.w = newFileWriter(f.buffer, f.o.Version, f.o.Stamp.IsZero())
	return nil
}

// end completes the current file, under its own name.
func (f *files) end() error {
	if f.path == "" {
		return nil
	}
	mode := f.o.Rotate.Mode
	if mode == 0 {
		mode = 0o640
	}
	err := f.w.close()
	if err == nil {
		err = f.buffer.Flush()
	}
	err = errors.Join(err, f.file.Chmod(mode), f.file.Sync())
	info, infoErr := f.file.Stat()
	err = errors.Join(err, infoErr, f.file.Close())
	x := File{Path: f.path, Rows: f.rows}
	f.path = ""
	if infoErr == nil {
		x.Size = info.Size()
	}
	f.done = append(f.done, x)
	if err != nil {
		return &output.PathError{Path: x.Path, Err: cause.Of(err)}
	}
	return nil
}

// commit gives all files their names.
func (f *files) commit() ([]File, error) {
	if err := f.end(); err != nil {
		return nil, err
	}
	for _, x := range f.done {
		err := f.in(x.Path, func(dir *os.Root) error {
			return errors.Join(dir.Rename(f.o.partOf(x.Path), filepath.Base(x.Path)), syncFolder(dir))
		})
		if err != nil {
			return nil, &output.PathError{Path: x.Path, Err: cause.Of(err)}
		}
	}
	return f.done, nil
}

// discard removes what is not complete.
func (f *files) discard() {
	if f.path != "" {
		_ = f.end()
	}
	for _, x := range f.done {
		_ = f.in(x.Path, func(dir *os.Root) error { return dir.Remove(f.o.partOf(x.Path)) })
	}
}

// in calls f with the folder of a path.
func (f *files) in(path string, do func(*os.Root) error) error {
	dir, err := f.o.Rotate.OpenFolder(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

// syncFolder makes the names in a folder last. Not every file system can do that.
func syncFolder(dir *os.Root) error {
	f, err := dir.Open(".")
	if err != nil {
		return nil
	}
	_ = f.Sync()
	return f.Close()
}

// temporary creates a file that has no name, or loses it when it is closed.
func (o *Options) temporary() (f *os.File, remove func(), err error) {
	folder := output.KnownFolder(o.Path)
	dir, err := o.Rotate.OpenFolder(folder)
	if err != nil {
		return nil, nil, &output.PathError{Path: folder, Err: err}
	}
	name := fmt.Sprintf(".%s-%d-%x.sort", application, os.Getpid(), time.Now().UnixNano())
	if f, err = dir.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		_ = dir.Close()
		return nil, nil, &output.PathError{Path: filepath.Join(folder, name), Err: cause.Of(err)}
	}
	_ = dir.Remove(name) // on some systems that is only possible when it is closed
	return f, func() {
		_ = f.Close()
		_ = dir.Remove(name)
		_ = dir.Close()
	}, nil
}
