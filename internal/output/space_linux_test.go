package output_test

import (
	"errors"
	"testing"

	"github.com/gclog/gclog/internal/output"
)

// TestFreeSpace: a file system that holds no files has no space, which does not mean that it is full.
func TestFreeSpace(t *testing.T) {
	if n, err := output.FreeSpace(t.TempDir()); err != nil || n == 0 {
		t.Errorf("a folder of files: %d bytes, error %v", n, err)
	}
	if n, err := output.FreeSpace("/proc"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("/proc: %d bytes, error %v", n, err)
	}
}
