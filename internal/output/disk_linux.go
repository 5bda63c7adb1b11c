package output

import "golang.org/x/sys/unix"

// isMemory reports whether a file system keeps its files in memory.
func isMemory(st *unix.Statfs_t) bool {
	return uint32(st.Type) == unix.TMPFS_MAGIC || uint32(st.Type) == unix.RAMFS_MAGIC
}
