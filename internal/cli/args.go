package cli

import (
	"slices"
	"strings"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/urfave/cli/v2"
)

// arrange puts the arguments into the order that the flag library requires, which treats everything
// after the first argument that is not a flag as an argument too.
//
//   - Flags may be before and after the arguments.
//   - What follows "--" is never a flag. With attach and record it is a command to run.
//   - Java's -Xlog does not have the form of other flags: it becomes the value of one.
//   - stat accepts jstat's -h N, which is --header N.
//   - run and tune end at their command: the flags after it are the command's own.
func arrange(app *cli.App, args []string) ([]string, error) {
	if len(args) > 1 {
		switch args[1] {
		case "help": // gclog help attach
			args = append(append([]string{args[0]}, args[2:]...), "--help")
		case "--version", "-v":
			return []string{args[0], "version"}, nil
		}
	}
	if len(args) > 1 && xlog.IsOption(args[1]) {
		if args[1] == xlog.HelpOption {
			return []string{args[0], flags.XlogHelp}, nil
		}
		return nil, exit.Usagef("%s belongs after a command: gclog attach PID %s", args[1], args[1])
	}
	cmd, at := commandOf(app, args[1:]) // args[at] is the command's name
	if cmd == nil || cmd.SkipFlagParsing {
		return args, nil
	}
	takesValue := valueFlags(cmd)
	var given, rest []string
	dashes, before := false, false // before: there are arguments in front of the dashes
	for tail := args[at+1:]; len(tail) > 0; {
		a := tail[0]
		tail = tail[1:]
		switch {
		case a == "--":
			dashes, before = true, len(rest) > 0
			rest = append(rest, tail...)
			tail = nil
		case a == xlog.HelpOption:
			return []string{args[0], flags.XlogHelp}, nil
		case xlog.IsOption(a) && !takesValue[flags.Xlog]:
			return nil, exit.Usagef("%s does not accept -Xlog; attach, run and convert do", cmd.Name)
		case xlog.IsOption(a):
			given = append(given, "--"+flags.Xlog, a)
		case strings.HasPrefix(a, "-XX:"):
			return nil, exit.Usagef("%s is an option of older JVMs: %s", a, xlog.InsteadOf(a))
		case takesValue[flags.Header] && a == "-h" && len(tail) > 0 && flags.IsNumber(tail[0]): // as in jstat
			given = append(given, "--"+flags.Header, tail[0])
			tail = tail[1:]
		case takesValue[flags.Header] && len(a) > 2 && a[:2] == "-h" && flags.IsNumber(a[2:]):
			given = append(given, "--"+flags.Header, a[2:])
		case a == "--help", a == "-h": // overrides everything else
			return append(slices.Clone(args[:at+1]), a), nil
		case len(a) > 1 && a[0] == '-':
			name := strings.TrimLeft(a, "-")
			// Its value may be missing; no process has a name like these.
			if name == flags.Counters && len(tail) > 0 && strings.ContainsAny(tail[0], ",*") {
				a += "=" + tail[0]
				name, tail = a, tail[1:]
			}
			given = append(given, a)
			if strings.Contains(name, "=") || !takesValue[name] {
				continue
			}
			if len(tail) == 0 || tail[0] == "--" {
				return nil, exit.Usagef("%s needs a value (see gclog %s --help)", a, strings.Join(args[1:at+1], " "))
			}
			given = append(given, tail[0])
			tail = tail[1:]
		case runsCommand(cmd):
			rest = append(append(rest, a), tail...)
			tail = nil
		default:
			rest = append(rest, a)
		}
	}
	if _, ok := takesValue[flags.Command]; dashes && ok {
		if len(rest) == 0 {
			return nil, exit.Usagef("-- needs a command to run")
		}
		if before {
			return nil, exit.Usagef("choose a process, or a command to run, not both")
		}
		given = append(given, "--"+flags.Command)
	}
	out := append(slices.Clone(args[:at+1]), given...)
	return append(append(out, "--"), rest...), nil
}
