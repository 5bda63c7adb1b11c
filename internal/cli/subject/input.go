package subject

import (
	"io"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
)

// OpenInput opens a file for reading; - is standard input. kind is what the file should be, as part
// of a sentence: "a recording".
func OpenInput(p *program.Run, name, kind string) (io.ReadCloser, error) {
	if name == "-" {
		return io.NopCloser(p.In), checkInput(p, kind)
	}
	f, _, err := history.OpenFile(name)
	return f, InputError(err)
}

// checkInput reports an error if standard input is a terminal, where nobody types a file.
func checkInput(p *program.Run, kind string) error {
	if screen.IsTerminal(p.In) {
		return exit.Usagef("standard input is a terminal: give a file, or pipe %s into it", kind)
	}
	return nil
}

// InputName returns the name of an input in messages.
func InputName(name string) string {
	if name == "-" {
		return "standard input"
	}
	return name
}
