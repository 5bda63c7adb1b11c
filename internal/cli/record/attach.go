package record

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/cli/subject"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *commands) attachCommand() *cli.Command {
	return &cli.Command{
		Name:      "attach",
		Usage:     "write the GC log of a running process",
		ArgsUsage: "[PID|NAME]",
		Description: `Without PID or NAME, gclog attaches to the only .NET process.

A terminal shows a line for each collection, with the columns that fit; a file or a pipe
gets all columns. The colour of a line shows its longest pause: yellow from 50 ms, red from
200 ms. Bold red lines report that something is missing or does not end. NO_COLOR=1 turns
colours off.

Examples:
   gclog attach 4711                           lines on the terminal
   gclog attach 4711 -o gc.log                 a rotating log for Java's tools
   gclog attach MyApp -o gc.json --follow      JSON lines, also for MyApp's next process
   gclog attach 4711 -o gc.log -o gc.csv       two files from one session
   gclog attach 4711 -Xlog:gc*:file=gc-%p.log:time,uptime,level,tags
   gclog attach 4711 --for 5m --format csv > gc.csv
   gclog attach 4711 -o gc.json --on 'pause > 1s' --do heap:slow.gcdump
   gclog attach 4711 --on exit --do 'exec:mail -s "$GCLOG_TEXT" root'
   gclog attach -- dotnet app.dll              the same as gclog run -- dotnet app.dll`,
		Flags: flags.Join(subject.TargetFlags(), outputFlags(), rotationFlags(defaultFileCount), sessionFlags(),
			onFlags(), []cli.Flag{
				flags.Length(flags.EndingGroup, "stop after `TIME`: 90s, 5m, 00:00:05:00", "", ""),
				&cli.Int64Flag{
					Name:        "count",
					Category:    flags.EndingGroup,
					Usage:       "stop after `N` collections",
					DefaultText: "unlimited",
				},
				&cli.BoolFlag{
					Name:     "follow",
					Category: flags.EndingGroup,
					Usage:    "when the process ends, wait for the next one with this name or service",
				},
				&cli.StringFlag{
					Name:     "record",
					Category: flags.RecordingGroup,
					Usage:    "also write the raw stream to `FILE` (.nettrace)",
				},
			}),
		Action: p.attach,
	}
}

// A Logger writes logs: the options of attach, and of run, that concern every process.
type Logger struct {
	watch.Watch
	Outputs  []output.Spec
	opener   *output.Opener
	format   formats.Options
	counters attach.Counters
	record   string // path, with placeholders like that of an output
	count    int64  // stop after that many collections; 0: never
	total    int64  // collections of the sessions that have ended
	reopen   <-chan struct{}
	closing  *analysis.Statistics // statistics of the session; nil: its closing message is not printed
	Quiet    bool                 // print no closing messages
	do       *doer                // does what rules ask for; nil: there are none
}

// logOptions reads the options of a log, for attach and run.
func (p *commands) logOptions(c *cli.Context, byDefault string) (*Logger, error) {
	outputs, err := p.outputs(c, byDefault, os.Getenv(flags.XlogVariable))
	if err != nil {
		return nil, err
	}
	dotnet, err := dotnetCauses(c)
	if err != nil {
		return nil, err
	}
	w, err := p.watchOptions(c, outputs, c.String("record"))
	if err != nil {
		return nil, err
	}
	w.format.DotnetCauses = dotnet
	if w.do, err = p.doer(c, w.format); err != nil {
		return nil, err
	}
	return w, nil
}

// watchOptions reads the options that all sessions share.
func (p *commands) watchOptions(c *cli.Context, outputs []output.Spec, record string) (*Logger, error) {
	w := NewLogger(p.Run)
	w.Outputs, w.record, w.count = outputs, record, c.Int64("count")
	var err error
	if w.Duration, err = flags.Duration(c, flags.For); err != nil {
		return nil, err
	}
	if w.Config, err = sessionConfig(c, w.record == ""); err != nil {
		return nil, err
	}
	if w.counters, err = counters(c); err != nil {
		return nil, err
	}
	// It costs little, and shows the reader of a recording the GC's settings.
	w.Config.RundownGC = w.record != ""
	if err := w.Config.Validate(); err != nil {
		return nil, exit.Usagef("%w", err)
	}
	if w.count < 0 || w.count == 0 && c.IsSet("count") {
		return nil, exit.Usagef("--count %d: it must be at least 1", w.count)
	}
	if w.record != "" {
		if err := outfile.CheckRecording(p.Run, w.record); err != nil {
			return nil, err
		}
		for _, o := range outputs {
			if output.SamePath(o.Path, w.record) {
				return nil, exit.Usagef("the log and the recording cannot both be written to %s", w.record)
			}
		}
	}
	return w, nil
}

