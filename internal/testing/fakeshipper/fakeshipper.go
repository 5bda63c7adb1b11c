// Package fakeshipper reads log files by the rules of Filebeat's filestream input: a file is identified
// by the fingerprint of its first 1024 bytes, whatever its name, offsets are remembered, and only
// complete lines count. A file is opened when a scan finds it for the first time or longer than before,
// not when it was only renamed. It is for tests only.
package fakeshipper

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// fingerprintSize is the size of the start of a file that identifies it. A shorter file is ignored
// until it has grown.
const fingerprintSize = 1024

type fingerprint [sha256.Size]byte

// A state is what is remembered of a file, also after a restart.
type state struct {
	path   string
	offset int64 // after the last complete line that was read
}

// A harvester is a file that is open.
type harvester struct {
	file *os.File
	last time.Duration // when something was read from it
}

// found is a file as a scan has found it.
type found struct {
	id   fingerprint
	size int64
	file *os.File // nil once it was used
}

// A Shipper follows the files that match a pattern. It is not safe for concurrent use.
type Shipper struct {
	// Inactive is close.on_state_change.inactive: a file is closed when nothing was read from it for
	// longer; 0: it stays open until it is deleted.
	Inactive time.Duration

	pattern string
	now     time.Duration
	states  map[fingerprint]*state
	open    map[fingerprint]*harvester
	before  map[string]found // what the previous scan has found, by path; nil: there was none
	buf     []byte
}

// New returns a Shipper for the files that match a pattern of filepath.Match.
func New(pattern string) *Shipper {
	return &Shipper{pattern: pattern, states: map[fingerprint]*state{}, open: map[fingerprint]*harvester{}, buf: make([]byte, 64<<10)}
}

// Wait lets time pass for the Shipper.
func (s *Shipper) Wait(d time.Duration) { s.now += d }

// Scan reads the open files to their ends, closes those that are inactive, and looks for files that
// are new or longer than before. It calls ship for each line, which is valid until ship returns.
func (s *Shipper) Scan(ship func(line []byte)) error {
	var errs []error
	for id, h := range s.open {
		errs = append(errs, s.read(id, ship))
		if s.Inactive > 0 && s.now-h.last > s.Inactive {
			s.close(id)
		}
	}
	files, err := s.find()
	errs = append(errs, err)
	if s.before == nil { // after a start, states are forgotten by their paths (clean_removed)
		for id, x := range s.states {
			if _, there := files[x.path]; !there {
				delete(s.states, id)
			}
		}
	}
	created := map[fingerprint]string{}
	for path, f := range files {
		before, known := s.before[path]
		if !known || before.id != f.id {
			created[f.id] = path
			continue
		}
		delete(s.before, path)
		if f.size != before.size {
			errs = append(errs, s.start(f, ship))
		}
	}
	for _, f := range s.before { // what is not under its path any more
		if path, renamed := created[f.id]; renamed {
			s.states[f.id].path = path
			delete(created, f.id)
			continue
		}
		s.close(f.id)
		delete(s.states, f.id)
	}
	for id, path := range created {
		if s.states[id] == nil {
			s.states[id] = &state{}
		}
		s.states[id].path = path
		errs = append(errs, s.start(files[path], ship))
	}
	for id, f := range files {
		if s.open[f.id] == nil || s.open[f.id].file != f.file {
			_ = f.file.Close()
		}
		f.file = nil
		files[id] = f
	}
	s.before = files
	return errors.Join(errs...)
}

// find returns the files that match the pattern, by path, each of them open. Of several with the same
// fingerprint it returns the first.
func (s *Shipper) find() (map[string]found, error) {
	files, ids := map[string]found{}, map[fingerprint]bool{}
	paths, err := filepath.Glob(s.pattern)
	errs := []error{err}
	for _, path := range paths {
		f, err := identify(path)
		if f.file == nil {
			errs = append(errs, err)
			continue
		}
		if ids[f.id] {
			_ = f.file.Close()
			continue
		}
		ids[f.id] = true
		files[path] = f
	}
	return files, errors.Join(errs...)
}

// identify opens a file, unless it does not exist or is too short.
func identify(path string) (x found, err error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return x, nil // it was renamed or deleted meanwhile
	}
	if err != nil {
		return x, err
	}
	var b [fingerprintSize]byte
	_, err = io.ReadFull(f, b[:])
	info, statErr := f.Stat()
	if err = errors.Join(err, statErr); err != nil {
		_ = f.Close()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return x, err
	}
	return found{sha256.Sum256(b[:]), info.Size(), f}, nil
}

// start reads a file from its offset on and keeps it open, if it is not open already.
func (s *Shipper) start(f found, ship func([]byte)) error {
	if s.open[f.id] != nil {
		return nil
	}
	s.open[f.id] = &harvester{file: f.file, last: s.now}
	return s.read(f.id, ship)
}

// read ships the complete lines of a file after its offset.
func (s *Shipper) read(id fingerprint, ship func([]byte)) error {
	h, x := s.open[id], s.states[id]
	if info, err := h.file.Stat(); err == nil && info.Size() < x.offset {
		x.offset = 0 // it was truncated
	}
	for {
		n, err := h.file.ReadAt(s.buf, x.offset)
		shipped := 0
		for {
			line, _, whole := bytes.Cut(s.buf[shipped:n], []byte{'\n'})
			if !whole {
				break
			}
			ship(line)
			shipped += len(line) + 1
		}
		x.offset += int64(shipped)
		if shipped > 0 {
			h.last = s.now
		}
		switch {
		case shipped == 0 && n == len(s.buf):
			s.buf = append(s.buf, make([]byte, len(s.buf))...) // a long line
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (s *Shipper) close(id fingerprint) {
	if h := s.open[id]; h != nil {
		_ = h.file.Close()
		delete(s.open, id)
	}
}

// Restart closes all files. The states are kept, as Filebeat's registry keeps them.
func (s *Shipper) Restart() {
	for id := range s.open {
		s.close(id)
	}
	s.before = nil
}
