package fakeshipper

import "os"

// isDeleted returns false: an open file cannot be deleted on Windows.
func isDeleted(*os.File) bool { return false }
