package watch

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

// HistoryFlags are the flags of the commands that call history.
func HistoryFlags() []cli.Flag {
	return flags.Join(subject.Flags(), subject.SpanFlags(), []cli.Flag{
		flags.Watch(),
	})
}

// History reads the files in the arguments, or watches the chosen process. It may return both a
// History and an error: the command shows what could be read, and returns the error.
func History(p *program.Run, c *cli.Context, observe history.Observe) (*history.History, error) {
	return HistoryOf(p, c, c.Args().Slice(), observe)
}

// HistoryOf is history for commands whose arguments are not all files.
func HistoryOf(p *program.Run, c *cli.Context, names []string, observe history.Observe) (*history.History, error) {
	asked, err := subject.Span(p, c)
	if err != nil {
		return nil, err
	}
	files, ch, err := subject.Of(c, names)
	switch {
	case err != nil:
		return nil, err
	case files == nil && !ch.Made():
		return nil, exit.Usagef("%s needs a file, - for standard input, or the PID or NAME of a running process "+
			"(gclog ps lists them)", c.Command.Name)
	case files == nil:
		return watchHistory(p, c, ch, asked, observe)
	case c.IsSet(flags.For):
		return nil, exit.Usagef("--for is for a running process: use --since and --until for a part of a file")
	}
	return subject.ReadFiles(p, c, files, asked, observe)
}

// watchHistory watches a running process.
func watchHistory(
	p *program.Run, c *cli.Context, ch subject.Choice, asked history.Span, observe history.Observe,
) (*history.History, error) {
	if err := asked.CheckRunning(); err != nil {
		return nil, subject.InputError(err)
	}
	limit, err := flags.Duration(c, flags.For)
	if err != nil {
		return nil, err
	}
	w := &Watch{Run: p, Progress: &attach.Progress{}, Duration: cmp.Or(limit, flags.WatchFor)}
	if w.Config, err = attach.SessionConfig("normal", nil, true); err != nil {
		return nil, err
	}
	ctx, _, release := p.Signals(c.Context)
	defer release()
	target, err := Find(ctx, p, ch, limit)
	if err != nil {
		return nil, UnlessInterrupted(ctx, err)
	}
	return w.history(ctx, target, asked, observe)
}

// history watches a process until the duration has passed, the process ends, or ctx does.
func (w *Watch) history(
	ctx context.Context, t *host.Target, asked history.Span, observe history.Observe,
) (*history.History, error) {
	s, facts, err := w.Open(ctx, t)
	if err != nil {
		return nil, UnlessInterrupted(ctx, err)
	}
	defer context.AfterFunc(ctx, s.Ask)()
	defer time.AfterFunc(time.Until(w.End()), s.Ask).Stop()
	defer w.Run.UI.Watch(func(since time.Duration) string {
		return w.Line(since) + " of " +
			view.Elapsed(w.Duration)
	})()
	started := func(process *gclog.Process, window analysis.Window) (gclog.Observer, gclog.EventObserver) {
		w.SayStarted(process, "")
		return observe(process, window)
	}
	h, end, err := history.Watch(s, facts, w.Duration, asked, started)
	w.SayEnded(&attach.Result{Process: *h.Process, End: end})
	if _, wrong := errors.AsType[*history.CallError](err); wrong {
		return nil, subject.InputError(err)
	}
	w.SayIdle(h.Process.ID)
	return h, subject.InputError(err)
}
