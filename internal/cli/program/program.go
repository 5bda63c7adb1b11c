// Package program is one run of gclog: where it reads and writes, what it tells people and how, and
// the signals that end it.
package program

import (
	"bufio"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/view"
)

// A Run is one run of gclog.
type Run struct {
	In         io.Reader
	Unfiltered io.Writer // standard output, for what is not text, or escapes what it writes: TestStdout lists all
	Out        *Printer  // for text
	UI         *UI       // for messages to people
	Code       int       // exit code of a command that returned no error
	Self       string    // the name under which this program was called
	Host       *host.Host

	Version     string
	MaxUnpacked int64 // of --max-unpacked; 0: the default of what is read
}

// Hostname returns the name of this host, or "" if it has none.
func Hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}

// PageWidth returns the width of a page of sentences.
func (p *Run) PageWidth() int {
	if width, _ := screen.Size(p.Unfiltered); width > 0 {
		return min(width, view.PageWidth)
	}
	return view.PageWidth
}

// PrintIndented prints a value as JSON for people too.
func (p *Run) PrintIndented(v any) error {
	e := formats.NewJSONEncoder(p.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// PrintJSON prints a value as one line.
func (p *Run) PrintJSON(v any) error {
	return NewEncoder(p.Out).Encode(v)
}

// Write writes text to standard output. A closed pipe is not an error.
func (p *Run) Write(f func(io.Writer) error) error {
	return buffered(TextOn(p.Unfiltered), f)
}

// WriteFormat writes what is binary, or has rules of its own for characters that act, to standard
// output.
func (p *Run) WriteFormat(f func(io.Writer) error) error { return buffered(p.Unfiltered, f) }

func buffered(to io.Writer, f func(io.Writer) error) error {
	w := bufio.NewWriter(to)
	err := f(w)
	if err == nil {
		err = w.Flush()
	}
	return NotWritten(err)
}

// NewEncoder returns an encoder of JSON that will not be part of a page.
func NewEncoder(w io.Writer) *json.Encoder {
	enc := formats.NewJSONEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// RandomID returns an id that no other run has.
func RandomID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
