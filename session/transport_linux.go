package session

import (
	"fmt"
	"io/fs"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// chmodSocket changes the mode of a socket that was just made. Others may have a say in the
// directory, and lay something else in its place: so what is opened is looked at, and nothing else
// is changed.
func chmodSocket(path string, mode fs.FileMode) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
		return fmt.Errorf("%s was replaced while it was made", path)
	}
	return os.Chmod("/proc/self/fd/"+strconv.Itoa(fd), mode)
}
