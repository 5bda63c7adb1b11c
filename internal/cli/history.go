package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// What the commands have in common that analyse: a history of one process is read from
// files, or seen in a live session, and told to an observer.

// historyFlags are the flags of the commands that call history.
func historyFlags() []cli.Flag {
	return join(processFlags(), spanFlags(), []cli.Flag{
		&cli.Int64Flag{Name: "pid", Usage: "the process with this `PID`, of several in a file"},
		&cli.StringFlag{Name: "duration", Usage: "watch a running process for `TIME`: 90s, 5m, 00:00:05:00; Ctrl-C ends it earlier", DefaultText: watchFor.String()},
	})
}

// watchFor is how long a running process is watched, if nothing else is said.
const watchFor = 30 * time.Second

// A historyObserver is told the history of a process. Begin and End are told of each
// session in it, in nanoseconds since the sync point like all times.
type historyObserver interface {
	gclog.Observer
	Begin(at int64)
	End(at int64)
}

// A history is what was told to an observer.
type history struct {
	process    *gclog.Process
	window     analysis.Window // that was asked for
	begin, end int64           // of what was read, or seen
	names      []string        // of the files, in the order of time; nil: the process was running
	format     string          // of the log, "" of recordings and of a running process
	part       stretch         // the same, with the zone of times
	unheard    bool            // nothing in the recordings shows that the GC was recorded
	damage     string          // why it could not be read to its end, "" if it could
	skipped    int64           // lines of a log that are damaged or none of gclog's
	observer   historyObserver
}

// history reads the files that the arguments are, or watches the process that is chosen. observe is told of the process and of what was asked for with --since
// and --until, and returns the observer that is told the history, in the order of time.
// (It may be asked several times, where a log turns out to hold several lives of a
// process: it is the last answer that counts.)
//
// Where what is read is damaged, there is both a history and an error: the command shows
// what could be read, and returns the error. Else there is one of them.
func (p *program) history(c *cli.Context, observe func(*gclog.Process, analysis.Window) historyObserver) (*history, error) {
	return p.historyOf(c, c.Args().Slice(), observe)
}

// historyOf does so where not all arguments are files.
func (p *program) historyOf(c *cli.Context, names []string, observe func(*gclog.Process, analysis.Window) historyObserver) (*history, error) {
	asked, err := p.parseSpan(c)
	if err != nil {
		return nil, err
	}
	files, ch, err := subjectOf(c, names)
	switch {
	case err != nil:
		return nil, err
	case files == nil && c.IsSet("pid"):
		return nil, pidOfRunning(c, ch)
	case files == nil && !ch.made():
		return nil, usagef("%s needs a file, - for standard input, or the PID or NAME of a running process (gclog ps lists them)", c.Command.Name)
	case files == nil:
		return p.watchHistory(c, ch, asked, observe)
	case c.IsSet("duration"):
		return nil, usagef("--duration is for a running process: a part of a file is chosen with --since and --until")
	}
	return p.readFiles(c, files, asked, observe)
}

// readFiles reads the history of one process from files. Where one is of another kind a process of
// its name may have been meant.
func (p *program) readFiles(c *cli.Context, files []string, asked span, observe func(*gclog.Process, analysis.Window) historyObserver) (*history, error) {
	h, err := p.readHistory(files, c.Int64("pid"), asked, observe)
	if _, other := errors.AsType[*parse.KindError](err); h == nil && (other || errors.Is(err, errNotOurs)) {
		p.sayOfProcess(c, files)
	}
	return h, err
}

// pidOfRunning says what --pid is not for.
func pidOfRunning(c *cli.Context, ch choice) error {
	if ch.made() {
		return usagef("--pid chooses a process in a file, and there is none")
	}
	return usagef("--pid chooses a process in a file: a running one is chosen with -p %d, or by its name", c.Int64("pid"))
}

