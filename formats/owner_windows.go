package formats

import "io/fs"

// isTrusted is not known here: who may make a link is an administrator.
func (*RotateOptions) isTrusted(fs.FileInfo) bool { return true }

// strict: directories are protected by lists of rights here, which gclog leaves to those who made
// them.
func (*RotateOptions) strict() bool { return false }

// A groupOf is not known here.
type groupOf struct {
	name            string
	trusted, system bool
}

func (*RotateOptions) owners(fs.FileInfo) (owner string, group groupOf) {
	return "", groupOf{trusted: true}
}

// hasOneName is not known here.
func hasOneName(fs.FileInfo) bool { return true }
