package daemon

import (
	"bytes"
	"encoding/binary"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// hints returns a channel that receives a value when a diagnostics socket is created in a folder,
// and a function that stops that. The channel is nil if the folder cannot be watched: processes are
// then found a little later.
//
// The well-known libraries for this wake their user for every write to every file in the folder; in
// a temporary directory there are thousands.
func hints(dir string) (<-chan struct{}, func()) {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return nil, func() {}
	}
	f := os.NewFile(uintptr(fd), "inotify")
	if _, err := unix.InotifyAddWatch(fd, dir, unix.IN_CREATE|unix.IN_MOVED_TO|unix.IN_ONLYDIR); err != nil {
		_ = f.Close()
		return nil, func() {}
	}
	made := make(chan struct{}, 1)
	go func() {
		buf := make([]byte, 64*(unix.SizeofInotifyEvent+unix.NAME_MAX+1))
		for {
			n, err := f.Read(buf)
			if err != nil {
				return // closed
			}
			if socketMade(buf[:n]) {
				select {
				case made <- struct{}{}:
				default:
				}
			}
		}
	}()
	return made, func() { _ = f.Close() }
}

// socketMade reports whether one of the events is about a diagnostics socket, or whether the kernel
// dropped events, which might have been.
func socketMade(events []byte) bool {
	const maskAt, lengthAt = 4, 12
	for len(events) >= unix.SizeofInotifyEvent {
		name, length := events[unix.SizeofInotifyEvent:], int(binary.NativeEndian.Uint32(events[lengthAt:]))
		if length > len(name) {
			return false
		}
		text, _, _ := bytes.Cut(name[:length], []byte{0})
		dropped := binary.NativeEndian.Uint32(events[maskAt:])&unix.IN_Q_OVERFLOW != 0
		if dropped || strings.HasPrefix(string(text), "dotnet-diagnostic-") {
			return true
		}
		events = name[length:]
	}
	return false
}
