//go:build !linux

package formats

// rights does nothing: accounts only have rights of their own on Linux.
func rights() {}
