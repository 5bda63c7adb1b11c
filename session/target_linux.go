package session

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	procRoot = "/proc"
	userHZ   = 100 // the unit of times in /proc, independent of the kernel's own tick
)

// Find returns the target with the given pid in this host's pid namespace. The error is a
// *TargetError, or that of ctx.
func (h *Host) Find(ctx context.Context, pid int) (*Target, error) {
	l := h.inspect(ctx, pid)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if l.Err != nil {
		return nil, l.Err
	}
	return l.Target(), nil
}

// List returns the processes that have a .NET runtime, as far as can be seen. A process that ends
// during the call or cannot be read is left out; it never ends the list.
func (h *Host) List(ctx context.Context) ([]Listed, error) {
	scanner, err := NewScanner()
	if err != nil {
		return nil, err
	}
	defer scanner.Close()
	seen, err := scanner.Scan()
	if err != nil {
		return nil, err
	}
	var list []Listed
	for i := range seen {
		l := h.inspect(ctx, seen[i].PID)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l.Dotnet() {
			list = append(list, *l)
		}
	}
	slices.SortFunc(list, func(a, b Listed) int { return a.PID - b.PID })
	return list, nil
}

// Inspect returns the entry that List has for a process. The process need not be a .NET process,
// nor exist: Err reports that.
func (h *Host) Inspect(pid int) *Listed { return h.inspect(context.Background(), pid) }

func (h *Host) inspect(ctx context.Context, pid int) *Listed {
	p, err := h.sight(pid)
	if err != nil {
		return &Listed{Process{PID: pid, InnerPID: pid, UID: -1}, err}
	}
	l, err := look(ctx, p, func() (*Listed, error) {
		l := &Listed{Process: *p}
		l.read()
		l.Err = l.locate()
		if l.Dotnet() {
			l.identify()
		}
		return l, nil
	}, keep)
	if err != nil {
		return &Listed{*p, err}
	}
	return l
}

// Dotnet reports whether the process contains a .NET runtime, as far as can be seen.
func (l *Listed) Dotnet() bool {
	var t *TargetError
	if !errors.As(l.Err, &t) {
		return l.Err == nil
	}
	switch t.Cause {
	case CauseNotDotnet, CauseNoSuchProcess, CauseNoAccess:
		return false
	case CauseOtherUser, CauseStuck:
		return l.runtime || l.looksDotnet()
	}
	return true
}

// sight returns what the kernel reports about a process without looking into it.
func (h *Host) sight(pid int) (*Process, error) {
	gone := func(err error) error {
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			return refuse(pid, CauseNoSuchProcess, nil, "does not exist")
		}
		return refuse(pid, CauseNoAccess, err, "cannot be looked at")
	}
	if pid <= 0 {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "does not exist")
	}
	dir, err := openProcess(pid)
	if err != nil {
		return nil, gone(err)
	}
	defer unix.Close(dir)
	stat, err := readStatIn(dir)
	if err != nil {
		return nil, gone(err)
	}
	if stat.ended() {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "has ended (it waits for its parent to notice)").as("ended")
	}
	status, err := readStatus(dir)
	if err != nil {
		return nil, gone(err)
	}
	if status.process != pid {
		return nil, refuse(pid, CauseNoSuchProcess, nil, "does not exist: %d is a thread of process %d", pid, status.process).as("thread")
	}
	p := &Process{
		PID: pid, InnerPID: status.innerPID, Name: string(stat.name), StartKey: stat.startKey, Started: startTime(stat.startKey),
		UID: status.uid, User: userName(status.uid), tempDir: "/tmp", host: h,
	}
	return p, nil
}

// read reads the process's command line, program, environment and control groups from its directory
// in /proc.
func (p *Process) read() {
	dir, err := p.openProc()
	if err != nil {
		return
	}
	defer unix.Close(dir)
	if b, err := readIn(dir, "cmdline", make([]byte, maxArgumentBytes)); err == nil {
		p.CommandLine = readArguments(b)
	}
	path := make([]byte, unix.PathMax)
	if n, err := unix.Readlinkat(dir, "exe", path); err == nil {
		p.Executable = string(path[:n])
	}
	if fd, err := openIn(dir, "environ"); err == nil {
		f := os.NewFile(uintptr(fd), "environ")
		defer f.Close()
		var env environment
		env.readTerminated(f)
		p.Environ = env.variables
	}
	if groups, err := readAllIn(dir, "cgroup", maxGroups); err == nil {
		p.identifyByGroups(groups)
	}
	if dir := p.Environ["TMPDIR"]; dir != "" {
		p.tempDir = dir
	}
}

