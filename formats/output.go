package formats

import (
	"bufio"
	"io"
	"sync"
)

// A Stream is an Output that is not a regular file: standard output, a pipe, a device. It has one
// header and is never rotated. It is safe for concurrent use by several goroutines.
type Stream struct {
	mu        sync.Mutex
	w         io.Writer
	buf       *bufio.Writer // nil: each group is written immediately
	hasHeader bool          // the header was written
	torn      bool          // the output ends in the middle of a line
	bytes     int64         // number of bytes written
	group     []byte
}

// NewStream returns a Stream that writes to w. A buffered Stream collects groups of lines until
// Flush: for conversions, not for a live log.
func NewStream(w io.Writer, buffered bool) *Stream {
	s := &Stream{w: w}
	if buffered {
		s.buf = bufio.NewWriterSize(w, bufferSize)
	}
	return s
}

// bufferSize is how many bytes a buffered output collects.
const bufferSize = 64 << 10

// Write implements Output. If several Writers share a Stream, the first one provides the header.
func (s *Stream) Write(head Head, group []byte, _ bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.hasHeader {
		s.group = head.Append(s.group[:0], 1)
		if len(s.group) > 0 {
			if err := s.write(s.group); err != nil {
				return err
			}
		}
		s.hasHeader = true
	}
	return s.write(group)
}

// write writes one group. The remains of a group whose write failed cannot be removed, so the next
// group starts on a new line.
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

// Bytes returns the number of bytes written.
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
