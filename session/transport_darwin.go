package session

import (
	"errors"
	"io/fs"
	"net"

	"golang.org/x/sys/unix"
)

// chmodSocket changes the mode of a socket that was just created. It follows no link.
func chmodSocket(path string, mode fs.FileMode) error {
	return unix.Fchmodat(unix.AT_FDCWD, path, uint32(mode.Perm()), unix.AT_SYMLINK_NOFOLLOW)
}

// PeerProcess returns the process at the other end, and its user.
func PeerProcess(conn net.Conn) (pid, uid int, err error) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return 0, 0, errors.New("not a unix socket")
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return 0, 0, err
	}
	var cred *unix.Xucred
	var gerr error
	if err := raw.Control(func(fd uintptr) {
		if pid, gerr = unix.GetsockoptInt(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERPID); gerr == nil {
			cred, gerr = unix.GetsockoptXucred(int(fd), unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		}
	}); err != nil {
		return 0, 0, err
	}
	if gerr != nil {
		return 0, 0, gerr
	}
	return pid, int(cred.Uid), nil
}

// peerStart always returns unknownStart on this system.
func peerStart(net.Conn, int) uint64 { return unknownStart }
