package cli

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// subjects returns everything that --help can describe, by name.
func subjects(t *testing.T) map[string]any {
	t.Helper()
	app := (&commands{&program.Run{UI: program.NewUI(io.Discard)}}).app()
	app.Setup()
	all := map[string]any{"gclog": app}
	var add func(prefix string, list []*cli.Command)
	add = func(prefix string, list []*cli.Command) {
		for _, c := range list {
			all[prefix+c.Name] = c
			add(prefix+c.Name+" ", c.Subcommands)
		}
	}
	add("", app.Commands)
	return all
}

// TestHelpFits: no line of any --help is wider than the terminal, and no command of an example is
// broken at a width of 80.
func TestHelpFits(t *testing.T) {
	for name, subject := range subjects(t) {
		for _, width := range []int{80, 60} {
			text := helpText(subject, width)
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				if n := screen.Width(line); n > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s: %d characters at %d: %s", name, n, width, line)
				}
				if n := screen.Width(line); width == 80 && n > width {
					t.Errorf("%s: %d characters at %d: %s", name, n, width, line)
				}
			}
		}
		_, examples := splitExamples(description(subject))
		for line := range strings.Lines(examples) {
			command := regexp.MustCompile(`(\S) {2,}\S.*`).ReplaceAllString(strings.TrimRight(line, "\n"), "$1")
			if len(command) > 80 {
				t.Errorf("%s: the command of an example is %d characters long: %s", name, len(command), command)
			}
		}
	}
}

// TestHelpIsOneScreen: gclog --help lists all commands, by group, in a line each.
func TestHelpIsOneScreen(t *testing.T) {
	const rows = 50
	text := helpText(subjects(t)["gclog"], 80)
	if n := strings.Count(text, "\n"); n > rows {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, group := range []string{"WATCH", "RECORD", "ANALYSE", "HEAP", "NODE"} {
		if !strings.Contains(text, "\n"+group+":\n") {
			t.Errorf("there is no group %s:\n%s", group, text)
		}
	}
	for _, c := range subjects(t)["gclog"].(*cli.App).VisibleCommands() {
		if c.Category == "" {
			t.Errorf("%s is in no group", c.Name)
		}
	}
}

func description(subject any) string {
	if c, ok := subject.(*cli.Command); ok {
		return c.Description
	}
	return subject.(*cli.App).Description
}

// TestHelpIsWhole: --help contains each word of the description, and of each flag and command.
func TestHelpIsWhole(t *testing.T) {
	for name, subject := range subjects(t) {
		words := strings.Fields(helpText(subject, 50))
		has := func(text string) {
			for word := range strings.FieldsSeq(strings.NewReplacer("`", "", "Examples:\n", "").Replace(text)) {
				if !slices.Contains(words, word) {
					t.Errorf("%s: %q is missing", name, word)
				}
			}
		}
		has(description(subject))
		c, ok := subject.(*cli.Command)
		if !ok {
			for _, x := range subject.(*cli.App).VisibleCommands() {
				has(x.Name + " " + x.Usage)
			}
			continue
		}
		has(c.Usage)
		for _, f := range c.VisibleFlags() {
			has(f.(cli.DocGenerationFlag).GetUsage())
			for _, flag := range f.Names() {
				if flag = "-" + flag; !slices.ContainsFunc(words, func(w string) bool { return strings.TrimLeft(strings.TrimRight(w, ","), "-") == flag[1:] }) {
					t.Errorf("%s: %s is missing", name, flag)
				}
			}
		}
	}
}
