package session

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A tree is what a process sees of the file system, or a part of that. Links are followed as the
// process itself would follow them: never out of it.
//
// A path is followed step by step, because nothing of a file system may be touched before it is
// known to answer. To open with O_PATH does not touch what is opened.
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

// openTree opens what a process sees, whose folder in /proc is open. Close its root.
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
	// maxLinks is how many links are followed on the way to a file, as the kernel has it.
	maxLinks = 40
	// maxSteps is how many folders are opened on the way: paths come from the process, and can be
	// of any length.
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

// A walk is on its way to a file. It keeps no folder open but the one where it is: the way back is
// gone from the root on.
type walk struct {
	tree         *tree
	names        []string // that lie ahead
	links, steps int      // so far
}

// next takes a step. It returns where that leads, which may be where it was.
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
		for len(w.names) > 0 && w.names[0] == ".." { // all at once
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

// again opens the root once more.
func (t *tree) again() (place, error) {
	fd, err := unix.FcntlInt(uintptr(t.root.fd), unix.F_DUPFD_CLOEXEC, 0)
	return place{fd, t.root.path}, err
}

// stat describes a file of a folder.
func (t *tree) stat(dir place, name string, st *unix.Stat_t) error {
	file, err := t.step(dir, name)
	if err != nil {
		return err
	}
	defer file.close()
	return unix.Fstat(file.fd, st)
}

// step opens a file of a folder. A link is not followed.
func (t *tree) step(dir place, name string) (file place, err error) {
	file.path = filepath.Join(dir.path, name)
	if t.guard == nil {
		file.fd, err = openFile(dir.fd, name)
		return file, err
	}
	// Within a mount there is nothing to check; the kernel reports whether this leads into another.
	how := unix.OpenHow{Flags: openPath | unix.O_NOFOLLOW, Resolve: unix.RESOLVE_NO_XDEV}
	for range openTries {
		file.fd, err = unix.Openat2(dir.fd, name, &how)
		if !errors.Is(err, unix.EINTR) && !errors.Is(err, unix.EAGAIN) {
			break
		}
	}
	// ENOSYS: Linux before 5.6, EPERM: a sandbox that does not know the call.
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

// openTries is how often opening is tried while somebody renames what is on the way.
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
