package daemon

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestHints: a socket of the name is told, other files are not.
func TestHints(t *testing.T) {
	dir := t.TempDir()
	made, stop := hints(dir)
	defer stop()
	for _, name := range []string{"a", "dotnet", "clr-debug-pipe-1-2-in"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "dotnet-diagnostic-1-2-socket"))
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-made:
	case <-time.After(30 * time.Second):
		t.Fatal("the socket is not told")
	}
	if err := l.Close(); err != nil { // its end is no news, nor is writing
		t.Fatal(err)
	}
	if socketMade(nil) || socketMade(make([]byte, 7)) {
		t.Error("what is no event is taken for one")
	}
	if _, stop := hints(filepath.Join(dir, "none")); stop != nil {
		stop()
	}
}
