// Package fakeshipper reads log files by the rules that Filebeat's filestream input documents: a
// file is identified by the fingerprint of its first 1024 bytes, whatever its name, offsets are
// remembered, and only complete lines count. It is for tests only.
package fakeshipper

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// fingerprintSize is the size of the start of a file that identifies it. A shorter file is ignored
// until it has grown.
const fingerprintSize = 1024

type fingerprint [sha256.Size]byte

// A Shipper follows the files that match a pattern. It is not safe for concurrent use.
type Shipper struct {
	pattern string
	offsets map[fingerprint]int64 // after the last complete line that was read
	open    map[fingerprint]*os.File
	buf     []byte
}

// New returns a Shipper for the files that match a pattern of filepath.Match.
func New(pattern string) *Shipper {
	return &Shipper{pattern: pattern, offsets: map[fingerprint]int64{}, open: map[fingerprint]*os.File{}, buf: make([]byte, 64<<10)}
}

// Scan looks for files once, reads each of them to its end and calls ship for each line, which is
// valid until ship returns. A deleted file is read to its end, and then closed.
func (s *Shipper) Scan(ship func(line []byte)) error {
	var errs []error
	// Open files first: they may have been deleted, or written to before they were renamed.
	for id := range s.open {
		errs = append(errs, s.read(id, ship))
	}
	paths, err := filepath.Glob(s.pattern)
	errs = append(errs, err)
	for _, path := range paths {
		id, f, err := identify(path)
		if f == nil {
			errs = append(errs, err)
			continue
		}
		if s.open[id] != nil {
			_ = f.Close() // the same file, perhaps under another name
			continue
		}
		s.open[id] = f
		errs = append(errs, s.read(id, ship))
	}
	return errors.Join(errs...)
}

// identify opens a file. f is nil if the file does not exist or is too short.
func identify(path string) (id fingerprint, f *os.File, err error) {
	f, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return id, nil, nil // it was renamed or deleted meanwhile
	}
	if err != nil {
		return id, nil, err
	}
	var b [fingerprintSize]byte
	if _, err := io.ReadFull(f, b[:]); err != nil {
		_ = f.Close()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			err = nil
		}
		return id, nil, err
	}
	return sha256.Sum256(b[:]), f, nil
}

// read ships the complete lines of a file after its offset.
func (s *Shipper) read(id fingerprint, ship func([]byte)) error {
	f := s.open[id]
	deleted := isDeleted(f) // asked before the last bytes are read
	if info, err := f.Stat(); err == nil && info.Size() < s.offsets[id] {
		s.offsets[id] = 0 // it was truncated
	}
	for {
		n, err := f.ReadAt(s.buf, s.offsets[id])
		shipped := 0
		for {
			line, _, whole := bytes.Cut(s.buf[shipped:n], []byte{'\n'})
			if !whole {
				break
			}
			ship(line)
			shipped += len(line) + 1
		}
		s.offsets[id] += int64(shipped)
		switch {
		case shipped == 0 && n == len(s.buf):
			s.buf = append(s.buf, make([]byte, len(s.buf))...) // a long line
		case errors.Is(err, io.EOF):
			if deleted {
				s.forget(id)
			}
			return nil
		case err != nil:
			return err
		}
	}
}

func (s *Shipper) forget(id fingerprint) {
	_ = s.open[id].Close()
	delete(s.open, id)
	delete(s.offsets, id)
}

// Restart closes all files. The offsets are kept, as Filebeat's registry keeps them.
func (s *Shipper) Restart() {
	for id, f := range s.open {
		_ = f.Close()
		delete(s.open, id)
	}
}
