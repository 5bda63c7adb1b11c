package cli

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/gclog/gclog/internal/screen"
	"github.com/urfave/cli/v2"
)

// The library asks a variable for what prints --help, and its own does not fit a terminal.
func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, subject any) {
		width := screen.TextWidth(w)
		if p, ok := w.(*printer); ok {
			width = screen.TextWidth(p.w)
		}
		_, _ = io.WriteString(w, helpText(subject, width))
	}
}

// helpText is what --help says of gclog, or of a command, in lines that are no wider than width.
func helpText(subject any, width int) string {
	h := &help{width: width}
	switch x := subject.(type) {
	case *cli.App:
		h.section("NAME", x.Name+" - "+x.Usage)
		h.section("USAGE", x.Name+" [options] COMMAND [options] [arguments]")
		h.description(x.Description)
		h.commands(x.VisibleCommands())
		h.options(x.VisibleFlags())
	case *cli.Command:
		h.section("NAME", x.HelpName+" - "+x.Usage)
		usage := x.HelpName
		if len(x.VisibleFlags()) > 0 {
			usage += " [options]"
		}
		h.section("USAGE", usage+" "+x.ArgsUsage)
		h.description(x.Description)
		h.commands(x.VisibleCommands())
		h.options(x.VisibleFlags())
	}
	return string(h.b)
}

// A help is the text of --help as it grows.
type help struct {
	b     []byte
	width int
}

const helpIndent = 3

// line adds text after so many blanks, in as many lines as it takes.
func (h *help) line(indent int, text string) {
	h.b = screen.Wrap(h.b, strings.Repeat(" ", indent)+strings.TrimRight(text, " "), h.width, indent)
	h.b = append(h.b, '\n')
}

func (h *help) title(s string) {
	if len(h.b) > 0 {
		h.b = append(h.b, '\n')
	}
	h.b = append(h.b, s+":\n"...)
}

func (h *help) section(title, text string) {
	h.title(title)
	h.line(helpIndent, text)
}

// description fills paragraphs; examples, and other lines that are indented, stay as they are.
func (h *help) description(text string) {
	if text == "" {
		return
	}
	h.title("DESCRIPTION")
	about, examples := splitExamples(text)
	for i, part := range strings.Split(about, "\n\n") {
		if i > 0 {
			h.b = append(h.b, '\n')
		}
		h.paragraph(part)
	}
	if examples != "" {
		h.title("EXAMPLES")
		h.verbatim(unindent(examples))
	}
}

func (h *help) paragraph(text string) {
	if strings.HasPrefix(text, " ") {
		h.verbatim(text)
		return
	}
	h.line(helpIndent, strings.Join(strings.Fields(text), " "))
}

// verbatim keeps lines. What is said of a command, after it, has as many lines as it takes.
func (h *help) verbatim(text string) {
	for line := range strings.Lines(text) {
		line = strings.Repeat(" ", helpIndent) + strings.TrimRight(line, "\n ")
		column := helpIndent
		if at := comment.FindStringIndex(line); at != nil {
			column = at[1] - 1
		}
		h.b = append(screen.Wrap(h.b, line, h.width, column), '\n')
	}
}

// comment is what separates the command of an example from what is said of it.
var comment = regexp.MustCompile(`\S {2,}\S`)

func (h *help) commands(list []*cli.Command) {
	var entries []manEntry
	for _, c := range list {
		entries = append(entries, manEntry{strings.Join(c.Names(), ", "), c.Usage})
	}
	h.entries("COMMANDS", entries)
}

func (h *help) options(list []cli.Flag) {
	var entries []manEntry
	for _, f := range list {
		entries = append(entries, flagEntry(f))
	}
	h.entries("OPTIONS", entries)
}

// flagEntry is a flag as it is written, with what it means.
func flagEntry(f cli.Flag) manEntry {
	d, ok := f.(cli.DocGenerationFlag)
	if !ok {
		return manEntry{term: strings.Join(f.Names(), ", ")}
	}
	before, value, after := quoted(d.GetUsage())
	about := before + value + after
	var terms []string
	for _, name := range f.Names() {
		term := "--" + name
		if len(name) == 1 {
			term = "-" + name
		}
		if d.TakesValue() {
			term += " " + value
		}
		terms = append(terms, term)
	}
	return manEntry{strings.Join(terms, ", "), about + defaultText(d)}
}

// defaultText is what a flag is without being given, in brackets. The zero of a number that is
// not given means nothing.
func defaultText(f cli.DocGenerationFlag) string {
	_, isText := f.(*cli.StringFlag)
	text := strings.Trim(f.GetDefaultText(), `"`)
	if text == "" || text == "0" && !isText || !f.TakesValue() {
		return ""
	}
	return " (default: " + text + ")"
}

// entries are terms with what they mean after them; after a long one it begins on the next line.
func (h *help) entries(title string, list []manEntry) {
	if len(list) == 0 {
		return
	}
	h.title(title)
	const most, gap = 24, 2
	column := 0
	for _, e := range list {
		if len(e.term) <= most {
			column = max(column, len(e.term))
		}
	}
	column += helpIndent + gap
	if column > h.width/2 {
		column = 2 * helpIndent
	}
	for _, e := range list {
		if helpIndent+len(e.term)+gap > column {
			h.line(helpIndent, e.term)
			h.line(column, e.about)
			continue
		}
		text := fmt.Sprintf("%*s%-*s%s", helpIndent, "", column-helpIndent, e.term, e.about)
		h.b = append(screen.Wrap(h.b, text, h.width, column), '\n')
	}
}
