package session

import (
	"bufio"
	"context"
	"os"
	"path/filepath"
	"regexp"
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

// libraryVersion is the version in the path of the runtime where it is installed.
var libraryVersion = regexp.MustCompile(`/Microsoft\.NETCore\.App/(\d+\.\d+\.\d+[-.0-9a-z]*)/libcoreclr\.so$`)

// LibraryVersion is the version of the runtime by the path of its library, "" if that has none: for
// .NET Core 3.1, which does not say its version.
func (p *Process) LibraryVersion() string {
	path, _ := p.Maps("/libcoreclr.so")
	if m := libraryVersion.FindStringSubmatch(path); m != nil {
		return m[1]
	}
	return ""
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
