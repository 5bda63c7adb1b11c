package history

import (
	"bytes"
	"fmt"
	"io"
	"os"
)

// A spool keeps what is read from a pipe so that it can be read once more: in memory until it is
// known whether that will be needed, then in a temporary file.
type spool struct {
	r       io.Reader
	kept    bytes.Buffer
	decided bool
	file    *os.File // nil: nothing is kept
	err     error    // of writing it
}

// Read implements io.Reader.
func (s *spool) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	switch {
	case !s.decided:
		s.kept.Write(p[:n])
	case s.file != nil:
		if _, s.err = s.file.Write(p[:n]); s.err != nil {
			s.err = fmt.Errorf("keeping it in the temporary directory: %w", s.err)
			return 0, s.err
		}
	}
	return n, err
}

// keep decides whether the input will be read again.
func (s *spool) keep(again bool) error {
	s.decided = true
	kept := s.kept.Bytes()
	s.kept = bytes.Buffer{}
	if !again {
		return nil
	}
	f, err := os.CreateTemp("", "gclog-")
	if err != nil {
		return err
	}
	s.file = f
	_ = os.Remove(f.Name()) // if possible, so that it is removed whatever happens
	if _, err = f.Write(kept); err != nil {
		return fmt.Errorf("keeping it in the temporary directory: %w", err)
	}
	return nil
}

// again returns everything that was read, and what follows it.
func (s *spool) again() (io.Reader, error) {
	if s.err != nil {
		return nil, s.err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return io.MultiReader(s.file, s.r), nil
}

func (s *spool) close() {
	if s.file != nil {
		_ = s.file.Close()
		_ = os.Remove(s.file.Name())
	}
}
