//go:build linux

package fakefuse

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// The part of FUSE's protocol (include/uapi/linux/fuse.h) that a folder with sockets in it needs.
const (
	opLookup      = 1
	opForget      = 2
	opGetAttr     = 3
	opSetAttr     = 4
	opMknod       = 8
	opUnlink      = 10
	opStatFS      = 17
	opReleaseDir  = 29
	opInit        = 26
	opOpenDir     = 27
	opReadDir     = 28
	opInterrupt   = 36
	opBatchForget = 42

	headSize  = 40
	mknodSize = 16
	rootNode  = 1
)

// A folder is a file system: its files, by name.
type folder struct {
	next  uint64
	files map[string]*file
}

type file struct {
	node  uint64
	mode  uint32
	owner uint32
}

// A head is what a request begins with.
type head struct {
	Length, Op    uint32
	Unique, Node  uint64
	UID, GID, PID uint32
	_             uint32
}

// answer returns the answer to a request, nil if it gets none.
func (s *folder) answer(request []byte) []byte {
	var h head
	if _, err := binary.Decode(request, binary.NativeEndian, &h); err != nil {
		return nil
	}
	body := request[headSize:]
	var out []byte
	var failed unix.Errno
	switch h.Op {
	case opForget, opBatchForget, opInterrupt:
		return nil
	case opInit:
		out = words(uint32(7), uint32(31), uint32(0), uint32(0), uint16(0), uint16(0), uint32(4096), uint32(1), uint16(1), uint16(0), [8]uint32{})
	case opLookup:
		if f := s.files[name(body)]; f != nil {
			out = f.entry()
		} else {
			failed = unix.ENOENT
		}
	case opMknod:
		f := &file{s.next, binary.NativeEndian.Uint32(body), h.UID}
		s.next++
		s.files[name(body[mknodSize:])] = f
		out = f.entry()
	case opUnlink:
		delete(s.files, name(body))
	case opGetAttr, opSetAttr:
		out = append(words([2]uint64{}), s.find(h.Node).attributes()...)
	case opOpenDir:
		out = words([2]uint64{})
	case opReadDir:
		if offset := binary.NativeEndian.Uint64(body[8:]); offset == 0 {
			out = s.list()
		}
	case opReleaseDir:
	case opStatFS:
		out = words([5]uint64{1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20}, [10]uint32{4096, 255, 4096})
	default:
		failed = unix.ENOSYS
	}
	return append(words(uint32(16+len(out)), -int32(failed), h.Unique), out...)
}

func (s *folder) find(node uint64) *file {
	for _, f := range s.files {
		if f.node == node {
			return f
		}
	}
	return &file{node: rootNode, mode: unix.S_IFDIR | 0o1777}
}

// list is all of the folder.
func (s *folder) list() (out []byte) {
	offset := uint64(0)
	for name, f := range s.files {
		offset++
		out = append(out, words(f.node, offset, uint32(len(name)), f.mode>>12)...)
		out = append(out, name...)
		out = append(out, make([]byte, -len(name)&7)...)
	}
	return out
}

func (f *file) entry() []byte { return append(words([5]uint64{f.node}), f.attributes()...) }

func (f *file) attributes() []byte {
	return words([6]uint64{f.node}, [3]uint32{}, f.mode, uint32(1), f.owner, uint32(0), uint32(0), uint32(4096), uint32(0))
}

// words are numbers one behind the other.
func words(list ...any) (out []byte) {
	for _, x := range list {
		out, _ = binary.Append(out, binary.NativeEndian, x)
	}
	return out
}

// name is a text that ends with a 0.
func name(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
