package output_test

import (
	"errors"
	"math"
	"testing"

	"github.com/gclog/gclog/internal/output"
)

// TestDiskOf: a file system that holds no files has no space, which does not mean that it is full.
func TestDiskOf(t *testing.T) {
	d, err := output.DiskOf(t.TempDir())
	if err != nil || d.Free == 0 || d.Size < d.Free {
		t.Errorf("a folder of files: %+v, error %v", d, err)
	}
	if d, err := output.DiskOf("/proc"); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("/proc: %+v, error %v", d, err)
	}
	if shm, err := output.DiskOf("/dev/shm"); err == nil && !shm.Memory {
		t.Errorf("/dev/shm: %+v", shm)
	}
}

// TestReserve: the last tenth of a disk is left alone.
func TestReserve(t *testing.T) {
	for _, c := range []struct{ free, size, want uint64 }{{50, 100, 40}, {10, 100, 0}, {5, 100, 0}, {0, 0, 0}, {1 << 50, 1 << 51, 1<<50 - 1<<51/10}} {
		if got := (output.Disk{Free: c.free, Size: c.size}).Spare(); got != c.want {
			t.Errorf("%d of %d: %d to spare, want %d", c.free, c.size, got, c.want)
		}
	}
	dir := t.TempDir()
	d, err := output.DiskOf(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := output.Reserve{Folder: dir}
	full, isFull := errors.AsType[*output.ReserveError](r.Take(int(min(d.Free, math.MaxInt))))
	if !isFull || full.Folder != dir {
		t.Errorf("all of it: %v", full)
	}
	if _, still := errors.AsType[*output.ReserveError](r.Take(int(min(d.Free, math.MaxInt)))); !still {
		t.Error("what was refused may be written")
	}
	for _, r := range []output.Reserve{{Folder: "/proc"}, {}} {
		if err := r.Take(1 << 40); err != nil {
			t.Errorf("%q, which has no space: %v", r.Folder, err)
		}
	}
}
