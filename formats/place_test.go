package formats

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// other is a user that is neither root nor runs tests.
const other = 65534

// TestOthers: what others have laid in the way of a file is not moved away, opened or
// followed, neither when it is opened nor when the next one is begun.
func TestOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can make files of another user")
	}
	do := func(t *testing.T, err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	link := func(t *testing.T, path, to string, owner int) {
		t.Helper()
		do(t, os.Symlink(to, path))
		do(t, os.Lchown(path, owner, -1))
	}
	file := func(t *testing.T, path string, owner int) {
		t.Helper()
		do(t, os.WriteFile(path, nil, 0o666))
		do(t, os.Chown(path, owner, -1))
	}
	folder := func(t *testing.T, path string, owner int, mode fs.FileMode) {
		t.Helper()
		do(t, os.Mkdir(path, 0o755))
		do(t, os.Chown(path, owner, -1))
		do(t, os.Chmod(path, mode))
	}
	const like = 0o777 | fs.ModeSticky // like /tmp
	const (
		linkOfOthers = "is a link that belongs to another user"
		ofOthers     = "belongs to another user"
	)
	for _, x := range []struct {
		name    string
		folder  fs.FileMode // of the one that all is in
		owner   int         // of that
		path    string
		lay     func(t *testing.T, secret string)
		noLinks bool
		atOnce  string // in the error of Open
		later   string // in that of Write, when it comes behind Open, which sees to links
	}{
		{"a link of others", like, 0, "gc.log", func(t *testing.T, secret string) { link(t, "gc.log", secret, other) }, false, linkOfOthers, ofOthers},
		{"a link of the owner of the folder", 0o755, other, "gc.log", func(t *testing.T, secret string) { link(t, "gc.log", secret, other) }, false, linkOfOthers, ""},
		{"a link behind one of ours", like, 0, "gc.log", func(t *testing.T, secret string) {
			link(t, "gc.log", "b", 0)
			link(t, "b", secret, other)
		}, false, "b " + linkOfOthers, ""},
		{"a file of others", like, 0, "gc.log", func(t *testing.T, _ string) { file(t, "gc.log", other) }, false, ofOthers, ofOthers},
		{"a file of others behind a link of ours", like, 0, "gc.log", func(t *testing.T, _ string) {
			file(t, "b", other)
			link(t, "gc.log", "b", 0)
		}, false, "b is there already and " + ofOthers, ""},
		{"a folder of others", like, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, true, "new " + ofOthers, "new " + ofOthers},
		{"a link of others to a folder", 0o777, 0, "new/gc.log", func(t *testing.T, secret string) { link(t, "new", filepath.Dir(secret), other) }, true, "new " + linkOfOthers, "new " + linkOfOthers},
		{"links are not wanted", 0o755, 0, "gc.log", func(t *testing.T, _ string) { link(t, "gc.log", "b", 0) }, true, "gc.log is a link", ""},

		{"a link of ours", like, 0, "gc.log", func(t *testing.T, _ string) { link(t, "gc.log", "b", 0) }, false, "", ""},
		{"a link of ours to a folder", like, 0, "new/gc.log", func(t *testing.T, _ string) {
			folder(t, "far", 0, 0o755)
			link(t, "new", "far", 0)
		}, true, "", ""},
		{"a file of ours", like, 0, "gc.log", func(t *testing.T, _ string) { file(t, "gc.log", 0) }, true, "", ""},
		{"a file that a log rotation has made for others", 0o755, 0, "gc.log", func(t *testing.T, _ string) { file(t, "gc.log", other) }, true, "", ""},
		{"a folder that an administrator has given others", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, true, "", ""},
		{"nothing", like, 0, "new/gc.log", func(*testing.T, string) {}, true, "", ""},
	} {
		for when, want := range map[string]string{"at once": x.atOnce, "later": x.later} {
			t.Run(x.name+" "+when, func(t *testing.T) {
				secret := filepath.Join(t.TempDir(), "secret")
				do(t, os.WriteFile(secret, []byte("secret"), 0o600))
				dir := filepath.Join(t.TempDir(), "dir")
				folder(t, dir, x.owner, x.folder)
				t.Chdir(dir)
				if when == "at once" {
					x.lay(t, secret)
				}
				r, err := (&Files{}).Open(x.path, RotateOptions{MakeDirs: true, NoLinks: x.noLinks})
				if err == nil {
					if when == "later" {
						x.lay(t, secret)
					}
					err = r.Write(Head{head, true}, record(0), false)
					err = errors.Join(err, r.Close())
				}
				if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("the error is %v, want %q", err, want)
				}
				if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
					t.Errorf("the file of others is %q: %v", b, err)
				}
				if list, _ := os.ReadDir(filepath.Dir(secret)); len(list) != 1 {
					t.Errorf("beside the file of others there are %v", list)
				}
			})
		}
	}
}

// TestManyNames: an empty file that is somewhere else too is not written.
func TestManyNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gc.log")
	r := open(t, path, RotateOptions{Count: 5, Size: 1000})
	far := filepath.Join(t.TempDir(), "far")
	if err := os.WriteFile(far, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(far, path); err != nil {
		t.Skipf("no hard links here: %v", err)
	}
	write(t, r, 0, 2)
	closeFile(t, r)
	if b, err := os.ReadFile(far); err != nil || len(b) > 0 {
		t.Errorf("the other name has %q: %v", b, err)
	}
	if got := names(content(t, dir)); len(got) != 2 || !slices.Contains(got, "gc.log") {
		t.Errorf("the files are %q", got)
	}
}
