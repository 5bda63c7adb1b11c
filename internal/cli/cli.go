// Package cli is the command line of gclog: one file per command, and a few shared ones for
// arguments, messages and exit codes. docs/manual.md describes what users see.
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

	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/spelling"
	"github.com/urfave/cli/v2"
)

// A program is one run of gclog.
type program struct {
	in     io.Reader
	stdout io.Writer // for what is not text, or escapes what it writes: TestStdout lists all
	out    *printer  // for text
	ui     *ui       // for messages to people
	code   int       // exit code of a command that returned no error
	self   string    // the name under which this program was called
	host   *host.Host

	maxUnpacked int64 // of --max-unpacked; 0: the default of what is read
}

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
	p := &program{in: stdin, stdout: stdout, out: newPrinter(stdout), ui: newUI(stderr), self: args[0], host: &host.Host{Helper: []string{"gclog", helperCommand}}}
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
	if err := errors.Join(p.out.failed(), err); err != nil {
		p.ui.error(err)
		return exitCode(err)
	}
	return p.code
}

func serveHelper(stderr io.Writer) int {
	if err := host.ServeHelper(); err != nil {
		newUI(stderr).error(err)
		return exitUsage
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

func (p *program) app() *cli.App {
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
		Writer:                    p.out,
		ErrWriter:                 p.ui.w,
		Reader:                    p.in,
		DisableSliceFlagSeparator: true,
		HideVersion:               true,
		HideHelpCommand:           true,
		EnableBashCompletion:      false,
		// Errors are returned to Main, which is the only place that knows the exit codes.
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageFailed,
		CommandNotFound: func(c *cli.Context, name string) {
			p.ui.say(noSuchCommand(c.App.Commands, "gclog", name).Error())
			p.code = exitUsage
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return noSuchCommand(c.App.Commands, "gclog", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
		Commands: slices.Concat(
			inGroup("watch", p.psCommand(), p.topCommand(), p.statCommand(), p.settingsCommand(), p.metricsCommand(),
				p.gcCommand(), p.doctorCommand()),
			inGroup("record", p.attachCommand(), p.runCommand(), p.recordCommand(), p.convertCommand()),
			inGroup("analyse", p.summaryCommand(), p.reportCommand(), p.explainCommand(), p.pausesCommand(), p.allocCommand(), p.inducedCommand(),
				p.checkCommand(), p.compareCommand(), p.tuneCommand()),
			inGroup("heap", p.heapCommand()),
			inGroup("node", p.daemonCommand(), p.ctlCommand(), p.healthCommand(), p.configCommand(), p.rulesCommand()),
			inGroup("gclog", p.demoCommand(), p.versionCommand(), p.completionCommand(), p.manCommand()),
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
func (p *program) before(c *cli.Context) error {
	if err := checkWords(c); err != nil {
		return err
	}
	return p.readMaxUnpacked(c)
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
	return usagef("%s (see %s --help)", what, name)
}

func noSuchCommand(list []*cli.Command, of, name string) error {
	var names []string
	for _, x := range list {
		if !x.Hidden {
			names = append(names, x.Name)
		}
	}
	return usagef("no such command: %s%s (%s --help lists them)", name, spelling.DidYouMean(name, names), of)
}

// noArguments rejects arguments of commands that take none.
func noArguments(c *cli.Context) error {
	if c.Args().Present() {
		return usagef("%s takes no arguments: %s", c.Command.Name, c.Args().First())
	}
	return nil
}

// hostname returns the name of this host, or "" if it has none.
func hostname() string {
	name, err := os.Hostname()
	if err != nil {
		return ""
	}
	return name
}
