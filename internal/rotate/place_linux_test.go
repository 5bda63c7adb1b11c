package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/testing/extent"
)

// exchange swaps two files.
func exchange(a, b string) error {
	return unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
}

// other is a user that is neither root nor the one running the tests.
const other = 65534

// TestOthers: what other users have put in the place of a file is not renamed, opened or followed,
// neither when the file is opened nor when the next one is started.
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
		ofNobody     = "belongs to nobody: whoever can write there can redirect gclog"
		forAll       = "is world-writable: whoever can write there can redirect gclog"
	)
	asOther := Options{NoLinks: true, As: Account{other, other}}
	daemon, person, sudo := Options{NoLinks: true}, Options{}, Options{Sudo: other}
	group := func(t *testing.T, path string, gid int) {
		t.Helper()
		folder(t, path, 0, 0o775)
		do(t, os.Chown(path, 0, gid))
		do(t, os.Chmod(path, 0o775))
	}
	for _, x := range []struct {
		name   string
		folder fs.FileMode // mode of the folder that contains everything
		owner  int         // owner of that folder
		path   string
		lay    func(t *testing.T, secret string)
		o      Options
		atOnce string // contained in the error of Open
		later  string // contained in the error of Write, if the entry was added after Open, which resolves links
	}{
		{"a link of others", like, 0, "gc.log", func(t *testing.T, secret string) { link(t, "gc.log", secret, other) }, person, linkOfOthers, ofOthers},
		{"a link of the owner of the folder", 0o755, other, "gc.log", func(t *testing.T, secret string) { link(t, "gc.log", secret, other) }, person, linkOfOthers, ofNobody},
		{"a link behind one of ours", like, 0, "gc.log", func(t *testing.T, secret string) {
			link(t, "gc.log", "b", 0)
			link(t, "b", secret, other)
		}, person, "b " + linkOfOthers, ""},
		{"a file of others", like, 0, "gc.log", func(t *testing.T, _ string) { file(t, "gc.log", other) }, person, ofOthers, ofOthers},
		{"a file of others behind a link of ours", like, 0, "gc.log", func(t *testing.T, _ string) {
			file(t, "b", other)
			link(t, "gc.log", "b", 0)
		}, person, "b already exists and " + ofOthers, ""},
		{"a folder of others", like, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, daemon, "new " + ofOthers, "new " + ofOthers},
		{"a folder of others, for a person", like, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, person, "new " + ofOthers, "new " + ofOthers},
		{"a link of others to a folder", like, 0, "new/gc.log", func(t *testing.T, secret string) { link(t, "new", filepath.Dir(secret), other) }, daemon, "new " + linkOfOthers, "new " + linkOfOthers},
		{"a folder for everybody", 0o777, 0, "gc.log", func(*testing.T, string) {}, daemon, forAll, forAll},
		{"a folder for everybody above", 0o777, 0, "new/gc.log", func(*testing.T, string) {}, person, forAll, forAll},
		{"a folder like /tmp, for the daemon", like, 0, "gc.log", func(*testing.T, string) {}, daemon, "is a world-writable directory", "is a world-writable directory"},
		{"links are not wanted", 0o755, 0, "gc.log", func(t *testing.T, _ string) { link(t, "gc.log", "b", 0) }, daemon, "gc.log is a link", ""},
		{"a folder that an administrator has given others", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, daemon, ofNobody, ofNobody},
		{"the same, for a person", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, person, ofNobody, ofNobody},
		{"a folder of ours in one of others", 0o755, other, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", 0, 0o755) }, daemon, ofNobody, ofNobody},
		{"a folder for a group of people", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { group(t, "new", 4711) }, daemon, "is writable by the group 4711", "is writable by the group 4711"},
		{"a file that the account may not write", 0o755, 0, "gc.log", func(*testing.T, string) {}, asOther, "", "permission denied"},

		{"a link of ours", like, 0, "gc.log", func(t *testing.T, _ string) { link(t, "gc.log", "b", 0) }, person, "", ""},
		{"a link of ours to a folder", like, 0, "new/gc.log", func(t *testing.T, _ string) {
			folder(t, "far", 0, 0o755)
			link(t, "new", "far", 0)
		}, daemon, "", ""},
		{"a file of ours", like, 0, "gc.log", func(t *testing.T, _ string) { file(t, "gc.log", 0) }, person, "", ""},
		{"a file that a log rotation has made for others", 0o755, 0, "gc.log", func(t *testing.T, _ string) { file(t, "gc.log", other) }, daemon, "", ""},
		{"a folder for a group of the system", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { group(t, "new", 4) }, daemon, "", ""},
		{"a folder of who has called gclog by sudo", 0o755, other, "gc.log", func(*testing.T, string) {}, sudo, "", ""},
		{"a folder for the group of who has called gclog by sudo", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { group(t, "new", other) }, sudo, "", ""},
		{"the same for another who has called it", 0o755, 0, "new/gc.log", func(t *testing.T, _ string) { group(t, "new", other) }, Options{Sudo: 1}, "is writable by the group", "is writable by the group"},
		{"a folder of others in one where only root makes files", 0o755 | fs.ModeSticky, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, person, ofNobody, ofNobody},
		{"a folder of the account", 0o755, other, "gc.log", func(*testing.T, string) {}, asOther, "", ""},
		{"a folder of the account in one like /tmp", like, 0, "new/gc.log", func(t *testing.T, _ string) { folder(t, "new", other, 0o755) }, asOther, "", ""},
		{"nothing", like, 0, "new/gc.log", func(*testing.T, string) {}, daemon, "", ""},
	} {
		for when, want := range map[string]string{"at once": x.atOnce, "later": x.later} {
			t.Run(x.name+" "+when, func(t *testing.T) {
				secret := filepath.Join(t.TempDir(), "secret")
				do(t, os.WriteFile(secret, []byte("secret"), 0o600))
				above := t.TempDir()
				for _, dir := range []string{above, filepath.Dir(above)} { // others can pass through
					do(t, os.Chmod(dir, 0o755))
				}
				dir := filepath.Join(above, "dir")
				folder(t, dir, x.owner, x.folder)
				t.Chdir(dir)
				if when == "at once" {
					x.lay(t, secret)
				}
				x.o.MakeDirs = true
				r, err := (&Files{}).Open(x.path, x.o)
				if err == nil {
					if when == "later" {
						x.lay(t, secret)
					}
					err = r.Write(formats.Head{Append: head, Joined: true}, record(0), false)
					err = errors.Join(err, r.Close())
				}
				if want == "" && x.later != "permission denied" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
					t.Errorf("the error is %v, want %q", err, want)
				}
				if b, err := os.ReadFile(secret); err != nil || string(b) != "secret" {
					t.Errorf("the file of others is %q: %v", b, err)
				}
				if list, _ := os.ReadDir(filepath.Dir(secret)); len(list) != 1 {
					t.Errorf("beside the file of others there are %v", list)
				}
				if info, err := os.Stat(x.path); x.o.As != (Account{}) && want == "" && err == nil && x.o.owner(info) != other {
					t.Errorf("%s belongs to %d", x.path, x.o.owner(info))
				}
			})
		}
	}
}

