package host

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Flags for opening files. No program that gclog starts inherits them. Files are opened either for
// reading without ever waiting, or with O_PATH, which does not touch the file itself.
const (
	openRead = unix.O_NONBLOCK | unix.O_CLOEXEC
	openPath = unix.O_PATH | unix.O_CLOEXEC
)

// noFile is the descriptor that means no file.
const noFile = -1

// openIn opens a file in a directory for reading. It never waits and follows no link. On an error
// it returns noFile.
func openIn(dir int, name string) (int, error) { return openAs(dir, name, openRead|unix.O_NOFOLLOW) }

// openFile opens a file in a directory without touching the file. It does not follow a link.
func openFile(dir int, name string) (int, error) { return openAs(dir, name, openPath|unix.O_NOFOLLOW) }

// openFolder opens a directory without touching it.
func openFolder(dir int, name string) (int, error) {
	return openAs(dir, name, openPath|unix.O_DIRECTORY)
}

// openAgain reopens for reading a file that is open with O_PATH.
func openAgain(fd int) (int, error) { return openAs(unix.AT_FDCWD, pathOf(fd), openRead) }

func openAs(dir int, name string, flags int) (int, error) { return unix.Openat(dir, name, flags, 0) }

// pathOf returns a short path to an open file, however long the file's own path is.
func pathOf(fd int) string { return procRoot + "/self/fd/" + strconv.Itoa(fd) }

// status returns the stat of an open file, all zero on an error.
func status(fd int) (st unix.Stat_t) {
	_ = unix.Fstat(fd, &st)
	return st
}

// readIn reads a kernel file into buf, as much as fits.
func readIn(dir int, name string, buf []byte) ([]byte, error) {
	fd, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	n := 0
	for n < len(buf) {
		got, err := unix.Read(fd, buf[n:])
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil:
			return nil, err
		case got == 0:
			return buf[:n], nil
		}
		n += got
	}
	return buf[:n], nil
}

// readAllIn reads a kernel file, at most limit bytes.
func readAllIn(dir int, name string, limit int64) ([]byte, error) {
	fd, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// readAgain reads a kernel file from its start, without allocating. For noFile it returns nothing.
func readAgain(fd int, buf []byte) []byte {
	n, err := unix.Pread(fd, buf, 0)
	if err != nil {
		return nil
	}
	return buf[:n]
}

// closeFile closes a file once.
func closeFile(fd *int) {
	if *fd != noFile {
		_ = unix.Close(*fd)
		*fd = noFile
	}
}

func closeFiles(list []int) {
	for i := range list {
		closeFile(&list[i])
	}
}
