package host

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// WithoutPidfd and WithoutStat put a watch into the state that it has on a kernel that shows less.
func (w *Watch) WithoutPidfd() { closeFile(&w.pidfd) }

func (w *Watch) WithoutStat() { closeFile(&w.stat) }

// IdentifiedBy returns a process identified by these control groups and mounts.
func IdentifiedBy(groups, mounts string) *Process {
	p := &Process{}
	p.identifyByGroups([]byte(groups))
	p.identifyByMounts(parseMounts([]byte(mounts)))
	return p
}

// PathBelow returns the path from the directory that a mount shows to a control group.
func PathBelow(root, path string) ([]string, bool) { return pathBelow(root, path) }

// ScannerOf returns a scanner of a directory that looks like /proc.
func ScannerOf(dir string) (*Scanner, error) { return newScanner(dir) }

// Look has a Host look at a made-up process.
func (h *Host) Look(ctx context.Context, pid, uid int, f func() (int, error), drop func(int)) (int, error) {
	return look(ctx, &Process{PID: pid, UID: uid, host: h}, f, drop)
}

// MayNotAnswer reports whether a file system of a process may not answer, if the process and the
// process with pid 1 have these mounts.
func MayNotAnswer(mounts, host string, ours bool, path string) bool {
	g := &guard{parseMounts([]byte(mounts)), func() []mount { return parseMounts([]byte(host)) }, func() bool { return ours }}
	return g.checkPoint(path) != nil
}

// WhyNoSocket returns the error for a process whose socket was not found. failure is the reason why
// it could not be searched for.
func (p *Process) WhyNoSocket(failure error) error { return p.whyNoSocket(failure) }

// TempDirTrouble returns the kind of the error if the socket was not found a second time.
func (p *Process) TempDirTrouble() (kind string) {
	kind, _ = p.tempDirTrouble()
	return kind
}

// UseTempDir changes the directory in which the socket of a process is searched for.
func (p *Process) UseTempDir(dir string) { p.tempDir = dir }

// DialError returns the error for a process that could not be connected to.
func (p *Process) DialError(err error) error { return p.dialError(err) }

// Requests to a file system, and their replies.
type (
	Request = request
	Reply   = reply
)

// The kinds of requests.
const (
	FindSocket  = findSocket
	DescribeDir = describeDir
	Connect     = connect
	HasFile     = hasFile
	WatchDir    = watchDir
	ReadFile    = readFile
	Program     = program
)

// Here performs a request for this process itself.
func (q *request) Here() (reply, error) { return q.In("/proc/self") }

// In performs a request for the process with this directory in /proc.
func (q *request) In(folder string) (reply, error) {
	proc, _ := openFolder(unix.AT_FDCWD, folder)
	defer closeFile(&proc)
	return q.perform(proc, nil)
}

// Guarded performs a request for this process itself, as if these were its mounts.
func (q *request) Guarded(mounts string) (reply, error) {
	proc, _ := openFolder(unix.AT_FDCWD, "/proc/self")
	defer closeFile(&proc)
	list := parseMounts([]byte(mounts))
	return q.perform(proc, &guard{list, func() []mount { return list }, func() bool { return true }})
}

// Perform performs a request for a process that was found.
func (p *Process) Perform(q *request) (reply, error) { return p.perform(context.Background(), q, true) }

// MayNotAnswerError reports whether an error says that a file system may not answer.
func MayNotAnswerError(err error) bool {
	_, away := errors.AsType[*awayError](err)
	return away
}

// CheckFile checks the mount of an open file. Files have the mounts of the process, or of the host.
func CheckFile(mounts, host string, fd int) error {
	g := &guard{parseMounts([]byte(mounts)), func() []mount { return parseMounts([]byte(host)) }, func() bool { return true }}
	return g.checkFile(fd)
}

// NextEntry cuts off a directory entry in the kernel's format.
var NextEntry = nextEntry

// LooksDotnet reports whether a process looks like .NET by what is visible to everybody.
func (p *Process) LooksDotnet() bool { return p.looksDotnet() }

// Strangers returns the processes that are known not to belong to the family.
func (f *Family) Strangers() map[int]bool { return f.strangers }

// A Helper is a helper that a test talks to directly.
type Helper struct{ h *helper }

// StartHelper starts a helper.
func StartHelper(command []string) (*Helper, error) {
	h, err := startHelper(command)
	return &Helper{h}, err
}

// PID returns the helper's pid.
func (h *Helper) PID() int { return h.h.process.Pid }

// Ask has the helper perform a request for this process.
func (h *Helper) Ask(q *Request) (Reply, error) {
	proc, _ := openFolder(unix.AT_FDCWD, "/proc/self")
	defer closeFile(&proc)
	a, err := h.h.ask(q, proc)
	if err != nil {
		return Reply{FD: -1}, err
	}
	return a.reply()
}