// NewLogger returns a logger without outputs.
func NewLogger(p *program.Run) *Logger {
	return &Logger{
		Watch:  watch.Watch{Run: p, Progress: &attach.Progress{}},
		opener: opener(p),
		format: formatOptions(p),
	}
}

// opener returns the opener of the outputs.
func opener(p *program.Run) *output.Opener {
	return &output.Opener{
		Files:  rotate.Files{IsOurs: logs.IsOurs},
		Stdout: p.Unfiltered,
		Stderr: p.UI.W,
		Warn:   p.UI.Say,
	}
}

// formatOptions returns what all formats say of this run of gclog.
func formatOptions(p *program.Run) formats.Options {
	return formats.Options{Version: p.Version, Session: program.RandomID(), Host: program.Hostname()}
}

// onScreen reports whether records go to the terminal.
func onScreen(p *program.Run, outputs []output.Spec) bool {
	return slices.ContainsFunc(outputs, func(o output.Spec) bool {
		return o.Path == output.Stdout && screen.IsTerminal(p.Unfiltered) || o.Path == output.Stderr && p.UI.Terminal
	})
}

func (p *commands) attach(c *cli.Context) error {
	if c.Bool(flags.Command) {
		return p.run(c)
	}
	ch, err := subject.Choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	w, err := p.logOptions(c, output.Stdout)
	if err != nil {
		return err
	}
	ctx, reopen, release := p.Signals(c.Context)
	defer release()
	w.reopen = reopen
	defer w.do.close()
	if c.Bool("follow") {
		return w.follow(ctx, ch)
	}
	target, err := subject.Find(ctx, p.Run, ch)
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	result, err := w.one(ctx, target)
	if err != nil {
		return watch.UnlessStopped(ctx, err)
	}
	return resultError(result)
}

// follow watches one process after the other. The first one must exist, unless it is chosen by
// name; for all others it waits, also while a process cannot be attached to yet, because it is
// starting or exits again at once.
func (w *Logger) follow(ctx context.Context, ch subject.Choice) error {
	var ended time.Time        // when the last process that was watched ended
	announced, reason := 0, "" // what was printed about the next process: its pid, and why it is not watched yet
	wait := func(s string) {
		if s != reason {
			reason = s
			w.Run.UI.Say(s)
		}
		select {
		case <-time.After(w.untilLook()):
		case <-ctx.Done():
		}
	}
	record := w.record
	w.End() // the duration includes the time of waiting
	for ctx.Err() == nil {
		if w.Over() {
			if ended.IsZero() {
				return exit.NoProcessf("%w called %q started within %s", subject.ErrNone, ch.Name, w.Duration)
			}
			return nil
		}
		target, others, err := subject.Next(ctx, w.Run, ch, ended)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil && (ch.Name == "" || errors.Is(err, subject.ErrAmbiguous)):
			return err
		case errors.Is(err, subject.ErrNone):
			text := "waiting for the next process called " + ch.Name
			if len(others) > 0 {
				text += "; ignored: " + strings.Join(others, ", ") + ", running since before the last one ended"
			}
			wait(text)
			continue
		case err != nil:
			wait(fmt.Sprintf("waiting: %v", err))
			continue
		}
		if !ended.IsZero() && announced != target.PID {
			announced = target.PID
			w.Run.UI.Sayf("process %d is the next one called %s", target.PID, ch.Name)
		}
		if !ended.IsZero() && record != "" && !outfile.IsDevice(record) {
			w.record = withPID(record, target.PID)
		}
		result, err := w.one(ctx, target)
		switch {
		case err != nil && (!ended.IsZero() || ch.Name != "") && isAboutTarget(err):
			wait(fmt.Sprintf("waiting: %v", err))
			continue
		case err != nil:
			return watch.UnlessStopped(ctx, err)
		case result.Err != nil || w.counted():
			return resultError(result)
		}
		ended, reason = result.Ended, ""
		ch.PID, ch.Name = 0, followName(ch, result)
	}
	return nil
}

