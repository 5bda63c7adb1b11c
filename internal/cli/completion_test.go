package cli

import (
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// TestValuesAreProposed: a flag whose default is a word has a usage that lists this word, so that
// completion finds it; and the name of every value is in the usage.
func TestValuesAreProposed(t *testing.T) {
	app := (&commands{&program.Run{UI: program.NewUI(io.Discard)}}).app()
	var lists int
	check := func(c *cli.Command) {
		for _, f := range c.Flags {
			d := f.(documented)
			if !d.TakesValue() || !d.IsVisible() {
				continue
			}
			if _, value, _ := quoted(d.GetUsage()); value == "" {
				t.Errorf("%s --%s: its usage does not name the value: %s", c.Name, f.Names()[0], d.GetUsage())
			}
			words := choices(d.GetUsage())
			if words != nil {
				lists++
			}
			if s, ok := f.(*cli.StringFlag); ok && regexp.MustCompile(`^[a-z]{2,}$`).MatchString(s.Value) &&
				!slices.ContainsFunc(words, func(w word) bool { return w.text == s.Value }) {
				t.Errorf("%s --%s: its usage does not list the default, %s: %s", c.Name, f.Names()[0], s.Value, d.GetUsage())
			}
		}
	}
	for _, c := range app.Commands {
		check(c)
		for _, sub := range c.Subcommands {
			check(sub)
		}
	}
	if lists < 20 {
		t.Errorf("only %d flags list their values", lists)
	}
}

// TestChoices: what is a list of values in a usage, and what is not.
func TestChoices(t *testing.T) {
	for _, x := range []struct{ usage, want string }{
		{"`FORMAT`: table, json or csv", "table json csv"},
		{"status: `table` or json", "table json"},
		{"`LEVEL` of detail: light, normal (adds much; costs more) or full; once", "light normal full"},
		{"do `ACTION`: log, exec:COMMAND (sh), record or record:DIRECTORY, heap:FILE:TIME", "log exec: record record: heap:"},
		{"stop after `TIME`: 90s, 5m", ""},
		{"write to `FILE`; - is standard output", ""},
		{"list only what has at least `SIZE`: bytes (K, M, G), or a share of the heap (1%)", ""},
	} {
		var got []string
		for _, w := range choices(x.usage) {
			got = append(got, w.text)
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s: %q, want %q", x.usage, got, x.want)
		}
	}
}
