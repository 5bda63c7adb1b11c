package control_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/control"
)

// TestMain is also the server and the client of other users that TestOtherUsers starts.
func TestMain(m *testing.M) {
	path := os.Getenv("GCLOG_TEST_SOCKET")
	switch os.Getenv("GCLOG_TEST_ROLE") {
	case "server":
		serve(path)
	case "client":
		answer, err := control.Ask(context.Background(), path, http.MethodGet, control.PathReady)
		fmt.Printf("%s|%v", answer, err)
	default:
		os.Exit(m.Run())
	}
}

func serve(path string) {
	l, err := control.Listen(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = os.Chmod(path, 0o666) // it is not the mode that keeps others away
	fmt.Println("listens")
	_ = http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "hello") }))
}

// TestOtherUsers has users serve requests and send them to each other. The kernel reports who is at
// the other end, and both sides check it: a client does not trust just any user's server.
func TestOtherUsers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("it takes root to run as several users")
	}
	const root, one, other = 0, 65534, 65533
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "ctl") // t.TempDir is below directories that other users cannot enter
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o777|os.ModeSticky); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(dir, "control.test")
	b, err := os.ReadFile(exe)
	if err == nil {
		err = os.WriteFile(copied, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	as := func(uid uint32, role, path string) *exec.Cmd {
		c := exec.CommandContext(t.Context(), copied)
		c.Dir = dir
		c.Env = []string{"GCLOG_TEST_ROLE=" + role, "GCLOG_TEST_SOCKET=" + path}
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
		return c
	}
	for _, c := range []struct {
		server, client uint32
		want           string
	}{
		{root, root, "hello|<nil>"},
		{one, one, "hello|<nil>"},
		{one, root, "hello|<nil>"}, // root's daemon may run as another user
		{root, one, "only root and its own user may query it"},
		{one, other, "is not a daemon of root or of this user"},
	} {
		path := filepath.Join(dir, fmt.Sprintf("%d-%d.sock", c.server, c.client))
		server := as(c.server, "server", path)
		out, err := server.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Start(); err != nil {
			t.Fatal(err)
		}
		if line, _ := bufio.NewReader(out).ReadString('\n'); line != "listens\n" {
			t.Errorf("server of %d: %q", c.server, line)
		}
		got, err := as(c.client, "client", path).Output()
		if err != nil || !strings.Contains(string(got), c.want) {
			t.Errorf("%d asks %d: %q, %v; want %q", c.client, c.server, got, err, c.want)
		}
		_ = server.Process.Kill()
		_ = server.Wait()
	}
}

// TestListen: there is one daemon per socket, and the socket of a dead one is taken over.
func TestListen(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run", "ctl.sock")
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := os.Stat(path); err != nil || s.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", s.Mode(), err)
	}
	if _, err := control.Listen(path); !errors.Is(err, control.ErrInUse) {
		t.Errorf("a second one: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	// A socket file that no process listens on.
	fd, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	_ = syscall.Close(fd)
	l, err = control.Listen(path)
	if err != nil {
		t.Fatalf("after a daemon that died: %v", err)
	}
	_ = l.Close()
	// A file that is not a socket stays.
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := control.Listen(path); err == nil {
		t.Error("a file is taken for a socket")
	}
	if b, _ := os.ReadFile(path); string(b) != "mine" {
		t.Errorf("the file: %q", b)
	}
}

// TestOwnFolder: a folder with a known name in the temporary directory is not used if another user
// may write to it or has made it a link.
func TestOwnFolder(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	own := filepath.Join(dir, fmt.Sprintf("gclog-%d", os.Geteuid()))
	path := filepath.Join(own, "ctl.sock")
	l, err := control.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	if err := os.Chmod(own, 0o777); err != nil {
		t.Fatal(err)
	}
	if l, err := control.Listen(path); err == nil {
		_ = l.Close()
		t.Error("it is used although everybody may write to it")
	}
	elsewhere := t.TempDir()
	if err := errors.Join(os.RemoveAll(own), os.Symlink(elsewhere, own)); err != nil {
		t.Fatal(err)
	}
	if l, err := control.Listen(path); err == nil {
		_ = l.Close()
		t.Error("it is used although it is a link")
	}
}
