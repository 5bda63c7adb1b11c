package live

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/urfave/cli/v2"
)

func (p *commands) statCommand() *cli.Command {
	return &cli.Command{
		Name:      "stat",
		Usage:     "print a line of GC statistics per interval, as jstat does",
		ArgsUsage: "PID|NAME|FILE... [INTERVAL [COUNT]]",
		Description: `INTERVAL is in milliseconds, or has a unit (1s, 5m). Without COUNT, gclog prints lines
until the process ends or Ctrl-C. Without INTERVAL it prints one line: after a second for a
process, and for the whole of a file. For a file, INTERVAL is in the time of the file.

G0, G1, G2, LOH and POH are how much of the generation's budget was used when the last
collection of it started, in percent, by an estimate; HEAP and COMMIT are the heap and the
committed memory after the last collection, in MB; LOAD% is the share of the physical
memory in use, as the GC sees it. G0C and G0T are the number of gen0 collections since the
start and their pauses in seconds; G1C and G1T, G2B and G2BT (blocking gen2), BGC and BGCT
(background) the same for others. GCT is all pauses in seconds, and PAUSE% the share of the
interval that the program was paused. Unknown values are -.

Examples:
   gclog stat 4711 1s 10              ten lines
   gclog stat MyApp 1s -t -h 20       with the uptime, and titles every 20 lines
   gclog stat app.nettrace 10s        a line for each 10 s of a recording
   gclog stat gc*.json 1m | awk '$18 > 5'
   gclog stat -p 4711 250             every 250 ms`,
		Flags: flags.Join(subject.Flags(), []cli.Flag{
			flags.Unpack(),
			&cli.BoolFlag{
				Name:    "timestamp",
				Aliases: []string{"t"},
				Usage:   "begin each line with the uptime of the process in seconds",
			},
			&cli.IntFlag{Name: flags.Header, Usage: "repeat the titles every `N` lines; also -h N"},
		}),
		Action: p.stat,
	}
}

func (p *commands) stat(c *cli.Context) error {
	names, interval, count, err := statArguments(c.Args().Slice(), subject.ByFlag(c))
	if err != nil {
		return err
	}
	if c.Int(flags.Header) < 0 {
		return exit.Usagef("--header %d: it must not be negative", c.Int(flags.Header))
	}
	l := &statLines{
		out:      program.TextOn(p.Unfiltered),
		uptime:   c.Bool("timestamp"),
		repeat:   c.Int(flags.Header),
		interval: interval,
		most:     count,
	}
	files, ch, err := subject.Of(c, names)
	switch {
	case err != nil:
		return err
	case files == nil && !ch.Made():
		return exit.Usagef("stat needs the PID or NAME of a running process (gclog ps lists them), or a file")
	case files == nil:
		return p.statProcess(c.Context, ch, l)
	}
	p.UI.Data = screen.IsTerminal(p.Unfiltered)
	observe := func(process *gclog.Process, _ analysis.Window) (gclog.Observer, gclog.EventObserver) {
		return l.of(process).Observe, nil
	}
	h, err := subject.ReadFiles(p.Run, c, files, history.Span{}, observe)
	if h == nil {
		return err
	}
	l.finish(h.End)
	subject.SayEnd(p.Run, h)
	return errors.Join(program.NotWritten(l.err), err)
}

// statArguments separates what to observe from the interval and the count, which is 0 if there is
// none.
func statArguments(args []string, byFlag bool) (names []string, interval time.Duration, count int, err error) {
	at := 0
	if !byFlag {
		at = min(1, len(args))
	}
	if i := slices.IndexFunc(args[at:], isInterval); i >= 0 {
		at += i
	} else {
		at = len(args)
	}
	names, args = args[:at], args[at:]
	if len(args) > 2 {
		return nil, 0, 0, exit.Usagef("after the interval and the count there must be no more arguments: %s", args[2])
	}
	if len(args) > 0 {
		if interval, err = parseInterval(args[0]); err != nil {
			return nil, 0, 0, err
		}
	}
	if len(args) > 1 {
		count, err = strconv.Atoi(args[1])
		if err != nil || count < 1 {
			return nil, 0, 0, exit.Usagef("%q is not a number of lines: it must be at least 1", args[1])
		}
	}
	return names, interval, count, nil
}

// isInterval reports whether an argument is an interval, even if it is too short.
func isInterval(s string) bool {
	_, err := interval(s)
	return err == nil
}

// interval reads an interval; a plain number is in milliseconds, as in jstat.
func interval(s string) (time.Duration, error) {
	if flags.IsNumber(s) {
		s += "ms"
	}
	return time.ParseDuration(s)
}

// leastStat is the shortest interval: the runtime sends its events every 100 ms.
const leastStat = 100 * time.Millisecond

// parseInterval reads an interval that is long enough.
func parseInterval(s string) (time.Duration, error) {
	d, err := interval(s)
	switch {
	case err != nil:
		return 0, exit.Usagef("%q is not an interval: write 1s, 5m or milliseconds", s)
	case d < leastStat:
		return 0, exit.Usagef("an interval of %v is too short: runtimes send their events every 100 ms", d)
	}
	return d, nil
}

// statProcess prints lines about a running process.
func (p *commands) statProcess(ctx context.Context, ch subject.Choice, l *statLines) error {
	if l.interval == 0 {
		l.interval, l.most = time.Second, 1
	}
	config, err := attach.SessionConfig("normal", nil, true)
	if err != nil {
		return err
	}
	ctx, _, release := p.Signals(ctx)
	defer release()
	target, err := watch.Find(ctx, p.Run, ch, 0)
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	w := &watch.Watch{Run: p.Run, Config: config, Progress: &attach.Progress{}}
	s, facts, err := w.Open(ctx, target)
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	defer context.AfterFunc(ctx, s.Ask)()
	over := make(chan struct{})
	observe := func(process *gclog.Process, _ analysis.Window) (gclog.Observer, gclog.EventObserver) {
		o := l.of(process)
		go l.tick(over, s.Ask)
		return o.Observe, nil
	}
	h, end, err := history.Watch(s, facts, 0, history.Span{}, observe)
	close(over)
	w.SayEnded(&attach.Result{Process: *h.Process, End: end})
	return errors.Join(program.NotWritten(l.err), doctor.Explain(ctx, target, err))
}
