//go:build !linux

package rotate

// rights does nothing: accounts only have rights of their own on Linux.
func rights() {}
