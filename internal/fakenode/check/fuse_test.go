//go:build linux

package check_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/gclog/gclog/internal/fakenode"
	"golang.org/x/sys/unix"
)

// A flakyFS is a file system in memory that fails when it is told to. The kernel asks it over
// /dev/fuse (include/uapi/linux/fuse.h, version 7.31).
type flakyFS struct {
	dir string // where it is mounted
	fd  int

	mu    sync.Mutex
	nodes map[uint64]*fuseNode
	last  uint64
	fails map[uint32]bool // operations that end with EIO
	short bool            // of a write that shall fail the first half is written
}

type fuseNode struct {
	mode  uint32
	data  []byte
	names map[string]uint64 // of a folder
	mtime unix.Timespec
}

// Operations of the protocol.
const (
	fuseLookup      = 1
	fuseForget      = 2
	fuseGetattr     = 3
	fuseSetattr     = 4
	fuseMkdir       = 9
	fuseUnlink      = 10
	fuseRmdir       = 11
	fuseRename      = 12
	fuseOpen        = 14
	fuseRead        = 15
	fuseWrite       = 16
	fuseStatfs      = 17
	fuseRelease     = 18
	fuseFsync       = 20
	fuseFlush       = 25
	fuseInit        = 26
	fuseOpendir     = 27
	fuseReaddir     = 28
	fuseReleasedir  = 29
	fuseCreate      = 35
	fuseInterrupt   = 36
	fuseBatchForget = 42
	fuseRename2     = 45

	fuseRoot     = 1
	fuseInHeader = 40
	fuseDirectIO = 1
	fuseSetSize  = 1 << 3
)

// mountFlaky mounts one, where that is allowed.
func mountFlaky(t *testing.T) *flakyFS {
	t.Helper()
	fd, err := unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Skipf("no file system that fails: /dev/fuse: %v", err)
	}
	f := &flakyFS{
		dir: t.TempDir(), fd: fd, last: fuseRoot, fails: map[uint32]bool{},
		nodes: map[uint64]*fuseNode{fuseRoot: {mode: unix.S_IFDIR | 0o700, names: map[string]uint64{}}},
	}
	options := fmt.Sprintf("fd=%d,rootmode=40000,user_id=%d,group_id=%d", fd, os.Geteuid(), os.Getegid())
	if err := unix.Mount("gclog-test", f.dir, "fuse", unix.MS_NODEV|unix.MS_NOSUID, options); err != nil {
		_ = unix.Close(fd)
		t.Skipf("no file system that fails: it takes root to mount it: %v", err)
	}
	t.Cleanup(func() {
		_ = unix.Unmount(f.dir, unix.MNT_DETACH)
		_ = unix.Close(fd) // who waits for it waits no longer
	})
	go f.serve()
	return f
}

// fail sets which operations fail from now on, and no others.
func (f *flakyFS) fail(short bool, operations ...uint32) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.short, f.fails = short, map[uint32]bool{}
	for _, op := range operations {
		f.fails[op] = true
	}
}

func (f *flakyFS) serve() {
	b := make([]byte, 1<<20)
	for {
		n, err := unix.Read(f.fd, b)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil || n < fuseInHeader {
			return // it was unmounted
		}
		op := binary.LittleEndian.Uint32(b[4:])
		if op == fuseForget || op == fuseBatchForget || op == fuseInterrupt {
			continue // they have no answer
		}
		answer, errno := f.do(op, binary.LittleEndian.Uint64(b[16:]), b[fuseInHeader:n])
		if errno != 0 {
			answer = nil
		}
		head := binary.LittleEndian.AppendUint32(nil, uint32(16+len(answer)))
		head = binary.LittleEndian.AppendUint32(head, uint32(-int32(errno)))
		head = append(head, b[8:16]...) // which request it answers
		_, _ = unix.Write(f.fd, append(head, answer...))
	}
}

// do carries out a request about a node.
func (f *flakyFS) do(op uint32, id uint64, b []byte) ([]byte, unix.Errno) {
	f.mu.Lock()
	defer f.mu.Unlock()
	node := f.nodes[id]
	if op != fuseInit && node == nil {
		return nil, unix.ENOENT
	}
	if f.fails[op] {
		if op == fuseWrite && f.short && len(b) > 40+1 {
			return f.write(node, b[:40+(len(b)-40)/2])
		}
		return nil, unix.EIO
	}
	le := binary.LittleEndian
	switch op {
	case fuseInit:
		return fields(uint32(7), uint32(31), uint32(0), uint32(0), uint16(8), uint16(8), uint32(64<<10), uint32(1), [36]byte{}), 0
	case fuseGetattr:
		return f.attributes(id), 0
	case fuseSetattr:
		if size := le.Uint64(b[16:]); le.Uint32(b)&fuseSetSize != 0 {
			node.resize(size)
		}
		return f.attributes(id), 0
	case fuseLookup:
		return f.entry(node.names[cstring(b)])
	case fuseMkdir:
		return f.make(node, cstring(b[8:]), unix.S_IFDIR|le.Uint32(b))
	case fuseCreate:
		entry, errno := f.make(node, cstring(b[16:]), unix.S_IFREG|le.Uint32(b[4:]))
		return append(entry, fields(uint64(0), uint32(fuseDirectIO), uint32(0))...), errno
	case fuseOpen, fuseOpendir:
		return fields(uint64(0), uint32(fuseDirectIO), uint32(0)), 0
	case fuseRead:
		from := min(le.Uint64(b[8:]), uint64(len(node.data)))
		return node.data[from:min(from+uint64(le.Uint32(b[16:])), uint64(len(node.data)))], 0
	case fuseWrite:
		return f.write(node, b)
	case fuseReaddir:
		return node.list(le.Uint64(b[8:])), 0
	case fuseUnlink, fuseRmdir:
		delete(node.names, cstring(b))
		return nil, 0
	case fuseRename, fuseRename2:
		names := b[8:]
		if op == fuseRename2 {
			names = b[16:]
		}
		from, to, _ := strings.Cut(string(names), "\x00")
		f.nodes[le.Uint64(b)].names[cstring([]byte(to))] = node.names[from]
		delete(node.names, from)
		return nil, 0
	case fuseStatfs:
		return fields([5]uint64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}, [10]uint32{4096, 255, 4096}), 0
	case fuseRelease, fuseReleasedir, fuseFlush, fuseFsync:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

func (f *flakyFS) write(node *fuseNode, b []byte) ([]byte, unix.Errno) {
	at, data := binary.LittleEndian.Uint64(b[8:]), b[40:]
	node.resize(max(uint64(len(node.data)), at+uint64(len(data))))
	copy(node.data[at:], data)
	return fields(uint32(len(data)), uint32(0)), 0
}

func (n *fuseNode) resize(size uint64) {
	n.data = append(n.data[:min(size, uint64(len(n.data)))], make([]byte, size-min(size, uint64(len(n.data))))...)
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &n.mtime) // cannot fail
}

