package program

import (
	"errors"
	"io"
	"syscall"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cause"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/output"
)

// A Printer is standard output for commands that print text without checking for errors: the first
// error ends all printing, and Main reports it. Endless lists are written to TextOn(program.stdout),
// and end when their reader does.
type Printer struct {
	W   formats.TextWriter
	err error
}

// NewPrinter returns the printer of a stream.
func NewPrinter(stdout io.Writer) *Printer { return &Printer{W: *TextOn(stdout)} }

// TextOn returns what writes text to a stream.
func TextOn(stream io.Writer) *formats.TextWriter {
	return &formats.TextWriter{W: stream, Styles: screen.Colored(stream)}
}

// Write implements io.Writer. It never fails.
func (p *Printer) Write(b []byte) (int, error) {
	if p.err == nil {
		_, p.err = p.W.Write(b)
	}
	return len(b), nil
}

// Failed returns the error of writing, if any.
func (p *Printer) Failed() error { return NotWritten(p.err) }

// NotWritten returns the error of a command whose data was not written to standard output. A closed
// pipe is not an error: its reader has read enough.
func NotWritten(err error) error {
	if err == nil || errors.Is(err, syscall.EPIPE) {
		return nil
	}
	return exit.With(exit.Data, &output.PathError{Path: output.StreamName(output.Stdout), Err: cause.Of(err)})
}
