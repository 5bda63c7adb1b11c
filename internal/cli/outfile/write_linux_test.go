package outfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestWriteFile: a result goes where logs would go, with their rights.
func TestWriteFile(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o027)) // allowed: parallel tests wait until this one has ended
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	hello := func(w io.Writer) error { _, err := fmt.Fprint(w, "hello"); return err }
	contains := func(path, text string, mode fs.FileMode) {
		t.Helper()
		b, err := os.ReadFile(path)
		info, statErr := os.Lstat(path)
		if err != nil || statErr != nil || string(b) != text || info.Mode() != mode {
			t.Errorf("%s has %q, %v, %v", path, b, info.Mode(), err)
		}
	}
	write := func(path string) {
		t.Helper()
		if size, err := Write(path, ReportMode, hello); err != nil || size != 5 {
			t.Errorf("%s: %d bytes, %v", path, size, err)
		}
	}

	write(in("new"))
	contains(in("new"), "hello", 0o640) // the umask counts
	if err := os.WriteFile(in("old"), []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("old", in("link")); err != nil {
		t.Fatal(err)
	}
	write(in("link"))
	contains(in("old"), "hello", 0o600)
	if to, err := os.Readlink(in("link")); to != "old" {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if _, err := Write(in("none"), ReportMode, func(io.Writer) error {
		if list, _ := os.ReadDir(dir); len(list) != 3 {
			t.Errorf("before anything is written there is %v", list)
		}
		return errors.New("failed")
	}); err == nil {
		t.Error("no error")
	}

	before, err := syscall.Dup(1)
	if err != nil {
		t.Fatal(err)
	}
	to, err := os.Create(in("stdout"))
	if err != nil {
		t.Fatal(err)
	}
	err = syscall.Dup3(int(to.Fd()), 1, 0)
	const devStdout = "/dev/stdout"
	size, written := Write(devStdout, ReportMode, hello)
	if err := errors.Join(err, written, syscall.Dup3(before, 1, 0), syscall.Close(before), to.Close()); err != nil || size != 5 {
		t.Errorf("%d bytes, %v", size, err)
	}
	contains(in("stdout"), "hello", 0o640)
	if info, err := os.Lstat(devStdout); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("%s is %v, %v", devStdout, info, err)
	}
}

// TestWriteFileOfOthers: what other users put in the place of a result is not written to.
func TestWriteFileOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("takes root: files belong to another user")
	}
	const other = 12345
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o777|fs.ModeSticky); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(dir, "theirs")
	mine := filepath.Join(t.TempDir(), "mine")
	for _, err := range []error{
		os.WriteFile(mine, []byte("mine"), 0o600),
		os.Symlink(mine, filepath.Join(dir, "link")), os.Lchown(filepath.Join(dir, "link"), other, other),
		syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o666), os.Lchown(filepath.Join(dir, "pipe"), other, other),
		os.Mkdir(theirs, 0o777), os.Symlink("/dev/null", filepath.Join(theirs, "null")), os.Lchown(theirs, other, other),
		os.Lchown(filepath.Join(theirs, "null"), other, other), syscall.Mkfifo(filepath.Join(theirs, "pipe"), 0o666),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"link", "pipe", "theirs/null", "theirs/pipe"} {
		_, err := Write(filepath.Join(dir, name), ReportMode, func(io.Writer) error {
			t.Errorf("%s is written", name)
			return nil
		})
		if err == nil || !strings.Contains(err.Error(), name[strings.LastIndexByte(name, '/')+1:]) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b, err := os.ReadFile(mine); string(b) != "mine" {
		t.Errorf("%q, %v", b, err)
	}
}