// list is a folder, from the entry with the number on.
func (n *fuseNode) list(from uint64) (b []byte) {
	if from > 0 {
		return nil // all of it came at once
	}
	for name, id := range n.names {
		b = append(b, fields(id, uint64(len(b)+1), uint32(len(name)), uint32(0))...)
		b = append(b, name...)
		b = append(b, make([]byte, -len(name)&7)...)
	}
	return b
}

func (f *flakyFS) make(in *fuseNode, name string, mode uint32) ([]byte, unix.Errno) {
	f.last++
	n := &fuseNode{mode: mode}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		n.names = map[string]uint64{}
	}
	n.resize(0)
	f.nodes[f.last], in.names[name] = n, f.last
	return f.entry(f.last)
}

func (f *flakyFS) entry(id uint64) ([]byte, unix.Errno) {
	if id == 0 {
		return nil, unix.ENOENT
	}
	return append(fields(id, [3]uint64{}, [2]uint32{}), f.attr(id)...), 0
}

func (f *flakyFS) attributes(id uint64) []byte { return append(make([]byte, 16), f.attr(id)...) }

func (f *flakyFS) attr(id uint64) []byte {
	n := f.nodes[id]
	size := uint64(len(n.data))
	return fields(id, size, (size+511)/512, [3]uint64{0, uint64(n.mtime.Sec), 0}, [3]uint32{0, uint32(n.mtime.Nsec), 0},
		n.mode, uint32(1), uint32(os.Geteuid()), uint32(os.Getegid()), uint32(0), uint32(4096), uint32(0))
}

func cstring(b []byte) string {
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}

func fields(list ...any) (b []byte) {
	for _, v := range list {
		var err error
		if b, err = binary.Append(b, binary.LittleEndian, v); err != nil {
			panic(err)
		}
	}
	return b
}

// TestFilesFail: the file system of a log fails for a time, in the middle of lines too. What could
// not be written is a gap afterwards, no line is torn, and a log elsewhere is whole.
func TestFilesFail(t *testing.T) {
	for _, c := range []struct {
		name  string
		short bool
		fails []uint32
	}{
		{"writes", false, []uint32{fuseWrite}},
		{"writes in the middle", true, []uint32{fuseWrite}},
		{"writes and what takes them back", true, []uint32{fuseWrite, fuseSetattr}},
		{"everything", true, []uint32{
			fuseWrite, fuseSetattr, fuseGetattr, fuseLookup, fuseMkdir, fuseCreate, fuseOpen, fuseRead, fuseOpendir, fuseReaddir,
			fuseRename, fuseRename2, fuseUnlink, fuseFlush, fuseFsync, fuseStatfs,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			f := mountFlaky(t)
			n := newNode(t, 35)
			r := start(t, n, fakenode.Config{Name: "orders"})
			whole, logs := t.TempDir(), filepath.Join(f.dir, "logs")
			d, _ := oversee(t, pids(r)+fmt.Sprintf("outputs:\n - {path: %s/%%p.json, filesize: 20K, filecount: 1000}\n - {path: %s/%%p.json}\n", logs, whole))
			wait(t, func() int { return len(r.Ledger().Sessions) }, 1)
			collect := func(times, until int) {
				t.Helper()
				for range times {
					if !r.Collect() {
						t.Fatal("the process has ended")
					}
				}
				// The log that is whole is written behind the other one.
				wait(t, func() int { return count(t, whole, r) }, until)
			}
			collect(5, 5)
			for i := range 3 {
				f.fail(c.short, c.fails...)
				collect(20, 25+i*25)
				f.fail(false)
				collect(5, 30+i*25)
			}
			d.terminate(t)
			checked(t, n, whole, d)
			checked(t, n, logs, d)
			said := d.stderr.String()
			if !strings.Contains(said, "input/output error") || !strings.Contains(said, "can be written again") {
				t.Errorf("the daemon says\n%s", said)
			}
		})
	}
}
