package heap

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gclog/gclog/gclog/heap/ecma335"
)

// Assemblies finds the metadata of a program's modules in files: assemblies and single-file
// programs. Files are opened when they are needed, one at a time. Those that cannot be read are left
// out: the names that only they know remain as they are in the stream.
type Assemblies struct {
	// Open opens a file. If it is nil, regular files are opened with os.Open.
	Open func(path string) (File, error)
	// FollowModules also opens the files at the paths of the modules. Set it only if whoever wrote
	// these may choose which files are opened, as in a snapshot just taken of a process: a path in a
	// file from elsewhere may lead to a file system that does not answer, or to another machine.
	FollowModules bool

	paths   []string
	bundles map[string][]ecma335.Embedded // by path, of the single-file programs
}

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
	list, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		switch strings.ToLower(filepath.Ext(e.Name())) {
		case ".dll", ".exe", "":
			a.Add(filepath.Join(dir, e.Name()))
		}
	}
	return nil
}

func (a *Assemblies) open(path string) (File, error) {
	if a.Open != nil {
		return a.Open(path)
	}
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, errors.Join(err, fs.ErrInvalid)
	}
	return os.Open(path)
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
	f, err := a.open(s.path)
	if err != nil {
		return err
	}
	defer f.Close()
	if s.part != nil {
		m, err := s.part.Open(f)
		if err != nil {
			return err
		}
		return use(m)
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	m, err := ecma335.Open(f, info.Size())
	if err != nil {
		return err
	}
	return use(m)
}

// each calls a function with all assemblies in some files.
func (a *Assemblies) each(paths []string, use func(source, *ecma335.Assembly) error) {
	for _, path := range paths {
		err := a.read(source{path: path}, func(m *ecma335.Assembly) error {
			_ = use(source{path: path}, m) // a damaged one is left out
			return nil
		})
		if !errors.Is(err, ecma335.ErrNoMetadata) {
			continue
		}
		for _, part := range a.embedded(path) {
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
	if f, err := a.open(path); err == nil {
		if info, err := f.Stat(); err == nil {
			list, _ = ecma335.Bundle(f, info.Size())
		}
		f.Close()
	}
	if a.bundles == nil {
		a.bundles = map[string][]ecma335.Embedded{}
	}
	a.bundles[path] = list
	return list
}
