package cause_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/cause"
)

func TestOf(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	_, open := os.Open(missing)
	_, dial := net.Dial("unix", missing)
	for name, err := range map[string]error{
		"open": open, "rename": os.Rename(missing, missing+"2"), "dial": dial, "wrapped": fmt.Errorf("it failed: %w", open),
	} {
		got := cause.Of(err)
		if _, named := errors.AsType[*fs.PathError](got); named || !errors.Is(got, fs.ErrNotExist) || got.Error() == err.Error() {
			t.Errorf("%s: %v, of %v", name, got, err)
		}
	}
	for _, err := range []error{nil, io.EOF, fmt.Errorf("it ends: %w", io.EOF)} {
		if got := cause.Of(err); !errors.Is(got, err) {
			t.Errorf("%v, of %v", got, err)
		}
	}
}
