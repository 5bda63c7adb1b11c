package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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
	userHZ   = 100 // the unit of times in /proc, whatever the kernel's own tick is
)

// Find returns the target with the pid as this host sees it. The error is a
// *TargetError, or that of ctx.
func Find(ctx context.Context, pid int) (*Target, error) {
	l := Inspect(pid)
	if l.Err != nil {
		return nil, l.Err
	}
	return l.Target(), ctx.Err()
}

// List returns the processes that have a .NET runtime, as far as that can be
// seen. A process that goes away meanwhile, or cannot be looked at, is left out;
// it never ends the list.
func List(ctx context.Context) ([]Listed, error) {
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
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if l := Inspect(seen[i].PID); l.Dotnet() {
			list = append(list, *l)
		}
	}
	slices.SortFunc(list, func(a, b Listed) int { return a.PID - b.PID })
	return list, nil
}

// Inspect returns what List says of one process, also if it is not a .NET process or
// does not exist: Err tells that.
func Inspect(pid int) *Listed {
	p, err := readProcess(pid)
	if err != nil {
		return &Listed{Process{PID: pid, InnerPID: pid, UID: -1}, err}
	}
	l := &Listed{*p, nil}
	l.Err = l.locate()
	if l.Dotnet() {
		l.identify()
	}
	return l
}

// Dotnet tells whether there is a .NET runtime in the process, as far as that can be
// seen.
func (l *Listed) Dotnet() bool {
	var t *TargetError
	if !errors.As(l.Err, &t) {
		return l.Err == nil
	}
	switch t.Cause {
	case CauseNotDotnet, CauseNoSuchProcess, CauseNoAccess:
		return false
	case CauseOtherUser:
		return l.looksDotnet()
	}
	return true
}

func readProcess(pid int) (*Process, error) {
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
		UID: status.uid, User: userName(status.uid),
	}
	p.readProgram(dir)
	if groups, err := readAllIn(dir, "cgroup", maxGroups); err == nil {
		p.identifyByGroups(groups)
	}
	p.tempDir = "/tmp"
	if dir := p.Environ["TMPDIR"]; dir != "" {
		p.tempDir = dir
	}
	return p, nil
}

// readProgram reads what the process runs and with what, from its folder in /proc.
func (p *Process) readProgram(dir int) {
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
}

// procPID is the name of the folder in /proc: 0, which is never there, of a process that
// this host does not show. Its PID may be that of another one here.
func (p *Process) procPID() int {
	if p.peer != nil {
		return 0
	}
	return p.PID
}

// startTime converts field 22 of /proc/PID/stat. It counts from the boot on,
// time asleep included.
func startTime(key uint64) time.Time {
	var boot, now unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_REALTIME, &now) != nil {
		return time.Time{}
	}
	return time.Unix(0, now.Nano()-boot.Nano()+int64(key)*int64(time.Second/userHZ))
}

func userName(uid int) string {
	if u, err := user.LookupId(strconv.Itoa(uid)); err == nil {
		return u.Username
	}
	return strconv.Itoa(uid)
}

// locate finds the socket, or the reason why there is none.
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

// search looks for the socket. The error is why it could not look where it should be.
func (p *Process) search() (found bool, failure error) {
	dirs := []string{p.tempDir}
	if p.tempDir != "/tmp" {
		dirs = append(dirs, "/tmp") // the runtime may have ignored a TMPDIR that it could not use
	}
	for _, dir := range dirs {
		name, err := p.findSocket(dir)
		if err == nil && name != "" {
			p.tempDir, p.socket = dir, name
			return true, nil
		}
		if err != nil && failure == nil {
			failure = err
		}
	}
	return false, failure
}

// reachesOthers tells whether gclog, though not root, has the capabilities that it takes
// to look into processes of other users and to connect to their sockets.
func reachesOthers() bool {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	const both = 1<<unix.CAP_SYS_PTRACE | 1<<unix.CAP_DAC_OVERRIDE
	return unix.Capget(&header, &data[0]) == nil && data[0].Effective&both == both
}

