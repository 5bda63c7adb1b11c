// Package flags has the flags that several commands share: their names, their groups in --help, and
// what their values mean.
package flags

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

// Flags that several commands share, and their meaning.

// Groups of flags in --help, as the library's categories.
const (
	ProcessGroup   = "process"
	TimeGroup      = "time"
	OutputGroup    = "output"
	RotationGroup  = "rotation"
	RecordingGroup = "recording"
	RuleGroup      = "rules"
	EndingGroup    = "ending"
)

// Length is how long something is watched, in all commands. dotnet-trace calls it --duration.
func Length(category, usage, value, text string) cli.Flag {
	return &cli.StringFlag{
		Name: For, Aliases: []string{"duration"}, Category: category, Usage: usage, Value: value, DefaultText: text,
	}
}

// Watch is the length for a running process where a file can be read instead.
func Watch() cli.Flag {
	return Length(TimeGroup, "watch a running process for `TIME`: 90s, 5m, 00:00:05:00; Ctrl-C ends it earlier",
		"", WatchFor.String())
}

// Duration reads 90s, 5m, 1h30m, or dd:hh:mm:ss as dotnet-trace does, from a flag.
func Duration(c *cli.Context, flag string) (time.Duration, error) {
	s := c.String(flag)
	if s == "" {
		return 0, nil
	}
	wrong := exit.Usagef("--%s %q is not a duration: write 90s, 5m or 00:00:05:00", flag, s)
	if parts := strings.Split(s, ":"); len(parts) > 1 {
		units := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second}
		if len(parts) > len(units) {
			return 0, wrong
		}
		var d time.Duration
		for i, part := range parts {
			n, err := strconv.ParseUint(part, 10, 31)
			if err != nil {
				return 0, wrong
			}
			d += time.Duration(n) * units[len(units)-len(parts)+i]
		}
		if d <= 0 {
			return 0, wrong
		}
		return d, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, wrong
	}
	return d, nil
}

// Join returns lists of flags as one.
func Join(lists ...[]cli.Flag) (all []cli.Flag) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// CommandName returns the name of a command, without gclog.
func CommandName(c *cli.Context) string { return strings.TrimPrefix(c.Command.HelpName, "gclog ") }

// IsNumber reports whether an argument consists of digits.
func IsNumber(s string) bool { return strings.Trim(s, "0123456789") == "" }

// NoSuchCommand returns the error that a command has no such subcommand.
func NoSuchCommand(list []*cli.Command, of, name string) error {
	var names []string
	for _, x := range list {
		if !x.Hidden {
			names = append(names, x.Name)
		}
	}
	return exit.Usagef("no such command: %s%s (%s --help lists them)", name, spelling.DidYouMean(name, names), of)
}

// NoArguments rejects arguments of commands that take none.
func NoArguments(c *cli.Context) error {
	if c.Args().Present() {
		return exit.Usagef("%s takes no arguments: %s", c.Command.Name, c.Args().First())
	}
	return nil
}

// WatchFor is how long a running process is watched by default.
const WatchFor = 30 * time.Second

// Unpack is a flag of all commands that read files.
func Unpack() cli.Flag {
	return &cli.StringFlag{
		Name: unpack.Flag, Usage: "read up to `SIZE` (K, M, G) of what a .gz or .zst file contains",
		DefaultText: fmt.Sprintf("%s of a snapshot or for a report, else %s",
			limitText(unpack.LimitKept), limitText(unpack.LimitPassed)),
	}
}

func limitText(n int64) string { return fmt.Sprintf("%dG", n>>30) }
