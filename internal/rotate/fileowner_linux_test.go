package rotate

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// needAttributes skips a test where files have no attributes.
func needAttributes(t *testing.T, dir string) {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "attributes"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Remove(f.Name()) }()
	defer f.Close()
	if setOwnerAttribute(f, "1 x"); ownerAttribute(f) != "1 x" {
		t.Skip("the file system of temporary files has no extended attributes")
	}
}

// writtenBy writes records to a path for a process of a user, as another gclog after the one before.
func writtenBy(t *testing.T, path, user string, o Options, from, to int) {
	t.Helper()
	f, err := (&Files{}).Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	for n := from; n < to; n++ {
		if err := f.Write(formats.Head{Append: head, Joined: true, Process: &gclog.Process{UserID: user, Service: "orders"}}, record(n), false); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}

// ownersIn counts the files of a folder by the user of the process.
func ownersIn(t *testing.T, dir string) map[string]int {
	t.Helper()
	count := map[string]int{}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		f, err := os.Open(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		count[FileOwner(f, info).UserID]++
		f.Close()
	}
	return count
}

// TestRotationOfOthers: a process that gets the pid of another user's, and calls itself the same,
// rotates only its own files away.
func TestRotationOfOthers(t *testing.T) {
	bothNamings(t, func(t *testing.T, naming Naming) {
		dir := t.TempDir()
		needAttributes(t, dir)
		path, o := filepath.Join(dir, "orders-19.json"), Options{Count: 4, Size: perFile(1), Naming: naming}
		writtenBy(t, path, "1001", o, 0, 3) // one current, two archived
		writtenBy(t, path, "65534", o, 0, 20)
		writtenBy(t, path, "65534", o, 0, 20)
		count := ownersIn(t, dir)
		if count["1001"] != 3 {
			t.Errorf("of 3 files of the first user %d are left: %v", count["1001"], count)
		}
		if most := o.Count + 1; count["65534"] == 0 || count["65534"] > most {
			t.Errorf("of the second there are %d, at most %d are allowed: %v", count["65534"], most, count)
		}
	})
}

// TestOwnerlessRotation: files of an earlier gclog are rotated away as before.
func TestOwnerlessRotation(t *testing.T) {
	dir := t.TempDir()
	needAttributes(t, dir)
	path, o := filepath.Join(dir, "orders-19.json"), Options{Count: 3, Size: perFile(1)}
	writtenBy(t, path, "", o, 0, 9)
	writtenBy(t, path, "1001", o, 0, 9)
	if count := ownersIn(t, dir); count[""] != 0 || count["1001"] != 4 {
		t.Errorf("left are %v", count)
	}
}

// TestFileOwner: the service of an owner may be anything.
func TestFileOwner(t *testing.T) {
	dir := t.TempDir()
	needAttributes(t, dir)
	for service, want := range map[string]string{"": "app", "orders": "orders", "a b 7\n\x00": "a b 7\n\x00", strings.Repeat("x", 999): strings.Repeat("x", mostService)} {
		f, err := os.Create(filepath.Join(dir, "file"))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		OwnerOf(&gclog.Process{UserID: "7", Service: service, Name: "app"}).SetOwner(f)
		if got, want := FileOwner(f, info), (Owner{UserID: "7", Service: want}); got != want {
			t.Errorf("it is of %q, want %q", got, want)
		}
	}
}

// TestOwnerOfPrincipal: files of a user who is one of many that another one has count as that one's.
func TestOwnerOfPrincipal(t *testing.T) {
	if got, want := OwnerOf(&gclog.Process{UserID: "200005", PrincipalID: "1001", Service: "orders"}), (Owner{UserID: "1001", Service: "orders"}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}
