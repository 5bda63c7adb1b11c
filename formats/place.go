package formats

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Where others may write too, they can lay something in the way of a file: a link to
// one of ours, which would be moved away, or a file of theirs, to read or change a log.
// So, as the kernel does it with protected_symlinks and protected_regular, what belongs
// to others is not used.

// Place returns where the file of a path is, or will be: it is rotated there, and not
// the link to it. The result is clean, as the names of archived files are that a directory
// lists. An error says that others could have laid there what is, or could do so.
func (o *RotateOptions) Place(path string) (place string, err error) {
	err = o.As.Do(func() error {
		place, err = o.place(path)
		return err
	})
	return place, err
}

func (o *RotateOptions) place(path string) (string, error) {
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

// checkPlace tells why the file of a path must not be used, as things are.
func (o RotateOptions) checkPlace(path string) error {
	o.MakeDirs = false
	dir, _, err := o.openFolder(filepath.Dir(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil // what will be made is ours
	}
	if err != nil {
		return err
	}
	defer dir.Close()
	return o.checkFile(dir, path)
}

// checkFile tells why what is in the place of a file must not be used.
func (o *RotateOptions) checkFile(dir *os.Root, path string) error {
	above, err := dir.Stat(".")
	if err != nil {
		return err
	}
	if info, err := dir.Lstat(filepath.Base(path)); err == nil && !o.isTrusted(info) && isSticky(above) {
		return fmt.Errorf("%s is there already and belongs to another user, in a directory where everybody may write: give a path in a directory of your own", path)
	}
	return nil
}
