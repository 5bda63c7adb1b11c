package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Whoever may rename entries of a directory, or of one above it, can redirect what is written there
// to another file, and gclog often runs as root. Therefore the path to a directory is walked with
// an open descriptor for each step, every step is checked, and files are created, renamed and
// deleted in the directory that was checked, wherever its path leads by then. logrotate has the
// same rule, and the same way out, su.

// dirMode is the mode of the directories that gclog creates.
const dirMode = 0o750

// mostLinks is how many symbolic links a path may contain, as in the kernel.
const mostLinks = 40

// A FolderError reports that other users could redirect what gclog writes to a directory.
type FolderError struct {
	Path string // of the directory or link that belongs to another user
	Why  string // completes a sentence that starts with Path
}

func (e *FolderError) Error() string { return e.Path + " " + e.Why }

// inFolder opens the directory of a path and calls f with it, as the account in the options.
func (o *Options) inFolder(dir string, f func(*os.Root) error) error {
	return o.As.Do(func() error {
		root, _, err := o.openFolder(dir)
		if err != nil {
			return err
		}
		defer root.Close()
		return f(root)
	})
}

// OpenFolder opens a directory to write to; with MakeDirs it creates it if necessary. The error is
// a *FolderError if other users could redirect what is written. The caller must close the result.
func (o *Options) OpenFolder(dir string) (*os.Root, error) {
	root, _, err := o.openFolder(dir)
	return root, err
}

// CheckFolder returns the error that OpenFolder would return, or a warning about the directory, ""
// if there is none. It does not create missing directories.
func (o Options) CheckFolder(dir string) (warning string, err error) {
	o.MakeDirs = false
	err = o.As.Do(func() error {
		root, warn, err := o.openFolder(dir)
		if root != nil {
			_ = root.Close()
		}
		warning = warn
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil // it will be created in the directory that was checked, or reported as missing
	}
	return warning, err
}

// A walk follows the path to a directory.
type walk struct {
	o       *Options
	steps   []*os.Root // open directories, starting at the root of the file system
	path    string     // of the last step, with links resolved
	warning string
	links   int
}

func (o *Options) openFolder(dir string) (_ *os.Root, warning string, err error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, "", err
	}
	w := &walk{o: o}
	defer w.close()
	if err := w.start(abs); err != nil {
		return nil, w.warning, err
	}
	names := split(abs)
	for len(names) > 0 {
		if names, err = w.step(names[0], names[1:]); err != nil {
			return nil, w.warning, err
		}
	}
	if err := w.checkLast(); err != nil {
		return nil, w.warning, err
	}
	last := w.steps[len(w.steps)-1]
	w.steps = w.steps[:len(w.steps)-1]
	return last, w.warning, nil
}

func split(path string) []string {
	path = path[len(filepath.VolumeName(path)):]
	return slices.DeleteFunc(strings.Split(path, string(filepath.Separator)),
		func(s string) bool { return s == "" || s == "." })
}

func (w *walk) close() {
	for _, root := range w.steps {
		_ = root.Close()
	}
	w.steps = nil
}

// start opens the root of the file system that path is in.
func (w *walk) start(path string) error {
	w.close()
	w.path = filepath.VolumeName(path) + string(filepath.Separator)
	root, err := os.OpenRoot(w.path)
	if err != nil {
		return err
	}
	w.steps = []*os.Root{root}
	return nil
}

// step opens the entry name of the last directory, and returns the names that remain.
func (w *walk) step(name string, rest []string) ([]string, error) {
	at := w.steps[len(w.steps)-1]
	if name == ".." {
		if len(w.steps) > 1 {
			_ = at.Close()
			w.steps = w.steps[:len(w.steps)-1]
			w.path = filepath.Dir(w.path)
		}
		return rest, nil
	}
	full := filepath.Join(w.path, name)
	above, err := at.Stat(".")
	if err != nil {
		return nil, err
	}
	if w.o.strict() {
		if err := w.checkOwner(above, w.path); err != nil {
			return nil, err
		}
	}
	info, err := at.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && w.o.MakeDirs {
		if err = at.Mkdir(name, dirMode); err == nil || errors.Is(err, fs.ErrExist) {
			info, err = at.Lstat(name)
		}
	}
	if err != nil {
		return nil, w.named(full, err)
	}
	if err := w.check(above, info, full); err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return w.follow(at, name, rest)
	}
	next, err := at.OpenRoot(name)
	if err != nil {
		return nil, w.named(full, err)
	}
	w.steps, w.path = append(w.steps, next), full
	if opened, err := next.Stat("."); err != nil || !os.SameFile(opened, info) {
		return nil, errors.Join(err, &FolderError{full, "was replaced while being opened"})
	}
	return rest, nil
}

