package rotate

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReadersLock: a reader's lock, of whatever kind, neither prevents writing a log nor makes it
// look as if it was being written.
func TestReadersLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log")
	r := open(t, path, Options{Mode: 0o644, Count: 2})
	write(t, r, 0, 1)
	if !IsInUse(path) {
		t.Error("a log that is written does not look so")
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	if err := syscall.Flock(int(reader.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		t.Fatalf("a reader cannot even lock it: %v", err)
	}
	closeFile(t, r)
	shared := syscall.Flock_t{Type: syscall.F_RDLCK}
	if err := syscall.FcntlFlock(reader.Fd(), syscall.F_SETLK, &shared); err != nil {
		t.Fatal(err)
	}
	if IsInUse(path) {
		t.Error("a log that a reader has locked looks as if it was written")
	}
	again := open(t, path, Options{Mode: 0o644, Count: 2})
	write(t, again, 1, 2)
	closeFile(t, again)
	wantRecords(t, all(t, filepath.Dir(path)), 0, 2)
}

// TestLockLater: a lock that a reader's lock prevented is taken once the reader is gone.
func TestLockLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log")
	r := open(t, path, Options{})
	write(t, r, 0, 1)
	// As logrotate does it, with a fast reader.
	if err := errors.Join(os.Rename(path, path+".old"), os.WriteFile(path, nil, 0o644)); err != nil {
		t.Fatal(err)
	}
	reader, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	lock := unix.Flock_t{Type: unix.F_RDLCK}
	if err := unix.FcntlFlock(reader.Fd(), unix.F_OFD_SETLK, &lock); err != nil {
		t.Fatal(err)
	}
	r.Follow()
	write(t, r, 1, 2)
	if IsInUse(path) {
		t.Error("it could be locked, though a reader has locked it")
	}
	_ = reader.Close()
	r.Follow()
	if !IsInUse(path) {
		t.Error("it is not locked, though no reader has locked it")
	}
	closeFile(t, r)
}

// TestErrInUse: a file that is being written is not taken over, not even if it was truncated. Once
// it is closed it is archived like any other.
func TestErrInUse(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log")
	second := open(t, path, Options{})
	first := open(t, path, Options{})
	write(t, first, 0, 1)
	refused := func(when string) {
		t.Helper()
		if _, err := (&Files{}).Open(path, Options{}); !errors.Is(err, ErrInUse) || err.Error() != ErrInUse.Error() {
			t.Errorf("%s: opened with %v, want %v", when, err, ErrInUse)
		}
		if err := second.Write(record(9), false); !errors.Is(err, ErrInUse) {
			t.Errorf("%s: written with %v, want %v", when, err, ErrInUse)
		}
	}
	refused("with a record")
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
	refused("without a byte")
	first.Follow()
	write(t, first, 1, 2)
	closeFile(t, first)
	write(t, second, 2, 3)
	closeFile(t, second)
	wantRecords(t, all(t, filepath.Dir(path)), 1, 3)
}

// TestIsInUseCloses: IsInUse leaves no file open.
func TestIsInUseCloses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.log")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	before := openDescriptors()
	for range 20 {
		IsInUse(path)
	}
	if after := openDescriptors(); after > before {
		t.Errorf("%d descriptors are open, before were %d", after, before)
	}
}