// AskAbout has the helper perform a request for the process whose directory is open.
func (h *Helper) AskAbout(q *Request, proc int) error {
	_, err := h.h.ask(q, proc)
	return err
}

// Leave abandons the helper. The result is closed when it has exited.
func (h *Helper) Leave() <-chan struct{} {
	exited := make(chan struct{})
	h.h.leave(func() { close(exited) })
	return exited
}

// An Answer is the message that a helper sends back.
type Answer = answer

// AnswerWith returns the error for a helper that answers with this message, and a file if fd is one.
func AnswerWith(message any, fd int) error {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	ours, err1 := toConn(fds[0])
	theirs, err2 := toConn(fds[1])
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	defer ours.Close()
	defer theirs.Close()
	if err := send(theirs.(*net.UnixConn), message, fd); err != nil {
		return err
	}
	a, err := (&helper{conn: ours.(*net.UnixConn)}).ask(&request{}, noFile)
	if err == nil {
		closeFile(&a.fd)
	}
	return err
}

// Write sends bytes to the helper.
func (h *Helper) Write(b []byte) (int, error) { return h.h.conn.Write(b) }

// Message returns a request in the form in which it is sent to a helper, without the directory of a
// process.
func (q *Request) Message() []byte {
	var b bytes.Buffer
	_ = gob.NewEncoder(&b).Encode(q)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(b.Len())), b.Bytes()...)
}

// Unread returns the number of bytes written to the helper that it has not read.
func (h *Helper) Unread() (n int) {
	raw, _ := h.h.conn.SyscallConn()
	_ = raw.Control(func(fd uintptr) { n, _ = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ) })
	return n
}

// Answer receives the helper's answer.
func (h *Helper) Answer() error {
	var a answer
	fd, err := receive(h.h.conn, &a)
	closeFile(&fd)
	return err
}

// Close closes the helper's connection and returns how the helper ended.
func (h *Helper) Close() (*os.ProcessState, error) {
	_ = h.h.conn.Close()
	return h.h.process.Wait()
}

// UseHelpers takes n helpers, has each look at something, and makes them idle.
func (h *Host) UseHelpers(n int) error {
	list := make([]*helper, n)
	for i := range list {
		var err error
		if list[i], err = h.state.helpers.take(h.Helper); err != nil {
			return err
		}
		q := &request{Kind: hasFile, Path: "/", Name: "proc"}
		if r, err := (&Helper{list[i]}).Ask(q); err != nil || !r.Yes {
			return fmt.Errorf("helper %d: %+v, %w", i, r, err)
		}
	}
	for _, x := range list {
		h.state.helpers.keep(x)
	}
	return nil
}

// IdleHelpers returns the pids of the idle helpers.
func (h *Host) IdleHelpers() (pids []int) {
	h.state.helpers.mu.Lock()
	defer h.state.helpers.mu.Unlock()
	for _, x := range h.state.helpers.idle {
		pids = append(pids, x.process.Pid)
	}
	return pids
}

// Retire makes the i-th idle helper one that has been idle for as long as it may be.
func (h *Host) Retire(i int) {
	h.state.helpers.mu.Lock()
	defer h.state.helpers.mu.Unlock()
	h.state.helpers.idle[i].idle.Reset(0)
}

// FillLooks makes the maximum number of looks stuck.
func (h *Host) FillLooks() {
	h.state.looks = map[*underway]bool{}
	for range maxStuck {
		h.state.looks[&underway{since: time.Now().Add(-time.Hour)}] = true
	}
}

// MountPoints returns the mount points of the host.
func (h *Host) MountPoints() (list []string) {
	for _, m := range h.state.mounts.read() {
		list = append(list, m.point)
	}
	return list
}

// MountsAreOurs reports whether the mounts of a process belong to gclog's user namespace.
func MountsAreOurs(pid int) bool {
	dir, _ := openProcess(pid)
	defer closeFile(&dir)
	return mountsAreOurs(dir)
}

// ReadMountsFrom makes a file the one that the mount points of the host are read from.
func (h *Host) ReadMountsFrom(f *os.File) { h.state.mounts.file = f }

// ReceivedFile returns the descriptor in a control message, or -1.
var ReceivedFile = receivedFile

// Decimal parses a number in the kernel's format.
func Decimal(s string) uint64 { return decimal([]byte(s)) }

// GroupPath returns the memory control group of the process with this directory in /proc.
func GroupPath(proc string) (path string, version int, ok bool) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	return groupPath(dir, memoryController)
}

// HasMemory reports whether a mount is one of memory control groups.
func HasMemory(mount string, version int) bool {
	m, ok := parseMount([]byte(mount))
	return ok && m.hasGroups(memoryController, version)
}

