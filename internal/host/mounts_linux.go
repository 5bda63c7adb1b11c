package host

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// A mount is a line of a mountinfo.
type mount struct {
	id      int
	device  string // major:minor
	root    string // the directory of its file system that the mount shows
	point   string // where it is mounted
	system  string // kind of file system
	options string
}

func parseMount(line []byte) (m mount, ok bool) {
	fields := strings.Fields(string(line))
	dash := slices.Index(fields, "-")
	if dash < 6 || len(fields) < dash+4 {
		return m, false
	}
	id, err := strconv.Atoi(fields[0])
	return mount{id, fields[2], unescape(fields[3]), unescape(fields[4]), fields[dash+1], fields[dash+3]}, err == nil
}

// maxMounts is the number of bytes that are read of a mountinfo. Mounts beyond them are unknown,
// and so not trusted.
const maxMounts = 1 << 20

// readMounts reads the mounts of a process. The process's directory in /proc must be open.
func readMounts(proc int) []mount {
	b, _ := readAllIn(proc, "mountinfo", maxMounts) // mounts that cannot be read are unknown
	return parseMounts(b)
}

func parseMounts(b []byte) (list []mount) {
	for line := range bytes.Lines(b) {
		if m, ok := parseMount(line); ok {
			list = append(list, m)
		}
	}
	return list
}

// unescape replaces escaped characters such as blanks, which are written as \040.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		if s[0] == '\\' && len(s) >= 4 {
			if n, err := strconv.ParseUint(s[1:4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				s = s[4:]
				continue
			}
		}
		b.WriteByte(s[0])
		s = s[1:]
	}
	return b.String()
}

// answering contains the file systems that the kernel of this host serves without help, from memory
// or from a disk. All others may wait for another party: FUSE for a program, NFS and the like for
// another host, autofs for a program that mounts.
var answering = []string{
	"bcachefs", "btrfs", "cgroup", "cgroup2", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "iso9660",
	"jfs", "mqueue", "ntfs3", "proc", "ramfs", "reiserfs", "rootfs", "squashfs", "sysfs", "tmpfs", "udf", "vfat", "xfs",
	"zfs",
}

// A guard decides which of the file systems that a process sees may be touched. A nil guard allows
// all of them.
type guard struct {
	mounts []mount
	host   func() []mount // mounts of the process with pid 1, as far as they can be read
	// ours reports whether these mounts could only be made with the right to mount in gclog's own
	// user namespace.
	ours func() bool
}

// newGuard returns the guard for a process. The process's directory in /proc must be open as long
// as the guard is used.
func newGuard(h *hostMounts, proc int) *guard {
	g := &guard{host: sync.OnceValue(h.read), ours: func() bool { return mountsAreOurs(proc) }}
	if n := namespaceOf(proc); n != "" && n == h.namespace() {
		g.mounts = g.host()
	}
	if g.mounts == nil {
		g.mounts = readMounts(proc)
	}
	return g
}

// namespaceOf returns the mount namespace of a process, or "" if it cannot be read.
func namespaceOf(proc int) string {
	b := make([]byte, unix.PathMax)
	n, _ := unix.Readlinkat(proc, "ns/mnt", b)
	return string(b[:max(0, n)])
}

// hostMounts contains the mounts of the process with pid 1, or of gclog itself if those cannot be
// read. A host can have thousands of mounts, and most of its processes have the same, so they are
// read again only when the kernel reports a change.
type hostMounts struct {
	mu   sync.Mutex
	dir  int      // the process's directory; 0: not open
	file *os.File // mountinfo; nil: not read yet
	list []mount
}

// process opens the directory of the process, unless it is open.
func (h *hostMounts) process() int {
	for _, name := range []string{"1", "self"} {
		if h.dir != 0 {
			break
		}
		fd, err := openFolder(unix.AT_FDCWD, procRoot+"/"+name)
		if err == nil && namespaceOf(fd) == "" {
			_ = unix.Close(fd)
		} else if err == nil {
			h.dir = fd
		}
	}
	return h.dir
}

func (h *hostMounts) namespace() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return namespaceOf(h.process())
}

