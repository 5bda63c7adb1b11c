package parse

import (
	"errors"
	"io"
)

const (
	firstBuffer = 16 << 10 // enough for what a quiet process sends at once
	largeBuffer = 1 << 20  // the buffer's size for a source that always fills it
)

// A source is the window of the stream that is in memory. It reads directly from the underlying
// reader, as much as is available.
type source struct {
	r        io.Reader
	buf      []byte
	pos, end int    // buf[pos:end] is unread
	off      int64  // offset in the stream of buf[pos]
	err      error  // the error that ended the underlying reader
	empty    int    // consecutive reads that returned neither bytes nor an error
	ahead    *ahead // reads r; nil: need does
}

func (s *source) reset(r io.Reader) {
	if s.buf == nil || len(s.buf) > largeBuffer {
		s.buf = make([]byte, firstBuffer)
	}
	*s = source{r: r, buf: s.buf}
}

func (s *source) unread() []byte { return s.buf[s.pos:s.end] }

func (s *source) advance(n int) {
	s.pos += n
	s.off += int64(n)
}

// need makes n bytes available in unread. The buffer grows with the bytes that actually arrive, not
// with n. After a time-out need can be called again. Every other error is final, and unread then
// holds what arrived before it.
func (s *source) need(n int) error {
	for s.end-s.pos < n {
		if s.err != nil {
			return s.err
		}
		got, err := s.fill()
		if err != nil {
			if isTimeout(err) {
				if s.end-s.pos < n {
					return err
				}
				return nil
			}
			s.err = err
		} else if got == 0 {
			// io.Reader discourages such reads; give up as bufio does.
			if s.empty++; s.empty >= 100 {
				s.err = io.ErrNoProgress
			}
			continue
		}
		s.empty = 0
	}
	return nil
}

// fill reads once.
func (s *source) fill() (int, error) {
	if s.ahead != nil {
		return s.ahead.fill(s)
	}
	s.room()
	got, err := s.r.Read(s.buf[s.end:])
	s.end += got
	if got == len(s.buf) && got < largeBuffer {
		s.grow(2 * got) // a busy source: fewer, larger reads
	}
	return got, err
}

// room makes room for another read after end.
func (s *source) room() {
	if s.pos > 0 && (s.pos == s.end || s.end == len(s.buf)) {
		s.end = copy(s.buf, s.buf[s.pos:s.end])
		s.pos = 0
	}
	if s.end == len(s.buf) {
		s.grow(2 * len(s.buf))
	}
}

func (s *source) grow(size int) {
	buf := make([]byte, size)
	s.end = copy(buf, s.buf[s.pos:s.end])
	s.pos = 0
	s.buf = buf
}

// isTimeout reports whether the read may be retried: the reader's deadline passed, and nothing is
// wrong with the stream.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
