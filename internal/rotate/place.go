package rotate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// In a directory that others may write to, they can put something in the place of a file: a link to
// one of our files, which would then be renamed, or a file of their own, to read or change a log.
// Therefore, like the kernel's protected_symlinks and protected_regular, gclog does not use entries
// that belong to others.

// Place returns where the file of a path is, or will be, with links resolved: it is rotated there.
// The result is clean, as are the names of archived files that a directory lists. An error means
// that other users could have put a file there, or could still do so.
func (o *Options) Place(path string) (place string, err error) {
	err = o.As.Do(func() error {
		place, err = o.place(path)
		return err
	})
	return place, err
}

func (o *Options) place(path string) (string, error) {
	for range mostLinks {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if o.NoLinks {
			return "", fmt.Errorf("%s is a link: give the path of the file itself", path)
		}
		if info, err := os.Lstat(path); err != nil || !o.isTrusted(info) {
			return "", fmt.Errorf("%s is a link that belongs to another user: give the path of the file itself", path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	path = filepath.Clean(path)
	return path, o.checkPlace(path)
}

// checkPlace returns an error if the file of a path must currently not be used.
func (o Options) checkPlace(path string) error {
	o.MakeDirs = false
	dir, _, err := o.openFolder(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // what will be created is ours
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return o.checkFile(dir, path)
}

// checkFile returns an error if an existing entry in the place of a file must not be used.
func (o *Options) checkFile(dir *os.Root, path string) error {
	above, err := dir.Stat(".")
	if err != nil {
		return err
	}
	if info, err := dir.Lstat(filepath.Base(path)); err == nil && !o.isTrusted(info) && isSticky(above) {
		return fmt.Errorf("%s already exists and belongs to another user, in a world-writable directory: give a path "+
			"in a directory of your own", path)
	}
	return nil
}
