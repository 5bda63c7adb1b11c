package cli

import (
	"errors"
	"io"
	"syscall"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/output"
)

// A printer is standard output for commands that print text without checking for errors: the first
// error ends all printing, and Main reports it. Endless lists are written to textOn(program.stdout),
// and end when their reader does.
type printer struct {
	w   formats.TextWriter
	err error
}

func newPrinter(stdout io.Writer) *printer { return &printer{w: *textOn(stdout)} }

// textOn returns what writes text to a stream.
func textOn(stream io.Writer) *formats.TextWriter {
	return &formats.TextWriter{W: stream, Styles: screen.Colored(stream)}
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
