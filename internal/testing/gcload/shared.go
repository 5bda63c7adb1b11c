package gcload

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/gclog/gclog/internal/testing/recordings"
)

// A packed is an archive of the shared folder.
type packed struct {
	folder string // that of the archives
	to     string // where NAME is unpacked
	once   sync.Once
	err    error
}

// Shared lists the runtimes of the shared folder, the oldest first, NativeAOT last: those whose
// archive contains a load program for Linux. Each is unpacked when it is first used. Shared returns
// nil where there is no such folder.
func Shared() ([]*Runtime, error) {
	dir := recordings.Find()
	if dir == "" || runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return nil, nil
	}
	folder := filepath.Join(dir, "dotnet")
	sums, err := os.ReadFile(filepath.Join(folder, "SHA256SUMS"))
	if err != nil {
		return nil, err
	}
	to := filepath.Join(recordings.Root(), "bin", "dotnet", "shared")
	if err := os.MkdirAll(to, 0o755); err != nil {
		return nil, err
	}
	var list []*Runtime
	for line := range strings.Lines(string(sums)) {
		sum, file, _ := strings.Cut(strings.TrimSpace(line), "  ")
		name, ok := strings.CutSuffix(file, ".tar.xz")
		if !ok || len(sum) != 64 {
			return nil, fmt.Errorf("%s: unexpected line %q", filepath.Join(folder, "SHA256SUMS"), line)
		}
		p := &packed{folder: folder, to: filepath.Join(to, name+"-"+sum[:12])}
		r := &Runtime{Name: name, dir: filepath.Join(p.to, name), packed: p}
		if r.files, err = p.list(name); err != nil {
			return nil, err
		}
		if !r.contains("gcload") {
			continue // a runtime for Windows
		}
		r.AOT = !r.contains("libcoreclr.so")
		if r.Major, err = major(name); err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	slices.SortStableFunc(list, func(a, b *Runtime) int {
		if a.AOT != b.AOT {
			return cmp.Compare(strconv.FormatBool(a.AOT), strconv.FormatBool(b.AOT))
		}
		return cmp.Compare(a.Major, b.Major)
	})
	return list, nil
}

// SharedNamed returns a runtime of the shared folder by its name, or nil.
func SharedNamed(name string) (*Runtime, error) {
	list, err := Shared()
	if i := slices.IndexFunc(list, func(r *Runtime) bool { return r.Name == name }); i >= 0 {
		return list[i], err
	}
	return nil, err
}

// major returns the version in a name: 10 in net10, 3 in core31.
func major(name string) (int, error) {
	if name == "core31" {
		return 3, nil
	}
	n, err := strconv.Atoi(strings.TrimLeft(name, "abcdefghijklmnopqrstuvwxyz"))
	if err != nil {
		return 0, fmt.Errorf("the runtime %s has no version in its name", name)
	}
	return n, nil
}

// list returns the files in the archive. The list is kept next to the unpacked runtime, because it
// takes half a second to make one.
func (p *packed) list(name string) ([]string, error) {
	b, err := os.ReadFile(p.to + ".files")
	if err == nil {
		return strings.Fields(string(b)), nil
	}
	out, err := exec.Command("tar", "-tJf", filepath.Join(p.folder, name+".tar.xz")).Output()
	if err != nil {
		return nil, fmt.Errorf("listing the runtime %s: %w", name, err)
	}
	part, err := os.CreateTemp(filepath.Dir(p.to), "part-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = part.Write(out)
	if err := errors.Join(err, part.Chmod(0o644), part.Close()); err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), os.Rename(part.Name(), p.to+".files")
}

func (p *packed) unpack(name string) error {
	if _, err := os.Stat(filepath.Join(p.to, name, "gcload")); err == nil {
		return nil
	}
	return makeFolder(p.to, func(part string) error {
		if out, err := exec.Command("sh", filepath.Join(p.folder, "unpack.sh"), part, name).CombinedOutput(); err != nil {
			return fmt.Errorf("unpacking the runtime %s: %w: %s", name, err, out)
		}
		return nil
	})
}

// Unpack unpacks the runtime if it is packed. Whatever needs its files does so; Unpack itself is for
// those who want to see the error.
func (r *Runtime) Unpack() error {
	p := r.packed
	if p == nil {
		return nil
	}
	p.once.Do(func() { p.err = p.unpack(r.Name) })
	return p.err
}

// Dir returns the folder of the runtime's files.
func (r *Runtime) Dir() string {
	if err := r.Unpack(); err != nil {
		fmt.Fprintln(os.Stderr, err) // who needs a file will not find it
	}
	return r.dir
}

// contains reports whether the runtime has a file.
func (r *Runtime) contains(file string) bool {
	if r.packed != nil { // a list is enough
		return slices.Contains(r.files, r.Name+"/"+file)
	}
	_, err := os.Stat(filepath.Join(r.dir, file))
	return err == nil
}
