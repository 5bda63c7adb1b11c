package heap

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gclog/gclog/gclog/heap"
)

// TestSpool: what is written is read at the same time, from memory and from the file, and the file is
// gone afterwards, unless it is kept: then it has everything.
func TestSpool(t *testing.T) {
	for _, keep := range []bool{false, true} {
		random := rand.New(rand.NewPCG(1, 2))
		dir := t.TempDir()
		s, err := openSpool(filepath.Join(dir, "x.gcdump"), keep, 50<<20, false)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 3*spoolPieces*spoolPiece+123)
		for i := 0; i < len(want)-8; i += 8 {
			binary.LittleEndian.PutUint64(want[i:], random.Uint64())
		}
		reached, half := make(chan struct{}), make(chan struct{})
		go func() {
			for at, rest := 0, want; len(rest) > 0; {
				n := min(1+random.IntN(200_000), len(rest))
				if _, err := s.Write(rest[:n]); err != nil {
					t.Error(err)
				}
				rest = rest[n:]
				if at += n; at > len(want)/2 && at-n <= len(want)/2 {
					close(reached)
					<-half // the first piece is read before the end, and after that there was no room
				}
			}
			_ = s.CloseWithError(nil)
			_ = s.CloseWithError(nil)
		}()
		<-reached
		if s.length == 0 {
			t.Error("nothing is in the file")
		}
		r := &spoolReader{spool: s}
		if r.Len() != 50<<20 {
			t.Errorf("%d bytes expected", r.Len())
		}
		first := make([]byte, spoolPiece)
		if _, err := io.ReadFull(r, first); err != nil {
			t.Fatal(err)
		}
		close(half)
		rest, err := io.ReadAll(r)
		if got := append(first, rest...); err != nil || !bytes.Equal(got, want) {
			t.Errorf("read %d bytes, want %d: %v", len(got), len(want), err)
		}
		if kept, err := os.ReadFile(filepath.Join(dir, "x.nettrace")); keep && (err != nil || !bytes.Equal(kept, want)) {
			t.Errorf("%d bytes kept, want %d: %v", len(kept), len(want), err)
		}
		s.remove()
		left, err := os.ReadDir(dir)
		if err != nil || keep != (len(left) == 1 && left[0].Name() == "x.nettrace") || !keep && len(left) > 0 {
			t.Errorf("kept: %v; left: %v, %v", keep, left, err)
		}
	}
}

// TestSpoolFlush: after Flush the reader gets less than a piece, and then heap.ErrPause.
func TestSpoolFlush(t *testing.T) {
	s, err := openSpool(filepath.Join(t.TempDir(), "x.gcdump"), false, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	defer s.remove()
	r := &spoolReader{spool: s}
	for _, text := range []string{"abc", "", "defg"} {
		if _, err := s.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
		s.Flush()
		got, err := io.ReadAll(r)
		if string(got) != text || !errors.Is(err, heap.ErrPause) {
			t.Errorf("read %q: %v, want %q and a pause", got, err, text)
		}
	}
	_ = s.CloseWithError(nil)
	if got, err := io.ReadAll(r); err != nil || len(got) > 0 {
		t.Errorf("at the end read %q: %v", got, err)
	}
}

// TestSpoolFull: no part of a recording is left on a disk that is full.
func TestSpoolFull(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("no device that is full: %v", err)
	}
	defer full.Close()
	dir := t.TempDir()
	s, err := openSpool(filepath.Join(dir, "x.gcdump"), true, 1<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write([]byte("what there is room for")); err != nil {
		t.Fatal(err)
	}
	file := s.File
	defer file.Close()
	s.File = full
	if _, err := s.Write([]byte("more")); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the error is %v", err)
	}
	s.remove()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
