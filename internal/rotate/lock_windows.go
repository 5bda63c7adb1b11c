package rotate

import "os"

// LockFile does nothing: an open file cannot be renamed or deleted on Windows.
func LockFile(*os.File) bool { return false }

// IsInUse is unknown on Windows.
func IsInUse(string) bool { return false }

// reopenable returns the path through which an open file is opened again.
func reopenable(_ *os.File, path string) string { return path }

// keepsOpen: an open file cannot be renamed, so it is opened only once.
const keepsOpen = false
