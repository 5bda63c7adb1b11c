package session

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// chmodSocket changes the mode of a socket that was just created. Other users may be able to write
// to the directory and replace the socket, so the file is opened and checked first, and nothing
// else is changed.
func chmodSocket(path string, mode fs.FileMode) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	_ = unix.Fstat(fd, &st) // on an error st stays zero
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
		return fmt.Errorf("%s was replaced while it was made", path)
	}
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}

// PeerProcess returns the process at the other end, and its user, as this host sees them.
func PeerProcess(conn net.Conn) (pid, uid int, err error) {
	var cred *unix.Ucred
	var unknown error
	err = control(conn, func(fd int) {
		cred, unknown = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	})
	if err := cmp.Or(err, unknown); err != nil {
		return 0, 0, err
	}
	return int(cred.Pid), int(cred.Uid), nil
}

// control calls f with the descriptor of a connection, which must be a unix socket.
func control(conn net.Conn, f func(fd int)) error {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return err
	}
	return raw.Control(func(fd uintptr) { f(int(fd)) })
}

// peerStart returns the start time of the process with the given pid that made a connection, in the
// kernel's own unit, or 0 if it has ended. With Linux 6.5 and later the result is right even if the pid
// was reused.
func peerStart(conn net.Conn, pid int) uint64 {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil || hasEnded(conn) {
		return 0
	}
	// The start time is field 22. The second field is the name, in brackets: it may contain anything.
	const startTime = 22 - 3
	if fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:]); len(fields) > startTime {
		key, _ := strconv.ParseUint(string(fields[startTime]), 10, 64)
		return key
	}
	return 0
}

// hasEnded reports whether the process that made a connection is known to have ended.
func hasEnded(conn net.Conn) (ended bool) {
	_ = control(conn, func(fd int) {
		process, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD)
		if err != nil { // up to Linux 6.15 there is none for a process that its parent has reaped
			ended = errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ESRCH)
			return
		}
		defer unix.Close(process)
		ended = errors.Is(unix.PidfdSendSignal(process, 0, nil, 0), unix.ESRCH)
	})
	return ended
}
