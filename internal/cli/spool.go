package cli

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/gclog/gclog/gclog/heap"
)

// A spool is a recording that is read while it is written. Writing does not wait for the reader: what
// the reader has not read yet is in memory or, where there is no room, in a file.
type spool struct {
	*recording
	keep   bool // the file is to have everything
	reader *os.File
	most   int // bytes that will be written

	mu     sync.Mutex
	more   *sync.Cond
	queue  []stretch // what is unread
	unread int64     // bytes of it
	pieces int       // of the queue that are in memory
	free   [][]byte  // that were read
	length int64     // of the file
	flush  bool      // the reader gets the rest of what was written, and then heap.ErrPause
	ended  bool
}

// A stretch is a part of a spool.
type stretch struct {
	piece []byte // in memory; nil: it is in the file
	at, n int64  // where in the file, and how many bytes
}

const (
	// spoolPiece is the number of unread bytes that wakes the reader, and the size of a piece. Waking
	// it for every 100 KB that the runtime sends would slow the writer down.
	spoolPiece = 1 << 20
	// spoolPieces is how many pieces may be in memory.
	spoolPieces = 16
)

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

// Write implements io.Writer. A recording that cannot be written, as on a full disk, is not kept.
func (s *spool) Write(b []byte) (n int, err error) {
	stored := s.store(b)
	toFile := s.keep || !stored
	if n = len(b); toFile {
		n, err = s.recording.Write(b)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !stored {
		s.addFile(int64(n))
	}
	if toFile {
		s.length += int64(n)
	}
	if err != nil {
		s.keep = false
	}
	if s.unread >= spoolPiece {
		s.more.Signal()
	}
	return n, err
}

// store adds to what is in memory, if there is room.
func (s *spool) store(b []byte) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := s.last()
	if last == nil || cap(last.piece)-len(last.piece) < len(b) {
		if s.pieces == spoolPieces || len(b) > spoolPiece {
			return false
		}
		s.pieces++
		s.queue = append(s.queue, stretch{piece: s.emptyPiece()})
		last = s.last()
	}
	last.piece = append(last.piece, b...)
	s.unread += int64(len(b))
	return true
}

// addFile adds bytes at the end of the file.
func (s *spool) addFile(n int64) {
	if n == 0 {
		return
	}
	if last := s.last(); last == nil || last.piece != nil || last.at+last.n != s.length {
		s.queue = append(s.queue, stretch{at: s.length})
	}
	s.last().n += n
	s.unread += n
}

func (s *spool) last() *stretch {
	if len(s.queue) == 0 {
		return nil
	}
	return &s.queue[len(s.queue)-1]
}

func (s *spool) emptyPiece() []byte {
	if n := len(s.free); n > 0 {
		piece := s.free[n-1]
		s.free = s.free[:n-1]
		return piece[:0]
	}
	return make([]byte, 0, spoolPiece)
}

// Flush says that nothing more may be written for a while.
func (s *spool) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.flush = true
	s.more.Signal()
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

// next waits until there is something to read. It returns a piece in memory, or else how much there is
// in the file, and where; or why there is nothing.
func (s *spool) next(done []byte) (stretch, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if done != nil {
		s.free = append(s.free, done)
	}
	for s.unread < spoolPiece && !s.ended && !s.flush {
		s.more.Wait()
	}
	switch {
	case len(s.queue) > 0:
	case s.ended:
		return stretch{}, io.EOF
	default:
		s.flush = false
		return stretch{}, heap.ErrPause
	}
	first := s.queue[0]
	if first.piece != nil {
		s.queue = s.queue[1:]
		s.pieces--
		s.unread -= int64(len(first.piece))
	}
	return first, nil
}

// hasRead removes bytes that were read from the first stretch, which is in the file.
func (s *spool) hasRead(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unread -= int64(n)
	first := &s.queue[0]
	first.at += int64(n)
	if first.n -= int64(n); first.n == 0 {
		s.queue = s.queue[1:]
	}
}

// A spoolReader reads a spool. There must only be one.
type spoolReader struct {
	spool *spool
	piece []byte // that is being read
	rest  []byte // of it
}

// Read implements io.Reader. It waits for what has not been written yet.
func (r *spoolReader) Read(b []byte) (int, error) {
	if len(r.rest) == 0 {
		next, err := r.spool.next(r.piece)
		r.piece, r.rest = next.piece, next.piece
		switch {
		case err != nil:
			return 0, err
		case next.n > 0:
			n, err := r.spool.reader.ReadAt(b[:min(int64(len(b)), next.n)], next.at)
			r.spool.hasRead(n)
			return n, err
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Len returns the number of bytes that will be written, at most.
func (r *spoolReader) Len() int { return r.spool.most }
