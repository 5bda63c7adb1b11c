package session

import (
	"errors"
	"io"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// How files are opened: for no program that gclog starts, and to be read (0) without waiting, or with
// O_PATH, which touches nothing of the file itself.
const (
	openRead = unix.O_NONBLOCK | unix.O_CLOEXEC
	openPath = unix.O_PATH | unix.O_CLOEXEC
)

// noFile is the descriptor where there is no file.
const noFile = -1

// openIn opens a file of a folder for reading. It never waits, and follows no link. Where there is an
// error there is no file.
func openIn(dir int, name string) (int, error) { return openAs(dir, name, openRead|unix.O_NOFOLLOW) }

// openFile opens a file of a folder without touching it. A link is not followed.
func openFile(dir int, name string) (int, error) { return openAs(dir, name, openPath|unix.O_NOFOLLOW) }

// openFolder opens a folder without touching it.
func openFolder(dir int, name string) (int, error) {
	return openAs(dir, name, openPath|unix.O_DIRECTORY)
}

// openAgain opens a file for reading that is open without having been touched.
func openAgain(fd int) (int, error) { return openAs(unix.AT_FDCWD, pathOf(fd), openRead) }

func openAs(dir int, name string, flags int) (int, error) { return unix.Openat(dir, name, flags, 0) }

// pathOf is a way to an open file, however long its path is.
func pathOf(fd int) string { return procRoot + "/self/fd/" + strconv.Itoa(fd) }

// status describes an open file. Of one that cannot be described all is 0.
func status(fd int) (st unix.Stat_t) {
	_ = unix.Fstat(fd, &st)
	return st
}

// readIn reads a file of the kernel's into buf, as much of it as fits.
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
		case err != nil:
			return nil, err
		case got == 0:
			return buf[:n], nil
		}
		n += max(0, got)
	}
	return buf[:n], nil
}

// readAllIn reads a file of the kernel's, at most limit bytes of it.
func readAllIn(dir int, name string, limit int64) ([]byte, error) {
	fd, err := openIn(dir, name)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}

// readAgain reads a file of the kernel's from its start, without taking memory. Of no file it reads
// nothing.
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
