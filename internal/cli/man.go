package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gclog/gclog/internal/config"
	"github.com/urfave/cli/v2"
)

func (p *program) manCommand() *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the manual page, or write all of them into a directory",
		Description: `The pages contain what --help shows: gclog(1), one page for each command, such as
gclog-attach(1), and gclog.yaml(5). Packages already include them.

Examples:
   gclog man | man -l -
   gclog man --dir ~/.local/share/man      then: man gclog-attach`,
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "dir", Usage: "write all pages into man1 and man5 in `DIR`, creating them if necessary"},
		},
		Action: p.man,
	}
}

func (p *program) man(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	pages := p.manPages(c.App)
	dir := c.String("dir")
	if dir == "" {
		_, err := io.WriteString(p.out, pages[0].text)
		return err
	}
	for _, page := range pages {
		path := filepath.Join(dir, fmt.Sprintf("man%d", page.section), fmt.Sprintf("%s.%d", page.name, page.section))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return usagef("cannot write the pages: %w", err)
		}
		if err := os.WriteFile(path, []byte(page.text), 0o644); err != nil { //nolint:gosec // a page is for everybody
			return usagef("cannot write the pages: %w", err)
		}
	}
	return nil
}

// A manPage is one file in man1 or man5.
type manPage struct {
	name    string
	section int
	text    string
}

// manPages returns all pages, starting with gclog's own.
func (p *program) manPages(app *cli.App) []manPage {
	pages := []manPage{{"gclog", 1, p.mainPage(app)}}
	for _, c := range app.VisibleCommands() {
		pages = append(pages, manPage{"gclog-" + c.Name, 1, p.commandPage(c)})
	}
	return append(pages, manPage{"gclog.yaml", 5, p.configPage()})
}

func (p *program) mainPage(app *cli.App) string {
	r := newRoff("gclog", 1, p.version())
	r.title("gclog", app.Usage)
	r.section("SYNOPSIS")
	r.b.WriteString(bold("gclog") + " " + italic("COMMAND") + " [" + italic("FLAGS") + "] [" + italic("ARGUMENTS") + "]\n")
	about, examples := splitExamples(app.Description)
	r.section("DESCRIPTION")
	r.paragraphs(about)
	r.section("COMMANDS")
	for _, c := range app.VisibleCommands() {
		r.tagged(bold("gclog-"+c.Name)+"(1)", c.Usage)
	}
	r.section("EXIT STATUS")
	for _, x := range manExitCodes {
		r.tagged(bold(x.term), x.about)
	}
	r.section("ENVIRONMENT")
	for _, x := range manVariables {
		r.tagged(bold(x.term), x.about)
	}
	r.section("FILES")
	for _, x := range manFiles {
		r.tagged(italic(x.term), x.about)
	}
	r.examples(examples)
	r.section("SEE ALSO")
	also := []string{bold("gclog.yaml") + "(5)"}
	for _, c := range app.VisibleCommands() {
		also = append(also, bold("gclog-"+c.Name)+"(1)")
	}
	r.b.WriteString(strings.Join(also, ",\n") + "\n")
	return r.String()
}

// A manEntry is a term with its description.
type manEntry struct{ term, about string }

// docs/manual.md contains the same list.
var manExitCodes = []manEntry{
	{"0", "success; also: the process ended, SIGINT, SIGTERM"},
	{"1", "no session: another user's process, not .NET, no socket or a stale one, no answer; `record --on`: the condition has not become true; daemon: a port or address that is not available; health: not ready"},
	{"2", "data error: not nettrace, damaged, disk full"},
	{"3", "usage or configuration error: flag, format, a file or directory that is missing or cannot be written, ambiguous choice"},
	{"4", "not supported by this system, runtime or format"},
	{"5", "a defect of gclog"},
	{"6", "check, compare: a condition is true or cannot be evaluated"},
	{"7", "no such process"},
	{"126, 127, 128+n", "run: as in a shell; 126 and 127 also tune"},
}

var manVariables = []manEntry{
	{config.FileVariable, "configuration of the daemon, if there is no -c"},
	{"GCLOG_*", "one key of the configuration each: gclog.yaml(5)"},
	{xlogVariable, "-Xlog options for attach and run, if their command line specifies no output"},
	{"NO_COLOR, CLICOLOR_FORCE", "no colours on a terminal; colours also elsewhere"},
	{"TMPDIR", "where gclog looks for the sockets of .NET processes, in addition to the TMPDIR of each process; /tmp if not set"},
}

var manFiles = []manEntry{
	{config.DefaultFile, "configuration of the daemon: gclog.yaml(5)"},
	{"/var/log/gclog", "logs of the daemon that packages install"},
}

func (p *program) commandPage(c *cli.Command) string {
	r := newRoff("gclog-"+c.Name, 1, p.version())
	r.title("gclog-"+c.Name, c.Usage)
	r.section("SYNOPSIS")
	r.synopsis("gclog "+c.Name, c)
	for _, sub := range c.Subcommands {
		r.b.WriteString(".br\n")
		r.synopsis("gclog "+c.Name+" "+sub.Name, sub)
	}
	about, examples := splitExamples(c.Description)
	if about != "" {
		r.section("DESCRIPTION")
		r.paragraphs(about)
	}
	if list := options(c.Flags); len(list) > 0 {
		r.section("OPTIONS")
		r.options(list)
	}
	if len(c.Subcommands) > 0 {
		r.section("COMMANDS")
		for _, sub := range c.Subcommands {
			r.subsection(c.Name + " " + sub.Name)
			r.paragraph(sub.Usage)
			about, more := splitExamples(sub.Description)
			r.paragraphs(about)
			r.options(options(sub.Flags))
			examples += more
		}
	}
	r.examples(examples)
	r.section("SEE ALSO")
	r.b.WriteString(bold("gclog") + "(1)\n")
	return r.String()
}

func (r *roff) synopsis(call string, c *cli.Command) {
	if len(c.Subcommands) > 0 && c.Action == nil {
		return
	}
	r.b.WriteString(bold(call))
	if len(options(c.Flags)) > 0 {
		r.b.WriteString(" [" + italic("FLAGS") + "]")
	}
	if c.ArgsUsage != "" {
		r.b.WriteString(" " + roffText(c.ArgsUsage))
	}
	r.b.WriteString("\n")
}

// options writes the flags with the descriptions of --help.
func (r *roff) options(list []option) {
	for _, o := range list {
		var names []string
		for _, name := range o.names {
			names = append(names, bold(name))
		}
		term := strings.Join(names, ", ")
		if o.value != "" {
			term += " " + italic(o.value)
		}
		r.tagged(term, o.text())
	}
}

// splitExamples separates the description of a command from its examples.
func splitExamples(description string) (about, examples string) {
	about, examples, _ = strings.Cut(description, "Examples:\n")
	return strings.TrimSpace(about), examples
}

// paragraphs writes text with empty lines between paragraphs; paragraphs with indented lines are
// not changed.
func (r *roff) paragraphs(text string) {
	for part := range strings.SplitSeq(text, "\n\n") {
		switch {
		case strings.TrimSpace(part) == "":
		case strings.HasPrefix(part, " "):
			r.verbatim(unindent(part))
		default:
			r.paragraph(part)
		}
	}
}

func (r *roff) examples(text string) {
	if text == "" {
		return
	}
	r.section("EXAMPLES")
	r.verbatim(unindent(text))
}

// unindent removes the indent of three blanks from the descriptions of commands.
func unindent(text string) string {
	return strings.TrimPrefix(strings.ReplaceAll(text, "\n   ", "\n"), "   ")
}