// owner returns the uid that a file belongs to.
func (*Options) owner(info fs.FileInfo) int { return int(info.Sys().(*syscall.Stat_t).Uid) }

// TestGroupWarning: a directory that a system group may write to causes a warning.
func TestGroupWarning(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a directory to another group")
	}
	dir := filepath.Join(t.TempDir(), "logs")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Chown(dir, 0, 4), os.Chmod(dir, 0o775)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, filepath.Join(dir, "not", "there")} {
		warning, err := Options{NoLinks: true, MakeDirs: true}.CheckFolder(path)
		if err != nil || !strings.Contains(warning, dir+" is writable by the group adm") {
			t.Errorf("%s: %q, %v", path, warning, err)
		}
	}
	if list, err := os.ReadDir(dir); err != nil || len(list) > 0 {
		t.Errorf("checking has made %v: %v", list, err)
	}
}

// TestExchangedFolder: if the owner of a directory repeatedly swaps it with a link, nothing is
// written where the link leads.
func TestExchangedFolder(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can write as another user")
	}
	above, secret := t.TempDir(), t.TempDir()
	for _, dir := range []string{above, filepath.Dir(above)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	dir, link := filepath.Join(above, "logs"), filepath.Join(above, "link")
	if err := errors.Join(os.Mkdir(dir, 0o755), os.Symlink(secret, link), os.Chown(above, other, other), os.Chown(dir, other, other), os.Lchown(link, other, other)); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = exchange(dir, link)
		}
	}()
	written := 0
	for _, o := range []Options{{As: Account{other, other}}, {}, {NoLinks: true}} {
		for i := range extent.Pick(100, 300) {
			o.MakeDirs, o.Count, o.Size = true, 2, perFile(1)
			r, err := (&Files{}).Open(filepath.Join(dir, fmt.Sprintf("gc%d.log", i)), o)
			if err != nil {
				continue
			}
			for n := range 3 {
				if r.Write(formats.Head{Append: head, Joined: true}, record(n), false) == nil {
					written++
				}
			}
			_ = r.Close()
		}
	}
	close(stop)
	<-stopped
	if list, err := os.ReadDir(secret); err != nil || len(list) > 0 {
		t.Errorf("%d files are in the directory of root: %v", len(list), err)
	}
	if written == 0 {
		t.Error("nothing was written at all")
	}
}

// TestOpenedTwice: a file that cannot be opened for writing once it was created is not left behind.
func TestOpenedTwice(t *testing.T) {
	dir := t.TempDir()
	o := Options{Mode: 0o400}
	if os.Geteuid() == 0 { // root may write any file
		o.As = Account{other, other}
		if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chown(dir, other, other)); err != nil {
			t.Fatal(err)
		}
	}
	r := open(t, filepath.Join(dir, "gc.log"), o)
	before := 0
	for n := range 3 {
		if err := r.Write(record(n), false); err == nil || !strings.Contains(err.Error(), "opening "+dir) {
			t.Errorf("record %d: %v", n, err)
		}
		if n == 0 {
			before = openDescriptors() // when a program opens its first file, Go itself opens two
		}
	}
	if got := content(t, dir); len(got) > 0 || openDescriptors() > before {
		t.Errorf("the files are %q, and %d more are open", names(got), openDescriptors()-before)
	}
	closeFile(t, r)
}

// TestManyNames: an empty file with further hard links is not written.
func TestManyNames(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "gc.log")
	r := open(t, path, Options{Count: 5, Size: 1000})
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
