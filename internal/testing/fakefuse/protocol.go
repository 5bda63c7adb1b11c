//go:build linux

package fakefuse

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// An Op is an operation of the FUSE protocol (include/uapi/linux/fuse.h, version 7.31).
type Op uint32

// The operations that a Memory supports.
const (
	Lookup      Op = 1
	forget      Op = 2
	GetAttr     Op = 3
	SetAttr     Op = 4
	Mknod       Op = 8
	Mkdir       Op = 9
	Unlink      Op = 10
	rmdir       Op = 11
	Rename      Op = 12
	Open        Op = 14
	Read        Op = 15
	Write       Op = 16
	StatFS      Op = 17
	release     Op = 18
	Fsync       Op = 20
	Flush       Op = 25
	initialize  Op = 26
	OpenDir     Op = 27
	ReadDir     Op = 28
	releaseDir  Op = 29
	Create      Op = 35
	interrupt   Op = 36
	batchForget Op = 42
	Rename2     Op = 45
)

const (
	headSize = 40
	rootNode = 1
	directIO = 1      // of an opened file: the kernel caches nothing of it
	setSize  = 1 << 3 // SetAttr sets the size

	maxRequest = 1 << 20
	maxWrite   = 64 << 10
)

// A head is the header of a request.
type head struct {
	Length        uint32
	Op            Op
	Unique, Node  uint64
	UID, GID, PID uint32
	_             uint32
}

// mount mounts a file system, and returns the device through which the kernel sends its requests.
func mount(dir string, root uint32) (device int, err error) {
	if device, err = unix.Open("/dev/fuse", unix.O_RDWR|unix.O_CLOEXEC, 0); err != nil {
		return 0, fmt.Errorf("/dev/fuse: %w", err)
	}
	options := fmt.Sprintf("fd=%d,rootmode=%o,user_id=%d,group_id=%d,allow_other", device, unix.S_IFDIR|root, os.Geteuid(), os.Getegid())
	if err := unix.Mount("gclog", dir, "fuse", 0, options); err != nil {
		_ = unix.Close(device)
		return 0, fmt.Errorf("mount: %w", err)
	}
	return device, nil
}

// serve answers requests, until the file system is unmounted or hangs.
func serve(device int, do func(*head, []byte) ([]byte, unix.Errno), hung <-chan struct{}) {
	b := make([]byte, maxRequest)
	for {
		n, err := unix.Read(device, b)
		if errors.Is(err, unix.EINTR) || errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return
		}
		select {
		case <-hung:
			continue
		default:
		}
		var h head
		if _, err := binary.Decode(b[:n], binary.NativeEndian, &h); err != nil {
			return
		}
		if h.Op == forget || h.Op == batchForget || h.Op == interrupt {
			continue // these have no answer
		}
		out, failed := do(&h, b[headSize:n])
		if failed != 0 {
			out = nil
		}
		_, _ = unix.Write(device, append(words(uint32(16+len(out)), -int32(failed), h.Unique), out...))
	}
}

// words encodes numbers one after the other.
func words(list ...any) (out []byte) {
	for _, x := range list {
		var err error
		if out, err = binary.Append(out, binary.NativeEndian, x); err != nil {
			panic(err)
		}
	}
	return out
}

// name returns the text up to the first 0 byte.
func name(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}
