package formats

import (
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
// the link to it. The result is clean, as the names of archived files are that a folder
// lists. An error says that others could have laid there what is.
func (o *RotateOptions) Place(path string) (string, error) {
	const most = 40 // as the kernel
	for range most {
		target, err := os.Readlink(path)
		if err != nil {
			break
		}
		if o.NoLinks {
			return "", fmt.Errorf("%s is a link: give the path of the file itself", path)
		}
		if info, err := os.Lstat(path); err != nil || !isOurs(info) {
			return "", fmt.Errorf("%s is a link that belongs to another user: give the path of the file itself", path)
		}
		if !filepath.IsAbs(target) {
			target = filepath.Join(filepath.Dir(path), target)
		}
		path = target
	}
	path = filepath.Clean(path)
	return path, o.check(path)
}

// check tells why what is in the place of a file must not be used.
func (o *RotateOptions) check(path string) error {
	if o.NoLinks {
		dir, err := filepath.Abs(filepath.Dir(path))
		if err != nil {
			return err
		}
		if err := checkFolder(dir); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(path); err == nil && !isOurs(info) && isShared(filepath.Dir(path)) {
		return fmt.Errorf("%s is there already and belongs to another user, in a folder where everybody may write: give a path in a folder of your own", path)
	}
	return nil
}

// checkFolder goes through the folders on the way to a file. What is not there yet will
// be made, and is ours then.
func checkFolder(dir string) error {
	above := filepath.Dir(dir)
	if above == dir {
		return nil
	}
	if err := checkFolder(above); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	switch {
	case err != nil || isOurs(info):
		return nil
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link that belongs to another user: give the path of the folder itself", dir)
	case isShared(above):
		return fmt.Errorf("%s belongs to another user, and is in a folder where everybody may write: give a path in a folder of your own", dir)
	}
	return nil
}

// isShared tells whether a folder is one like /tmp: several users make files in it, and
// each can move away its own only.
func isShared(dir string) bool {
	const othersWrite = 0o022
	info, err := os.Stat(dir)
	return err == nil && info.Mode()&fs.ModeSticky != 0 && info.Mode()&othersWrite != 0
}
