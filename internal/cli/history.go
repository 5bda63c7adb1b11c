package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/times"
	"github.com/gclog/gclog/internal/unpack"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// What the commands that read recordings, logs and running processes share.

// historyFlags are the flags of the commands that call history.
func historyFlags() []cli.Flag {
	return join(processFlags(), spanFlags(), []cli.Flag{
		watchFlag(),
	})
}

func spanFlags() []cli.Flag {
	return []cli.Flag{
		unpackFlag(),
		&cli.StringFlag{Name: "since", Category: timeOptions, Usage: "only what happened since `TIME`: 14:03:22, 2026-01-31T14:03:22Z, 1769868202.5 (since 1970), 90s after the start, -5m before the end"},
		&cli.StringFlag{Name: "until", Category: timeOptions, Usage: "only what happened before `TIME`, in the same notation"},
		&cli.BoolFlag{Name: localFlag, Category: timeOptions, Usage: "show local times, not UTC; this is the default if TZ is set"},
	}
}

// parseSpan reads --since, --until and --at.
func (p *program) parseSpan(c *cli.Context) (s history.Span, err error) {
	s.Zone = p.zoneOf(c)
	at, atEnd, ranged := strings.Cut(c.String("at"), "..")
	if ranged && (at == "" || atEnd == "") {
		return s, usagef("--at %s: write the start and the end, as in 14:03:22.1..14:03:22.9", c.String("at"))
	}
	for _, x := range []struct {
		flag, text string
		to         *history.Instant
	}{{"since", c.String("since"), &s.Since}, {"until", c.String("until"), &s.Until}, {"at", at, &s.At}, {"at", atEnd, &s.AtEnd}} {
		if x.text == "" && (!c.IsSet(x.flag) || x.to == &s.AtEnd) {
			continue
		}
		if *x.to, err = history.ParseInstant(x.flag, x.text, s.Zone); err != nil {
			return s, inputError(err)
		}
	}
	if !c.IsSet("took") {
		return s, nil
	}
	took, _, ok := times.ParseDuration([]byte(c.String("took")), int64(time.Millisecond))
	switch {
	case !ok || took <= 0:
		return s, usagef("--took %q is not a duration: write 783ms, 1.5s or 00:00:01.5", c.String("took"))
	case ranged:
		return s, usagef("--took is for one time, its end; --at %s has a start", c.String("at"))
	}
	s.Took = time.Duration(took)
	return s, nil
}

// watchFor is how long a running process is watched by default.
const watchFor = 30 * time.Second

// history reads the files in the arguments, or watches the chosen process. It may return both a
// history and an error: the command shows what could be read, and returns the error.
func (p *program) history(c *cli.Context, observe history.Observe) (*history.History, error) {
	return p.historyOf(c, c.Args().Slice(), observe)
}

// historyOf is history for commands whose arguments are not all files.
func (p *program) historyOf(c *cli.Context, names []string, observe history.Observe) (*history.History, error) {
	asked, err := p.parseSpan(c)
	if err != nil {
		return nil, err
	}
	files, ch, err := subjectOf(c, names)
	switch {
	case err != nil:
		return nil, err
	case files == nil && !ch.made():
		return nil, usagef("%s needs a file, - for standard input, or the PID or NAME of a running process (gclog ps lists them)", c.Command.Name)
	case files == nil:
		return p.watchHistory(c, ch, asked, observe)
	case c.IsSet(forFlag):
		return nil, usagef("--for is for a running process: use --since and --until for a part of a file")
	}
	return p.readFiles(c, files, asked, observe)
}

// readFiles reads the history of one process from files. If a file is of another kind, it prints
// that a process with the file's name may have been meant.
func (p *program) readFiles(c *cli.Context, files []string, asked history.Span, observe history.Observe) (*history.History, error) {
	chosen, err := inFiles(c)
	if err != nil {
		return nil, err
	}
	h, err := p.readHistory(files, history.Options{Choice: chosen, Span: asked}, observe)
	_, other := errors.AsType[*parse.KindError](err)
	_, text := errors.AsType[*history.TextError](err)
	if h == nil && (other || text) {
		p.sayOfProcess(c, files)
	}
	return h, err
}

// endText says that the process did not end well, "" if it did or nobody knows.
func endText(h *history.History) string {
	if h.Ended == nil || !h.Ended.Bad() {
		return ""
	}
	return fmt.Sprintf("process %d %s, at %s", h.Process.ID, h.Ended.AppendTo(nil), history.TimeText(h.Process.Time(h.Ended.At)))
}

// sayEnd says that the process of a file did not end well. Watching a running one has said it.
func (p *program) sayEnd(h *history.History) {
	if text := endText(h); text != "" && h.Names != nil {
		p.ui.say(text)
	}
}

