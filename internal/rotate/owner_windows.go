package rotate

import "io/fs"

// isTrusted is unknown on Windows: only administrators can create links.
func (*Options) isTrusted(fs.FileInfo) bool { return true }

// accountOf is unknown on Windows.
func accountOf(fs.FileInfo) string { return "" }

// strict returns false: on Windows directories are protected by access control lists, which gclog
// leaves to those who set them.
func (*Options) strict() bool { return false }

// A groupOf is unknown on Windows.
type groupOf struct {
	name            string
	trusted, system bool
}

func (*Options) owners(fs.FileInfo) (owner string, group groupOf) {
	return "", groupOf{trusted: true}
}

// hasOneName is unknown on Windows.
func hasOneName(fs.FileInfo) bool { return true }
