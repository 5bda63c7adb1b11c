package cli

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestSpool: what is written is read at the same time, and the file is gone afterwards, unless it is
// kept.
func TestSpool(t *testing.T) {
	for _, keep := range []bool{false, true} {
		dir := t.TempDir()
		s, err := openSpool(filepath.Join(dir, "x.gcdump"), keep, 5<<20)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]byte, 4<<20+123)
		for i := range want {
			want[i] = byte(rand.Uint32())
		}
		half := make(chan struct{})
		go func() {
			for at, rest := 0, want; len(rest) > 0; {
				n := min(1+rand.IntN(200_000), len(rest))
				if _, err := s.Write(rest[:n]); err != nil {
					t.Error(err)
				}
				rest = rest[n:]
				if at += n; at > len(want)/2 && at-n <= len(want)/2 {
					<-half // the first piece is read before the end
				}
			}
			_ = s.Close()
			_ = s.Close()
		}()
		r := &spoolReader{spool: s}
		if r.Len() != 5<<20 {
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
		s.remove()
		left, err := os.ReadDir(dir)
		if err != nil || keep != (len(left) == 1 && left[0].Name() == "x.nettrace") || !keep && len(left) > 0 {
			t.Errorf("kept: %v; left: %v, %v", keep, left, err)
		}
	}
}
