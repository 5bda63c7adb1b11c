//go:build unix

package formats

import (
	"io/fs"
	"os"
	"syscall"
)

// isOurs tells whether a file belongs to the user of this process, or to root.
func isOurs(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && (s.Uid == 0 || int(s.Uid) == os.Geteuid())
}

// hasOneName tells whether a file is in no other folder too.
func hasOneName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 1
}