// maxNames is how many names of a temporary directory are looked through.
const maxNames = 256 << 10

const socketPrefix = "dotnet-diagnostic-"

// socketName is what the socket is called, but in a time namespace.
func (p *Process) socketName() string {
	return socketPrefix + strconv.Itoa(p.InnerPID) + "-" + strconv.FormatUint(p.StartKey, 10) + "-socket"
}

// findSocket looks for the socket in a folder of the process's own root.
func (p *Process) findSocket(dir string) (string, error) {
	fd, err := p.openDir(dir, unix.O_RDONLY)
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), dir)
	defer f.Close()
	prefix, exact := socketPrefix+strconv.Itoa(p.InnerPID)+"-", p.socketName()
	var st unix.Stat_t
	if unix.Fstatat(fd, exact, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && p.mayBeSocket(&st) {
		return exact, nil
	}
	// In a time namespace the start is told differently: take the newest socket that
	// is not older than the process.
	newest, name := int64(0), ""
	for range maxNames / 1024 {
		names, err := f.Readdirnames(1024)
		for _, n := range names {
			if !strings.HasPrefix(n, prefix) || !strings.HasSuffix(n, "-socket") {
				continue
			}
			if unix.Fstatat(fd, n, &st, unix.AT_SYMLINK_NOFOLLOW) != nil || !p.mayBeSocket(&st) {
				continue
			}
			if t := st.Mtim.Nano(); t > newest && t >= p.Started.Add(-time.Second).UnixNano() {
				newest, name = t, n
			}
		}
		if err != nil {
			break
		}
	}
	return name, nil
}

// mayBeSocket tells whether a file may be the socket of the process. Anybody can make
// one with its name in /tmp; but only root can have become another user since it did.
func (p *Process) mayBeSocket(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFSOCK && (int(st.Uid) == p.UID || st.Uid == 0)
}