func (p *program) readHistory(files []string, o history.Options, observe history.Observe) (*history.History, error) {
	o.Want = gclog.WantedFinalized
	in, err := p.openInputs(files, o)
	if err != nil {
		return nil, inputError(err)
	}
	defer in.Close()
	stop := p.watchReading(in, in.GCs)
	h, err := in.Read(observe)
	stop()
	if err == nil && in.GCs() == 0 {
		p.ui.say(in.NothingText())
	}
	return h, inputError(err)
}

// openInputs opens files, one of which may be standard input.
func (p *program) openInputs(names []string, o history.Options) (*history.Source, error) {
	if slices.Contains(names, "-") {
		if err := p.checkInput("a recording"); err != nil {
			return nil, err
		}
	}
	o.Stdin, o.Notify, o.Unpacked = p.in, p.ui.say, p.unpacked(unpack.LimitPassed)
	return history.Open(names, o)
}

// watchReading shows how much has been read.
func (p *program) watchReading(in *history.Source, gcs func() int64) (stop func()) {
	return p.ui.watch(func(time.Duration) string {
		return fmt.Sprintf("%s read, %s", formats.SizeText(in.Bytes()), counted(uint64(gcs()), "GC"))
	})
}

// inputError gives an error of reading files its exit code.
func inputError(err error) error {
	var process *history.ProcessError
	var call *history.CallError
	var coded *codedError
	switch {
	case err == nil, errors.As(err, &coded):
		return err
	case errors.As(err, &process) && process.Asked():
		return &codedError{exitNoProcess, err}
	case process != nil:
		return usagef("%w: choose one with --pid or --name:\n%s", err, strings.TrimRight(processesText(process.Processes), "\n"))
	case errors.As(err, &call):
		return &codedError{exitUsage, err}
	}
	return &codedError{exitData, err}
}

// processesText formats the list to choose from.
func processesText(list []*gclog.Process) string {
	var b strings.Builder
	for i, p := range list {
		if i == listMost {
			fmt.Fprintf(&b, "  and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "  %d", p.ID)
		for _, text := range []string{p.Name, shorten(p.CommandLine, 100)} {
			if text != "" {
				b.WriteString("  " + oneLine(text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// watchHistory watches a running process.
func (p *program) watchHistory(c *cli.Context, ch choice, asked history.Span, observe history.Observe) (*history.History, error) {
	if err := asked.CheckRunning(); err != nil {
		return nil, inputError(err)
	}
	limit, err := parseDuration(c, forFlag)
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

// unlessInterrupted replaces an error by one that says that gclog was asked to stop, if it was.
func unlessInterrupted(ctx context.Context, err error) error {
	if unlessStopped(ctx, err) == nil {
		return &codedError{exitSession, errors.New("interrupted before the session had started")}
	}
	return err
}

// history watches a process until the duration has passed, the process ends, or ctx does.
func (w *watch) history(ctx context.Context, t *host.Target, asked history.Span, observe history.Observe) (*history.History, error) {
	s, facts, err := w.open(ctx, t)
	if err != nil {
		return nil, unlessInterrupted(ctx, err)
	}
	defer context.AfterFunc(ctx, s.Ask)()
	defer time.AfterFunc(time.Until(w.end()), s.Ask).Stop()
	defer w.p.ui.watch(func(since time.Duration) string { return w.line(since) + " of " + elapsed(w.duration) })()
	h, end, err := history.Watch(s, facts, w.duration, asked, func(process *gclog.Process, window analysis.Window) (gclog.Observer, gclog.EventObserver) {
		w.sayStarted(process, "")
		return observe(process, window)
	})
	w.sayEnded(&attach.Result{Process: *h.Process, End: end})
	if _, wrong := errors.AsType[*history.CallError](err); wrong {
		return nil, inputError(err)
	}
	w.sayIdle(h.Process.ID)
	return h, inputError(err)
}

// open opens a session with a process, and returns what is known of it.
func (w *watch) open(ctx context.Context, t *host.Target) (*attach.Session, *gclog.Process, error) {
	facts, err := w.p.identify(ctx, t)
	if err != nil && !session.IsUnknownCommand(err) {
		return nil, nil, doctor.Explain(ctx, t, err)
	}
	defer w.p.sayLate(t)()
	s, err := attach.Open(ctx, t, attach.SessionOptions{Config: w.config, Progress: w.progress, Warn: w.p.ui.say, Waiting: w.p.sayEnding(t)})
	if err != nil {
		return nil, nil, doctor.Explain(ctx, t, err)
	}
	return s, &facts, nil
}
