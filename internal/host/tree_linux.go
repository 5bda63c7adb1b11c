package host

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A tree is the file system as a process sees it, or a part of that. Links are followed as the
// process itself would follow them: never out of its root.
//
// A path is followed step by step, because no part of a file system may be touched before it is
// known that the file system answers. Opening a file with O_PATH does not touch the file.
type tree struct {
	root  place
	guard *guard
}

// A place is a file that is open with O_PATH.
type place struct {
	fd   int
	path string // without links, as the process sees it
}

func (p place) close() { _ = unix.Close(p.fd) }

// openTree opens the file system that a process sees. The process's directory in /proc must be
// open. Close the tree's root.
func openTree(proc int, g *guard) (*tree, error) {
	if g != nil {
		if err := g.checkPoint("/"); err != nil {
			return nil, err
		}
	}
	root, err := openFolder(proc, "root")
	if err != nil {
		return nil, err
	}
	if g != nil {
		if err := g.checkFile(root); err != nil {
			_ = unix.Close(root)
			return nil, err
		}
	}
	return &tree{place{root, "/"}, g}, nil
}

const (
	// maxLinks is how many links are followed on the path to a file, as in the kernel.
	maxLinks = 40
	// maxSteps is how many directories are opened on the path: paths come from the process, and can
	// have any length.
	maxSteps = 1024
)

// open opens a file.
func (t *tree) open(path string) (place, error) {
	w := walk{tree: t, names: split(path)}
	at, err := t.again()
	for err == nil && len(w.names) > 0 {
		var next place
		if next, err = w.next(at); next != at {
			at.close()
			at = next
		}
	}
	if err != nil {
		at.close()
		at.fd = noFile
	}
	return at, err
}

// A walk is the state of following a path to a file. Only the current directory is kept open; to go
// up, the walk starts again at the root.
type walk struct {
	tree         *tree
	names        []string // still to be followed
	links, steps int      // so far
}

// next takes one step. It returns the resulting place, which may be the same as before.
func (w *walk) next(at place) (place, error) {
	if w.steps++; w.steps > maxSteps || len(w.names) > maxSteps {
		return at, unix.ENAMETOOLONG
	}
	name := w.names[0]
	w.names = w.names[1:]
	switch name {
	case ".":
		return at, nil
	case "..":
		above := filepath.Dir(strings.TrimPrefix(at.path, w.tree.root.path))
		for len(w.names) > 0 && w.names[0] == ".." { // combine consecutive ones
			above, w.names = filepath.Dir(above), w.names[1:]
		}
		w.insert(above)
		return w.restart(at)
	}
	file, err := w.tree.step(at, name)
	if err != nil {
		return at, err
	}
	target, isLink, err := readLink(file.fd)
	if err == nil && !isLink {
		return file, nil
	}
	file.close()
	if w.links++; err == nil && w.links > maxLinks {
		err = unix.ELOOP
	}
	if err != nil {
		return at, err
	}
	w.insert(target)
	if strings.HasPrefix(target, "/") {
		return w.restart(at)
	}
	return at, nil
}

func (w *walk) insert(path string) { w.names = slices.Concat(split(path), w.names) }

func (w *walk) restart(at place) (place, error) {
	root, err := w.tree.again()
	if err != nil {
		return at, err
	}
	return root, nil
}

// again returns another descriptor of the root.
func (t *tree) again() (place, error) {
	fd, err := unix.FcntlInt(uintptr(t.root.fd), unix.F_DUPFD_CLOEXEC, 0)
	return place{fd, t.root.path}, err
}

// stat returns the stat of a file in a directory.
func (t *tree) stat(dir place, name string, st *unix.Stat_t) error {
	file, err := t.step(dir, name)
	if err != nil {
		return err
	}
	defer file.close()
	return unix.Fstat(file.fd, st)
}

// step opens a file in a directory. It does not follow a link.
func (t *tree) step(dir place, name string) (file place, err error) {
	file.path = filepath.Join(dir.path, name)
	if t.guard == nil {
		file.fd, err = openFile(dir.fd, name)
		return file, err
	}
	// Within a mount there is nothing to check; the kernel reports whether the step leads into
	// another mount.
	how := unix.OpenHow{Flags: openPath | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_XDEV}
	for range openTries {
		file.fd, err = unix.Openat2(dir.fd, name, &how)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	// ENOSYS: Linux before 5.6. EPERM: a sandbox that does not know the system call.
	if err == nil || !errors.Is(err, unix.EXDEV) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EPERM) {
		return file, err
	}
	if err := t.guard.checkPoint(file.path); err != nil {
		return file, err
	}
	if file.fd, err = openFile(dir.fd, name); err != nil {
		return file, err
	}
	if err := t.guard.checkFile(file.fd); err != nil { // something was mounted there just now
		file.close()
		return file, err
	}
	return file, nil
}

// openTries is how often opening a file is tried while another process renames parts of the path.
const openTries = 100

// readLink reads a link that is open with O_PATH.
func readLink(fd int) (target string, isLink bool, err error) {
	if status(fd).Mode&unix.S_IFMT != unix.S_IFLNK {
		return "", false, nil
	}
	b := make([]byte, unix.PathMax)
	n, err := unix.Readlinkat(fd, "", b)
	if err != nil {
		return "", false, err
	}
	return string(bytes.TrimRight(b[:n], "\x00")), true, nil
}
