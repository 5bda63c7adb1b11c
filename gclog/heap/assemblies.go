package heap

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/gclog/gclog/gclog/heap/ecma335"
)

// Assemblies finds the metadata of a program's modules in files: assemblies and single-file
// programs. Of NativeAOT programs, which have none, it finds the symbols (AddSymbols). Files are opened
// when they are needed, one at a time. Those that cannot be read are left out: the names that only they
// know remain as they are in the stream.
//
// Anyone may have written the files: what is read of them is bounded (reading), and a file that is not
// regular, or that has far fewer blocks on the disk than its size needs, is not read.
type Assemblies struct {
	// Open opens a file. If it is nil, regular files are opened with os.OpenFile.
	Open func(ctx context.Context, path string) (File, error)
	// FollowModules also opens the files at the paths of the modules. Set it only if whoever wrote
	// these may choose which files are opened, as in a snapshot just taken of a process: a path in a
	// file from elsewhere may lead to a file system that does not answer, or to another machine.
	FollowModules bool
	// Notify receives what was not read, for people; nil: nobody wants to know.
	Notify func(string)

	paths     []string
	symbols   []string                      // files with symbols of NativeAOT programs
	lookedFor []string                      // the directories in which the last Resolve has looked
	bundles   map[string][]ecma335.Embedded // by path, of the single-file programs
	reading   *reading                      // state of the Resolve that is in progress
}

// An opener opens a file.
type opener func(ctx context.Context, path string) (File, error)

// A File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
	Stat() (fs.FileInfo, error)
}

// Add adds files.
func (a *Assemblies) Add(paths ...string) {
	for _, path := range paths {
		if !slices.Contains(a.paths, path) {
			a.paths = append(a.paths, path)
		}
	}
}

// AddDir adds the files of a folder that may be assemblies or single-file programs, by their names.
func (a *Assemblies) AddDir(dir string) error {
	list, err := filesIn(dir, ".dll", ".exe", "")
	a.Add(list...)
	return err
}

// errNoFolder is why the files of a file cannot be listed.
var errNoFolder = errors.New("it is not a folder")

// filesIn returns the files of a folder whose names have certain extensions, by their names.
func filesIn(dir string, extensions ...string) (files []string, err error) {
	f, err := os.OpenFile(dir, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.IsDir() {
		return nil, cmp.Or(err, errNoFolder)
	}
	list, err := f.ReadDir(maxEntries + 1)
	switch {
	case err != nil && !errors.Is(err, io.EOF):
		return nil, err
	case len(list) > maxEntries:
		return nil, fmt.Errorf("it has more than %d files", maxEntries)
	}
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, e := range list {
		if slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))) {
			files = append(files, filepath.Join(dir, e.Name()))
		}
	}
	return files, nil
}

// open opens a file that may be read.
func (a *Assemblies) open(path string) (File, int64, error) {
	return a.openWith(a.opener(), path)
}

// opener returns what opens the files that were added with Add.
func (a *Assemblies) opener() opener {
	if a.Open == nil {
		return openRegular
	}
	return a.Open
}

// openWith opens a file that may be read, with a function.
func (a *Assemblies) openWith(open opener, path string) (File, int64, error) {
	if err := a.reading.begin(); err != nil {
		return nil, 0, err
	}
	f, err := open(a.reading.ctx, path)
	if err != nil {
		return nil, 0, a.leave(path, err)
	}
	info, err := f.Stat()
	if err == nil {
		err = mayRead(info)
	}
	if err != nil {
		_ = f.Close()
		return nil, 0, a.leave(path, err)
	}
	return f, info.Size(), nil
}

// openRegular opens a regular file. If a pipe is put in its place meanwhile, that does not wait for
// whoever writes into it.
func openRegular(_ context.Context, path string) (File, error) {
	info, err := os.Stat(path)
	if err == nil {
		err = mayRead(info)
	}
	if err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// errFolder is why a folder is not read, whose name may be like that of a program.
var errFolder = errors.New("it is a folder")

// mayRead returns why a file is not read, or nil.
func mayRead(info fs.FileInfo) error {
	size, found := info.Size(), onDisk(info)
	switch {
	case info.IsDir():
		return errFolder
	case !info.Mode().IsRegular():
		return errors.New("it is not a regular file")
	case isSparse(size, found):
		return fmt.Errorf("it is sparse: of its %d bytes, %d are on the disk", size, found)
	}
	return nil
}

// leave passes on why a file is not read, unless that is usual.
func (a *Assemblies) leave(path string, why error) error {
	if errors.Is(why, fs.ErrNotExist) || errors.Is(why, errFolder) || a.reading.stopped() != nil {
		return why
	}
	text := why
	if e, ok := errors.AsType[*fs.PathError](why); ok {
		text = e.Err // the path is in the note
	}
	a.reading.note(fmt.Sprintf("names: %s is left out: %v", path, text), path)
	return why
}

// isSparse reports whether a file claims to be much larger than what it has on the disk. File systems
// compress assemblies to about a third, and keep small files elsewhere.
func isSparse(size, onDisk int64) bool {
	const small, ratio = 1 << 20, 16
	return size > small && onDisk < size/ratio
}

// A source is an assembly: a file, or a part of one.
type source struct {
	path string
	part *ecma335.Embedded
}

// name returns the path of the assembly, or its name in a single-file program.
func (s source) name() string {
	if s.part != nil {
		return s.part.Name
	}
	return s.path
}

// base returns the file name of the assembly.
func (s source) base() string { return baseName(s.name()) }

// read opens an assembly, calls a function with it, and closes it.
func (a *Assemblies) read(s source, use func(*ecma335.Assembly) error) error {
	f, size, err := a.open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	r := &boundedReader{f, a.reading}
	var m *ecma335.Assembly
	if s.part != nil {
		m, err = s.part.Open(r, a.reading.spend)
	} else {
		m, err = ecma335.Open(r, size)
	}
	if large, ok := errors.AsType[*ecma335.TooLargeError](err); ok {
		return a.leave(s.name(), large)
	}
	if err != nil {
		return err
	}
	return use(m)
}

// each calls a function with all assemblies in some files.
func (a *Assemblies) each(paths []string, use func(source, *ecma335.Assembly) error) {
	for _, path := range paths {
		if a.reading.stopped() != nil {
			return
		}
		err := a.read(source{path: path}, func(m *ecma335.Assembly) error {
			_ = use(source{path: path}, m) // a damaged one is left out
			return nil
		})
		if !errors.Is(err, ecma335.ErrNoMetadata) {
			continue
		}
		for _, part := range a.embedded(path) {
			if a.reading.stopped() != nil {
				return
			}
			s := source{path, &part}
			_ = a.read(s, func(m *ecma335.Assembly) error { return use(s, m) })
		}
	}
}

// embedded lists the assemblies in a single-file program.
func (a *Assemblies) embedded(path string) []ecma335.Embedded {
	if list, ok := a.bundles[path]; ok {
		return list
	}
	var list []ecma335.Embedded
	if f, size, err := a.open(path); err == nil {
		list, err = ecma335.Bundle(&boundedReader{f, a.reading}, size)
		if large, ok := errors.AsType[*ecma335.TooLargeError](err); ok {
			_ = a.leave(path, large)
		}
		f.Close()
	}
	if a.bundles == nil {
		a.bundles = map[string][]ecma335.Embedded{}
	}
	a.bundles[path] = list
	return list
}
