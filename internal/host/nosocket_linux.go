package host

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// whyNoSocket explains why gclog cannot talk to a process. It returns nil if the runtime was just
// creating its socket.
func (p *Process) whyNoSocket(failure error) error {
	if !p.Alive() {
		return refuse(p.PID, CauseNoSuchProcess, nil, "has exited")
	}
	if errors.Is(failure, fs.ErrPermission) {
		return refuse(p.PID, CauseNoAccess, failure, "does not let gclog see its files: that requires the capability "+
			"SYS_PTRACE, which root on the host has and root in a container may lack").as("no-ptrace")
	}
	if errors.Is(failure, syscall.EMFILE) || errors.Is(failure, syscall.ENFILE) {
		return refuse(p.PID, CauseNoAccess, failure,
			"cannot be inspected, because gclog has reached its limit of open files")
	}
	for _, name := range []string{
		"DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics",
		"DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics_IPC",
	} {
		if p.Environ[name] == "0" {
			return refuse(p.PID, CauseDiagnosticsOff, nil,
				"was started with %s=0, so its runtime has no diagnostics socket: start it without that variable", name)
		}
	}
	lib, found := p.runtimeLibrary()
	if stuck, ok := errors.AsType[*TargetError](failure); ok { // from the helper
		p.runtime = found || p.SocketDeleted()
		return stuck
	}
	switch {
	case !found:
		starting := ""
		if time.Since(p.Started) < newborn {
			starting = "; or it is still starting"
		}
		return refuse(p.PID, CauseNotDotnet, nil,
			"(%s) is not a .NET process: it has no diagnostics socket and no .NET runtime in it (a NativeAOT program "+
				"has one if it is built with EventSourceSupport)%s", p.Name, starting)
	case strings.Contains(lib, "Microsoft.NETCore.App/2.") || strings.Contains(lib, "Microsoft.NETCore.App/1."),
		p.isOldLibrary(lib):
		return refuse(p.PID, CauseTooOld, nil,
			"runs a version of .NET Core without a diagnostics socket (%s): gclog requires 3.0 or later", lib)
	}
	if failure != nil {
		return refuse(p.PID, CauseNoSocket, failure,
			"has no diagnostics socket: its temporary directory %s cannot be used", p.tempDir).as("tmpdir-missing")
	}
	if found, _ := p.search(); found {
		return nil
	}
	kind, trouble := p.tempDirTrouble()
	return refuse(p.PID, CauseNoSocket, nil,
		"is a .NET process without a diagnostics socket in %s: %s", p.tempDir, trouble).as(kind)
}

const (
	// oldVersion is what libcoreclr.so of .NET Core 1 and 2 contains; that of 3 has 4.700. In a
	// self-contained program the path does not show the version.
	oldVersion = "@(#)Version 4.6."
	// maxLibrary is how much of a library is searched for it: that of 2.1 has 10 MB.
	maxLibrary = 16 << 20
)

// isOldLibrary reports whether a runtime is older than diagnostics sockets.
func (p *Process) isOldLibrary(path string) bool {
	f, err := p.OpenFile(context.Background(), path)
	if err != nil {
		return false
	}
	defer f.Close()
	const overlap = len(oldVersion) - 1
	buf := make([]byte, overlap+64<<10)
	for at := int64(0); at < maxLibrary; at += int64(len(buf) - overlap) {
		n, err := f.ReadAt(buf, at)
		if bytes.Contains(buf[:n], []byte(oldVersion)) {
			return true
		}
		if err != nil {
			return false
		}
	}
	return false
}

// tempDirTrouble explains what may have kept the runtime from creating its socket, or what happened
// to the socket.
func (p *Process) tempDirTrouble() (kind, trouble string) {
	const longest = 107 // size of sun_path less the terminating zero
	if len(filepath.Join(p.tempDir, p.socketName())) > longest {
		return "tmpdir-long", "the path is too long for a socket, set a shorter TMPDIR"
	}
	deleted := p.SocketDeleted() // asked first, so that a socket created meanwhile is found
	r, _ := p.ask(&request{Kind: describeDir, Path: p.tempDir, Name: p.socketName(), UID: p.UID})
	switch {
	case r.Name == dirStarting:
		return "no-socket", "the runtime is still starting"
	case r.Name == dirPlanted:
		return "planted-link", "the socket's path is a link or a regular file, which gclog does not follow; find out " +
			"who created it, delete it and restart the process"
	case deleted:
		return "socket-deleted", "the socket was deleted while the process was running, probably by a cleanup of " +
			"temporary files; restart the process"
	case r.Name == dirReadOnly:
		return "tmpdir-readonly", "the directory is read-only; give the process a writable TMPDIR"
	case r.Name == dirFull:
		return "tmpdir-full", "the directory is full; free some space and restart the process"
	}
	return "no-socket",
		"the socket was deleted, or the runtime is still starting; restart the process if the socket does not appear"
}

// SocketDeleted reports, for a process without a socket file, whether the kernel still has a
// listening socket with its name: then the file was deleted. It is only meant for single processes,
// because the kernel lists every socket of the machine.
func (p *Process) SocketDeleted() bool {
	return p.listens(p.socketName(), func(string) bool { return true })
}

// listens reports whether the kernel has a listening socket with a name and a matching inode.
func (p *Process) listens(name string, matches func(inode string) bool) bool {
	line, _ := p.findLine("net/unix", func(line string) bool {
		fields := strings.Fields(line)
		return len(fields) == 8 && fields[3] == listening && strings.HasSuffix("/"+fields[7], "/"+name) &&
			matches(fields[6])
	})
	return line != ""
}

// listening is the flag __SO_ACCEPTCON in /proc/net/unix.
const listening = "00010000"

// looksDotnet guesses from what is visible to everybody: the process's name, its arguments, and the
// name of its socket if that is in the common temporary directory.
func (p *Process) looksDotnet() bool {
	if p.Name == "dotnet" || p.hasSocketHere() {
		return true
	}
	for _, arg := range p.CommandLine {
		if strings.HasSuffix(arg, ".dll") {
			return true
		}
	}
	return false
}

func (p *Process) hasSocketHere() bool {
	self, _ := openProcess(os.Getpid()) // nothing is found in noFile
	defer closeFile(&self)
	r, err := (&request{Kind: describeDir, Path: "/tmp", Name: p.socketName(), UID: p.UID}).perform(self, p.guard(self))
	return err == nil && r.Name == dirStarting
}