// openDir opens a folder below the root of the process. Links are followed as
// the process itself would follow them: never out of its root.
func (p *Process) openDir(dir string, flags uint64) (int, error) {
	root, err := unix.Open(filepath.Join(procRoot, strconv.Itoa(p.procPID()), "root"), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(root)
	return openDirIn(root, dir, flags)
}

// openDirIn is openDir for a root that is open.
func openDirIn(root int, dir string, flags uint64) (int, error) {
	how := unix.OpenHow{Flags: flags | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS}
	fd, err := openHow(root, dir, &how)
	if noOpenat2(err) {
		return openBelow(root, dir, int(flags))
	}
	return fd, err
}

func openHow(at int, path string, how *unix.OpenHow) (fd int, err error) {
	for range openTries {
		fd, err = unix.Openat2(at, path, how)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	return fd, err
}

// noOpenat2: Linux before 5.6, or a sandbox that does not know the call.
func noOpenat2(err error) bool {
	return errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) && os.Geteuid() == 0
}

// openTries is how often opening is tried while somebody renames what is on the way.
const openTries = 100

// openBelow opens a folder step by step. It follows no links at all.
func openBelow(root int, dir string, flags int) (int, error) {
	at, err := unix.Openat(root, ".", unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	steps := strings.Split(strings.Trim(filepath.Clean(dir), "/"), "/")
	for i, step := range steps {
		if err != nil {
			return -1, err
		}
		how := unix.O_PATH
		if i == len(steps)-1 {
			how = flags
		}
		var next int
		next, err = unix.Openat(at, step, how|unix.O_DIRECTORY|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
		_ = unix.Close(at)
		at = next
	}
	return at, err
}

// whyNoSocket explains what keeps a process from being talked to. It returns nil if it
// is only that the runtime was just making its socket.
func (p *Process) whyNoSocket(failure error) error {
	if _, err := os.Stat(filepath.Join(procRoot, strconv.Itoa(p.procPID()))); errors.Is(err, fs.ErrNotExist) {
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

// tempDirTrouble says what may have kept the runtime from making its socket, or what
// became of that.
func (p *Process) tempDirTrouble() (kind, trouble string) {
	const longest = 107 // sun_path with its zero
	if len(filepath.Join(p.tempDir, p.socketName())) > longest {
		return "tmpdir-long", "the path is too long for a socket, set a shorter TMPDIR"
	}
	if fd, err := p.openDir(p.tempDir, unix.O_RDONLY); err == nil {
		defer unix.Close(fd)
		deleted := p.SocketDeleted() // before looking: what is made meanwhile is there then
		var entry unix.Stat_t
		switch err := unix.Fstatat(fd, p.socketName(), &entry, unix.AT_SYMLINK_NOFOLLOW); {
		case err == nil && p.mayBeSocket(&entry):
			return "no-socket", "the runtime is still starting"
		case err == nil:
			return "planted-link", "what has its name is a link or a file, which gclog does not follow; find out who made it, delete it and restart the process"
		case deleted:
			return "socket-deleted", "it was deleted while the process runs, as cleaners of temporary files do; restart the process"
		}
		var st unix.Statfs_t
		if unix.Fstatfs(fd, &st) == nil {
			switch {
			case st.Flags&unix.ST_RDONLY != 0:
				return "tmpdir-readonly", "it is read-only; give the process a writable TMPDIR"
			case st.Bavail == 0 && st.Blocks > 0, st.Ffree == 0 && st.Files > 0:
				return "tmpdir-full", "it is full; make room and restart the process"
			}
		}
	}
	return "no-socket", "it was deleted, or the runtime is still starting; restart the process if it stays so"
}

// SocketDeleted tells, of a process without a socket, whether the kernel still has one that
// listens and was called so: then the file was deleted. It is asked for one process, not
// for all: the kernel lists every socket of the machine.
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
		if len(fields) == 8 && fields[3] == listening && strings.HasSuffix(fields[7], name) {
			return true
		}
	}
	return false
}

// listening is the flag __SO_ACCEPTCON in /proc/net/unix.
const listening = "00010000"

// looksDotnet guesses from what everybody may see: its name, its arguments, and the
// name of its socket, if that lies where everybody's do.
func (p *Process) looksDotnet() bool {
	if p.Name == "dotnet" {
		return true
	}
	if info, err := os.Lstat(filepath.Join("/tmp", p.socketName())); err == nil && info.Mode().Type() == fs.ModeSocket {
		return true
	}
	for _, arg := range p.CommandLine {
		if strings.HasSuffix(arg, ".dll") {
			return true
		}
	}
	return false
}

// dial connects to the socket and makes sure that the process meant is at its
// other end.
func (p *Process) dial(ctx context.Context) (net.Conn, error) {
	fd, err := p.openDir(p.tempDir, unix.O_PATH)
	if err != nil {
		return nil, p.dialError(err)
	}
	defer unix.Close(fd)
	// The way over the folder's descriptor is short, however long the path is.
	path := "/proc/self/fd/" + strconv.Itoa(fd) + "/" + p.socket
	conn, err := new(net.Dialer).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, p.dialError(err)
	}
	peer, _, err := PeerProcess(conn)
	if err == nil && peer != p.PID {
		err = refuse(p.PID, CauseWrongPeer, nil, "does not listen on %s/%s: process %d does", p.tempDir, p.socket, peer)
	}
	if err == nil && !p.Alive() {
		err = refuse(p.PID, CauseNoSuchProcess, nil, "does not exist any more") // its number is another's
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}

func (p *Process) dialError(err error) error {
	switch {
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
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, 0, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Ucred
	var gerr error
	if err := raw.Control(func(fd uintptr) {
		cred, gerr = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED)
	}); err != nil {
		return 0, 0, err
	}
	if gerr != nil {
		return 0, 0, gerr
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// ReadFile reads a regular file as the process sees it, at most limit bytes of it. Links
// to folders may lead anywhere below the root of the process; the file itself may be a
// link to something below its own folder.
func (p *Process) ReadFile(path string, limit int64) ([]byte, error) {
	dir, err := p.openDir(filepath.Dir(path), unix.O_PATH)
	if err != nil {
		return nil, err
	}
	defer unix.Close(dir)
	// Kubernetes makes its files links to a folder beside them, which it can exchange.
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS | unix.RESOLVE_NO_XDEV}
	fd, err := openHow(dir, filepath.Base(path), &how)
	if noOpenat2(err) {
		fd, err = unix.Openat(dir, filepath.Base(path), unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	}
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	// To open a device or a pipe may do something already, and whoever has a root of its own may
	// have put one there.
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, errors.Join(err, fmt.Errorf("%s is not a regular file", path))
	}
	f, err := os.OpenFile("/proc/self/fd/"+strconv.Itoa(fd), os.O_RDONLY|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// Socket is the path of the socket as the process sees it, "" if none is known.
func (p *Process) Socket() string {
	if p.socket == "" {
		return ""
	}
	return filepath.Join(p.tempDir, p.socket)
}

// IsCoreCLR tells CoreCLR from NativeAOT: it has a library of its own, or, in a program
// of a single file, a pipe for debuggers beside its socket. Most programs run on CoreCLR:
// so does one that this host does not show.
func (p *Process) IsCoreCLR() bool {
	if p.peer != nil {
		return true
	}
	if lib, _ := p.runtimeLibrary(); lib != "" {
		return true
	}
	fd, err := p.openDir(p.tempDir, unix.O_PATH)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	return unix.Fstatat(fd, fmt.Sprintf("clr-debug-pipe-%d-%d-in", p.InnerPID, p.StartKey), &st, unix.AT_SYMLINK_NOFOLLOW) == nil
}

// Stopped tells whether the process is stopped, by SIGSTOP or a debugger.
func (p *Process) Stopped() bool {
	s, err := readStat(p.procPID())
	return err == nil && (s.state == 'T' || s.state == 't')
}

// Tracer returns the process that debugs this one, 0 if none does.
func (p *Process) Tracer() int {
	thread := statusNumber(p.procPID(), "TracerPid") // it is the thread that does
	if process := statusNumber(thread, "Tgid"); process != 0 {
		return process
	}
	return thread
}

// statusNumber reads a number of /proc/PID/status, 0 if it cannot be read.
func statusNumber(pid int, name string) int {
	dir, err := openProcess(pid)
	if err != nil {
		return 0
	}
	defer unix.Close(dir)
	b, err := readAllIn(dir, "status", maxStatus)
	if err != nil {
		return 0
	}
	if list := statusNumbers(b, name); len(list) > 0 {
		return list[0]
	}
	return 0
}

// Alive tells whether the process still runs. That of one that this host does not show
// is known by its connection to a port.
func (p *Process) Alive() bool {
	if p.peer != nil {
		return !p.peer.isGone()
	}
	s, err := readStat(p.procPID())
	if err != nil { // we may be out of descriptors
		return !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ESRCH)
	}
	return !s.ended() && s.startKey == p.StartKey
}

func connectionGone(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// Describe returns what is known about a process, with its socket if it has one. It need
// not be one that can be talked to.
func Describe(pid int) (*Process, error) {
	p, err := readProcess(pid)
	if err != nil {
		return nil, err
	}
	_ = p.locate() // the socket is only needed to see how the process ends
	p.identify()
	return p, nil
}

// A Family finds the processes that have inherited a variable of the environment:
// a program with all that it started, also what it no longer is the parent of.
type Family struct {
	name, part string
	strangers  map[int]bool // processes that do not belong to it
}

// NewFamily returns the family of the processes whose variable name contains part.
func NewFamily(name, part string) *Family {
	return &Family{name: name, part: part, strangers: map[int]bool{}}
}

// newborn is how long a process may be without what it will have.
const newborn = 5 * time.Second

// Members returns the members that have a diagnostics socket now.
func (f *Family) Members() []*Target {
	var list []*Target
	f.each(func(p *Process) {
		if p.locate() == nil {
			list = append(list, p.target())
		}
	})
	return list
}

// Count is how many members there are, whatever they run.
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
		p, err := readProcess(pid)
		switch {
		case err != nil:
		case len(p.Environ) == 0:
			// A process between fork and exec has no environment; others never have one, or
			// none that we may see.
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
