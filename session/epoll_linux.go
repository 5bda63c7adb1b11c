package session

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls below never wait. So they are made without telling Go's scheduler, which would wake up
// another thread to replace this one.

// epollTake returns how many events have occurred.
func epollTake(epoll int, events []unix.EpollEvent) int {
	n, _, err := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epoll), uintptr(unsafe.Pointer(&events[0])),
		uintptr(len(events)), 0, 0, 0)
	if err != 0 { // a signal has come
		return 0
	}
	return int(n)
}

// epollListen makes the next data that arrives at a descriptor an event, or what has arrived already.
func epollListen(epoll, fd int) {
	e := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLONESHOT, Fd: int32(fd)}
	_, _, _ = unix.RawSyscall6(unix.SYS_EPOLL_CTL, uintptr(epoll), unix.EPOLL_CTL_MOD, uintptr(fd),
		uintptr(unsafe.Pointer(&e)), 0, 0)
}

func timerSet(timer int, after time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(after, 1)))} // 0 would stop it
	_, _, _ = unix.RawSyscall6(unix.SYS_TIMERFD_SETTIME, uintptr(timer), 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
}

// readArrived reads from a socket in non-blocking mode.
func readArrived(fd int, b []byte) (int, error) {
	n, _, err := unix.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))),
		uintptr(len(b)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}

func epollAdd(epoll, fd int, events uint32) error {
	return unix.EpollCtl(epoll, unix.EPOLL_CTL_ADD, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
}

// noFile is the descriptor that means no file.
const noFile = -1

// closeFile closes a file once.
func closeFile(fd *int) {
	if *fd != noFile {
		_ = unix.Close(*fd)
		*fd = noFile
	}
}
