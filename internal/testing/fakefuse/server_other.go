//go:build !linux

package fakefuse

// Main does nothing: only Linux has FUSE.
func Main() {}
