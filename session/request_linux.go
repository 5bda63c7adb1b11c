package session

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// A request is something to be found out, or to be done, in the file system of a process. A Host does
// so itself, or has its helper do it where that may not answer.
type request struct {
	Kind requestKind
	Path string // folder of the socket; of readFile the file
	Name string // in the folder; of findSocket that of the socket but in a time namespace

	Prefix string // findSocket: of other names that it may have
	Oldest int64  // findSocket: when such a one was made at the earliest
	UID    int    // findSocket, describeDir: that the socket may belong to, beside root's
	Limit  int64  // readFile
}

type requestKind uint8

const (
	findSocket  requestKind = iota // reply.Name, "" if there is none
	describeDir                    // reply.Name: what may have kept a runtime from making its socket
	connect                        // reply.FD
	hasFile                        // reply.Yes
	watchDir                       // reply.FD
	readFile                       // reply.Data
	program                        // reply.Runtime: what is part of the program itself
)

// A reply is what came of a request.
type reply struct {
	Yes     bool
	Name    string
	Data    []byte
	Runtime Runtime
	FD      int // with O_PATH, or connected; or noFile
}

// perform does what a request asks for. The folder of the process in /proc is open.
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

// maxNames is how many names of a temporary directory are looked through.
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
	// In a time namespace the start is told differently: take the newest socket that
	// is not older than the process.
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

// mayBeSocket reports whether a file may be the socket of the process. Anybody can make
// one with its name in /tmp; but only root can have become another user since it did.
func (q *request) mayBeSocket(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFSOCK && (int(st.Uid) == q.UID || st.Uid == 0)
}

// What describeDir finds.
const (
	dirStarting = "starting" // the socket is there now
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
	_ = unix.Fstatfs(dir.fd, &st) // without success all is 0
	switch {
	case st.Flags&unix.ST_RDONLY != 0:
		return dirReadOnly, nil
	case st.Bavail == 0 && st.Blocks > 0, st.Ffree == 0 && st.Files > 0:
		return dirFull, nil
	}
	return "", nil
}

// connect connects to a socket. It must be the one that was looked at, not what lies at its path
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
	// The way over the descriptor is short, however long the path is.
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

// toConn makes a connection of a descriptor, which it closes.
func toConn(fd int) (net.Conn, error) {
	f := os.NewFile(uintptr(fd), "socket")
	defer f.Close()
	return net.FileConn(f)
}

// readFile reads a regular file, at most limit bytes of it. Links to folders may lead anywhere; the
// file itself may be a link to something below its own folder: Kubernetes makes its files links to a
// folder beside them, which it can exchange.
func (t *tree) readFile(path string, limit int64) ([]byte, error) {
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
	f, err := openRegular(file.fd, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// openRegular opens a file that is open with O_PATH, if it is a regular one: to open a device can do
// something, to open a pipe or to read from it can wait.
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

// runningProgram reads the program that a process runs.
func runningProgram(proc int, g *guard) (Runtime, error) {
	fd, _ := openAs(proc, "exe", openPath) // no file is no regular one
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
