package cli

import (
	"io"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/history"
)

// openInput opens a file for reading; - is standard input. kind is what the file should be, as part
// of a sentence: "a recording".
func (p *program) openInput(name, kind string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.in), p.checkInput(kind)
	}
	f, _, err := history.OpenFile(name)
	return f, inputError(err)
}

// checkInput reports an error if standard input is a terminal, where nobody types a file.
func (p *program) checkInput(kind string) error {
	if screen.IsTerminal(p.in) {
		return usagef("standard input is a terminal: give a file, or pipe %s into it", kind)
	}
	return nil
}

// inputName returns the name of an input in messages.
func inputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
