package formats

import (
	"bufio"
	"io"
)

// A Stream is an Output that is not a regular file: standard output, a pipe, a
// device. It has one head and is never rotated.
type Stream struct {
	w      io.Writer
	buf    *bufio.Writer // nil: every group is written at once
	header func(dst []byte, number int) []byte
	begun  bool
	bytes  int64
	group  []byte
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

// Begin implements Output. Where several Writers share a Stream, the first one
// makes the head.
func (s *Stream) Begin(header func(dst []byte, number int) []byte, _ bool) {
	if s.header == nil {
		s.header = header
	}
}

// Write implements Output.
func (s *Stream) Write(group []byte, _ bool) error {
	if !s.begun {
		s.group = s.header(s.group[:0], 1)
		if len(s.group) > 0 {
			if err := s.write(s.group); err != nil {
				return err
			}
		}
		s.begun = true
	}
	return s.write(group)
}

func (s *Stream) write(b []byte) error {
	var n int
	var err error
	if s.buf != nil {
		n, err = s.buf.Write(b)
	} else {
		n, err = s.w.Write(b)
	}
	s.bytes += int64(n)
	return err
}

// Bytes is how much has been written.
func (s *Stream) Bytes() int64 { return s.bytes }

// Close writes what is buffered. It does not close the underlying writer.
func (s *Stream) Close() error {
	if s.buf != nil {
		return s.buf.Flush()
	}
	return nil
}
