package cli

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// The library calls a global variable to print --help. Its own function does not fit the text to
// the terminal.
func init() {
	cli.HelpPrinter = func(w io.Writer, _ string, subject any) {
		width := screen.TextWidth(w)
		if p, ok := w.(*program.Printer); ok {
			width = screen.TextWidth(p.W)
		}
		_, _ = io.WriteString(w, helpText(subject, width))
	}
}

// helpText returns the text of --help for gclog, or for a command, in lines no wider than width.
func helpText(subject any, width int) string {
	h := &help{width: width}
	switch x := subject.(type) {
	case *cli.App:
		h.section("USAGE", x.Name+" COMMAND [options] [arguments], "+x.Name+" COMMAND --help")
		h.description(x.Description)
		h.commands(x.VisibleCommands())
	case *cli.Command:
		h.section("NAME", x.HelpName+" - "+x.Usage)
		h.section("USAGE", x.HelpName+" [options] "+x.ArgsUsage)
		h.description(x.Description)
		h.commands(x.VisibleCommands())
		h.options(options(x.Flags))
	}
	return string(h.b)
}

// A help is the text of --help while it is built.
type help struct {
	b     []byte
	width int
}

const helpIndent = 3

// line adds text with an indent, wrapped to the width.
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

// description wraps paragraphs; examples, and other indented lines, are not changed.
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

// verbatim keeps lines. Only the comment after a command is wrapped.
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

// comment matches the blanks between the command of an example and its comment.
var comment = regexp.MustCompile(`\S {2,}\S`)

// commands lists commands by group, in so few lines that those of gclog fit a screen.
func (h *help) commands(list []*cli.Command) {
	if len(list) == 0 {
		return
	}
	var entries []manEntry
	for _, c := range list {
		entries = append(entries, manEntry{strings.Join(c.Names(), ", "), c.Usage})
	}
	column := h.column(entries)
	for i, c := range list {
		switch {
		case i == 0:
			h.title(strings.ToUpper(cmp.Or(c.Category, "commands")))
		case list[i-1].Category != c.Category:
			h.line(0, strings.ToUpper(c.Category)+":")
		}
		h.entry(entries[i], column)
	}
}

// options lists flags by group, and last those of no group.
func (h *help) options(list []option) {
	var groups []string
	var all []manEntry
	entries := map[string][]manEntry{}
	for _, o := range append(list, helpOption) {
		if o.group != "" && !slices.Contains(groups, o.group) {
			groups = append(groups, o.group)
		}
		e := manEntry{o.term(), o.text()}
		entries[o.group], all = append(entries[o.group], e), append(all, e)
	}
	column, rest := h.column(all), "OPTIONS"
	for _, group := range groups {
		h.entries(strings.ToUpper(group)+" OPTIONS", entries[group], column)
		rest = "OTHER OPTIONS"
	}
	h.entries(rest, entries[""], column)
}

const helpGap = 2 // at least, between a term and its description

// column returns the column of the descriptions.
func (h *help) column(list []manEntry) int {
	const most = 24
	column := 0
	for _, e := range list {
		if len(e.term) <= most {
			column = max(column, len(e.term))
		}
	}
	if column += helpIndent + helpGap; column > h.width/2 {
		return 2 * helpIndent
	}
	return column
}

// entries adds terms with their descriptions; after a long term the description begins on the next
// line.
func (h *help) entries(title string, list []manEntry, column int) {
	if len(list) == 0 {
		return
	}
	h.title(title)
	for _, e := range list {
		h.entry(e, column)
	}
}

func (h *help) entry(e manEntry, column int) {
	if helpIndent+len(e.term)+helpGap > column {
		h.line(helpIndent, e.term)
		h.line(column, e.about)
		return
	}
	text := fmt.Sprintf("%*s%-*s%s", helpIndent, "", column-helpIndent, e.term, e.about)
	h.b = append(screen.Wrap(h.b, text, h.width, column), '\n')
}
