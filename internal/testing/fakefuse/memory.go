//go:build linux

package fakefuse

import (
	"bytes"
	"encoding/binary"
	"os"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// A Memory is a file system in memory whose operations fail when Fail says so.
type Memory struct {
	Dir string // where it is mounted

	mu    sync.Mutex
	nodes map[uint64]*node
	last  uint64
	fails map[Op]bool // these operations return EIO
	short bool        // a write that fails writes its first half
}

type node struct {
	mode  uint32
	owner uint32
	data  []byte
	names map[string]uint64 // the entries of a folder
	mtime unix.Timespec
}

func newMemory(dir string, root uint32) *Memory {
	return &Memory{Dir: dir, last: rootNode, nodes: map[uint64]*node{
		rootNode: {mode: unix.S_IFDIR | root, owner: uint32(os.Geteuid()), names: map[string]uint64{}},
	}}
}

// Mount mounts a Memory for a test. It skips the test where mounting is not permitted.
func Mount(t *testing.T) *Memory {
	t.Helper()
	const root = 0o700
	m := newMemory(t.TempDir(), root)
	device, err := mount(m.Dir, root)
	if err != nil {
		t.Skipf("no file system that fails: %v", err)
	}
	t.Cleanup(func() {
		_ = unix.Unmount(m.Dir, unix.MNT_DETACH)
		_ = unix.Close(device) // whoever waits for an answer stops waiting
	})
	go serve(device, m.do, nil)
	return m
}

// Fail makes the given operations fail from now on, and no others. With short, a failing write
// writes half of its data.
func (m *Memory) Fail(short bool, operations ...Op) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.short, m.fails = short, map[Op]bool{}
	for _, op := range operations {
		m.fails[op] = true
	}
}

// do carries out a request. b is what follows its header.
func (m *Memory) do(h *head, b []byte) ([]byte, unix.Errno) {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[h.Node]
	if h.Op != initialize && n == nil {
		return nil, unix.ENOENT
	}
	if m.fails[h.Op] {
		if h.Op == Write && m.short && len(b) > 40+1 {
			return n.write(b[:40+(len(b)-40)/2])
		}
		return nil, unix.EIO
	}
	ne := binary.NativeEndian
	switch h.Op {
	case initialize:
		return words(uint32(7), uint32(31), uint32(0), uint32(0), uint16(8), uint16(8), uint32(maxWrite), uint32(1), [9]uint32{}), 0
	case GetAttr:
		return m.attributes(h.Node), 0
	case SetAttr:
		if size := ne.Uint64(b[16:]); ne.Uint32(b)&setSize != 0 {
			n.resize(size)
		}
		return m.attributes(h.Node), 0
	case Lookup:
		return m.entry(n.names[name(b)])
	case Mknod:
		return m.make(h, name(b[16:]), ne.Uint32(b))
	case Mkdir:
		return m.make(h, name(b[8:]), unix.S_IFDIR|ne.Uint32(b))
	case Create:
		entry, failed := m.make(h, name(b[16:]), unix.S_IFREG|ne.Uint32(b[4:]))
		return append(entry, opened()...), failed
	case Open, OpenDir:
		return opened(), 0
	case Read:
		from := min(ne.Uint64(b[8:]), uint64(len(n.data)))
		return n.data[from:min(from+uint64(ne.Uint32(b[16:])), uint64(len(n.data)))], 0
	case Write:
		return n.write(b)
	case ReadDir:
		return m.list(n, ne.Uint64(b[8:])), 0
	case Unlink, rmdir:
		delete(n.names, name(b))
		return nil, 0
	case Rename, Rename2:
		names := b[8:]
		if h.Op == Rename2 {
			names = b[16:]
		}
		from, to, _ := bytes.Cut(names, []byte{0})
		m.nodes[ne.Uint64(b)].names[name(to)] = n.names[string(from)]
		delete(n.names, string(from))
		return nil, 0
	case StatFS:
		return words([5]uint64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}, [10]uint32{4096, 255, 4096}), 0
	case release, releaseDir, Flush, Fsync:
		return nil, 0
	}
	return nil, unix.ENOSYS
}

func opened() []byte { return words(uint64(0), uint32(directIO), uint32(0)) }

func (n *node) write(b []byte) ([]byte, unix.Errno) {
	at, data := binary.NativeEndian.Uint64(b[8:]), b[40:]
	n.resize(max(uint64(len(n.data)), at+uint64(len(data))))
	copy(n.data[at:], data)
	return words(uint32(len(data)), uint32(0)), 0
}

func (n *node) resize(size uint64) {
	n.data = append(n.data[:min(size, uint64(len(n.data)))], make([]byte, size-min(size, uint64(len(n.data))))...)
	_ = unix.ClockGettime(unix.CLOCK_REALTIME, &n.mtime) // cannot fail
}

// list returns the entries of a folder, starting with number from.
func (m *Memory) list(n *node, from uint64) (out []byte) {
	if from > 0 {
		return nil // the first call returned all of them
	}
	for name, id := range n.names {
		out = append(out, words(id, uint64(len(out)+1), uint32(len(name)), m.nodes[id].mode>>12)...)
		out = append(out, name...)
		out = append(out, make([]byte, -len(name)&7)...)
	}
	return out
}

// make adds a node to the folder that the request names.
func (m *Memory) make(h *head, name string, mode uint32) ([]byte, unix.Errno) {
	m.last++
	n := &node{mode: mode, owner: h.UID}
	if mode&unix.S_IFMT == unix.S_IFDIR {
		n.names = map[string]uint64{}
	}
	n.resize(0)
	m.nodes[m.last], m.nodes[h.Node].names[name] = n, m.last
	return m.entry(m.last)
}

func (m *Memory) entry(id uint64) ([]byte, unix.Errno) {
	if id == 0 {
		return nil, unix.ENOENT
	}
	return append(words([5]uint64{id}), m.attr(id)...), 0
}

func (m *Memory) attributes(id uint64) []byte { return append(words([2]uint64{}), m.attr(id)...) }

func (m *Memory) attr(id uint64) []byte {
	n := m.nodes[id]
	size := uint64(len(n.data))
	return words(id, size, (size+511)/512, [3]uint64{0, uint64(n.mtime.Sec), 0}, [3]uint32{0, uint32(n.mtime.Nsec), 0},
		n.mode, uint32(1), n.owner, uint32(0), uint32(0), uint32(4096), uint32(0))
}
