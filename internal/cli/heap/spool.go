package heap

import (
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/gclog/gclog/gclog/heap"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/output"
)

// A spool is a recording that is read while it is written. Writing does not wait for the reader: what
// the reader has not read yet is in memory or, where there is no room, in a file.
type spool struct {
	*outfile.Recording
	keep    bool // the file is to have everything
	most    int  // bytes that are expected
	reserve output.Reserve

	mu     sync.Mutex
	more   *sync.Cond
	queue  []stretch // what is unread
	unread int64     // bytes of it
	pieces int       // of the queue that are in memory
	free   [][]byte  // that were read
	length int64     // of the file
	flush  bool      // the reader gets the rest of what was written, and then heap.ErrPause
	ended  bool
	failed error // why there is no snapshot
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

// openSpool opens the spool for a snapshot that will be written to a path. One that is kept is next to
// that; otherwise it is a file on the disk with the most room, which on most systems has no name as
// soon as it is open. Unless all is to be used, it leaves the last tenth of the disk alone.
func openSpool(path string, keep bool, most int, all bool) (s *spool, err error) {
	s = &spool{keep: keep, most: most}
	if keep {
		s.Recording, err = openTrace(outfile.TracePath(path))
	} else {
		s.Recording, err = outfile.OpenScratch(outfile.ScratchFolders(filepath.Dir(path)))
	}
	if err != nil {
		return nil, err
	}
	if !all {
		s.reserve.Folder = filepath.Dir(s.Path)
	}
	s.more = sync.NewCond(&s.mu)
	return s, nil
}

// openTrace creates the file of a recording that is kept.
func openTrace(path string) (*outfile.Recording, error) {
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, exit.Usagef("%s exists and is not a regular file: choose another name for the snapshot", path)
	}
	return outfile.OpenRecording(path)
}

// Write implements io.Writer. A recording that cannot be written, as on a full disk, is not kept.
func (s *spool) Write(b []byte) (n int, err error) {
	stored := s.store(b)
	toFile := s.keep || !stored
	if n = len(b); toFile {
		if err = s.reserve.Take(n); err != nil {
			n = 0
		} else {
			n, err = s.Recording.Write(b)
		}
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

// CloseWithError says that nothing more will be written: what was written is complete, or not needed
// because of an error.
func (s *spool) CloseWithError(err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.ended, s.failed = true, err
	}
	s.more.Signal()
	return nil
}

// remove closes the file, and removes it if the recording is not kept.
func (s *spool) remove() { s.End(s.keep) }

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
	case s.failed != nil:
		return stretch{}, s.failed
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
			n, err := r.spool.ReadAt(b[:min(int64(len(b)), next.n)], next.at)
			r.spool.hasRead(n)
			return n, err
		}
	}
	n := copy(b, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// Len returns the number of bytes that are expected, at most.
func (r *spoolReader) Len() int { return r.spool.most }
