package host_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"golang.org/x/sys/unix"
)

// TestReadPlanted: a pipe or a device in place of a file is not even opened, even behind a link:
// opening it could have side effects.
func TestReadPlanted(t *testing.T) {
	self, err := new(host.Host).Describe(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	const null = 1<<8 | 3
	for name, plant := range map[string]func(path string) error{
		"a pipe":   func(path string) error { return unix.Mkfifo(path, 0o644) },
		"a device": func(path string) error { return unix.Mknod(path, unix.S_IFCHR|0o644, null) },
		"a file":   func(path string) error { return os.WriteFile(path, []byte("pod"), 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "name")
			err := plant(path)
			if errors.Is(err, unix.EPERM) {
				t.Skipf("it takes root: %v", err)
			}
			if err := errors.Join(err, os.Symlink("name", path+"-link")); err != nil {
				t.Fatal(err)
			}
			watch, err := unix.InotifyInit1(unix.IN_NONBLOCK | unix.IN_CLOEXEC)
			if err != nil {
				t.Fatal(err)
			}
			defer unix.Close(watch)
			if _, err := unix.InotifyAddWatch(watch, path, unix.IN_OPEN); err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{path, path + "-link"} {
				b, err := self.ReadFile(t.Context(), path, 10)
				_, none := unix.Read(watch, make([]byte, 4096))
				if read := name == "a file"; read != (err == nil && string(b) == "pod") || read == errors.Is(none, unix.EAGAIN) {
					t.Errorf("%s: %q, %v; that it was opened: %v", path, b, err, none)
				}
			}
		})
	}
}