// procPID returns the name of the process's directory in /proc. For a process that this host does
// not show it returns 0, which never exists, because its PID may be that of another process here.
func (p *Process) procPID() int {
	if p.peer != nil {
		return 0
	}
	return p.PID
}

// startTime converts field 22 of /proc/PID/stat, which counts from boot, including time asleep.
func startTime(key uint64) time.Time {
	var boot, now unix.Timespec
	_, _ = unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot), unix.ClockGettime(unix.CLOCK_REALTIME, &now)
	return time.Unix(0, now.Nano()-boot.Nano()+int64(key)*int64(time.Second/userHZ))
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// locate finds the socket. If there is none, the error says why.
func (p *Process) locate() error {
	if uid := os.Geteuid(); uid != 0 && uid != p.UID && !reachesOthers() {
		return refuse(p.PID, CauseOtherUser, nil,
			"belongs to user %s (uid %d), gclog runs as uid %d: run gclog as that user or as root", p.User, p.UID, uid)
	}
	if found, err := p.search(); !found {
		return p.whyNoSocket(err)
	}
	return nil
}

// search looks for the socket. failure is the reason why it could not look in a directory.
func (p *Process) search() (found bool, failure error) {
	dirs := []string{p.tempDir}
	if p.tempDir != "/tmp" {
		dirs = append(dirs, "/tmp") // the runtime may have ignored a TMPDIR that it could not use
	}
	for _, dir := range dirs {
		r, err := p.ask(&request{
			Kind: findSocket, Path: dir, Name: p.socketName(), Prefix: p.socketPrefix(), Oldest: p.Started.Add(-time.Second).UnixNano(), UID: p.UID,
		})
		if err == nil && r.Name != "" {
			p.tempDir, p.socket = dir, r.Name
			return true, nil
		}
		if err != nil && failure == nil {
			failure = err
		}
	}
	return false, failure
}

// ask performs a request without waiting long for a helper.
func (p *Process) ask(q *request) (reply, error) { return p.perform(context.Background(), q, false) }

// perform performs a request itself or, where a file system may not answer, with a helper.
func (p *Process) perform(ctx context.Context, q *request, wait bool) (reply, error) {
	proc, err := p.openProc()
	if err != nil {
		return reply{FD: noFile}, err
	}
	defer unix.Close(proc)
	r, err := q.perform(proc, p.guard(proc))
	if away, ok := errors.AsType[*awayError](err); ok {
		return p.host.state.helpers.perform(ctx, p.host.Helper, p, q, proc, away, wait)
	}
	return r, err
}

// guard returns nil if the Host has no helper: then nothing else could perform the request.
func (p *Process) guard(proc int) *guard {
	if p.host == nil || p.host.Helper == nil {
		return nil
	}
	return newGuard(&p.host.state.mounts, proc)
}

// reachesOthers reports whether gclog, without being root, has the capabilities for looking into
// processes of other users and connecting to their sockets.
func reachesOthers() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	const both = 1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_DAC_OVERRIDE
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&both == both
}

// socketName returns the name of the socket outside time namespaces.
func (p *Process) socketName() string {
	return p.socketPrefix() + strconv.FormatUint(p.StartKey, 10) + "-socket"
}

func (p *Process) socketPrefix() string { return "dotnet-diagnostic-" + strconv.Itoa(p.InnerPID) + "-" }

