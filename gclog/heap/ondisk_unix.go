//go:build unix

package heap

import (
	"io/fs"
	"math"
	"syscall"
)

// onDisk returns how many bytes a file has on the disk.
func onDisk(info fs.FileInfo) int64 {
	const block = 512 // whatever the blocks of the file system are
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return st.Blocks * block
	}
	return math.MaxInt64
}
