package cli

import (
	_ "embed"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/config"
	"github.com/urfave/cli/v2"
	"golang.org/x/tools/txtar"
)

func (p *commands) manCommand() *cli.Command {
	return &cli.Command{
		Name:  "man",
		Usage: "print the manual page, or write all of them into a directory",
		Description: `The pages contain what --help shows: gclog(1), one page for each command, such as
gclog-attach(1), and gclog.yaml(5). Packages already include them.

Examples:
   gclog man | man -l -
   gclog man --dir ~/.local/share/man      then: man gclog-attach`,
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "dir", Usage: "write all pages into man1 and man5 in `DIR`, creating them if necessary",
			},
		},
		Action: p.man,
	}
}

func (p *commands) man(c *cli.Context) error {
	if err := flags.NoArguments(c); err != nil {
		return err
	}
	pages := p.manPages(c.App)
	dir := c.String("dir")
	if dir == "" {
		_, err := io.WriteString(p.Out, pages[0].text)
		return err
	}
	for _, page := range pages {
		path := filepath.Join(dir, fmt.Sprintf("man%d", page.section), fmt.Sprintf("%s.%d", page.name, page.section))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return exit.Usagef("cannot write the pages: %w", err)
		}
		if err := os.WriteFile(path, []byte(page.text), 0o644); err != nil { //nolint:gosec // a page is for everybody
			return exit.Usagef("cannot write the pages: %w", err)
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
func (p *commands) manPages(app *cli.App) []manPage {
	pages := []manPage{{"gclog", 1, p.mainPage(app)}}
	for _, c := range app.VisibleCommands() {
		pages = append(pages, manPage{"gclog-" + c.Name, 1, p.commandPage(c)})
	}
	return append(pages, manPage{"gclog.yaml", 5, p.configPage()})
}

func (p *commands) mainPage(app *cli.App) string {
	r := newRoff("gclog", 1, p.Version)
	r.title("gclog", app.Usage)
	r.section("SYNOPSIS")
	r.b.WriteString(bold("gclog") + " " + italic("COMMAND") + " [" + italic("FLAGS") + "] [" + italic("ARGUMENTS") +
		"]\n")
	about, examples := splitExamples(app.Description)
	r.section("DESCRIPTION")
	r.paragraphs(about)
	r.section("COMMANDS")
	for _, c := range app.VisibleCommands() {
		r.tagged(bold("gclog-"+c.Name)+"(1)", c.Usage)
	}
	for _, section := range []string{"EXIT STATUS", "ENVIRONMENT", "FILES"} {
		r.section(section)
		for _, x := range manEntries(section) {
			r.tagged(bold(x.term), strings.ReplaceAll(x.about, "`", ""))
		}
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

//go:embed manual.txtar
var manualArchive []byte

// manEntries returns the entries of a section of gclog(1), or the sections of gclog.yaml(5).
func manEntries(section string) (list []manEntry) {
	for _, f := range txtar.Parse(manualArchive).Files {
		if term, ok := strings.CutPrefix(f.Name, section+"/"); ok {
			list = append(list, manEntry{term, string(f.Data)})
		}
	}
	return list
}

// configPage returns gclog.yaml(5), with the keys from their table.
func (p *commands) configPage() string {
	r := newRoff("gclog.yaml", 5, p.Version)
	r.title("gclog.yaml", "configuration of gclog's daemon")
	r.section("SYNOPSIS")
	r.b.WriteString(italic(config.DefaultFile) + "\n")
	for _, x := range manEntries("gclog.yaml") {
		r.section(x.term)
		if x.term == "EXAMPLES" {
			r.verbatim(x.about)
			continue
		}
		r.paragraphs(x.about)
		switch x.term {
		case "KEYS":
			for _, k := range config.Keys() {
				about := k.About + ". Example: " + k.Example
				if k.Default != "" {
					about = k.About + ". Default: " + k.Default
				}
				r.tagged(bold(k.Path), about)
				r.b.WriteString(".br\n" + italic(k.Variable) + "\n")
			}
		case "RULES":
			for _, k := range config.MatchKeys() {
				r.tagged(bold(k.Path), k.About+". Example: "+k.Example)
			}
		}
	}
	r.section("SEE ALSO")
	r.b.WriteString(bold("gclog-daemon") + "(1),\n" + bold("gclog-config") + "(1)\n")
	return r.String()
}

func (p *commands) commandPage(c *cli.Command) string {
	r := newRoff("gclog-"+c.Name, 1, p.Version)
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
