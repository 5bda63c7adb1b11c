package host

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxUserNamespaces is how deep the kernel nests user namespaces.
const maxUserNamespaces = 33

// namespaceMaker returns the user who has made the user namespace that a process, whose directory in
// /proc is open, is in, or the one that contains that and is in gclog's own; 0: root has, it is gclog's
// own, or unknown.
func namespaceMaker(proc int) (uid int) {
	var own unix.Stat_t
	if unix.Stat(procRoot+"/self/ns/user", &own) != nil {
		return 0
	}
	fd, err := openAs(proc, "ns/user", openRead) // which is a link to nothing in a file system
	for range maxUserNamespaces {
		if err != nil {
			return 0
		}
		var maker uint32
		parent := noFile
		st := status(fd)
		outside := st.Dev != own.Dev || st.Ino != own.Ino
		if outside {
			_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.NS_GET_OWNER_UID,
				uintptr(unsafe.Pointer(&maker)))
			if parent, err = unix.IoctlRetInt(fd, unix.NS_GET_PARENT); errno != 0 {
				err = errno
			}
		}
		_ = unix.Close(fd)
		if !outside {
			return uid
		}
		fd, uid = parent, int(maker)
	}
	if err == nil {
		_ = unix.Close(fd)
	}
	return 0
}
