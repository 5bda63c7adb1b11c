package formats

import "os"

// lockFile locks nothing: a file that is open cannot be taken away here.
func lockFile(*os.File) bool { return false }

// IsWritten is not known here.
func IsWritten(string) bool { return false }

// reopenable returns the path by which an open file is opened once more.
func reopenable(_ *os.File, path string) string { return path }

// keepsOpen: a file that is open cannot be renamed, so it is open once only.
const keepsOpen = false
