package attach

import (
	"errors"
	"fmt"
	"io"
)

// A tee copies what is read from a stream to a file. Reading never waits for the copy: the copy
// ends when it cannot be written, or not as fast as the stream arrives, because a stream with a
// hole is useless.
type tee struct {
	r    io.Reader
	to   chan []byte // nil: no copy
	free chan []byte
	made int
	part []byte // a chunk that is not full yet, while others wait
	done chan struct{}
	slow bool
	err  error // of writing; final once done is closed
}

// The part of the copy that waits to be written is at most 32 MB.
const (
	teeChunk  = 64 << 10
	teeChunks = 512
)

func newTee(r io.Reader, w io.Writer) *tee {
	t := &tee{r: r}
	if w != nil {
		t.to, t.free, t.done = make(chan []byte, teeChunks), make(chan []byte, teeChunks), make(chan struct{})
		go t.copy(w)
	}
	return t
}

func (t *tee) copy(w io.Writer) {
	defer close(t.done)
	for b := range t.to {
		if t.err == nil {
			_, t.err = w.Write(b)
		}
		t.free <- b
	}
}

// Read implements io.Reader.
func (t *tee) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	if t.to == nil || t.slow {
		return n, err
	}
	for rest := p[:n]; len(rest) > 0; {
		if t.part == nil {
			if t.part = t.chunk(); t.part == nil {
				t.slow = true
				return n, err
			}
		}
		fits := min(len(rest), cap(t.part)-len(t.part))
		t.part = append(t.part, rest[:fits]...)
		rest = rest[fits:]
		if len(t.part) == cap(t.part) {
			t.flush()
		}
	}
	if len(t.to) == 0 { // otherwise small reads would take whole chunks
		t.flush()
	}
	return n, err
}

// flush passes on what has been read.
func (t *tee) flush() {
	if len(t.part) > 0 {
		t.to <- t.part // has room: there are no more chunks than places
		t.part = nil
	}
}

func (t *tee) chunk() []byte {
	select {
	case b := <-t.free:
		return b[:0]
	default:
	}
	if t.made == teeChunks {
		return nil
	}
	t.made++
	return make([]byte, 0, teeChunk)
}

// close ends the copy when the stream has ended. It waits until everything is written.
func (t *tee) close() error {
	if t.to == nil {
		return nil
	}
	t.flush()
	close(t.to)
	<-t.done
	switch {
	case t.err != nil:
		return fmt.Errorf("the copy of the stream is incomplete: %w", t.err)
	case t.slow:
		return errors.New("the copy of the stream is incomplete: its file was too slow")
	}
	return nil
}