// isAboutTarget reports whether an error may not occur with another process, or a little later.
func isAboutTarget(err error) bool {
	code := exit.Code(err)
	return code == exit.Session || code == exit.NoProcess || code == exit.Unsupported
}

func (w *Logger) counted() bool { return w.count > 0 && w.total >= w.count }

// followName returns the name by which the next process is found if the first was chosen by pid.
func followName(ch subject.Choice, r *attach.Result) string {
	switch {
	case ch.Name != "":
		return ch.Name
	case r.Process.Service != "":
		return r.Process.Service
	}
	return r.Process.Name
}

// resultError returns the error of the command for what went wrong in a session.
func resultError(r *attach.Result) error {
	if r.Err == nil {
		return nil
	}
	if defect, ok := errors.AsType[*attach.DefectError](r.Err); ok {
		return exit.With(exit.Internal, fmt.Errorf("%w\n%s", r.Err, defect.Stack))
	}
	return exit.With(exit.Data, r.Err)
}

// lookEvery is the interval at which follow looks for the next process.
const lookEvery = 500 * time.Millisecond

// untilLook returns the time until the next look, which is shorter at the end of the duration.
func (w *Logger) untilLook() time.Duration {
	if w.Until.IsZero() {
		return lookEvery
	}
	return min(lookEvery, time.Until(w.Until))
}

// one watches one process until it ends or ctx does.
func (w *Logger) one(ctx context.Context, t *host.Target) (*attach.Result, error) {
	if err := watch.AwaitStartup(ctx, w.Run, t, w.Duration); err != nil {
		return nil, err
	}
	facts, err := watch.Identify(ctx, w.Run, t)
	if err != nil && !session.IsUnknownCommand(err) {
		return nil, doctor.Explain(ctx, t, err)
	}
	w.Progress.GCs.Store(0)
	o, endDoing := w.options(t)
	defer endDoing()
	o.Process = &facts
	answered := watch.SayLate(w.Run, t)
	defer answered()
	o.Started = func(process *gclog.Process) {
		answered()
		w.SayStarted(process, w.where(process))
		w.sayLacks()
	}
	o.Waiting = watch.SayEnding(w.Run, t)
	w.Run.UI.Data = onScreen(w.Run, w.Outputs)
	defer w.Run.UI.Watch(w.Line)()
	result, err := w.session(ctx, o)
	if err != nil {
		return nil, doctor.Explain(ctx, t, err)
	}
	w.total += w.Progress.GCs.Load()
	w.SayEnded(result)
	if len(w.Outputs) > 0 && result.Err == nil {
		w.SayIdle(result.Process.ID)
	}
	w.sayClosing("", result)
	return result, nil
}

// oneOfTree watches a process that gclog has started, from its start: see attach.SessionOptions for
// early and resume. exit returns how it ended, if that is known.
func (w *Logger) oneOfTree(
	ctx context.Context, t *host.Target, early, resume bool, exit func() (int, int, bool),
) (*attach.Result, error) {
	o, endDoing := w.options(t)
	defer endDoing()
	o.Exit, o.Early, o.Resume = exit, early, resume
	result, err := w.session(ctx, o)
	if err != nil {
		return nil, doctor.Explain(ctx, t, err)
	}
	w.sayClosing(fmt.Sprintf("process %d: ", t.PID), result)
	return result, nil
}

// options returns the options of a session, and what ends what belongs to it.
func (w *Logger) options(t *host.Target) (o attach.Options, end func()) {
	o = attach.Options{
		Target: t, Config: w.Config, Counters: w.counters, Outputs: w.Outputs, Opener: w.opener, Format: w.format,
		Count: max(0, w.count-w.total), Until: w.End, Reopen: w.reopen, Progress: w.Progress,
	}
	if w.Run.UI.Terminal && !w.Quiet {
		w.closing = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
		w.closing.Observe(&gclog.Start{At: 0})
	}
	var doing *doing
	if w.do != nil {
		doing = w.do.of(w.Config)
		o.Flight, o.Switch = doing.recorder, doing.levels
	}
	o.Observe = func(process *gclog.Process) gclog.Observer {
		var list []gclog.Observer
		if w.closing != nil {
			list = append(list, w.closing.Observe)
		}
		if doing != nil {
			list = append(list, doing.engine.Observe(process))
		}
		return gclog.Tee(list...)
	}
	return o, doing.end
}

