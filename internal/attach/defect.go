package attach

import (
	"fmt"
	"runtime/debug"
)

// A DefectError is a panic of gclog about one process: what the process has sent has brought a
// defect to light. It ends that process's session, and no other.
type DefectError struct {
	Value any    // of the panic
	Stack []byte // where it was
}

func (e *DefectError) Error() string {
	return fmt.Sprintf("a defect of gclog, please report it: %v", e.Value)
}

// Contain runs f and returns the panic that it ended with, nil if it did not.
func Contain(f func()) (defect *DefectError) {
	defer func() {
		if x := recover(); x != nil {
			defect = &DefectError{x, debug.Stack()}
		}
	}()
	f()
	return nil
}

// defects are those of one session.
type defects []error

// contain runs f, and reports whether it ended with a panic.
func (d *defects) contain(f func()) bool {
	defect := Contain(f)
	if defect != nil {
		*d = append(*d, defect)
	}
	return defect != nil
}
