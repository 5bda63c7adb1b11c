//go:build unix && !linux

package formats

// isUnmapped: there are no user namespaces here.
func isUnmapped(uint32) bool { return false }