// GroupMemory returns what is read of a control group with these directories, its own one first:
// its usage, its limit, and how many of its processes were OOM-killed.
func GroupMemory(version int, folders ...string) (usage, limit, kills uint64, known bool) {
	g := group{version: version}
	defer g.close()
	for _, folder := range folders {
		dir, _ := openFolder(unix.AT_FDCWD, folder)
		g.dirs = append(g.dirs, dir)
	}
	r := newMemoryReader()
	defer r.Close()
	r.usage, r.limits = g.openUsage()
	_, usage, limit = r.Read()
	fd := g.openKills()
	defer closeFile(&fd)
	kills, known = oomKills(fd)
	return usage, limit, kills, known
}

// ResidentMemory returns what is read of a statm.
func ResidentMemory(statm string) uint64 {
	r := newMemoryReader()
	defer r.Close()
	r.statm, _ = openIn(unix.AT_FDCWD, statm)
	resident, _, _ := r.Read()
	return resident
}

// A Turn is the slot of a process for a helper.
type Turn struct {
	host *Host
	task *task
}

// Turn waits for a slot for a process that has part of its file system on a device that may not
// answer.
func (h *Host) Turn(ctx context.Context, pid, uid int, device string, wait bool) (*Turn, error) {
	t, err := h.state.helpers.begin(ctx, &Process{PID: pid, StartKey: uint64(pid), UID: uid, host: h}, &awayError{"fuse", "/point", device}, wait)
	return &Turn{h, t}, err
}

// End returns the slot.
func (t *Turn) End() { t.host.state.helpers.end(t.task) }

// ParseMount returns the fields of a line of a mountinfo, each after a bar.
func ParseMount(line string) (text string, ok bool) {
	m, ok := parseMount([]byte(line))
	return fmt.Sprint(m.id, "|", m.device, "|", m.root, "|", m.point, "|", m.system, "|", m.options), ok
}

// CountKills makes a watch read the number of OOM-killed processes from a file.
func (w *Watch) CountKills(path string) {
	closeFile(&w.kills)
	w.kills, _ = openIn(unix.AT_FDCWD, path)
	w.killed, _ = oomKills(w.kills)
}

// MountOf returns the id of the mount that a file is in.
func MountOf(f *os.File) (int, error) { return mountOf(int(f.Fd())) }

// ReadStat reads the stat in a directory that looks like one of /proc and returns the start time.
func ReadStat(proc string) (start uint64, err error) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	s, err := readStatIn(dir)
	return s.startKey, err
}

// ReadStatus reads the status in such a directory and returns the process, its effective user, and
// its pid in its own namespace.
func ReadStatus(proc string) (process, uid, inner int, err error) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	s, err := readStatus(dir)
	return s.process, s.uid, s.innerPID, err
}

// DefectOfHelper returns the answer of a helper that panics.
func DefectOfHelper() (text string, hasFile bool) {
	a := (*request)(nil).serve(noFile)
	return a.Error, a.HasFD || a.fd != noFile
}

// OpenGroup returns the number of control group directories that are opened for a process, from its
// own one up.
func OpenGroup(proc string) int {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	g := openGroup(dir, nil, memoryController)
	defer g.close()
	return len(g.dirs)
}

// ReadMounts returns the mount points in a directory that looks like one of /proc.
func ReadMounts(proc string) (list []string) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	for _, m := range readMounts(dir) {
		list = append(list, m.point)
	}
	return list
}

// Exiting reports whether a process exists, but has no root folder any more.
func Exiting(pid int) bool { return (&Process{PID: pid}).exiting() }

// SetAbandoned makes the target's abandoned Hold one that was first seen at a time.
func (t *Target) SetAbandoned(at time.Time) { t.abandoned = at.UnixNano() }

// A WalkWatch is a walkWatch, for tests.
type WalkWatch struct{ w walkWatch }

func NewWalkWatch(need uint64, parked, running map[string]uint64) *WalkWatch {
	first := &threadsLook{parked: maps.Clone(parked), running: map[string]uint64{}}
	maps.Copy(first.running, running)
	return &WalkWatch{walkWatch{first, need}}
}

func (w *WalkWatch) Judge(parked, running map[string]uint64, age time.Duration) (abandoned, known bool) {
	return w.w.judge(&threadsLook{parked: parked, running: running}, age)
}

// GroupCPU returns what is read of a control group with these directories, its own one first, and of
// a file with the pressure of the host.
func GroupCPU(version int, pressure string, folders ...string) CPUReading {
	g := group{version: version}
	defer g.close()
	for _, folder := range folders {
		dir, _ := openFolder(unix.AT_FDCWD, folder)
		g.dirs = append(g.dirs, dir)
	}
	r := newCPUReader()
	defer r.Close()
	r.all, _ = openIn(unix.AT_FDCWD, pressure)
	r.groupPressure, r.throttling = g.openCPU()
	return r.Read()
}
