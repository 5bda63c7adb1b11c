package cli

import (
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/top"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/urfave/cli/v2"
)

func (p *program) topCommand() *cli.Command {
	return &cli.Command{
		Name:      "top",
		Usage:     "watch the collections of processes, or of a file, on a terminal",
		ArgsUsage: "[PID|NAME...|FILE...]",
		Description: `Lists the .NET processes with their heap, allocation rate and pauses; enter opens the page
of a process with its collections, enter again explains one of them. ? shows all keys.

Where gclog daemon logs a process already, its records come from the daemon. For others
top opens sessions, at most 64 at a time.

A file is replayed as fast as it happened; --speed 10 is ten times as fast.

Examples:
   gclog top
   gclog top 4711
   gclog top orders 'web*'
   gclog top app.nettrace --speed 10`,
		Flags: join(processFlags(), socketFlags(), []cli.Flag{
			unpackFlag(),
			&cli.StringFlag{Name: "speed", Usage: "replay a file `N` times as fast; 0 is at once", DefaultText: "1"},
			&cli.BoolFlag{Name: localFlag, Usage: "show local times, not UTC; this is the default if TZ is set"},
		}),
		Action: p.top,
	}
}

func (p *program) top(c *cli.Context) error {
	if !screen.IsTerminal(p.in) || !screen.IsTerminal(p.stdout) || os.Getenv("TERM") == "dumb" {
		return usagef("top needs a terminal that can move its cursor: gclog stat prints lines instead")
	}
	names := c.Args().Slice()
	if slices.Contains(names, "-") {
		return usagef("top reads keys from standard input: save the recording to a file")
	}
	files := 0
	for _, a := range names {
		if areFiles([]string{a}) {
			files++
		}
	}
	if files != 0 && files != len(names) {
		return usagef("top shows processes or files, not both: %s", strings.Join(names, " "))
	}
	zone := p.zoneOf(c)
	o := top.RunOptions{In: p.in, Out: p.stdout, Host: p.host, Speed: 1, Explain: doctor.Explain}
	o.Color, o.Zone = screen.Colored(p.stdout), zone.Local
	o.Options.Explain = func(width int, color bool, d *gclog.GCDetails, context analysis.Context) string {
		var b strings.Builder
		e := analysis.Explain(d, context)
		page := explanationPage{&b, min(width, mostPageWidth), screen.Painter(color)}
		page.print(d, &e)
		return b.String()
	}
	o.Single = len(names) == 1 && (files > 0 || isNumber(names[0])) || chosenByFlag(c)
	if files > 0 {
		return p.topFiles(c, names, o)
	}
	if c.IsSet("speed") {
		return usagef("--speed is for a file")
	}
	match, err := topMatch(names)
	if err == nil && chosenByFlag(c) {
		match, err = p.topChosen(c, names)
	}
	if err != nil {
		return err
	}
	o.Match = match
	if o.Socket, err = controlSocket(c); err != nil && (c.IsSet("config") || c.IsSet("socket")) {
		return err
	}
	return top.Run(c.Context, o)
}

// topMatch returns which processes are listed.
func topMatch(names []string) (func(*host.Process) bool, error) {
	var list []choice
	for _, name := range names {
		if name == "" {
			return nil, usagef("the pid or name of the process is empty")
		}
		ch := choice{name: name}
		if isNumber(name) {
			pid, err := strconv.Atoi(name)
			if err != nil || pid <= 0 {
				return nil, usagef("%q is not a process id", name)
			}
			ch = choice{pid: pid}
		}
		list = append(list, ch)
	}
	return func(x *host.Process) bool {
		for _, ch := range list {
			if ch.pid == x.PID || ch.name != "" && ch.matches(x) {
				return true
			}
		}
		return len(list) == 0
	}, nil
}

// topChosen returns a match for the process that the flags choose.
func (p *program) topChosen(c *cli.Context, names []string) (func(*host.Process) bool, error) {
	ch, err := choose(c, names)
	if err != nil {
		return nil, err
	}
	t, err := p.find(c.Context, ch)
	if err != nil {
		return nil, err
	}
	return func(x *host.Process) bool { return x.PID == t.PID }, nil
}

// topFiles replays files.
func (p *program) topFiles(c *cli.Context, names []string, o top.RunOptions) error {
	if c.IsSet("speed") {
		speed, err := strconv.ParseFloat(strings.TrimSuffix(c.String("speed"), "x"), 64)
		if err != nil || !(speed >= 0 && speed <= 1e6) {
			return usagef("--speed %s: it must be a number, at least 0", c.String("speed"))
		}
		o.Speed = speed
	}
	// What is wrong with the files is reported before there is a screen.
	chosen, err := inFiles(c)
	if err != nil {
		return err
	}
	options := history.Options{Choice: chosen, Unpacked: p.unpacked(unpack.LimitPassed)}
	h, err := p.readHistory(names, options, func(*gclog.Process, analysis.Window) (gclog.Observer, gclog.EventObserver) { return gclog.Tee(), nil })
	if h == nil {
		return err
	}
	options.Want = gclog.WantedFinalized
	in, err := history.Open(names, options)
	if err != nil {
		return inputError(err)
	}
	defer in.Close()
	o.Files, o.Replay = in, true
	return inputError(top.Run(c.Context, o))
}