// watchHistory watches a running process.
func (p *program) watchHistory(c *cli.Context, ch choice, asked span, observe func(*gclog.Process, analysis.Window) historyObserver) (*history, error) {
	switch {
	case asked.since.kind == instantFromEnd:
		return nil, usagef("--since %s: a running process has no end to count from: give a time since the begin of the session, such as 10s", asked.since.text)
	case asked.until.kind == instantFromEnd:
		return nil, usagef("--until %s: a running process has no end to count from: give a time since the begin of the session, such as 10s", asked.until.text)
	}
	limit, err := parseDuration(c, "duration")
	if err != nil {
		return nil, err
	}
	w := &watch{p: p, progress: &attach.Progress{}, duration: cmp.Or(limit, watchFor)}
	if w.config, err = attach.SessionConfig("normal", nil, true); err != nil {
		return nil, err
	}
	ctx, _, release := p.signals(c.Context)
	defer release()
	target, err := p.find(ctx, ch)
	if err != nil {
		return nil, unlessInterrupted(ctx, err)
	}
	if err := p.awaitStartup(ctx, target, limit); err != nil {
		return nil, unlessInterrupted(ctx, err)
	}
	return w.history(ctx, target, asked, observe)
}

// unlessInterrupted says that nothing was seen because gclog was asked to stop, if it was.
func unlessInterrupted(ctx context.Context, err error) error {
	if unlessStopped(ctx, err) == nil {
		return &codedError{exitSession, errors.New("it was interrupted before the session had begun")}
	}
	return err
}

// history watches a process until the time is over, it ends, or ctx does.
func (w *watch) history(ctx context.Context, t *session.Target, asked span, observe func(*gclog.Process, analysis.Window) historyObserver) (*history, error) {
	facts, err := w.p.identify(ctx, t)
	if err != nil && !attach.IsTooOld(err) {
		return nil, unlessInterrupted(ctx, doctor.Explain(t, err))
	}
	s, err := attach.Open(ctx, t, attach.SessionOptions{Config: w.config, Progress: w.progress, Tell: w.p.ui.say, Waiting: w.p.sayEnding(t)})
	if err != nil {
		return nil, unlessInterrupted(ctx, doctor.Explain(t, err))
	}
	defer context.AfterFunc(ctx, s.Ask)()
	defer time.AfterFunc(time.Until(w.end()), s.Ask).Stop()
	defer w.p.ui.watch(func(since time.Duration) string { return w.line(since) + " of " + elapsed(w.duration) })()
	h := &history{}
	part := stretch{span: asked}
	var wrong error
	end, err := s.Observe(&facts, func(process *gclog.Process) gclog.Observer {
		w.sayBegun(process)
		part.begin, part.end = process.Sync, process.Sync.Add(w.duration)
		if wrong = part.check(); wrong != nil {
			s.Ask()
		}
		process.Sync = process.Sync.In(asked.zone.location())
		h.process, h.window, h.part = process, part.window(process), part
		h.observer = observe(process, h.window)
		h.observer.Begin(0)
		return h.observer
	})
	h.end = end.At
	h.observer.End(end.At)
	w.sayEnded(&attach.Result{Process: *h.process, End: end, Err: err})
	if wrong == nil {
		wrong = part.outside(h.process.Time(h.end))
	}
	if wrong != nil {
		return nil, wrong
	}
	if w.progress.GCs.Load() == 0 {
		w.p.ui.sayf("no collection of process %d began meanwhile", h.process.ID)
	}
	if err != nil {
		h.damage = err.Error()
		return h, &codedError{exitData, err}
	}
	return h, nil
}

// cut reports whether what was asked for may go on behind the place where the input is damaged.
func (h *history) cut() bool { return h.damage != "" && h.window.To > h.end }

// source names what was read, for people.
func (h *history) source() string {
	switch n := len(h.names); n {
	case 0:
		return fmt.Sprintf("process %d", h.process.ID)
	case 1:
		return h.names[0]
	default:
		return fmt.Sprintf("%s and %d more", h.names[0], n-1)
	}
}
