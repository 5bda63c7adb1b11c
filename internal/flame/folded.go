package flame

import (
	"bufio"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// Names must not contain what separates frames and lines, nor end like a line does.
var (
	separators = strings.NewReplacer(";", `\x3b`, "\n", `\n`, "\r", `\r`)
	amount     = regexp.MustCompile(`\s(\d+(\.\d*)?)$`)
)

// WriteFolded writes the bytes or the collections of the profile for flamegraph.pl: a line for each stack, with its
// frames from the outermost one, separated by semicolons, and then the number.
func (p *Profile) WriteFolded(out io.Writer) error {
	names := make([]string, len(p.Frames))
	for i, f := range p.Frames {
		names[i] = amount.ReplaceAllString(separators.Replace(f.Name), `\x20$1`)
	}
	w := bufio.NewWriter(out)
	for i := range p.Samples {
		s := &p.Samples[i]
		for i, f := range s.Stack {
			if i > 0 {
				_ = w.WriteByte(';')
			}
			_, _ = w.WriteString(names[f])
		}
		_ = w.WriteByte(' ')
		_, _ = w.Write(strconv.AppendUint(w.AvailableBuffer(), p.shown(s), 10))
		_ = w.WriteByte('\n')
	}
	return w.Flush()
}
