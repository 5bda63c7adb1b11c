package parse

import (
	"errors"
	"io"
)

const (
	firstBuffer = 16 << 10 // enough for what a quiet process sends at a time
	largeBuffer = 1 << 20  // what a source that always fills the buffer gets
)

// A source is the window of the stream that is in memory. It reads straight
// from the underlying reader, as much as there is.
type source struct {
	r        io.Reader
	buf      []byte
	pos, end int   // buf[pos:end] is unread
	off      int64 // offset in the stream of buf[pos]
	err      error // what the underlying reader ended with
	empty    int   // reads in a row that brought nothing and no error
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

// need makes n bytes available in unread. The memory grows with the bytes that
// really come, not with n. On an error that is a time-out, need can be called
// again; every other error is final, and unread then holds what came before.
func (s *source) need(n int) error {
	for s.end-s.pos < n {
		if s.err != nil {
			return s.err
		}
		s.room()
		got, err := s.r.Read(s.buf[s.end:])
		s.end += got
		if got == len(s.buf) && got < largeBuffer {
			s.grow(2 * got) // a busy source: fewer, larger reads
		}
		if err != nil {
			if isTimeout(err) {
				if s.end-s.pos < n {
					return err
				}
				return nil
			}
			s.err = err
		} else if got == 0 {
			// io.Reader discourages this; give up as bufio does.
			if s.empty++; s.empty >= 100 {
				s.err = io.ErrNoProgress
			}
			continue
		}
		s.empty = 0
	}
	return nil
}

// room makes space for another read after end.
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

// isTimeout says whether reading may be tried again: the reader has a deadline
// that passed, and nothing is wrong with the stream.
func isTimeout(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}
