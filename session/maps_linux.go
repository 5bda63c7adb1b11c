package session

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Maps returns the path of the first file that the process has mapped into its memory and that has
// one of the parts in its path, "" if there is none. The error says that it cannot be looked at.
func (p *Process) Maps(parts ...string) (path string, err error) {
	return look(context.Background(), p, func() (string, error) { return p.maps(parts...) }, keep)
}

func (p *Process) maps(parts ...string) (path string, err error) {
	proc, err := openProcess(p.procPID())
	if err != nil {
		return "", err
	}
	defer unix.Close(proc)
	fd, err := openIn(proc, "maps")
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), "maps")
	defer f.Close()
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		if i := strings.IndexByte(line, '/'); i >= 0 && slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line[i:], part) }) {
			return line[i:], nil
		}
	}
	return "", nil
}

// runtimeLibrary finds the runtime among the files that the process has mapped.
func (p *Process) runtimeLibrary() (path string, found bool) {
	path, err := p.maps("/libcoreclr.so")
	if err != nil {
		return "", p.looksDotnet()
	}
	return path, path != ""
}

// GCLibrary is the file name of a standalone GC that the process has loaded, "" if it
// uses the runtime's own.
func (p *Process) GCLibrary() string {
	path, err := p.Maps("/libclrgc")
	if err != nil || !strings.HasSuffix(path, ".so") {
		return ""
	}
	return filepath.Base(path)
}
