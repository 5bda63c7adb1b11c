//go:build !linux

package fakefuse

// Main does nothing: there is FUSE on Linux only.
func Main() {}
