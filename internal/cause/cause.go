// Package cause takes errors of the operating system apart, for messages that name the file or
// socket themselves.
package cause

import (
	"errors"
	"io/fs"
	"os"
)

// Of returns why an operation on a file or socket failed, without the operation and the names that
// the error contains. Other errors are returned as they are.
func Of(err error) error {
	if call, ok := errors.AsType[*os.SyscallError](err); ok {
		return call.Err
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	if link, ok := errors.AsType[*os.LinkError](err); ok {
		return link.Err
	}
	return err
}
