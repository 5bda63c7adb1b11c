package cli

import (
	"errors"
	"io"
	"io/fs"
	"syscall"

	"github.com/gclog/gclog/internal/output"
)

// A printer is standard output as commands print text to it, which do not look at errors
// then: the first one ends all printing, and Main tells of it. Logs, recordings and lists
// without an end go to program.stdout itself, and end where nobody reads them.
type printer struct {
	w   io.Writer
	err error
}

// Write implements io.Writer. It never fails.
func (p *printer) Write(b []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.w.Write(b)
	}
	return len(b), nil
}

// failed is what went wrong.
func (p *printer) failed() error { return notWritten(p.err) }

// notWritten is the error of a command whose data did not reach standard output. That a
// reader went away, who has read enough, is none.
func notWritten(err error) error {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		err = path.Err // the name is said once
	}
	return &codedError{exitData, &output.PathError{Path: output.StreamName(output.Stdout), Err: err}}
}
