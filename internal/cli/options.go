package cli

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// An option is a flag as people see it. --help, the manual pages, completion and messages are made of
// options, never of lists of their own.
type option struct {
	names     []string // as they are typed: --process-id, -p
	value     string   // the name of the value; "": the flag takes none
	about     string
	byDefault string // "": none
	group     string // of --help
}

var helpOption = option{names: []string{"--help", "-h"}, about: "show help"}

// A documented flag is any flag of the library.
type documented interface {
	cli.DocGenerationFlag
	cli.VisibleFlag
	cli.CategorizableFlag
}

// options returns the visible flags of a command. The library adds --help to the flags of a command
// only when it runs, so it is never among them.
func options(flags []cli.Flag) (list []option) {
	for _, f := range flags {
		d, ok := f.(documented)
		if !ok || !d.IsVisible() || f == cli.HelpFlag {
			continue
		}
		before, value, after := quoted(d.GetUsage())
		o := option{about: before + value + after, group: d.GetCategory()}
		if d.TakesValue() && !valueOptional(f) {
			o.value, o.byDefault = value, defaultOf(d)
		}
		for _, name := range f.Names() {
			o.names = append(o.names, typed(name))
		}
		list = append(list, o)
	}
	return list
}

// typed returns a flag's name with its dashes.
func typed(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// quoted finds the name of a flag's value, which is in back quotes.
func quoted(usage string) (before, value, after string) {
	before, rest, found := strings.Cut(usage, "`")
	value, after, closed := strings.Cut(rest, "`")
	if !found || !closed {
		return usage, "", ""
	}
	return before, value, after
}

// defaultOf returns the default of a flag. A default of 0 has no meaning and is omitted.
func defaultOf(f cli.DocGenerationFlag) string {
	_, isText := f.(*cli.StringFlag)
	text := strings.Trim(f.GetDefaultText(), `"`)
	if text == "0" && !isText {
		return ""
	}
	return text
}

// term returns the option as --help shows it: --process-id PID, -p PID.
func (o *option) term() string {
	if o.value == "" {
		return strings.Join(o.names, ", ")
	}
	return strings.Join(o.names, " "+o.value+", ") + " " + o.value
}

// text returns the description with the default.
func (o *option) text() string {
	if o.byDefault == "" {
		return o.about
	}
	return o.about + " (default: " + o.byDefault + ")"
}

// typedNames returns all names of options.
func typedNames(list []option) (names []string) {
	for _, o := range list {
		names = append(names, o.names...)
	}
	return names
}

// commandOf finds the command that words call, or its subcommand, and how many words that takes; nil
// if they call none.
func commandOf(app *cli.App, words []string) (*cli.Command, int) {
	at := slices.IndexFunc(words, func(w string) bool { return !strings.HasPrefix(w, "-") })
	if at < 0 {
		return nil, 0
	}
	c := app.Command(words[at])
	at++
	if c != nil && at < len(words) {
		if sub := c.Command(words[at]); sub != nil {
			return sub, at + 1
		}
	}
	return c, at
}

// valueFlags reports for all names of a command's flags, hidden ones too, whether a value follows.
func valueFlags(c *cli.Command) map[string]bool {
	takes := map[string]bool{}
	for _, f := range c.Flags {
		_, isBool := f.(*cli.BoolFlag)
		for _, name := range f.Names() {
			takes[name] = !isBool && !valueOptional(f)
		}
	}
	return takes
}

// valueOptional reports whether a flag may have a value, behind a =, but needs none.
func valueOptional(f cli.Flag) bool {
	_, is := f.(*cli.GenericFlag)
	return is
}

// runsCommand reports whether the arguments of a command are the command line of another program.
func runsCommand(c *cli.Command) bool { return strings.HasPrefix(c.ArgsUsage, "--") }