// whyNoSocket explains why gclog cannot talk to a process. It returns nil if the runtime was just
// creating its socket.
func (p *Process) whyNoSocket(failure error) error {
	if !p.Alive() {
		return refuse(p.PID, CauseNoSuchProcess, nil, "does not exist any more")
	}
	if errors.Is(failure, fs.ErrPermission) {
		return refuse(p.PID, CauseNoAccess, failure, "does not let gclog see its files: that needs the capability SYS_PTRACE, which root of the host has and root of a container may lack").as("no-ptrace")
	}
	if errors.Is(failure, syscall.EMFILE) || errors.Is(failure, syscall.ENFILE) {
		return refuse(p.PID, CauseNoAccess, failure, "cannot be looked at, because gclog may open no more files")
	}
	for _, name := range []string{"DOTNET_EnableDiagnostics", "COMPlus_EnableDiagnostics", "DOTNET_EnableDiagnostics_IPC", "COMPlus_EnableDiagnostics_IPC"} {
		if p.Environ[name] == "0" {
			return refuse(p.PID, CauseDiagnosticsOff, nil, "was started with %s=0, so its runtime has no diagnostics socket: start it without", name)
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
		return refuse(p.PID, CauseNotDotnet, nil, "(%s) is not a .NET process: it has no diagnostics socket and no .NET runtime in it (a NativeAOT program has one if it is built with EventSourceSupport)%s", p.Name, starting)
	case strings.Contains(lib, "Microsoft.NETCore.App/2.") || strings.Contains(lib, "Microsoft.NETCore.App/1."):
		return refuse(p.PID, CauseTooOld, nil, "runs a .NET Core without a diagnostics socket (%s): gclog needs 3.0 or later", lib)
	}
	if failure != nil {
		return refuse(p.PID, CauseNoSocket, failure, "has no diagnostics socket: its temporary directory %s cannot be used", p.tempDir).as("tmpdir-missing")
	}
	if found, _ := p.search(); found {
		return nil
	}
	kind, trouble := p.tempDirTrouble()
	return refuse(p.PID, CauseNoSocket, nil, "is a .NET process without a diagnostics socket in %s: %s", p.tempDir, trouble).as(kind)
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
		return "planted-link", "what has its name is a link or a file, which gclog does not follow; find out who made it, delete it and restart the process"
	case deleted:
		return "socket-deleted", "it was deleted while the process runs, as cleaners of temporary files do; restart the process"
	case r.Name == dirReadOnly:
		return "tmpdir-readonly", "it is read-only; give the process a writable TMPDIR"
	case r.Name == dirFull:
		return "tmpdir-full", "it is full; make room and restart the process"
	}
	return "no-socket", "it was deleted, or the runtime is still starting; restart the process if it stays so"
}

// SocketDeleted reports, for a process without a socket file, whether the kernel still has a
// listening socket with its name: then the file was deleted. It is only meant for single processes,
// because the kernel lists every socket of the machine.
func (p *Process) SocketDeleted() bool {
	f, err := os.Open(filepath.Join(procRoot, strconv.Itoa(p.procPID()), "net", "unix"))
	if err != nil {
		return false
	}
	defer f.Close()
	name := "/" + p.socketName()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) == 8 && fields[3] == listening && strings.HasSuffix("/"+fields[7], name) {
			return true
		}
	}
	return false
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
	self, err := openProcess(os.Getpid())
	if err != nil {
		return false
	}
	defer unix.Close(self)
	r, err := (&request{Kind: describeDir, Path: "/tmp", Name: p.socketName(), UID: p.UID}).perform(self, p.guard(self))
	return err == nil && r.Name == dirStarting
}

