package session

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// WithoutPidfd and WithoutStat make a watch as it is where the kernel does not tell so
// much.
func (w *Watch) WithoutPidfd() { closeFile(&w.pidfd) }

func (w *Watch) WithoutStat() { closeFile(&w.stat) }

// IdentifiedBy is what is known of a process with these control groups and mounts.
func IdentifiedBy(groups, mounts string) *Process {
	p := &Process{}
	p.identifyByGroups([]byte(groups))
	p.identifyByMounts(parseMounts([]byte(mounts)))
	return p
}

// PathBelow is the way from the folder that a mount shows to a control group.
func PathBelow(root, path string) ([]string, bool) { return pathBelow(root, path) }

// ScannerOf returns a scanner of what looks like /proc.
func ScannerOf(dir string) (*Scanner, error) { return newScanner(dir) }

// Look has a Host look at a process that is made up.
func (h *Host) Look(ctx context.Context, pid, uid int, f func() (int, error), drop func(int)) (int, error) {
	return look(ctx, &Process{PID: pid, UID: uid, host: h}, f, drop)
}

// MayNotAnswer reports whether a file system of a process may not answer, where it, and the first
// process of the host, have these mounts.
func MayNotAnswer(mounts, host string, ours bool, path string) bool {
	g := &guard{parseMounts([]byte(mounts)), func() []mount { return parseMounts([]byte(host)) }, func() bool { return ours }}
	return g.checkPoint(path) != nil
}

// WhyNoSocket is what is said of a process if its socket could not be found just now. failure is why
// it could not be looked for.
func (p *Process) WhyNoSocket(failure error) error { return p.whyNoSocket(failure) }

// TempDirTrouble is what is said of it if it could not be found a second time.
func (p *Process) TempDirTrouble() (kind string) {
	kind, _ = p.tempDirTrouble()
	return kind
}

// UseTempDir has the socket of a process looked for elsewhere.
func (p *Process) UseTempDir(dir string) { p.tempDir = dir }

// DialError is what is said of a process that could not be connected to.
func (p *Process) DialError(err error) error { return p.dialError(err) }

// What is asked of a file system.
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

// In performs it for a process with this folder in /proc.
func (q *request) In(folder string) (reply, error) {
	proc, _ := openFolder(unix.AT_FDCWD, folder)
	defer closeFile(&proc)
	return q.perform(proc, nil)
}

// A Helper is one that a test asks by itself.
type Helper struct{ h *helper }

// StartHelper starts one.
func StartHelper(command []string) (*Helper, error) {
	h, err := startHelper(command)
	return &Helper{h}, err
}

// PID is its number.
func (h *Helper) PID() int { return h.h.process.Pid }

// Ask has it perform a request for this process.
func (h *Helper) Ask(q *Request) (Reply, error) {
	proc, _ := openFolder(unix.AT_FDCWD, "/proc/self")
	defer closeFile(&proc)
	a, err := h.h.ask(q, proc)
	if err != nil {
		return Reply{FD: -1}, err
	}
	return a.reply()
}

// Write sends it bytes.
func (h *Helper) Write(b []byte) (int, error) { return h.h.conn.Write(b) }

// Message is a request as a helper is sent it, without the folder of a process.
func (q *Request) Message() []byte {
	var b bytes.Buffer
	_ = gob.NewEncoder(&b).Encode(q)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(b.Len())), b.Bytes()...)
}

// Unread is how much of what was written to it the helper has not read.
func (h *Helper) Unread() (n int) {
	_ = control(h.h.conn, func(fd int) { n, _ = unix.IoctlGetInt(fd, unix.SIOCOUTQ) })
	return n
}

// Answer takes what it answers.
func (h *Helper) Answer() error {
	var a answer
	fd, err := receive(h.h.conn, &a)
	closeFile(&fd)
	return err
}

// Close closes its connection, and returns how it ends.
func (h *Helper) Close() (*os.ProcessState, error) {
	_ = h.h.conn.Close()
	return h.h.process.Wait()
}

