package rotate

import (
	"os"

	"golang.org/x/sys/unix"
)

// ownerAttributeName is the name of the extended attribute. Whoever may write a file may set it.
const ownerAttributeName = "user.gclog.owner"

func setOwnerAttribute(f *os.File, value string) {
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _ = unix.Fsetxattr(int(fd), ownerAttributeName, []byte(value), 0) })
}

func ownerAttribute(f *os.File) (value string) {
	raw, err := f.SyscallConn()
	if err != nil {
		return ""
	}
	_ = raw.Control(func(fd uintptr) {
		buf := make([]byte, 20+1+mostService)
		if n, err := unix.Fgetxattr(int(fd), ownerAttributeName, buf); err == nil {
			value = string(buf[:n])
		}
	})
	return value
}