func (h *hostMounts) read() []mount {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.file != nil {
		changed := []unix.PollFd{{Fd: int32(h.file.Fd()), Events: unix.POLLPRI}}
		if n, _ := unix.Poll(changed, 0); n == 0 {
			return h.list
		}
	} else {
		// In blocking mode: otherwise Go's poller would receive the notifications of changes.
		fd, err := openAs(h.process(), "mountinfo", unix.O_CLOEXEC)
		if err != nil {
			return nil
		}
		h.file = os.NewFile(uintptr(fd), "mountinfo")
	}
	b, err := io.ReadAll(io.NewSectionReader(h.file, 0, maxMounts))
	if err != nil {
		_ = h.file.Close()
		h.file, h.list = nil, nil
		return nil
	}
	h.list = parseMounts(b)
	return h.list
}

// mountsAreOurs reports whether the mount namespace of a process belongs to gclog's user namespace.
// In a user namespace of their own, every user may mount FUSE, and an overlay over it.
func mountsAreOurs(proc int) bool {
	namespace, _ := openAs(proc, "ns/mnt", openRead)
	defer closeFile(&namespace)
	owner, err := unix.IoctlRetInt(namespace, unix.NS_GET_USERNS)
	if err != nil { // owner is 0 then, not noFile
		return false
	}
	defer unix.Close(owner)
	theirs, own := status(owner), unix.Stat_t{}
	return unix.Stat(procRoot+"/self/ns/user", &own) == nil && theirs.Dev == own.Dev && theirs.Ino == own.Ino
}

// An awayError reports that something is on a file system that may not answer.
type awayError struct {
	system, point string
	device        string
}

func (e *awayError) Error() string {
	return fmt.Sprintf("it is on a file system that may not respond (%s at %s)", e.system, e.point)
}

// checkPoint checks what is mounted at a path before the path is touched. Of several mounts at the
// path, the last one hides the others.
func (g *guard) checkPoint(path string) error {
	for i := len(g.mounts) - 1; i >= 0; i-- {
		if g.mounts[i].point == path {
			return g.check(&g.mounts[i])
		}
	}
	return nil
}

// checkFile checks the mount of a file that is open with O_PATH.
func (g *guard) checkFile(fd int) error {
	id, err := mountOf(fd)
	if err != nil {
		return err
	}
	is := func(m mount) bool { return m.id == id }
	if i := slices.IndexFunc(g.mounts, is); i >= 0 {
		return g.check(&g.mounts[i])
	}
	// A process that has changed its root does not see the mount that the root is in.
	if host := g.host(); slices.ContainsFunc(host, is) {
		return g.check(&host[slices.IndexFunc(host, is)])
	}
	return &awayError{system: "unknown type", point: "an unknown mount point"}
}

// mountOf returns the id of the mount that a file is in. The kernel returns it without asking the
// file system.
func mountOf(fd int) (id int, err error) {
	b, err := os.ReadFile(procRoot + "/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0, err
	}
	_, rest, _ := bytes.Cut(b, []byte("mnt_id:"))
	word, _, _ := bytes.Cut(bytes.TrimLeft(rest, "\t "), []byte("\n"))
	return strconv.Atoi(string(word))
}

func (g *guard) check(m *mount) error {
	if slices.Contains(answering, m.system) || m.system == "overlay" && g.layersAnswer(m) {
		return nil
	}
	return &awayError{m.system, m.point, m.device}
}

// layersAnswer reports whether the layers of an overlay are on file systems that answer. Those of
// containers may be on FUSE, so that images are fetched when they are read. The paths of the layers
// are those seen by the process that mounted the overlay; for containers it ran on the host.
func (g *guard) layersAnswer(m *mount) bool {
	if !g.ours() {
		return false
	}
	for option := range strings.SplitSeq(m.options, ",") {
		name, value, _ := strings.Cut(option, "=")
		if !slices.Contains([]string{"lowerdir", "lowerdir+", "upperdir", "datadir+"}, name) {
			continue
		}
		for layer := range strings.SplitSeq(value, ":") {
			if layer != "" && !g.layerAnswers(layer) {
				return false
			}
		}
	}
	return true
}

// layerAnswers checks the file system mounted at the longest prefix of the layer's path on the
// host. A layer whose path is not absolute could be anywhere.
func (g *guard) layerAnswers(layer string) bool {
	if layer[0] != '/' {
		return false
	}
	var around *mount
	host := g.host()
	for i := range host {
		m := &host[i]
		below := m.point == "/" || layer == m.point || strings.HasPrefix(layer, m.point+"/")
		if below && (around == nil || len(m.point) >= len(around.point)) {
			around = m
		}
	}
	return around == nil || around.system == "overlay" || slices.Contains(answering, around.system)
}