// named makes an error contain the whole path instead of only its last step.
func (*walk) named(path string, err error) error {
	if at, ok := errors.AsType[*fs.PathError](err); ok {
		return &fs.PathError{Op: at.Op, Path: path, Err: at.Err}
	}
	return err
}

// follow resolves a symbolic link.
func (w *walk) follow(at *os.Root, name string, rest []string) ([]string, error) {
	if w.links++; w.links > mostLinks {
		return nil, fmt.Errorf("%s: too many links", filepath.Join(w.path, name))
	}
	target, err := at.Readlink(name)
	if err != nil {
		return nil, err
	}
	if filepath.IsAbs(target) {
		if err := w.start(target); err != nil {
			return nil, err
		}
	}
	return append(split(target), rest...), nil
}

// check returns an error if the walk must not follow an entry of a directory, because another user
// may have put it there.
func (w *walk) check(above, info fs.FileInfo, path string) error {
	if !w.o.strict() && !w.o.NoLinks || w.o.isTrusted(info) {
		return nil
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		return &FolderError{path, "is a link that belongs to another user: give the path of the directory itself"}
	case isSticky(above):
		return &FolderError{
			path,
			"belongs to another user and is in a world-writable directory: give a path in a directory of your own",
		}
	}
	return nil // its owner is checked in the next step
}

// checkLast checks the directory that will be written to.
func (w *walk) checkLast() error {
	info, err := w.steps[len(w.steps)-1].Stat(".")
	if err != nil || !w.o.strict() {
		return err
	}
	if isSticky(info) && w.o.NoLinks {
		return &FolderError{w.path, "is a world-writable directory: give a path in a directory of its own"}
	}
	return w.checkOwner(info, w.path)
}

// checkOwner returns an error if other users may replace entries of a directory.
func (w *walk) checkOwner(info fs.FileInfo, path string) error {
	const (
		othersWrite = 0o002
		groupWrite  = 0o020
	)
	mode := info.Mode()
	why, account := "", ""
	switch owner, group := w.o.owners(info); {
	case owner != "":
		why, account = "belongs to "+owner, owner
	case mode&othersWrite != 0 && mode&fs.ModeSticky == 0:
		why = "is world-writable"
	case mode&groupWrite == 0 || mode&fs.ModeSticky != 0 || group.trusted:
		return nil
	case group.system:
		w.warning = fmt.Sprintf(
			"%s is writable by the group %s: its members can redirect what gclog writes there to other files",
			path, group.name)
		return nil
	default:
		why = "is writable by the group " + group.name
	}
	return &FolderError{
		path,
		why + ": whoever can write there can redirect gclog, which runs as root, to other files. " +
			w.o.wayOut(account),
	}
}

// wayOut says what to do about a directory of another user.
func (o *Options) wayOut(account string) string {
	if account == "" {
		account = "USER"
	}
	if o.NoLinks {
		return fmt.Sprintf("Use a directory that only root can write to, or write as that user with su: {user: %s}",
			account)
	}
	return fmt.Sprintf("Use a directory that only root can write to, or run gclog as that user (sudo -u %s gclog ...)",
		account)
}

// isSticky reports whether a directory is like /tmp: several users create files in it, but each can
// rename only their own.
func isSticky(info fs.FileInfo) bool {
	const othersWrite = 0o022
	return info.Mode()&fs.ModeSticky != 0 && info.Mode()&othersWrite != 0
}
