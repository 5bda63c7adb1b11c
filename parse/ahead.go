package parse

import "io"

const (
	aheadRoom    = 128 << 10 // for the unread rest of the piece before
	aheadPiece   = 64 << 10  // what is read at a time
	aheadBuffers = 8
)

// An ahead reads a stream in a goroutine of its own while the Reader works on what was read before.
// Buffers go round: from free to the goroutine, which fills them, through full to the source, which
// lets the Reader use one at a time and then returns it.
type ahead struct {
	free   chan []byte
	full   chan piece
	inUse  []byte   // the buffer that the source reads from; nil: none of these
	spare  [][]byte // not yet returned to free: several at once wake the goroutine less often
	stop   chan struct{}
	exited chan struct{}
}

// A piece is what one call of Read returned. Its bytes follow aheadRoom in the buffer.
type piece struct {
	buf []byte
	n   int
	err error
}

// ReadAhead makes the Reader read half a MB ahead in a goroutine of its own, and parse some thousand
// events ahead in another, which is worthwhile for files on a machine with more than one CPU. Stats
// then counts up to half a thousand events more than were delivered, and the filter is called in
// that goroutine. ReadAhead is not for streams that can keep a read waiting: it reads the head of
// the stream first, and the stop function, which must be called when the Reader is no longer used,
// waits until a read in progress has returned.
func (r *Reader) ReadAhead() (stop func()) {
	if _, err := r.ReadTrace(); err != nil {
		return func() {} // Scan reports it
	}
	a := &ahead{
		free: make(chan []byte, aheadBuffers), full: make(chan piece, aheadBuffers),
		stop: make(chan struct{}), exited: make(chan struct{}),
	}
	src := r.src.r
	r.src.ahead = a
	go a.run(src)
	q := &batches{
		free: make(chan *batch, batchCount), full: make(chan *batch, batchCount),
		stop: a.stop, exited: make(chan struct{}),
	}
	q.start(r)
	return func() {
		close(a.stop)
		<-a.exited
		<-q.exited
	}
}

func (a *ahead) run(r io.Reader) {
	defer close(a.exited)
	for made := 0; ; {
		var buf []byte
		if made < aheadBuffers && len(a.free) == 0 {
			buf = make([]byte, aheadRoom+aheadPiece)
			made++
		} else {
			select {
			case buf = <-a.free:
			case <-a.stop:
				return
			}
		}
		n, err := r.Read(buf[aheadRoom:])
		a.full <- piece{buf, n, err} // has room
		if err != nil && !isTimeout(err) {
			return
		}
	}
}

// fill appends the next piece to what is unread in s. As a rule it is the piece's buffer that s
// reads from then, and only the rest of the piece before is copied.
func (a *ahead) fill(s *source) (int, error) {
	var p piece
	select {
	case p = <-a.full:
	case <-a.exited:
		select {
		case p = <-a.full: // read before
		default:
			return 0, io.ErrClosedPipe
		}
	}
	rest := s.unread()
	if len(rest) > aheadRoom { // of a large object
		for len(s.buf)-s.end < p.n {
			s.room()
			if len(s.buf)-s.end < p.n {
				s.grow(2 * len(s.buf))
			}
		}
		s.end += copy(s.buf[s.end:], p.buf[aheadRoom:aheadRoom+p.n])
		a.release(p.buf)
		return p.n, p.err
	}
	s.pos = aheadRoom - len(rest)
	copy(p.buf[s.pos:], rest)
	s.buf, s.end = p.buf, aheadRoom+p.n
	if a.inUse != nil {
		a.release(a.inUse)
	}
	a.inUse = p.buf
	return p.n, p.err
}

// release returns a buffer.
func (a *ahead) release(buf []byte) {
	if a.spare = append(a.spare, buf); len(a.spare) < aheadBuffers/2 {
		return
	}
	for _, buf := range a.spare {
		a.free <- buf // has room
	}
	a.spare = a.spare[:0]
}
