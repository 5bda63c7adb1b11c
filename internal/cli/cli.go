// Package cli is the command line of gclog: the list of its commands, and what reads, explains and
// completes a command line. The commands are in the packages below it, by what they are for.
// docs/manual.md describes what users see.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/gclog/gclog/internal/cli/analyse"
	"github.com/gclog/gclog/internal/cli/callers"
	"github.com/gclog/gclog/internal/cli/compare"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/heap"
	"github.com/gclog/gclog/internal/cli/live"
	"github.com/gclog/gclog/internal/cli/node"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/record"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/tune"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/urfave/cli/v2"
)

// helperCommand makes gclog look at file systems that may hang: only gclog itself runs it.
const helperCommand = "look-for-gclog"

// Main runs gclog and returns its exit code.
func Main(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 2 && args[1] == helperCommand {
		return serveHelper(stderr)
	}
	if code, isSupervisor := command.Supervise(args); isSupervisor {
		return code
	}
	p := &commands{&program.Run{
		In: stdin, Unfiltered: stdout, Out: program.NewPrinter(stdout), UI: program.NewUI(stderr), Self: args[0],
		Version: version(), Host: &host.Host{Helper: []string{"gclog", helperCommand}},
	}}
	// A closed pipe is an error of writing, not a signal.
	closed := make(chan os.Signal, 1)
	signal.Notify(closed, syscall.SIGPIPE)
	defer signal.Stop(closed)
	makePoller()
	app := p.app()
	args, err := arrange(app, args)
	if err == nil {
		err = app.RunContext(context.Background(), args)
	}
	// Output that was not written completely comes first: it is the most serious error.
	if err := errors.Join(p.Out.Failed(), err); err != nil {
		p.UI.Error(err)
		return exit.Code(err)
	}
	return p.Code
}

func serveHelper(stderr io.Writer) int {
	if err := host.ServeHelper(); err != nil {
		program.NewUI(stderr).Error(err)
		return exit.Usage
	}
	return 0
}

// makePoller makes Go's runtime create its poller of files now. Later, when gclog may open no more
// files, that would end the program without a message.
func makePoller() {
	if f, err := os.Open(os.DevNull); err == nil {
		_ = f.Close()
	}
}

func (p *commands) app() *cli.App {
	app := &cli.App{
		Name:  "gclog",
		Usage: "garbage collection logs of running .NET processes",
		Description: `gclog attaches to a running .NET process (Core 3.1 to 11, NativeAOT) and writes a
log of its garbage collections: as text that GCViewer and other Java tools
read, or as JSON lines. The process needs no change and no restart.

Examples:
   gclog ps                      list the .NET processes
   gclog attach 4711             watch process 4711
   gclog attach MyApp -o gc.log  write a rotating log
   gclog run -- dotnet app.dll   from the first collection on`,
		Writer:                    p.Out,
		ErrWriter:                 p.UI.W,
		Reader:                    p.In,
		DisableSliceFlagSeparator: true,
		HideVersion:               true,
		HideHelpCommand:           true,
		EnableBashCompletion:      false,
		// Errors are returned to Main, which is the only place that knows the exit codes.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageFailed,
		CommandNotFound: func(c *cli.Context, name string) {
			p.UI.Say(flags.NoSuchCommand(c.App.Commands, "gclog", name).Error())
			p.Code = exit.Usage
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return flags.NoSuchCommand(c.App.Commands, "gclog", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: slices.Concat(
			inGroup("watch", live.Commands(p.Run)...),
			inGroup("record", record.Commands(p.Run)...),
			inGroup("analyse", slices.Concat(analyse.Commands(p.Run), callers.Commands(p.Run), compare.Commands(p.Run),
				[]*cli.Command{tune.Command(p.Run)})...),
			inGroup("heap", heap.Command(p.Run)),
			inGroup("node", node.Commands(p.Run)...),
			inGroup("gclog", record.Demo(p.Run), p.versionCommand(), p.completionCommand(), p.manCommand()),
			[]*cli.Command{p.xlogHelpCommand(), p.completeCommand()},
		),
	}
	for _, c := range app.Commands {
		for _, x := range append(c.Subcommands, c) {
			x.OnUsageError = usageFailed
			x.HideHelpCommand = true
			x.Before = p.before
		}
	}
	return app
}

// inGroup puts commands into a group of --help.
func inGroup(name string, list ...*cli.Command) []*cli.Command {
	for _, c := range list {
		c.Category = name
	}
	return list
}

// before reads the flags that have the same meaning in all commands.
func (p *commands) before(c *cli.Context) error {
	if err := results.CheckWords(c); err != nil {
		return err
	}
	return subject.ReadLimit(p.Run, c)
}

// usageFailed replaces the library's handler, which prints help to standard output: that may be a
// log.
func usageFailed(c *cli.Context, err error, _ bool) error {
	name := "gclog"
	if c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	what := err.Error()
	if flag, ok := strings.CutPrefix(what, "flag provided but not defined: "); ok {
		if len(flag) > 2 {
			flag = "-" + flag
		}
		what = "there is no flag " + flag
		what += spelling.DidYouMean(flag, typedNames(append(options(c.Command.Flags), helpOption)))
	}
	what = strings.Replace(what, " for flag -", " for --", 1)
	return exit.Usagef("%s (see %s --help)", what, name)
}
