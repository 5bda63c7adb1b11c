package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// A spool is the file of a recording that is read while it is written. Writing does not wait for the
// reader.
type spool struct {
	*recording
	keep   bool
	reader *os.File
	most   int // bytes that will be written

	mu     sync.Mutex
	more   *sync.Cond
	length int64 // what has been written
	wanted int64 // the length for which the reader waits
	ended  bool
}

// spoolPiece is how much the reader waits for. Otherwise it would be woken for every 100 KB that the
// runtime sends, and slow the writer down.
const spoolPiece = 1 << 20

// tracePath returns the path of the recording of a snapshot, if it is kept.
func tracePath(path string) string { return strings.TrimSuffix(path, ".gcdump") + ".nettrace" }

// openSpool opens the spool for a snapshot that will be written to a path. One that is not kept has a
// name that nothing else has, and on most systems none at all as soon as it is open.
func openSpool(path string, keep bool, most int) (*spool, error) {
	name := tracePath(path)
	if !keep {
		name = filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+randomID())
	}
	if info, err := os.Lstat(name); err == nil && !info.Mode().IsRegular() {
		return nil, usagef("%s exists and is not a regular file: choose another name for the snapshot", name)
	}
	w, err := openRecording(name)
	if err != nil {
		return nil, err
	}
	r, err := w.dir.Open(filepath.Base(name))
	if err != nil {
		_ = w.Close()
		return nil, inputError(err)
	}
	if !keep {
		w.remove()
	}
	s := &spool{recording: w, keep: keep, reader: r, most: most}
	s.more = sync.NewCond(&s.mu)
	return s, nil
}

// Write implements io.Writer.
func (s *spool) Write(b []byte) (int, error) {
	n, err := s.recording.Write(b)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.length += int64(n); s.length >= s.wanted {
		s.more.Signal()
	}
	return n, err
}

// Close says that nothing more will be written.
func (s *spool) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	s.more.Signal()
	return nil
}

// remove closes the files, and removes them if the recording is not kept.
func (s *spool) remove() {
	_ = s.reader.Close()
	s.end(s.keep)
}

// await waits until there is a piece to read at an offset, or the rest, and returns the number of
// bytes.
func (s *spool) await(at int64) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = at + spoolPiece
	for s.length < s.wanted && !s.ended {
		s.more.Wait()
	}
	return s.length - at
}

// A spoolReader reads a spool. There must only be one.
type spoolReader struct {
	*spool
	at int64
}

// Read implements io.Reader. It waits for what has not been written yet.
func (r *spoolReader) Read(b []byte) (int, error) {
	n := r.await(r.at)
	if n == 0 {
		return 0, io.EOF
	}
	k, err := r.reader.ReadAt(b[:min(int64(len(b)), n)], r.at)
	r.at += int64(k)
	return k, err
}

// Len returns the number of bytes that will be written, at most.
func (r *spoolReader) Len() int { return r.most }
