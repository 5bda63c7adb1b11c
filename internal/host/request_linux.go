package host

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A request is something to be found out or done in the file system of a process. A Host performs
// it itself, or has its helper perform it where the file system may not answer.
type request struct {
	Kind requestKind
	Path string // directory of the socket; for readFile the path of the file
	Name string // name in the directory; for findSocket the name of the socket outside time namespaces

	Prefix string // findSocket: prefix of other names that the socket may have
	Oldest int64  // findSocket: earliest time at which a socket with such a name was created
	UID    int    // findSocket, describeDir: user to whom the socket may belong, besides root
	Limit  int64  // readFile
}

type requestKind uint8

const (
	_           requestKind = iota // no request
	findSocket                     // reply.Name, "" if there is none
	describeDir                    // reply.Name: what may have kept a runtime from creating its socket
	connect                        // reply.FD
	hasFile                        // reply.Yes
	watchDir                       // reply.FD
	readFile                       // reply.Data
	program                        // reply.Runtime: the runtime that is part of the program itself
)

// A reply is the result of a request.
type reply struct {
	Yes     bool
	Name    string
	Data    []byte
	Runtime Runtime
	FD      int // opened with O_PATH, or connected; or noFile
}

// ask performs a request without waiting long for a helper.
func (p *Process) ask(q *request) (reply, error) { return p.perform(context.Background(), q, false) }

// perform performs a request itself or, where a file system may not answer, with a helper.
func (p *Process) perform(ctx context.Context, q *request, wait bool) (reply, error) {
	proc, err := p.openProc()
	if err != nil {
		return reply{FD: noFile}, err
	}
	defer unix.Close(proc)
	r, err := q.perform(proc, p.guard(proc))
	if away, ok := errors.AsType[*awayError](err); ok {
		return p.host.state.helpers.perform(ctx, p.host.Helper, p, q, proc, away, wait)
	}
	return r, err
}

// guard returns nil if the Host has no helper: then nothing else could perform the request.
func (p *Process) guard(proc int) *guard {
	if p.host == nil || p.host.Helper == nil {
		return nil
	}
	return newGuard(&p.host.state.mounts, proc)
}

// confirm performs a request whose reply is yes or no. It returns false if that cannot be found out.
func (p *Process) confirm(q *request) bool {
	r, err := look(context.Background(), p,
		func() (reply, error) { return p.perform(context.Background(), q, true) }, keep)
	return err == nil && r.Yes
}

// perform performs a request. The directory of the process in /proc is open.
func (q *request) perform(proc int, g *guard) (r reply, err error) {
	r.FD = noFile
	if q.Kind == program {
		r.Runtime, err = runningProgram(proc, g)
		return r, err
	}
	t, err := openTree(proc, g)
	if err != nil {
		return r, err
	}
	defer t.root.close()
	if q.Kind == readFile {
		r.Data, err = t.readFile(q.Path, q.Limit)
		return r, err
	}
	dir, err := t.open(q.Path)
	if err != nil || q.Kind == watchDir {
		r.FD = dir.fd
		return r, err
	}
	defer dir.close()
	switch q.Kind {
	case findSocket:
		r.Name, err = q.findSocket(t, dir)
	case describeDir:
		r.Name, err = q.describeDir(t, dir)
	case hasFile:
		var st unix.Stat_t
		r.Yes = t.stat(dir, q.Name, &st) == nil
	case connect:
		r.FD, err = q.connect(t, dir)
	default:
		err = fmt.Errorf("no such request: %d", q.Kind)
	}
	return r, err
}

// maxNames is the number of names that are read of a temporary directory.
const maxNames = 256 << 10

func (q *request) findSocket(t *tree, dir place) (string, error) {
	var st unix.Stat_t
	if t.stat(dir, q.Name, &st) == nil && q.mayBeSocket(&st) {
		return q.Name, nil
	}
	fd, err := openIn(dir.fd, ".")
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), dir.path)
	defer f.Close()
	// In a time namespace the runtime sees another start time, so the name differs: take the newest
	// socket that is not older than the process.
	newest, name := int64(0), ""
	for range maxNames / 1024 {
		names, err := f.Readdirnames(1024)
		for _, n := range names {
			if !strings.HasPrefix(n, q.Prefix) || !strings.HasSuffix(n, "-socket") {
				continue
			}
			if t.stat(dir, n, &st) != nil || !q.mayBeSocket(&st) {
				continue
			}
			if t := st.Mtim.Nano(); t > newest && t >= q.Oldest {
				newest, name = t, n
			}
		}
		if err != nil {
			break
		}
	}
	return name, nil
}

