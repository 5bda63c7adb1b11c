package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestWays: a directory is found through any path that leads to it, nothing is left open on the
// way, and an error contains the path up to the point of failure.
func TestWays(t *testing.T) {
	dir := t.TempDir()
	mkdir := func(path string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, path), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	link := func(path, to string) {
		t.Helper()
		if err := os.Symlink(to, filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
	}
	mkdir("a/b/c")
	if err := os.WriteFile(filepath.Join(dir, "a", "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link("absolute", filepath.Join(dir, "a", "b"))
	link("relative", "a/b")
	link("a/up", "../a/./b//c")
	link("dangling", "none")
	link("loop", "loop")
	// A chain of as many links as the kernel follows, and one more.
	link("link1", "a/b/c")
	for i := 2; i <= mostLinks+1; i++ {
		link(fmt.Sprint("link", i), fmt.Sprint("link", i-1))
	}
	want := func(path string) fs.FileInfo {
		t.Helper()
		info, err := os.Stat(filepath.Join(dir, path))
		if err != nil {
			t.Fatal(err)
		}
		return info
	}
	t.Chdir(filepath.Join(dir, "a"))
	before := openDescriptors()
	for _, c := range []struct {
		path, same string // leads to the same directory as path
		fails      string
	}{
		{dir, ".", ""},
		{dir + "/a/b/c", "a/b/c", ""},
		{dir + "//a/./b/../b/c/", "a/b/c", ""},
		{"b", "a/b", ""},
		{"../a/b", "a/b", ""},
		{".", "a", ""},
		{"/../../" + dir + "/a", "a", ""},
		{dir + "/absolute/c", "a/b/c", ""},
		{dir + "/relative/c", "a/b/c", ""},
		{dir + "/relative/../a/b", "a/b", ""}, // as written: b is not in the link's target
		{dir + "/a/up", "a/b/c", ""},
		{dir + fmt.Sprint("/link", mostLinks), "a/b/c", ""},
		{dir + fmt.Sprint("/link", mostLinks+1), "", filepath.Join(dir, "link1") + ": too many links"},
		{dir + "/loop", "", filepath.Join(dir, "loop") + ": too many links"},
		{dir + "/dangling", "", filepath.Join(dir, "none") + ": no such file or directory"},
		{dir + "/a/none/b", "", filepath.Join(dir, "a", "none") + ": no such file or directory"},
		{dir + "/a/file", "", filepath.Join(dir, "a", "file") + ": not a directory"},
		{dir + "/a/file/b", "", filepath.Join(dir, "a", "file") + ": not a directory"},
	} {
		root, err := (&Options{}).OpenFolder(c.path)
		if c.fails != "" {
			if root != nil || err == nil || !strings.HasSuffix(err.Error(), c.fails) {
				t.Errorf("%s: %v, %v, want %s", c.path, root, err, c.fails)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.path, err)
			continue
		}
		if info, err := root.Stat("."); err != nil || !os.SameFile(info, want(c.same)) {
			t.Errorf("%s is not %s: %v", c.path, c.same, err)
		}
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	}
	if after := openDescriptors(); after != before {
		t.Errorf("%d descriptors are open, before were %d", after, before)
	}
	made, err := (&Options{MakeDirs: true}).OpenFolder(filepath.Join(dir, "dangling", "x"))
	if err != nil {
		t.Fatal(err)
	}
	defer made.Close()
	if info, err := made.Stat("."); err != nil || !os.SameFile(info, want("none/x")) {
		t.Errorf("what a link leads to was not made: %v", err)
	}
	if warning, err := (Options{MakeDirs: true}).CheckFolder(filepath.Join(dir, "not", "yet")); warning != "" || err != nil {
		t.Errorf("a directory to be made: %q, %v", warning, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "not")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a check has made it: %v", err)
	}
}

// groupName returns the name of a group on this machine.
func groupName(gid int) string {
	if g, err := user.LookupGroupId(strconv.Itoa(gid)); err == nil {
		return g.Name
	}
	return strconv.Itoa(gid)
}

// TestFolderRights checks in which directories root writes, and what it reports about others.
func TestFolderRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give directories to others")
	}
	const (
		sticky = fs.ModeSticky
		way    = ": whoever can write there can redirect gclog, which runs as root, to other files. Use a directory that only root can write to, or "
		people = 4711
	)
	const (
		fine = iota
		warns
		refuses
	)
	for _, c := range []struct {
		uid, gid int
		mode     fs.FileMode
		verdict  int
		says     string
	}{
		{0, 0, 0o755, fine, ""},
		{0, 0, 0o775, fine, ""},
		{0, people, 0o755, fine, ""},
		{0, people, 0o775, refuses, "is writable by the group " + groupName(people) + way + "run gclog as that user (sudo -u USER gclog ...)"},
		{0, people, 0o775 | sticky, fine, ""},
		{0, 999, 0o775, warns, "is writable by the group " + groupName(999) + ": its members can redirect"},
		{0, 1000, 0o775, refuses, "is writable by the group " + groupName(1000) + way},
		{0, 999, 0o755, fine, ""},
		{0, 999, 0o775 | sticky, fine, ""},
		{0, 4, 0o775, warns, "is writable by the group " + groupName(4) + ": its members can redirect"},
		{0, 0, 0o757, refuses, "is world-writable" + way + "run gclog as that user (sudo -u USER gclog ...)"},
		{0, people, 0o777, refuses, "is world-writable" + way},
		{0, 0, 0o777 | sticky, fine, ""},
		{people, 0, 0o755, refuses, "belongs to 4711" + way + "run gclog as that user (sudo -u 4711 gclog ...)"},
		{people, 0, 0o777 | sticky, refuses, "belongs to 4711" + way},
		{other, 0, 0o700, refuses, "belongs to nobody" + way + "run gclog as that user (sudo -u nobody gclog ...)"},
	} {
		t.Run(fmt.Sprint(c.uid, ":", c.gid, " ", c.mode), func(t *testing.T) {
			dir := t.TempDir()
			if err := errors.Join(os.Chown(dir, c.uid, c.gid), os.Chmod(dir, c.mode)); err != nil {
				t.Fatal(err)
			}
			warning, err := Options{}.CheckFolder(dir)
			said := warning
			if at, ok := errors.AsType[*FolderError](err); ok {
				said = err.Error()
				if at.Path != dir {
					t.Errorf("it is about %s, want %s", at.Path, dir)
				}
			}
			want := [...]bool{c.verdict == warns, c.verdict == refuses}
			if got := [...]bool{warning != "", err != nil}; got != want {
				t.Errorf("the warning is %q, the error %v", warning, err)
			}
			if c.says != "" && !strings.HasPrefix(said, dir+" "+c.says) || c.says == "" && said != "" {
				t.Errorf("it says %q, want %q", said, c.says)
			}
			// Files with predictable names are never written in a directory that everyone may write
			// to.
			_, err = Options{NoLinks: true}.CheckFolder(dir)
			if refused := c.verdict == refuses || c.mode&sticky != 0; (err != nil) != refused {
				t.Errorf("the daemon: %v", err)
			}
			if c.uid == people && c.mode&sticky == 0 && !strings.HasSuffix(fmt.Sprint(err), "or write as that user with su: {user: 4711}") {
				t.Errorf("the daemon says %v", err)
			}
			// An unprivileged gclog, or one that writes as another user, gives no advice about
			// directories.
			if warning, err := (Options{As: Account{other, other}}).CheckFolder(dir); warning != "" || err != nil && !errors.Is(err, fs.ErrPermission) {
				t.Errorf("as another user: %q, %v", warning, err)
			}
		})
	}
}
