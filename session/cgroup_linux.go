package session

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A memoryGroup is the control group that accounts for the memory of a process: the
// folders of the group and of those above it, as far up as the mount shows them.
type memoryGroup struct {
	dirs    []int // the own one first
	version int   // of the interface: 1 or 2
}

// Limits for what is read of groups.
const (
	maxGroups     = 64 << 10 // bytes of /proc/PID/cgroup
	maxGroupDepth = 64
)

// openMemoryGroup finds the group of a process, whose folder in /proc is open. It is
// looked for where groups are mounted for us, and, because a container shows only its
// own groups, where they are mounted for the process. Nothing is followed out of its
// root, and nothing but the kernel's own files is opened.
func openMemoryGroup(proc int, g *guard) memoryGroup {
	path, version, ok := memoryGroupPath(proc)
	if !ok {
		return memoryGroup{}
	}
	ours, err := openFolder(unix.AT_FDCWD, procRoot+"/self")
	if err == nil {
		defer unix.Close(ours)
		if dirs := openGroupDirs(ours, nil, path, version); len(dirs) > 0 {
			return memoryGroup{dirs, version}
		}
	}
	return memoryGroup{openGroupDirs(proc, g, path, version), version}
}

// memoryGroupPath returns the path of the group as this process sees it: a group that
// is not below the root of our own namespace begins with "/..".
func memoryGroupPath(proc int) (path string, version int, ok bool) {
	b, err := readAllIn(proc, "cgroup", maxGroups)
	if err != nil {
		return "", 0, false
	}
	for line := range bytes.Lines(b) {
		// hierarchy:controllers:path
		fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(":"), 3)
		switch {
		case len(fields) != 3:
		case slices.ContainsFunc(bytes.Split(fields[1], []byte(",")), isMemory):
			return string(fields[2]), 1, true
		case string(fields[0]) == "0" && len(fields[1]) == 0:
			path, version, ok = string(fields[2]), 2, true
		}
	}
	return path, version, ok
}

func isMemory(controller []byte) bool { return string(controller) == "memory" }

// openGroupDirs opens the folders of a group in the mounts that a process sees, which
// is told by its own folder in /proc.
func openGroupDirs(proc int, g *guard, path string, version int) []int {
	t, err := openTree(proc, g)
	if err != nil {
		return nil
	}
	defer t.root.close()
	for _, m := range readMounts(proc) {
		if !m.hasMemory(version) {
			continue
		}
		if below, ok := pathBelow(m.root, path); ok {
			if dirs := t.openDirs(m.point, below); len(dirs) > 0 {
				return dirs
			}
		}
	}
	return nil
}

func (m *mount) hasMemory(version int) bool {
	if version == 2 {
		return m.system == "cgroup2"
	}
	return m.system == "cgroup" && slices.Contains(strings.Split(m.options, ","), "memory")
}

// pathBelow returns the steps from a folder to one below it. There are none that lead
// upwards.
func pathBelow(root, path string) (steps []string, ok bool) {
	above, steps := split(root), split(path)
	if len(steps) < len(above) || !slices.Equal(above, steps[:len(above)]) {
		return nil, false
	}
	steps = steps[len(above):]
	return steps, len(steps) <= maxGroupDepth && !slices.Contains(steps, "..")
}

func split(path string) []string {
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// openDirs opens a mount point of groups and the folders from there on, the last one
// first. All of them or none.
func (t *tree) openDirs(point string, steps []string) (dirs []int) {
	at, err := t.open(point)
	for {
		if err == nil {
			dirs = append(dirs, at.fd)
		}
		if err != nil || !isGroup(at.fd) {
			closeFiles(dirs)
			return nil
		}
		if len(steps) == 0 {
			slices.Reverse(dirs)
			return dirs
		}
		at, err = t.step(at, steps[0])
		steps = steps[1:]
	}
}

// isGroup reports whether a file is one of the kernel's about groups. What a process has
// mounted there itself may be anything.
func isGroup(fd int) bool {
	var st unix.Statfs_t
	_ = unix.Fstatfs(fd, &st) // without success all is 0
	return st.Type == unix.CGROUP_SUPER_MAGIC || st.Type == unix.CGROUP2_SUPER_MAGIC
}

func (g *memoryGroup) close() { closeFiles(g.dirs) }

// openGroupFile opens a file of a group, if there is one. What a process has mounted over it is
// not touched.
func openGroupFile(dir int, name string) int {
	fd, err := openFile(dir, name)
	if err != nil {
		return noFile
	}
	defer unix.Close(fd)
	around, _ := mountOf(dir)
	if own, err := mountOf(fd); err != nil || own != around {
		return noFile
	}
	f, _ := openAgain(fd)
	return f
}

// hasGroupFile reports whether a group has a file, without touching it.
func hasGroupFile(dir int, name string) bool {
	fd, err := openFile(dir, name)
	closeFile(&fd)
	return err == nil
}

// accounting returns the folder that accounts for the memory of the process, and those above it:
// where a group has no accounting of its own (version 2), the next one above has it. The root of all
// groups, which is no limit to anything, does not count.
func (g *memoryGroup) accounting() []int {
	for i, dir := range g.dirs {
		if g.version == 1 {
			if hasGroupFile(dir, "release_agent") { // only the root has one
				return nil
			}
			return g.dirs[i:]
		}
		if hasGroupFile(dir, "memory.current") {
			return g.dirs[i:]
		}
	}
	return nil
}

// openUsage opens the file with what the group has, and those with the limits of it and
// of the groups above.
func (g *memoryGroup) openUsage() (usage int, limits []int) {
	dirs := g.accounting()
	if len(dirs) == 0 {
		return noFile, nil
	}
	usageName, limitName := "memory.current", "memory.max"
	if g.version == 1 {
		usageName, limitName = "memory.usage_in_bytes", "memory.limit_in_bytes"
	}
	for _, dir := range dirs {
		if fd := openGroupFile(dir, limitName); fd >= 0 {
			limits = append(limits, fd)
		}
	}
	return openGroupFile(dirs[0], usageName), limits
}

// openKills opens the file that counts the processes of the group that the kernel
// killed because there was no memory left.
func (g *memoryGroup) openKills() int {
	dirs := g.accounting()
	if len(dirs) == 0 {
		return noFile
	}
	if g.version == 1 {
		return openGroupFile(dirs[0], "memory.oom_control")
	}
	return openGroupFile(dirs[0], "memory.events")
}

// oomKills reads that count.
func oomKills(fd int) (n uint64, known bool) {
	var buf [512]byte
	for line := range bytes.Lines(readAgain(fd, buf[:])) {
		if count, found := bytes.CutPrefix(line, []byte("oom_kill ")); found {
			return decimal(bytes.TrimSpace(count)), true
		}
	}
	return 0, false
}