// FillLooks has as many looks stuck as there can be.
func (h *Host) FillLooks() {
	h.state.looks = map[*underway]bool{}
	for range maxStuck {
		h.state.looks[&underway{since: time.Now().Add(-time.Hour)}] = true
	}
}

// MountPoints are where the host has file systems.
func (h *Host) MountPoints() (list []string) {
	for _, m := range h.state.mounts.read() {
		list = append(list, m.point)
	}
	return list
}

// Decimal reads a number as the kernel writes it.
func Decimal(s string) uint64 { return decimal([]byte(s)) }

// GroupPath is the control group for memory of a process with this folder in /proc.
func GroupPath(proc string) (path string, version int, ok bool) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	return memoryGroupPath(dir)
}

// HasMemory reports whether a mount is one of control groups for memory.
func HasMemory(mount string, version int) bool {
	m, ok := parseMount([]byte(mount))
	return ok && m.hasMemory(version)
}

// GroupMemory is what is read of a control group with these folders, its own one first: what it has,
// its limit, and how many of its processes were killed.
func GroupMemory(version int, folders ...string) (usage, limit, kills uint64, known bool) {
	g := memoryGroup{version: version}
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

// ResidentMemory is what is read of a statm.
func ResidentMemory(statm string) uint64 {
	r := newMemoryReader()
	defer r.Close()
	r.statm, _ = openIn(unix.AT_FDCWD, statm)
	resident, _, _ := r.Read()
	return resident
}

// A Turn is the place of a process among those that a helper looks at.
type Turn struct {
	host *Host
	task *task
}

// Turn waits for the turn of a process, part of whose file system, on a device, may not answer.
func (h *Host) Turn(ctx context.Context, pid, uid int, device string, wait bool) (*Turn, error) {
	t, err := h.state.helpers.begin(ctx, &Process{PID: pid, StartKey: uint64(pid), UID: uid, host: h}, &awayError{"fuse", "/point", device}, wait)
	return &Turn{h, t}, err
}

// End gives it back.
func (t *Turn) End() { t.host.state.helpers.end(t.task) }

// ParseMount is what a line of a mountinfo says, each after a bar.
func ParseMount(line string) (text string, ok bool) {
	m, ok := parseMount([]byte(line))
	return fmt.Sprint(m.id, "|", m.device, "|", m.root, "|", m.point, "|", m.system, "|", m.options), ok
}

// CountKills has a watch read the processes that were killed from a file.
func (w *Watch) CountKills(path string) {
	closeFile(&w.kills)
	w.kills, _ = openIn(unix.AT_FDCWD, path)
	w.killed, _ = oomKills(w.kills)
}

// ChmodSocket changes the mode of a socket.
var ChmodSocket = chmodSocket

// PeerStart is when the process started that has made a connection, 0 if it has ended.
var PeerStart = peerStart

// MountOf is the number of the mount that a file is in.
func MountOf(f *os.File) (int, error) { return mountOf(int(f.Fd())) }

// ReadStat and ReadStatus read files in a folder that looks like one of /proc.
func ReadStat(proc string) (start uint64, err error) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	s, err := readStatIn(dir)
	return s.startKey, err
}

// ReadStatus returns the process, its effective user, and its number in its own namespace.
func ReadStatus(proc string) (process, uid, inner int, err error) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	s, err := readStatus(dir)
	return s.process, s.uid, s.innerPID, err
}

// DefectOfHelper is what a helper answers that has a defect.
func DefectOfHelper() (text string, hasFile bool) {
	a := (*request)(nil).serve(noFile)
	return a.Error, a.HasFD || a.fd != noFile
}

// OpenGroup is how many folders of control groups there are for a process, from its own one up.
func OpenGroup(proc string) int {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	g := openMemoryGroup(dir, nil)
	defer g.close()
	return len(g.dirs)
}

// ReadMounts are the points of the mounts in a folder that looks like one of /proc.
func ReadMounts(proc string) (list []string) {
	dir, _ := openFolder(unix.AT_FDCWD, proc)
	defer closeFile(&dir)
	for _, m := range readMounts(dir) {
		list = append(list, m.point)
	}
	return list
}
