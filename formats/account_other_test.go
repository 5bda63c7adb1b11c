//go:build !linux

package formats

// rights: an account has rights of its own on Linux only.
func rights() {}
