package attach

import (
	"fmt"
	"runtime/debug"
)

// A DefectError is a panic of gclog while it handled one process: data from the process triggered a
// bug. It ends that process's session and no other.
type DefectError struct {
	Value any    // the panic's value
	Stack []byte // where it happened
}

func (e *DefectError) Error() string {
	return fmt.Sprintf("a defect of gclog, please report it: %v", e.Value)
}

// Contain runs f and returns its panic, or nil if it did not panic.
func Contain(f func()) (defect *DefectError) {
	defer func() {
		if x := recover(); x != nil {
			defect = &DefectError{x, debug.Stack()}
		}
	}()
	f()
	return nil
}

// defects are the defects of one session.
type defects []error

// contain runs f and reports whether it panicked.
func (d *defects) contain(f func()) bool {
	defect := Contain(f)
	if defect != nil {
		*d = append(*d, defect)
	}
	return defect != nil
}
