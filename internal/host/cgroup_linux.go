package host

import (
	"bytes"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A group is the control group of a process that a controller uses: the directories of the group and
// of its ancestors, as far up as the mount shows them.
type group struct {
	dirs    []int // the group's own directory first
	version int   // of the interface: 1 or 2
}

// groupFiles are the names of a group's files by the version of the interface, and the name of what is
// reclaimable in memory.stat.
var groupFiles = map[int]struct{ limit, usage, kills, reclaimable string }{
	1: {"memory.limit_in_bytes", "memory.usage_in_bytes", "memory.oom_control", "total_inactive_file"},
	2: {"memory.max", "memory.current", "memory.events", "inactive_file"},
}

// Limits for reading groups.
const (
	maxGroups     = 64 << 10 // bytes of /proc/PID/cgroup
	maxGroupDepth = 64
)

// The controllers.
const (
	memoryController = "memory"
	cpuController    = "cpu"
)

// openGroup finds the group of a process for a controller. The process's directory in /proc must be
// open. The group is searched for in gclog's own mounts and then, because a container shows only
// its own groups, in those of the process. No link out of the process's root is followed, and only
// files of the kernel are opened.
func openGroup(proc int, g *guard, controller string) group {
	path, version, ok := groupPath(proc, controller)
	if !ok {
		return group{}
	}
	ours, err := openFolder(unix.AT_FDCWD, procRoot+"/self")
	if err == nil {
		defer unix.Close(ours)
		if dirs := openGroupDirs(ours, nil, controller, path, version); len(dirs) > 0 {
			return group{dirs, version}
		}
	}
	return group{openGroupDirs(proc, g, controller, path, version), version}
}

// groupPath returns the path of the group as gclog sees it: if the group is not below the
// root of gclog's own cgroup namespace, the path starts with "/..".
func groupPath(proc int, controller string) (path string, version int, ok bool) {
	b, _ := readAllIn(proc, "cgroup", maxGroups) // a group that cannot be read is unknown
	for line := range bytes.Lines(b) {
		// hierarchy:controllers:path
		fields := bytes.SplitN(bytes.TrimSuffix(line, []byte("\n")), []byte(":"), 3)
		switch {
		case len(fields) != 3:
		case slices.Contains(strings.Split(string(fields[1]), ","), controller):
			return string(fields[2]), 1, true
		case string(fields[0]) == "0" && len(fields[1]) == 0:
			path, version, ok = string(fields[2]), 2, true
		}
	}
	return path, version, ok
}

// openGroupDirs opens the directories of a group in the mounts of a process. proc is that process's
// directory in /proc.
func openGroupDirs(proc int, g *guard, controller, path string, version int) []int {
	t, err := openTree(proc, g)
	if err != nil {
		return nil
	}
	defer t.root.close()
	for _, m := range readMounts(proc) {
		if !m.hasGroups(controller, version) {
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

// hasGroups reports whether the groups of a controller are mounted there.
func (m *mount) hasGroups(controller string, version int) bool {
	if version == 2 {
		return m.system == "cgroup2"
	}
	return m.system == "cgroup" && slices.Contains(strings.Split(m.options, ","), controller)
}

// pathBelow returns the steps from root down to path. ok is false if path is not below root or a
// step leads upward.
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

// openDirs opens a mount point of groups and the directories below it, and returns the deepest one
// first. It opens all of them or none.
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

// isGroup reports whether a file belongs to the kernel's cgroup file systems. A process may have
// mounted anything else there.
func isGroup(fd int) bool {
	var st unix.Statfs_t
	_ = unix.Fstatfs(fd, &st) // on an error st stays zero
	return st.Type == unix.CGROUP_SUPER_MAGIC || st.Type == unix.CGROUP2_SUPER_MAGIC
}

func (g *group) close() { closeFiles(g.dirs) }

// openGroupFile opens a file of a group, if it exists. A file that a process has mounted over it is
// not touched.
func openGroupFile(dir int, name string) int {
	fd, _ := openFile(dir, name) // noFile is in no mount
	defer closeFile(&fd)
	around, _ := mountOf(dir)
	if own, err := mountOf(fd); err != nil || own != around {
		return noFile
	}
	f, _ := openAgain(fd)
	return f
}

// hasGroupFile reports whether a group has a file. It does not touch the file.
func hasGroupFile(dir int, name string) bool {
	fd, err := openFile(dir, name)
	closeFile(&fd)
	return err == nil
}

// accounting returns the directory that accounts for the memory of the process, and those above it.
// A group without accounting of its own (version 2) is accounted for in the next one above that has
// it. The root of all groups is left out, because it limits nothing.
func (g *group) accounting() []int {
	for i, dir := range g.dirs {
		if g.version == 1 {
			if hasGroupFile(dir, "release_agent") { // only the root has this file
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

// openUsage opens the file with the memory usage of the group, and those with the limits of the
// group and its ancestors.
func (g *group) openUsage() (usage int, limits []int) {
	usage = noFile
	for i, dir := range g.accounting() {
		if i == 0 {
			usage = openGroupFile(dir, groupFiles[g.version].usage)
		}
		if fd := openGroupFile(dir, groupFiles[g.version].limit); fd != noFile {
			limits = append(limits, fd)
		}
	}
	return usage, limits
}

// openKills opens the file that counts the processes of the group that the OOM killer killed.
func (g *group) openKills() int {
	if dirs := g.accounting(); len(dirs) > 0 {
		return openGroupFile(dirs[0], groupFiles[g.version].kills)
	}
	return noFile
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
