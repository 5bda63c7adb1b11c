//go:build unix && !linux

package rotate

// isUnmapped returns false: there are no user namespaces on this system.
func isUnmapped(uint32) bool { return false }
