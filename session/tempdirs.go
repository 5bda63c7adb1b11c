//go:build unix

package session

import (
	"os"
	"path/filepath"
	"slices"
	"syscall"
)

// A tempDir is a folder in which runtimes may have their sockets.
type tempDir struct {
	path string
	// owner is the user whose processes have their sockets here, because the system gave the folder to
	// that one; -1: it may be anybody's.
	owner int
}

// tempDirs returns where runtimes of macOS, whose root directory is given, have their sockets, as far as
// a user can see that: in the temporary directory of the user's own environment, and, as root, in those
// that the system has made for each user, and in /tmp.
func tempDirs(root, own string, uid int) []tempDir {
	list := []tempDir{{own, -1}}
	if uid != 0 {
		return list
	}
	folders, _ := filepath.Glob(filepath.Join(root, "var/folders/*/*/T")) // the pattern is valid
	for _, path := range append(folders, filepath.Join(root, "tmp")) {
		info, err := os.Stat(path)
		if err != nil || !info.IsDir() || filepath.Clean(path) == filepath.Clean(own) {
			continue
		}
		owner := int(info.Sys().(*syscall.Stat_t).Uid)
		if info.Mode()&os.ModeSticky != 0 {
			owner = -1
		}
		list = append(list, tempDir{path, owner})
	}
	return slices.Clip(list)
}
