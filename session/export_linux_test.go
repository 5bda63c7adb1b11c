package session

import (
	"context"

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

// The bounds of looks.
const (
	LookTime       = lookTime
	MaxStuckOfUser = maxStuckOfUser
	MaxStuck       = maxStuck
	MaxHelpers     = maxHelpers
)

// MayNotAnswer tells whether a file system of a process may not answer, where it, and the first
// process of the host, have these mounts.
func MayNotAnswer(mounts, host string, ours bool, path string) bool {
	g := &guard{parseMounts([]byte(mounts)), func() []mount { return parseMounts([]byte(host)) }, func() bool { return ours }}
	return g.checkPoint(path) != nil
}

// WhyNoSocket is what is said of a process if its socket could not be found just now.
func WhyNoSocket(pid int) error {
	p, err := new(Host).sight(pid)
	if err != nil {
		return err
	}
	p.read()
	return p.whyNoSocket(nil)
}

// TempDirTrouble is what is said of it if it could not be found a second time.
func TempDirTrouble(pid int) (kind string) {
	p, err := new(Host).sight(pid)
	if err != nil {
		return err.Error()
	}
	p.read()
	kind, _ = p.tempDirTrouble()
	return kind
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
	dir := openFolder(proc)
	defer closeFile(&dir)
	return memoryGroupPath(dir)
}

// HasMemory tells whether a mount is one of control groups for memory.
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
		g.dirs = append(g.dirs, openFolder(folder))
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

func openFolder(path string) int {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		panic(err)
	}
	return fd
}
