package session

import (
	"fmt"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// chmodSocket changes the mode of a socket that was just created. Other users may be able to write
// to the directory and replace the socket, so the file is opened and checked first, and nothing
// else is changed.
func chmodSocket(path string, mode fs.FileMode) error {
	fd, err := openFile(unix.AT_FDCWD, path)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if st := status(fd); st.Mode&unix.S_IFMT != unix.S_IFSOCK || int(st.Uid) != os.Geteuid() || st.Nlink != 1 {
		return fmt.Errorf("%s was replaced while it was made", path)
	}
	return os.Chmod(pathOf(fd), mode)
}
