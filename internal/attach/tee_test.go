package attach

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestTee: the copy is what was read.
func TestTee(t *testing.T) {
	stream := bytes.Repeat([]byte("0123456789"), 200_000)
	var copied bytes.Buffer
	te := newTee(bytes.NewReader(stream), &copied)
	got, err := io.ReadAll(te)
	if err := errors.Join(err, te.close()); err != nil || !bytes.Equal(got, stream) || !bytes.Equal(copied.Bytes(), stream) {
		t.Errorf("read %d bytes, copied %d, want %d; error %v", len(got), copied.Len(), len(stream), err)
	}
}

// A wall takes nothing until it is opened.
type wall chan struct{}

func (w wall) Write(p []byte) (int, error) {
	<-w
	return len(p), nil
}

// TestTeeSlow: reading does not wait for the copy, which says that it is not whole.
func TestTeeSlow(t *testing.T) {
	const size = teeChunk * (teeChunks + 10)
	w := make(wall)
	te := newTee(io.LimitReader(zeros{}, size), w)
	if n, err := io.Copy(io.Discard, te); n != size || err != nil {
		t.Errorf("read %d bytes, error %v", n, err)
	}
	close(w)
	if err := te.close(); err == nil || !strings.Contains(err.Error(), "too slow") {
		t.Errorf("error %v", err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

type broken struct{}

var errBroken = errors.New("broken")

func (broken) Write([]byte) (int, error) { return 0, errBroken }

// TestTeeFails: reading goes on when the copy cannot be written.
func TestTeeFails(t *testing.T) {
	te := newTee(io.LimitReader(zeros{}, 10*teeChunk), broken{})
	if n, err := io.Copy(io.Discard, te); n != 10*teeChunk || err != nil {
		t.Errorf("read %d bytes, error %v", n, err)
	}
	if err := te.close(); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}
