package live

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/top"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) topCommand() *cli.Command {
	return &cli.Command{
		Name:      "top",
		Usage:     "watch the collections of processes, or of a file, on a terminal",
		ArgsUsage: "[PID|NAME...|FILE...]",
		Description: `Lists the .NET processes with their heap, allocation rate and pauses; enter opens the page
of a process with its collections, enter again explains one of them. On that page, a
watches for 30 seconds who allocates, as gclog alloc does. ? shows all keys.

Where gclog daemon logs a process already, its records come from the daemon. For others
top opens sessions, at most 64 at a time.

A file is replayed as fast as it happened; --speed 10 is ten times as fast.

Examples:
   gclog top
   gclog top 4711
   gclog top orders 'web*'
   gclog top app.nettrace --speed 10`,
		Flags: flags.Join(subject.Flags(), ctl.Flags(), []cli.Flag{
			flags.Unpack(),
			&cli.StringFlag{Name: "speed", Usage: "replay a file `N` times as fast; 0 is at once", DefaultText: "1"},
			&cli.BoolFlag{Name: flags.Local, Usage: "show local times, not UTC; this is the default if TZ is set"},
		}),
		Action: p.top,
	}
}

func (p *commands) top(c *cli.Context) error {
	if !screen.IsTerminal(p.In) || !screen.IsTerminal(p.Unfiltered) || os.Getenv("TERM") == "dumb" {
		return exit.Usagef("top needs a terminal that can move its cursor: gclog stat prints lines instead")
	}
	names := c.Args().Slice()
	if slices.Contains(names, "-") {
		return exit.Usagef("top reads keys from standard input: save the recording to a file")
	}
	files := 0
	for _, a := range names {
		if subject.AreFiles([]string{a}) {
			files++
		}
	}
	if files != 0 && files != len(names) {
		return exit.Usagef("top shows processes or files, not both: %s", strings.Join(names, " "))
	}
	zone := subject.Zone(p.Run, c)
	o := top.RunOptions{In: p.In, Out: p.Unfiltered, Host: p.Host, Speed: 1, Explain: doctor.Explain}
	o.Color, o.Zone = screen.Colored(p.Unfiltered), zone.Local
	o.Options.Explain = func(width int, color bool, d *gclog.GCDetails, context analysis.Context) string {
		var b strings.Builder
		e := analysis.Explain(d, context)
		view.PrintExplanation(&b, min(width, view.PageWidth), screen.Painter(color), d, &e)
		return b.String()
	}
	o.Single = len(names) == 1 && (files > 0 || flags.IsNumber(names[0])) || subject.ByFlag(c)
	if files > 0 {
		return p.topFiles(c, names, o)
	}
	if c.IsSet("speed") {
		return exit.Usagef("--speed is for a file")
	}
	match, err := topMatch(names)
	if err == nil && subject.ByFlag(c) {
		match, err = p.topChosen(c, names)
	}
	if err != nil {
		return err
	}
	o.Match = match
	if o.Socket, err = ctl.Socket(c); err != nil && (c.IsSet("config") || c.IsSet("socket")) {
		return err
	}
	return top.Run(c.Context, o)
}

// topMatch returns which processes are listed.
func topMatch(names []string) (func(*host.Process) bool, error) {
	var list []subject.Choice
	for _, name := range names {
		if name == "" {
			return nil, exit.Usagef("the pid or name of the process is empty")
		}
		ch := subject.Choice{Name: name}
		if flags.IsNumber(name) {
			pid, err := strconv.Atoi(name)
			if err != nil || pid <= 0 {
				return nil, exit.Usagef("%q is not a process id", name)
			}
			ch = subject.Choice{PID: pid}
		}
		list = append(list, ch)
	}
	return func(x *host.Process) bool {
		for _, ch := range list {
			if ch.PID == x.PID || ch.Name != "" && ch.Matches(x) {
				return true
			}
		}
		return len(list) == 0
	}, nil
}

// topChosen returns a match for the process that the flags choose.
func (p *commands) topChosen(c *cli.Context, names []string) (func(*host.Process) bool, error) {
	ch, err := subject.Choose(c, names)
	if err != nil {
		return nil, err
	}
	t, err := subject.Find(c.Context, p.Run, ch)
	if err != nil {
		return nil, err
	}
	return func(x *host.Process) bool { return x.PID == t.PID }, nil
}

// topFiles replays files.
func (p *commands) topFiles(c *cli.Context, names []string, o top.RunOptions) error {
	if c.IsSet("speed") {
		speed, err := strconv.ParseFloat(strings.TrimSuffix(c.String("speed"), "x"), 64)
		if err != nil || !(speed >= 0 && speed <= 1e6) {
			return exit.Usagef("--speed %s: it must be a number, at least 0", c.String("speed"))
		}
		o.Speed = speed
	}
	// What is wrong with the files is reported before there is a screen.
	chosen, err := subject.InFiles(c)
	if err != nil {
		return err
	}
	options := history.Options{Choice: chosen, Unpacked: subject.Limit(p.Run, unpack.LimitPassed)}
	h, err := subject.Read(p.Run, names, options,
		func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver) { return gclog.Tee(), nil })
	if h == nil {
		return err
	}
	options.Want = gclog.WantedFinalized
	in, err := history.Open(names, options)
	if err != nil {
		return subject.InputError(err)
	}
	defer in.Close()
	o.Files, o.Replay = in, true
	return subject.InputError(top.Run(c.Context, o))
}
