package formats

import (
	"bufio"
	"io"
	"sync"
)

// A Stream is an Output that is not a regular file: standard output, a pipe, a
// device. It has one head and is never rotated. Several goroutines can use it.
type Stream struct {
	mu    sync.Mutex
	w     io.Writer
	buf   *bufio.Writer // nil: every group is written at once
	begun bool
	torn  bool // it ends inside a line
	bytes int64
	group []byte
}

// NewStream returns a Stream that writes to w. A buffered one collects groups of
// lines until Flush: for conversions, not for a live log.
func NewStream(w io.Writer, buffered bool) *Stream {
	s := &Stream{w: w}
	if buffered {
		s.buf = bufio.NewWriterSize(w, bufferSize)
	}
	return s
}

// bufferSize is how much a buffered output collects.
const bufferSize = 64 << 10

// Write implements Output. Where several Writers share a Stream, the first one
// makes the head.
func (s *Stream) Write(head Head, group []byte, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.group = head.Append(s.group[:0], 1)
		if len(s.group) > 0 {
			if err := s.write(s.group); err != nil {
				return err
			}
		}
		s.begun = true
	}
	return s.write(group)
}

// write writes one group. What a failed write has left of another one cannot be
// taken back: the group begins a new line.
func (s *Stream) write(b []byte) error {
	if s.torn {
		b = append([]byte{'\n'}, b...)
	}
	var n int
	var err error
	if s.buf != nil {
		n, err = s.buf.Write(b)
	} else {
		n, err = s.w.Write(b)
	}
	s.bytes += int64(n)
	switch {
	case err == nil:
		s.torn = false
	case n > 0:
		s.torn = b[n-1] != '\n'
	}
	return err
}

// Bytes is how much has been written.
func (s *Stream) Bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.bytes
}

// Close writes what is buffered. It does not close the underlying writer.
func (s *Stream) Close() error {
	if s.buf != nil {
		return s.buf.Flush()
	}
	return nil
}
