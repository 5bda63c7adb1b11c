package attach

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
)

// TestTee: the copy equals what was read.
func TestTee(t *testing.T) {
	stream := bytes.Repeat([]byte("0123456789"), 200_000)
	var copied bytes.Buffer
	te := newTee(bytes.NewReader(stream), &copied)
	got, err := io.ReadAll(te)
	if err := errors.Join(err, te.close()); err != nil || !bytes.Equal(got, stream) || !bytes.Equal(copied.Bytes(), stream) {
		t.Errorf("read %d bytes, copied %d, want %d; error %v", len(got), copied.Len(), len(stream), err)
	}
}

// A wall blocks writes until it is opened.
type wall chan struct{}

func (w wall) Write(p []byte) (int, error) {
	<-w
	return len(p), nil
}

// TestTeeAtOnce: what has been read is copied immediately, even if more may come.
func TestTeeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		var copied bytes.Buffer
		te := newTee(r, &copied)
		go func() { _, _ = w.Write([]byte("0123456789")) }()
		if n, err := te.Read(make([]byte, 100)); n != 10 || err != nil {
			t.Errorf("read %d bytes: %v", n, err)
		}
		synctest.Wait()
		if copied.String() != "0123456789" {
			t.Errorf("copied %q", &copied)
		}
		if err := te.close(); err != nil {
			t.Error(err)
		}
	})
}

// TestTeeMemory: at most 32 MB wait for the copy, with small and with large reads, and chunks are
// reused.
func TestTeeMemory(t *testing.T) {
	const most = 32 << 20
	for _, size := range []int{1 << 10, 10_000, 1 << 20} {
		w := make(wall)
		te := newTee(zeros{}, w)
		read := 0
		for b := make([]byte, size); !te.slow && read <= 2*most; read += size {
			_, _ = te.Read(b)
		}
		if read <= most-2*(64<<10) || read > most+size {
			t.Errorf("%d bytes wait, read by %d", read, size)
		}
		close(w)
		_ = te.close()
	}
	te := newTee(zeros{}, io.Discard)
	b := make([]byte, 1<<20)
	for range 64 {
		_, _ = te.Read(b)
		for len(te.to) > 0 {
			runtime.Gosched()
		}
	}
	if te.made > 40 || te.slow {
		t.Errorf("%d chunks were made, slow %v", te.made, te.slow)
	}
	_ = te.close()
}

// TestTeeSlow: reading does not wait for the copy, which reports that it is incomplete.
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

// TestTeeFails: reading continues when the copy cannot be written.
func TestTeeFails(t *testing.T) {
	te := newTee(io.LimitReader(zeros{}, 10*teeChunk), broken{})
	if n, err := io.Copy(io.Discard, te); n != 10*teeChunk || err != nil {
		t.Errorf("read %d bytes, error %v", n, err)
	}
	if err := te.close(); !errors.Is(err, errBroken) {
		t.Errorf("error %v", err)
	}
}
