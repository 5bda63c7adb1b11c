package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestRights checks who may write where its user may not, and who can write as another user.
func TestRights(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can run a program as another user")
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(t.TempDir(), "rights") // the folder of the original binary may not be accessible to other users
	if err := errors.Join(os.WriteFile(binary, program, 0o755), os.Chmod(filepath.Dir(binary), 0o755), os.Chmod(filepath.Dir(filepath.Dir(binary)), 0o755)); err != nil {
		t.Fatal(err)
	}
	const refused = "writing as uid 0, gid 65534: it requires root, or the capabilities SETUID and SETGID"
	for _, c := range []struct {
		name         string
		uid          uint32
		capabilities []uintptr
		want         []string // contained in the helper's output
		namespace    bool     // a user namespace that only contains root
	}{
		{"root", 0, nil, []string{"privileged true", "as itself: <nil>", "as root: <nil>", "nobody is unmapped: false"}, false},
		{"root of a namespace", 0, nil, []string{"privileged true", "nobody is unmapped: true"}, true},
		{"nobody", other, nil, []string{"privileged false", "as itself: <nil>", refused}, false},
		{"who may read everything", other, []uintptr{unix.CAP_DAC_READ_SEARCH}, []string{"privileged false"}, false},
		{"who may write everything", other, []uintptr{unix.CAP_DAC_OVERRIDE}, []string{"privileged true", refused}, false},
		{"who can be in any group", other, []uintptr{unix.CAP_SETGID}, []string{refused}, false},
		{"who can be anybody", other, []uintptr{unix.CAP_SETGID, unix.CAP_SETUID}, []string{"privileged false", "as root: <nil>"}, false},
	} {
		cmd := exec.Command(binary)
		cmd.Env = append(os.Environ(), helperEnv+"=rights")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: c.uid, Gid: other}, AmbientCaps: c.capabilities}
		if c.namespace {
			cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER, UidMappings: []syscall.SysProcIDMap{{HostID: 0, Size: 1}}, GidMappings: []syscall.SysProcIDMap{{HostID: 0, Size: 1}}}
		}
		out, err := cmd.CombinedOutput()
		if c.namespace && err != nil {
			t.Logf("no namespaces of users here: %v", err)
			continue
		}
		if errors.Is(err, fs.ErrPermission) {
			t.Skipf("others cannot run a program here: %v", err)
		}
		if err != nil {
			t.Fatalf("%s: %v: %s", c.name, err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: %q is not in\n%s", c.name, want, out)
			}
		}
	}
}

// TestAccount: what is done as an account is done with its rights and no others, and the result is
// returned, even a panic.
func TestAccount(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can write as another user")
	}
	dir := t.TempDir()
	for _, above := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(above, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "roots"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		account Account
		allowed bool
	}{{Account{}, true}, {Account{other, other}, false}, {Account{other, 0}, false}, {Account{0, other}, true}} {
		if err := c.account.Do(func() error {
			_, err := os.ReadFile(filepath.Join(dir, "roots"))
			return err
		}); (err == nil) != c.allowed {
			t.Errorf("%+v reads a file of root's: %v", c.account, err)
		}
	}
	// Root owns root's files, whatever its other rights are.
	if err := (Account{0, other}).Do(func() error {
		if !privileged() {
			t.Error("root without capabilities looks like somebody else")
		}
		return nil
	}); err != nil {
		t.Error(err)
	}
	if err := os.Chmod(filepath.Join(dir, "roots"), 0o060); err != nil {
		t.Fatal(err)
	}
	if err := (Account{other, other}).Do(func() error {
		_, err := os.ReadFile(filepath.Join(dir, "roots"))
		return err
	}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("the groups of root are kept: %v", err)
	}
	open := filepath.Join(dir, "open")
	if err := errors.Join(os.Mkdir(open, 0o777), os.Chmod(open, 0o777)); err != nil {
		t.Fatal(err)
	}
	if err := (Account{other, other - 1}).Do(func() error { return os.WriteFile(filepath.Join(open, "file"), nil, 0o600) }); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(open, "file"))
	if err != nil {
		t.Fatal(err)
	}
	if s := info.Sys().(*syscall.Stat_t); s.Uid != other || s.Gid != other-1 {
		t.Errorf("the file is of uid %d, gid %d", s.Uid, s.Gid)
	}
	for _, a := range []Account{{}, {other, other}} {
		func() {
			defer func() {
				if x := recover(); x != "a defect" {
					t.Errorf("%+v: a panic became %v", a, x)
				}
			}()
			_ = a.Do(func() error { panic("a defect") })
		}()
	}
}

// rights prints what the helper may do.
func rights() {
	fmt.Printf("privileged %v\n", privileged())
	self, root := Account{uint32(os.Geteuid()), uint32(os.Getegid())}, Account{UID: 0, GID: uint32(os.Getegid())}
	fmt.Printf("as itself: %v\n", self.Do(func() error { return nil }))
	fmt.Printf("as root: %v\n", root.Do(func() error { return nil }))
	fmt.Printf("nobody is unmapped: %v\n", isUnmapped(other))
}
