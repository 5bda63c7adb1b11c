//go:build linux

package fakenode

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/gclog/gclog/internal/fakeruntime"
	"golang.org/x/sys/unix"
)

// isProcess is the environment variable that makes this program a process of a fake runtime.
const isProcess = "GCLOG_FAKE_PROCESS"

// Main must be called first in a program that has a Node: if the program was started as one of the
// Node's processes, Main does what these do and never returns.
func Main() {
	if os.Getenv(isProcess) == "" {
		return
	}
	code, err := live()
	if err != nil {
		fmt.Fprintln(os.Stderr, "fakenode:", err)
		code = 1
	}
	os.Exit(code)
}

// controlFD is the process's end of the connection to its host.
const controlFD = 3

// live creates the socket of this process, passes it to the host and waits for the exit code. The
// kernel tells clients of the socket that this process listens, because it called listen.
func live() (code int, err error) {
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
	start, err := fakeruntime.Started()
	if err != nil {
		return 0, err
	}
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	path := filepath.Join(os.Getenv("TMPDIR"), fakeruntime.SocketName(os.Getpid(), start))
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		return 0, fmt.Errorf("%s: %w", path, err)
	}
	if err := unix.Listen(fd, 64); err != nil {
		return 0, err
	}
	// The debugger's pipe distinguishes CoreCLR from NativeAOT.
	pipe := filepath.Join(os.Getenv("TMPDIR"), fmt.Sprintf("clr-debug-pipe-%d-%d-in", os.Getpid(), start))
	if err := os.WriteFile(pipe, nil, 0o600); err != nil {
		return 0, err
	}
	if err := unix.Sendmsg(controlFD, []byte(path), unix.UnixRights(fd), nil, 0); err != nil {
		return 0, err
	}
	_ = unix.Close(fd)
	var b [1]byte
	for {
		n, err := unix.Read(controlFD, b[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if n == 0 { // the host has exited
			return 0, nil
		}
		return int(b[0]), err
	}
}

// A process is a process of the operating system that has a socket and does nothing.
type process struct {
	cmd      *exec.Cmd
	control  int // connection to it
	listener net.Listener
	files    []string // a runtime removes these when it exits; the socket is the first
}

// startProcess starts this program as a process with the given arguments and environment.
func startProcess(dir string, args, env []string) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	theirs := os.NewFile(uintptr(pair[1]), "control")
	p := &process{control: pair[0]}
	p.cmd = &exec.Cmd{
		Path: exe, Args: args, ExtraFiles: []*os.File{theirs}, Stderr: os.Stderr,
		Env: append([]string{isProcess + "=1", "TMPDIR=" + dir, "GOMAXPROCS=1", "GOGC=off"}, env...),
	}
	err = p.cmd.Start()
	_ = theirs.Close()
	if err == nil {
		err = p.takeListener()
	}
	if err != nil {
		_ = unix.Close(p.control)
		if p.cmd.Process != nil {
			_ = p.cmd.Wait()
		}
		return nil, fmt.Errorf("starting a process: %w", err)
	}
	return p, nil
}

// takeListener receives the socket on which the process listens.
func (p *process) takeListener() error {
	path, rights := make([]byte, 256), make([]byte, unix.CmsgSpace(4))
	n, rn, _, _, err := unix.Recvmsg(p.control, path, rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return err
	}
	messages, err := unix.ParseSocketControlMessage(rights[:rn])
	if err != nil || len(messages) != 1 {
		return errors.Join(err, errors.New("it sent no socket"))
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fds[0]), string(path[:n]))
	defer f.Close()
	p.listener, err = net.FileListener(f)
	pipes, _ := filepath.Glob(filepath.Join(filepath.Dir(f.Name()), fmt.Sprintf("clr-debug-pipe-%d-*", p.cmd.Process.Pid)))
	p.files = append([]string{f.Name()}, pipes...)
	return err
}

// exit makes the process exit.
func (p *process) exit(code byte) {
	for _, name := range p.files {
		_ = os.Remove(name)
	}
	_, _ = unix.Write(p.control, []byte{code})
}

// wait waits until the process has exited.
func (p *process) wait() {
	_ = p.cmd.Wait()
	_ = unix.Close(p.control)
}

func (p *process) signal(s unix.Signal) { _ = p.cmd.Process.Signal(s) }
