package session

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
	root    string // the folder of its file system that it shows
	point   string // where
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

// maxMounts is how much of a mountinfo is read, in bytes. What is mounted beyond it is not known,
// and so not trusted.
const maxMounts = 1 << 20

// readMounts reads the mounts of a process, whose folder in /proc is open.
func readMounts(proc int) []mount {
	b, _ := readAllIn(proc, "mountinfo", maxMounts) // what cannot be read is not known either
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

// unescape replaces blanks and the like, which are written as \040.
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

// answering are the file systems that the kernel of this host serves by itself, from memory or from
// a disk. All others may wait for somebody: FUSE for a program, NFS and the like for another host,
// autofs for a program that mounts.
var answering = []string{
	"bcachefs", "btrfs", "cgroup", "cgroup2", "devtmpfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "iso9660", "jfs", "mqueue",
	"ntfs3", "proc", "ramfs", "reiserfs", "rootfs", "squashfs", "sysfs", "tmpfs", "udf", "vfat", "xfs", "zfs",
}

// A guard tells which of the file systems that a process sees may be touched. nil: all of them.
type guard struct {
	mounts []mount
	host   func() []mount // of the first process, as far as it can be seen
	// ours: only who may mount for gclog's own user namespace has mounted these.
	ours func() bool
}

// newGuard returns that for a process, whose folder in /proc must be open as long as it is used.
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

// namespaceOf is the mount namespace of a process, "" if that is not told.
func namespaceOf(proc int) string {
	b := make([]byte, unix.PathMax)
	n, _ := unix.Readlinkat(proc, "ns/mnt", b)
	return string(b[:max(0, n)])
}

// hostMounts are the mounts of the first process, or of gclog if that is not shown. A host can have
// thousands, and most of its processes the same: they are read again when the kernel says that they
// have changed.
type hostMounts struct {
	mu   sync.Mutex
	dir  int      // of the process; 0: not open
	file *os.File // mountinfo; nil: it has not been read
	list []mount
}

// process opens the folder of the process.
func (h *hostMounts) process() int {
	for _, name := range []string{"1", "self"} {
		if h.dir > 0 {
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
		// Blocking: else Go's poller would be told of changes in our place.
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

// mountsAreOurs reports whether the mount namespace of a process belongs to the user namespace of
// gclog. In one of its own every user may mount FUSE, and an overlay over that.
func mountsAreOurs(proc int) bool {
	namespace, _ := openAs(proc, "ns/mnt", openRead)
	defer closeFile(&namespace)
	owner, _ := unix.IoctlRetInt(namespace, unix.NS_GET_USERNS) // no file, with an error
	defer closeFile(&owner)
	theirs, own := status(owner), unix.Stat_t{}
	return unix.Stat(procRoot+"/self/ns/user", &own) == nil && theirs.Dev == own.Dev && theirs.Ino == own.Ino
}

// An awayError says that something is on a file system that may not answer.
type awayError struct {
	system, point string
	device        string
}

func (e *awayError) Error() string {
	return fmt.Sprintf("it is on a file system that may not answer (%s at %s)", e.system, e.point)
}

// checkPoint checks what is mounted at a path, before it is touched. The mount that hides the
// others is the last.
func (g *guard) checkPoint(path string) error {
	for i := len(g.mounts) - 1; i >= 0; i-- {
		if g.mounts[i].point == path {
			return g.check(&g.mounts[i])
		}
	}
	return nil
}

// checkFile checks the mount that a file is in, which is open without having been touched.
func (g *guard) checkFile(fd int) error {
	id, err := mountOf(fd)
	if err != nil {
		return err
	}
	is := func(m mount) bool { return m.id == id }
	if i := slices.IndexFunc(g.mounts, is); i >= 0 {
		return g.check(&g.mounts[i])
	}
	// Who has changed its root does not see the mount that it is in.
	if host := g.host(); slices.ContainsFunc(host, is) {
		return g.check(&host[slices.IndexFunc(host, is)])
	}
	return &awayError{system: "an unknown one", point: "an unknown place"}
}

// mountOf returns the id of the mount that a file is in. The kernel knows that by itself.
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

// layersAnswer reports whether an overlay's own layers are on file systems that answer: those of
// containers may be on FUSE, where images are fetched when they are read. They are told as whoever
// has mounted it saw them, which for containers is the host.
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

// layerAnswers goes by the longest path that something is mounted at on the host. A layer whose path
// is not whole could be anywhere.
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
