package cli

import (
	"errors"
	"io"
	"syscall"

	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
)

// A printer is standard output for commands that print text without checking for errors: the first
// error ends all printing, and Main reports it. Logs, recordings and endless lists are written to
// program.stdout directly, and end when their reader does.
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

// failed returns the error of writing, if any.
func (p *printer) failed() error { return notWritten(p.err) }

// notWritten returns the error of a command whose data was not written to standard output. A closed
// pipe is not an error: its reader has read enough.
func notWritten(err error) error {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return &codedError{exitData, &output.PathError{Path: output.StreamName(output.Stdout), Err: cause.Of(err)}}
}