// session runs a session, with a recording if one was requested. A process that waits for the
// session is resumed in any case.
func (w *Logger) session(ctx context.Context, o attach.Options) (*attach.Result, error) {
	if w.record == "" {
		return attach.Run(ctx, o)
	}
	file, err := outfile.OpenRecording(output.Expand(w.record, &gclog.Process{ID: int64(o.Target.PID)}, ""))
	if err != nil {
		if o.Resume {
			err = errors.Join(err, o.Target.Resume(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	o.Record = file
	result, err := attach.Run(ctx, o)
	if err != nil {
		file.Remove() // nothing was recorded
	}
	if result != nil && file.Dir != nil {
		result.Wrote = append(result.Wrote, file.Path)
	}
	if cerr := file.Close(); cerr != nil && result != nil {
		result.Err = errors.Join(result.Err, &attach.WriteError{Err: cerr})
	}
	return result, err
}

// where returns where the log of a process is, as the end of a sentence.
func (w *Logger) where(process *gclog.Process) (text string) {
	for _, o := range w.Outputs {
		text += ", " + o.Format.Name + " to " + outputName(o, process, w.format.Host)
	}
	return text
}

// sayLacks says what the formats of the files cannot contain: on a terminal, or if that is everything.
func (w *Logger) sayLacks() {
	var lacks []string
	for _, o := range w.Outputs {
		format, text := o.Format.Name, logs.Lacks(o.Format.Name)
		matters := w.Run.UI.Terminal && format != "json" || !logs.Reads(format)
		if matters && !output.IsStream(o.Path) && !slices.Contains(lacks, text) {
			lacks = append(lacks, text)
		}
	}
	if len(lacks) > 0 {
		w.Run.UI.Say(strings.Join(lacks, "; "))
	}
}

func outputName(o output.Spec, process *gclog.Process, host string) string {
	if output.IsStream(o.Path) {
		return output.StreamName(o.Path)
	}
	name := output.Expand(o.Path, process, host)
	if o.Rotate.Count > 0 {
		name += fmt.Sprintf(" (at most %s with %d old files)",
			formats.SizeText(o.Rotate.Size*int64(o.Rotate.Count+1)), o.Rotate.Count)
	}
	return name
}

// sayClosing prints on a terminal a summary of a session, and which files contain it.
func (w *Logger) sayClosing(who string, r *attach.Result) {
	gcs := uint64(w.Progress.GCs.Load())
	if w.closing == nil || gcs == 0 && who == "" {
		return
	}
	w.closing.Observe(&gclog.End{At: r.End.At})
	s := w.closing.Summary()
	if gcs == 0 {
		w.Run.UI.Sayf("%sno collection in %s", who, view.Span(time.Duration(s.Duration.Value)))
		return
	}
	pauses := &s.Classes[analysis.ClassAll].Pauses
	said := []string{fmt.Sprintf("%s%s in %s",
		who, view.Counted(gcs, "collection"), view.Span(time.Duration(s.Duration.Value)))}
	if pauses.P99.Known() { // known from 100 pauses on
		said = append(said, "p99 pause "+pauses.P99.Text())
	}
	if pauses.Max.Known() {
		said = append(said, "longest pause "+pauses.Max.Text())
	}
	switch share := s.Share; {
	case !share.Known():
	case 0 < share.Value && share.Value < 0.01:
		said = append(said, "paused under 0.01 % of the time")
	default:
		said = append(said, "paused "+share.Text()+" of the time")
	}
	said = append(said, view.Counted(uint64(w.Progress.Lost.Load()), "event")+" lost")
	if len(r.Wrote) > 0 {
		said = append(said, "wrote "+strings.Join(r.Wrote, ", "))
	}
	w.Run.UI.Say(strings.Join(said, ", "))
	if r.Verdict.Text != "" {
		w.Run.UI.Say(who + r.Verdict.Sentence())
	}
}

// withPID inserts the pid in front of the extension of a name without a placeholder for it. The
// name of a device does not change.
func withPID(path string, pid int) string {
	if output.PerProcess(path) || outfile.IsDevice(path) {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + strconv.Itoa(pid) + ext
}
