package live

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/results"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) gcCommand() *cli.Command {
	return &cli.Command{
		Name:      "gc",
		Usage:     "induce a full blocking collection in a running process",
		ArgsUsage: "PID|NAME",
		Description: `The whole program is paused until the collection ends: the more live objects there are,
the longer that takes. Runtimes up to .NET 9 collect a second time when the request ends.
The result is reported on standard error, and with --wait the record of the collection on
standard output. So that no log takes the collection for that of a heap snapshot, gclog
announces it to the others on this host until half a second after it, and then exits.
NativeAOT programs before .NET 10 do not collect on request: exit code 4.

Examples:
   gclog gc 4711                    returns when the collection has started
   gclog gc MyApp --wait            its line, as gclog attach would print it
   gclog gc 4711 --wait -f json     its record`,
		Flags: flags.Join(subject.Flags(), []cli.Flag{
			&cli.BoolFlag{Name: "wait", Usage: "wait until the collection has ended, and print its record"},
			&cli.StringFlag{
				Name: "timeout", Value: "30s", Usage: "give up after `TIME`, unless the collection has started by then",
			},
			&cli.Uint64Flag{Name: "sequence", Usage: "put `NUMBER` into the events of the collection; Windows only"},
		}, results.Flags(results.TextOrJSON)),
		Action: results.Action(p.Run, results.TextOrJSON, p.gc),
	}
}

func (p *commands) gc(c *cli.Context, how string) error {
	ch, err := subject.Choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	if !ch.Made() {
		return exit.Usagef("gc needs the PID or the NAME of a process (gclog ps lists them)")
	}
	o := attach.InduceOptions{Wait: c.Bool("wait"), Sequence: c.Uint64("sequence")}
	if o.Timeout, err = flags.Duration(c, "timeout"); err == nil && o.Timeout == 0 {
		err = exit.Usagef("--timeout needs a time: 30s, 5m")
	}
	if err != nil {
		return err
	}
	switch {
	case (c.IsSet(flags.Output) || c.IsSet(flags.Format)) && !o.Wait:
		return exit.Usagef("-o and -f are for the record of the collection: give --wait too")
	case c.IsSet("sequence"):
		if err := checkSequence(runtime.GOOS, o.Sequence); err != nil {
			return err
		}
	}
	ctx, _, release := p.Signals(c.Context)
	defer release()
	target, err := subject.Find(ctx, p.Run, ch)
	if err == nil {
		err = target.CheckStartup(ctx)
	}
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	facts, err := watch.Identify(ctx, p.Run, target)
	if err != nil && !session.IsUnknownCommand(err) {
		return watch.UnlessStopped(ctx, doctor.Explain(ctx, target, err))
	}
	o.Repeat = attach.AnswersAfterCollecting(&facts)
	stop := p.UI.Watch(func(since time.Duration) string {
		return fmt.Sprintf("[%s] requesting a collection from process %d", view.Elapsed(since), target.PID)
	})
	induced, err := attach.Induce(ctx, target, o)
	stop()
	if not, ok := errors.AsType[*attach.NotInducedError](err); ok {
		return exit.With(exit.Unsupported, not)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return exit.With(exit.Session, fmt.Errorf(
			"interrupted: process %d may have received the request, and then collects all the same", target.PID))
	case err != nil:
		return doctor.Explain(ctx, target, err)
	}
	defer p.sayAgain(induced.Again)
	if !o.Wait {
		p.UI.Sayf("process %d has started the requested full blocking collection: GC %d", target.PID, induced.Number)
		return nil
	}
	attach.Complete(ctx, target, &facts)
	return p.printInduced(how, &facts, induced)
}

// sayAgain prints which further collections there were.
func (p *commands) sayAgain(again []*gclog.GCDetails) {
	if len(again) == 0 {
		return
	}
	first, more, pause := again[0], "", "n/a"
	if n := len(again) - 1; n > 0 {
		more = fmt.Sprintf(" and %d more such GCs", n)
	}
	if len(first.Pauses) > 0 {
		pause = fmt.Sprintf("%.1f ms", float64(first.Pause())/1e6)
	}
	p.UI.Sayf("GC %d%s followed when the request ended (pause %s): runtimes up to .NET 9 then collect once more",
		first.Number, more, pause)
}

// checkSequence returns an error if a runtime of this system ignores the number of a collection.
func checkSequence(system string, number uint64) error {
	switch {
	case system != "windows":
		return exit.With(exit.Unsupported, errors.New("--sequence: the runtime uses the number only on Windows; "+
			"elsewhere it is always 0. Without the flag, gclog recognizes the collection by its reason"))
	case number == 0:
		return exit.Usagef("--sequence 0: every collection has this number; it must be at least 1")
	}
	return nil
}

// printInduced prints the record of a collection.
func (p *commands) printInduced(how string, facts *gclog.Process, induced *attach.Induced) error {
	facts.Sync = induced.Sync
	if !facts.Started.IsZero() {
		facts.UptimeAtSync = max(0, facts.Sync.Sub(facts.Started))
	}
	format, err := formats.Find(how)
	if err != nil {
		return err
	}
	var out formats.Output = formats.NewStream(p.Out, false)
	if how == "json" {
		out = headless{p.Out} // a single document
	}
	w := formats.NewWriter(format, out, formats.Options{
		Process: *facts,
		Version: p.Version,
		Session: program.RandomID(),
		Host:    program.Hostname(),
		Color:   screen.Colored(p.Unfiltered),
		Screen:  screen.Of(p.Unfiltered),
	})
	w.Observe(induced.GC)
	return w.Err()
}

// A headless output writes no file header.
type headless struct{ w io.Writer }

// Write implements formats.Output.
func (h headless) Write(_ formats.Head, group []byte, _ bool) error {
	_, err := h.w.Write(group)
	return err
}
