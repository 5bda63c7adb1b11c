package formats

import "os"

// keepLocked locks nothing: a file that is open cannot be renamed here.
func keepLocked(f *os.File) *os.File {
	_ = f.Close()
	return nil
}

// IsWritten is not known here.
func IsWritten(string) bool { return false }
