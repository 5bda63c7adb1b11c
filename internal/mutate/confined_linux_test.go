package main

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/child"
	"golang.org/x/sys/unix"
)

// TestConfined: changed code can write to a folder of its own and nowhere else.
func TestConfined(t *testing.T) {
	if !child.First(t) {
		return
	}
	// Mounts of others, which stay what they are and cause no failure: one with a strange name, one that
	// the empty /tmp hides, and one that another one hides.
	mounts, err := os.MkdirTemp("/var/tmp", "mutate mounts")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(mounts)
	visible, hidden := filepath.Join(mounts, "a\tb"), filepath.Join(t.TempDir(), "chroot", "proc")
	over := filepath.Join(mounts, "over")
	for _, at := range []string{visible, hidden, filepath.Join(over, "proc"), over} {
		if err := errors.Join(os.MkdirAll(at, 0o755), unix.Mount("gclog-test", at, "tmpfs", 0, "size=64k")); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := errors.Join(os.WriteFile(filepath.Join(at, "a"), nil, 0o600), unix.Unmount(at, 0)); err != nil {
				t.Errorf("%s is no longer what it was: %v", at, err)
			}
		}()
	}
	dir, err := os.MkdirTemp("/var/tmp", "mutate") // tests cannot see /tmp
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	program, temp, other := filepath.Join(dir, "program"), filepath.Join(dir, "temp"), filepath.Join(dir, "other")
	script := `#!/bin/sh
echo a > "$TMPDIR/a" || exit
for other in "` + other + `" "` + visible + `/other"; do
	if echo a > "$other"; then exit 1; fi
done
echo a > /tmp/a && echo a > /dev/null
`
	if err := errors.Join(os.WriteFile(program, []byte(script), 0o700), os.Mkdir(temp, 0o700)); err != nil {
		t.Fatal(err)
	}
	if said, err := run(t.Context(), program, ".", temp, limits{time: time.Minute}, "."); err != nil {
		t.Errorf("%v\n%s", err, said)
	}
	if _, err := os.Stat(filepath.Join(temp, "a")); err != nil {
		t.Error(err)
	}
}
