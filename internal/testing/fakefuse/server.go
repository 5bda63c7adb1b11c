//go:build linux

package fakefuse

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/gclog/gclog/internal/testing/child"
)

// variable makes the test binary a server. Its value is the folder, a colon, and how many file
// systems to mount there.
const variable = "GCLOG_FAKE_FUSE"

// A Server serves file systems. Each is a folder in which sockets can be created.
type Server struct {
	dir  string
	cmd  *exec.Cmd
	hold io.WriteCloser
	out  *bufio.Reader
}

// Start mounts n file systems below a folder. It skips the test where mounting is not possible.
func Start(t testing.TB, dir string, n int) *Server {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("only root can mount")
	}
	if f, err := os.OpenFile("/dev/fuse", os.O_RDWR, 0); err != nil {
		t.Skipf("no FUSE here: %v", err)
	} else {
		_ = f.Close()
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), variable+"="+dir+":"+strconv.Itoa(n))
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	cmd.Stderr = os.Stderr
	hold, out := child.Pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Skipf("no mount namespaces here: %v", err)
	}
	s := &Server{dir, cmd, hold, out}
	t.Cleanup(s.Stop)
	line, _ := out.ReadString('\n')
	if reason, failed := strings.CutPrefix(line, "failed: "); failed {
		t.Skipf("no FUSE here: %s", reason)
	}
	if line != "ready\n" {
		t.Fatalf("the server of FUSE said %q", line)
	}
	return s
}

// Dir returns the folder of a file system; the first is 0.
func (s *Server) Dir(n int) string { return filepath.Join(s.dir, strconv.Itoa(n)) }

// Enter returns the command that runs another command in the mount namespace of the file systems.
func (s *Server) Enter() []string {
	return []string{"nsenter", "--mount=/proc/" + strconv.Itoa(s.cmd.Process.Pid) + "/ns/mnt", "--"}
}

// Hang stops all file systems from answering. None answers after Hang has returned.
func (s *Server) Hang(t testing.TB) {
	t.Helper()
	if _, err := io.WriteString(s.hold, "hang\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := s.out.ReadString('\n'); line != "hung\n" {
		t.Fatalf("the server of FUSE said %q: %v", line, err)
	}
}

// Stop ends the server: processes that wait for a file system get an error.
func (s *Server) Stop() {
	_ = s.hold.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// Main runs the server in a process that Start has started; in others it does nothing.
func Main() {
	dir, number, ok := strings.Cut(os.Getenv(variable), ":")
	if !ok {
		return
	}
	n, err := strconv.Atoi(number)
	hung := make(chan struct{})
	for i := 0; i < n && err == nil; i++ {
		err = serveMemory(filepath.Join(dir, strconv.Itoa(i)), hung)
	}
	if err != nil {
		fmt.Println("failed:", err)
		os.Exit(1)
	}
	fmt.Println("ready")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		close(hung)
		fmt.Println("hung")
	}
	os.Exit(0) // the kernel ends the connections
}

// serveMemory mounts a file system that every user may use.
func serveMemory(dir string, hung <-chan struct{}) error {
	const root = 0o1777
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	device, err := mount(dir, root)
	if err != nil {
		return err
	}
	go serve(device, newMemory(dir, root).do, hung) // started first: there is nothing to read until it is mounted
	return nil
}