// dial connects to the socket and checks that the intended process is at the other end.
func (p *Process) dial(ctx context.Context) (net.Conn, error) {
	conn, err := look(ctx, p, func() (net.Conn, error) { return p.connect(ctx) }, func(c net.Conn) { _ = c.Close() })
	if err != nil {
		return nil, p.dialError(err)
	}
	peer, _, err := PeerProcess(conn)
	if err == nil && peer != p.PID {
		err = refuse(p.PID, CauseWrongPeer, nil, "does not listen on %s/%s: process %d does", p.tempDir, p.socket, peer)
	}
	if err == nil && !p.Alive() {
		err = refuse(p.PID, CauseNoSuchProcess, nil, "does not exist any more") // its pid was reused
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (p *Process) connect(ctx context.Context) (net.Conn, error) {
	r, err := p.perform(ctx, &request{Kind: connect, Path: p.tempDir, Name: p.socket}, true)
	if err != nil {
		return nil, err
	}
	return toConn(r.FD)
}

func (p *Process) dialError(err error) error {
	switch _, told := errors.AsType[*TargetError](err); {
	case told:
		return err
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.EAGAIN):
		return fmt.Errorf("connecting to process %d: %w", p.PID, ErrNoAnswer)
	case errors.Is(err, context.Canceled):
		return err
	}
	if !p.Alive() {
		return refuse(p.PID, CauseNoSuchProcess, nil, "does not exist any more")
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return refuse(p.PID, CauseStaleSocket, nil, "has a socket that nobody listens on, left over by another process: %s/%s", p.tempDir, p.socket)
	case errors.Is(err, unix.ENOTSOCK):
		return refuse(p.PID, CauseNoSocket, nil, "has no socket at %s/%s any more: what has its name now is a link or a file, which gclog does not follow", p.tempDir, p.socket).as("planted-link")
	case errors.Is(err, fs.ErrNotExist):
		return refuse(p.PID, CauseNoSocket, nil, "has removed its diagnostics socket: it is about to end").as("socket-deleted")
	case errors.Is(err, fs.ErrPermission):
		return refuse(p.PID, CauseOtherUser, nil,
			"belongs to user %s (uid %d), gclog runs as uid %d and may not connect to its socket: run gclog as that user or as root", p.User, p.UID, os.Geteuid())
	}
	return refuse(p.PID, CauseNoAccess, err, "cannot be reached over %s/%s", p.tempDir, p.socket)
}

// PeerProcess returns the process at the other end, and its user, as this host sees them.
func PeerProcess(conn net.Conn) (pid, uid int, err error) {
	var cred *unix.Ucred
	var unknown error
	err = control(conn, func(fd int) {
		cred, unknown = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := cmp.Or(err, unknown); err != nil {
		return 0, 0, err
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// control calls f with the descriptor of a connection, which must be a unix socket.
func control(conn net.Conn, f func(fd int)) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

// peerStart returns the start time of the process with the given pid that made a connection, or 0
// if it has ended. With Linux 6.5 and later the result is right even if the pid was reused.
func peerStart(conn net.Conn, pid int) uint64 {
	stat, err := readStat(pid)
	if err != nil || hasEnded(conn) {
		return 0
	}
	return stat.startKey
}

// hasEnded reports whether the process that made a connection is known to have ended.
func hasEnded(conn net.Conn) (ended bool) {
	_ = control(conn, func(fd int) {
		process, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if err != nil { // up to Linux 6.15 there is none for a process that its parent has reaped
			ended = errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ESRCH)
			return
		}
		defer unix.Close(process)
		ended = errors.Is(unix.PidfdSendSignal(process, 0, nil, 0), unix.ESRCH)
	})
	return ended
}

// ReadFile reads a regular file as the process sees it, at most limit bytes. Links to directories
// may lead anywhere below the root of the process; the file itself may be a link to something below
// its own directory.
func (p *Process) ReadFile(path string, limit int64) ([]byte, error) {
	return look(context.Background(), p, func() ([]byte, error) { return p.readFile(path, limit) }, keep)
}

func (p *Process) readFile(path string, limit int64) ([]byte, error) {
	r, err := p.perform(context.Background(), &request{Kind: readFile, Path: path, Limit: limit}, true)
	return r.Data, err
}

// Socket returns the path of the socket as the process sees it, or "" if none is known.
func (p *Process) Socket() string {
	if p.socket == "" {
		return ""
	}
	return filepath.Join(p.tempDir, p.socket)
}

// Runtime reports which runtime the process uses. CoreCLR is a library with a known name, or part
// of the program, which then exports a symbol for it; so does a program made by the native
// compiler. Most programs use CoreCLR, so it is also the answer for a process that this host does
// not show.
func (p *Process) Runtime() Runtime {
	if p.peer != nil {
		return RuntimeCoreCLR
	}
	lib, hidden := p.Maps("/libcoreclr.so")
	if lib != "" {
		return RuntimeCoreCLR
	}
	own, err := p.program()
	switch {
	case own != RuntimeUnknown:
		return own
	case p.tell(&request{Kind: hasFile, Path: p.tempDir, Name: fmt.Sprintf("clr-debug-pipe-%d-%d-in", p.InnerPID, p.StartKey)}):
		return RuntimeCoreCLR
	case err != nil || hidden != nil:
		return RuntimeUnknown
	}
	return RuntimeNativeAOT // the runtime is in a library
}

// IsNativeAOT reports whether the program was made by .NET's native compiler.
func (p *Process) IsNativeAOT() bool {
	own, _ := p.program()
	return own == RuntimeNativeAOT
}

// program reports which runtime is part of the program that the process runs.
func (p *Process) program() (Runtime, error) {
	r, err := look(context.Background(), p, func() (reply, error) { return p.perform(context.Background(), &request{Kind: program}, true) }, keep)
	return r.Runtime, err
}

// tell performs a request whose reply is yes or no. It returns false if that cannot be found out.
func (p *Process) tell(q *request) bool {
	r, err := look(context.Background(), p, func() (reply, error) { return p.perform(context.Background(), q, true) }, keep)
	return err == nil && r.Yes
}

// Stopped reports whether the process is stopped, by SIGSTOP or a debugger.
func (p *Process) Stopped() bool {
	s, err := readStat(p.procPID())
	return err == nil && (s.state == 'T' || s.state == 't')
}

// Tracer returns the pid of the process that is debugging this one, or 0 if there is none.
func (p *Process) Tracer() int {
	thread := statusNumber(p.procPID(), "TracerPid") // TracerPid is the id of the tracing thread
	if process := statusNumber(thread, "Tgid"); process != 0 {
		return process
	}
	return thread
}

// statusNumber reads a number of /proc/PID/status, or returns 0 if it cannot be read.
func statusNumber(pid int, name string) int {
	dir, _ := openProcess(pid)
	defer closeFile(&dir)
	b, _ := readAllIn(dir, "status", maxStatus) // if dir is noFile it reads nothing
	return append(statusNumbers(b, name), 0)[0]
}

// Alive reports whether the process is still running. For one that this host does not show, its
// connection to a port decides.
func (p *Process) Alive() bool {
	if p.peer != nil {
		return !p.peer.isGone()
	}
	s, err := readStat(p.procPID())
	if err != nil { // gclog may be out of descriptors
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	return !s.ended() && s.startKey == p.StartKey
}

func connectionGone(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Describe returns what is known about a process, with its socket if it has one. gclog need not be
// able to talk to the process.
func (h *Host) Describe(pid int) (*Process, error) {
	p, err := h.sight(pid)
	if err != nil {
		return nil, err
	}
	known, err := look(context.Background(), p, func() (*Process, error) {
		known := *p
		known.read()
		_ = known.locate() // the socket is only needed to see how the process ends
		known.identify()
		return &known, nil
	}, keep)
	if err != nil {
		return p, nil //nolint:nilerr // what is known without a look
	}
	return known, nil
}

// A Family finds the processes that have inherited an environment variable: a program with
// everything it started, even processes of which it is no longer the parent.
type Family struct {
	host       *Host
	name, part string
	strangers  map[int]bool // processes that do not belong to it
}

// NewFamily returns the family of the processes whose variable name contains part.
func (h *Host) NewFamily(name, part string) *Family {
	return &Family{host: h, name: name, part: part, strangers: map[int]bool{}}
}

// newborn is how long a young process may lack its environment or its runtime.
const newborn = 5 * time.Second

// Members returns the members that have a diagnostics socket now.
func (f *Family) Members() []*Target {
	var list []*Target
	f.each(func(p *Process) {
		if l := f.host.Inspect(p.PID); l.Err == nil && l.StartKey == p.StartKey {
			list = append(list, l.Target())
		}
	})
	return list
}

// Count returns the number of members, whatever programs they run.
func (f *Family) Count() (n int) {
	f.each(func(*Process) { n++ })
	return n
}

func (f *Family) each(found func(*Process)) {
	dirs, err := os.ReadDir(procRoot)
	if err != nil {
		return
	}
	alive := map[int]bool{}
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil {
			continue
		}
		alive[pid] = true
		if f.strangers[pid] {
			continue
		}
		p, err := f.host.sight(pid)
		if err == nil {
			p, err = look(context.Background(), p, func() (*Process, error) {
				whole := *p
				whole.read()
				return &whole, nil
			}, keep)
		}
		switch {
		case err != nil:
		case len(p.Environ) == 0:
			// A process between fork and exec has no environment. Others never have one, or gclog
			// may not read it.
			f.strangers[pid] = time.Since(p.Started) > newborn
		case !strings.Contains(p.Environ[f.name], f.part):
			f.strangers[pid] = true
		default:
			found(p)
		}
	}
	for pid := range f.strangers {
		if !alive[pid] {
			delete(f.strangers, pid)
		}
	}
}
