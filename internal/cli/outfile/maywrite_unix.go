//go:build unix

package outfile

import "golang.org/x/sys/unix"

// mayWrite returns why files cannot be created in a directory.
func mayWrite(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
