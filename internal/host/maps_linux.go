package host

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

// Maps returns the path of the first file mapped into the process's memory whose path contains one
// of the parts, or "" if there is none. It returns an error if the mappings cannot be read.
func (p *Process) Maps(parts ...string) (path string, err error) {
	return look(context.Background(), p, func() (string, error) { return p.maps(parts...) }, keep)
}

func (p *Process) maps(parts ...string) (path string, err error) {
	_, err = p.findLine("maps", func(line string) bool {
		i := strings.IndexByte(line, '/')
		if i < 0 || !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(line[i:], part) }) {
			return false
		}
		path = line[i:]
		return true
	})
	return path, err
}

// maxModules is how many modules of a process are listed.
const maxModules = 10_000

// Modules returns the paths of the files that may contain the program's assemblies: the program
// itself, which may be a single file with all of them, and the mapped files that end with .dll. The
// paths are as the process sees them.
func (p *Process) Modules(ctx context.Context) []string {
	list, _ := look(ctx, p, func() (list []string, err error) {
		inside := p.insideRoot()
		if p.Executable != "" {
			list = append(list, inside(p.Executable))
		}
		known := map[string]bool{}
		_, err = p.findLine("maps", func(line string) bool {
			i := strings.IndexByte(line, '/')
			if i < 0 || !strings.HasSuffix(line, ".dll") || known[line[i:]] {
				return false
			}
			known[line[i:]] = true
			list = append(list, inside(line[i:]))
			return len(list) == maxModules
		})
		return list, err
	}, keep)
	return list
}

// insideRoot returns a function that makes a path as the process sees it of one in /proc. Those of a
// process that has changed its root (chroot) start with that root.
func (p *Process) insideRoot() func(path string) string {
	root, _ := os.Readlink(p.procPath("root")) // "/" in another mount namespace
	return func(path string) string {
		if rest, ok := strings.CutPrefix(path, root); ok && strings.HasPrefix(rest, "/") {
			return rest
		}
		return path
	}
}

// findLine returns the first line of a file in the process's directory in /proc that matches, or ""
// if none does.
func (p *Process) findLine(name string, matches func(line string) bool) (string, error) {
	fd, err := openIn(unix.AT_FDCWD, p.procPath(name))
	if err != nil {
		return "", err
	}
	f := os.NewFile(uintptr(fd), name)
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if matches(lines.Text()) {
			return lines.Text(), nil
		}
	}
	return "", nil
}

// libraryVersion matches the version in the path of an installed runtime.
var libraryVersion = regexp.MustCompile(`/Microsoft\.NETCore\.App/(\d+\.\d+\.\d+[-.0-9a-z]*)/libcoreclr\.so$`)

// LibraryVersion returns the version of the runtime from the path of its library, or "" if the path
// has none. It is meant for .NET Core 3.1, which does not report its version.
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

// GCLibrary returns the file name of a standalone GC that the process has loaded, or "" if it uses
// the runtime's own.
func (p *Process) GCLibrary() string {
	path, _ := p.Maps("/libclrgc")
	if !strings.HasSuffix(path, ".so") {
		return ""
	}
	return filepath.Base(path)
}