// mayBeSocket reports whether a file may be the socket of the process. Anybody can create one with
// its name in /tmp, so it must belong to the process's user, or to root: only root can have become
// another user after creating it.
func (q *request) mayBeSocket(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFSOCK && (int(st.Uid) == q.UID || st.Uid == 0)
}

// Results of describeDir.
const (
	dirStarting = "starting" // the socket exists now
	dirPlanted  = "planted"  // something else has its name
	dirReadOnly = "read-only"
	dirFull     = "full"
)

func (q *request) describeDir(t *tree, dir place) (string, error) {
	var entry unix.Stat_t
	switch err := t.stat(dir, q.Name, &entry); {
	case err == nil && q.mayBeSocket(&entry):
		return dirStarting, nil
	case err == nil:
		return dirPlanted, nil
	}
	var st unix.Statfs_t
	_ = unix.Fstatfs(dir.fd, &st) // on an error st stays zero
	switch {
	case st.Flags&unix.ST_RDONLY != 0:
		return dirReadOnly, nil
	case st.Bavail == 0 && st.Blocks > 0, st.Ffree == 0 && st.Files > 0:
		return dirFull, nil
	}
	return "", nil
}

// connect connects to a socket. It must be the file that was checked, not what is at its path
// afterwards.
func (q *request) connect(t *tree, dir place) (int, error) {
	socket, err := t.step(dir, q.Name)
	if err != nil {
		return noFile, err
	}
	defer socket.close()
	if status(socket.fd).Mode&unix.S_IFMT != unix.S_IFSOCK {
		return noFile, unix.ENOTSOCK
	}
	conn, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return noFile, err
	}
	// The path through the descriptor is short, however long the socket's own path is.
	for {
		err = unix.Connect(conn, &unix.SockaddrUnix{Name: pathOf(socket.fd)})
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	if err != nil {
		_ = unix.Close(conn)
		return noFile, err
	}
	return conn, nil
}

// toConn turns a descriptor into a connection and closes the descriptor.
func toConn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	return net.FileConn(f)
}

// ReadFile reads a regular file as the process sees it, at most limit bytes. Links to directories
// may lead anywhere below the root of the process; the file itself may be a link to something below
// its own directory.
func (p *Process) ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	return look(ctx, p, func() ([]byte, error) { return p.readFile(ctx, path, limit) }, keep)
}

// OpenFile opens a regular file as the process sees it; see ReadFile for links. A file on a file
// system that may not answer is not opened.
func (p *Process) OpenFile(ctx context.Context, path string) (*os.File, error) {
	return look(ctx, p, func() (*os.File, error) {
		proc, err := p.openProc()
		if err != nil {
			return nil, err
		}
		defer closeFile(&proc)
		t, err := openTree(proc, p.guard(proc))
		if err != nil {
			return nil, err
		}
		defer t.root.close()
		return t.openFile(path)
	}, func(f *os.File) { _ = f.Close() })
}

func (p *Process) readFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	r, err := p.perform(ctx, &request{Kind: readFile, Path: path, Limit: limit}, true)
	return r.Data, err
}

// readFile reads a regular file, at most limit bytes.
func (t *tree) readFile(path string, limit int64) ([]byte, error) {
	f, err := t.openFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// openFile opens a regular file. Links to directories may lead anywhere in the process's root. The file
// itself may be a link to a file below its own directory, because Kubernetes makes files links into a
// directory next to them that it can replace.
func (t *tree) openFile(path string) (*os.File, error) {
	dir, err := t.open(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer dir.close()
	file, err := (&tree{dir, t.guard}).open(filepath.Base(path))
	if err != nil {
		return nil, err
	}
	defer file.close()
	return openRegular(file.fd, path)
}

// openRegular opens a file that is open with O_PATH, if it is a regular file. Opening a device can
// have side effects; opening or reading a pipe can block.
func openRegular(fd int, name string) (*os.File, error) {
	if status(fd).Mode&unix.S_IFMT != unix.S_IFREG {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	opened, err := openAgain(fd)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(opened), name), nil
}

// runningProgram reports which runtime is part of the program that a process runs.
func runningProgram(proc int, g *guard) (Runtime, error) {
	fd, err := openAs(proc, "exe", openPath)
	if err != nil {
		return RuntimeUnknown, err
	}
	defer closeFile(&fd)
	if g != nil {
		if err := g.checkFile(fd); err != nil {
			return RuntimeUnknown, err
		}
	}
	f, err := openRegular(fd, "exe")
	if err != nil {
		return RuntimeUnknown, err
	}
	defer f.Close()
	return programRuntime(f), nil
}
