//go:build unix

package host

import (
	"os"
	"path/filepath"
)

// tempDirs returns where runtimes of macOS, whose root directory is given, have their sockets, as far as
// a user can see that: in the temporary directory of the user's own environment, and, as root, in those
// that the system has made for each user, and in /tmp. Others may have put files there, too.
func tempDirs(root, own string, uid int) []string {
	list := []string{own}
	if uid != 0 {
		return list
	}
	folders, _ := filepath.Glob(filepath.Join(root, "var/folders/*/*/T")) // the pattern is valid
	for _, path := range append(folders, filepath.Join(root, "tmp")) {
		if info, err := os.Stat(path); err == nil && info.IsDir() && path != filepath.Clean(own) {
			list = append(list, path)
		}
	}
	return list
}
