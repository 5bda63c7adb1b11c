//go:build unix

package fakeshipper

import (
	"os"
	"syscall"
)

// isDeleted reports whether an open file has been deleted.
func isDeleted(f *os.File) bool {
	info, err := f.Stat()
	if err != nil {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink == 0
}
