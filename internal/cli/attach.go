package cli

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
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *program) attachCommand() *cli.Command {
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
		Flags: join(targetFlags(), outputFlags(), rotationFlags(defaultFileCount), sessionFlags(), onFlags(), []cli.Flag{
			lengthFlag(endingOptions, "stop after `TIME`: 90s, 5m, 00:00:05:00", "", ""),
			&cli.Int64Flag{Name: "count", Category: endingOptions, Usage: "stop after `N` collections", DefaultText: "unlimited"},
			&cli.BoolFlag{Name: "follow", Category: endingOptions, Usage: "when the process ends, wait for the next one with this name or service"},
			&cli.StringFlag{Name: "record", Category: recordingOptions, Usage: "also write the raw stream to `FILE` (.nettrace)"},
		}),
		Action: p.attach,
	}
}

func join(lists ...[]cli.Flag) (all []cli.Flag) {
	for _, l := range lists {
		all = append(all, l...)
	}
	return all
}

// A watch is about a running process: for how long gclog watches it, and what people see meanwhile.
type watch struct {
	p        *program
	config   session.Config
	duration time.Duration // 0: unlimited
	until    time.Time     // the end of duration, once it has started
	progress *attach.Progress
}

// A logger writes logs: the options of attach, and of run, that concern every process.
type logger struct {
	watch
	outputs  []output.Spec
	opener   *output.Opener
	format   formats.Options
	record   string // path, with placeholders like that of an output
	count    int64  // stop after that many collections; 0: never
	total    int64  // collections of the sessions that have ended
	reopen   <-chan struct{}
	closing  *analysis.Statistics // statistics of the session; nil: its closing message is not printed
	findings *analysis.Findings   // of the session, for the same message
	quiet    bool                 // print no closing messages
	do       *doer                // does what rules ask for; nil: there are none
}

// logOptions reads the options of a log, for attach and run.
func (p *program) logOptions(c *cli.Context, byDefault string) (*logger, error) {
	outputs, err := p.outputs(c, byDefault, os.Getenv(xlogVariable))
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
func (p *program) watchOptions(c *cli.Context, outputs []output.Spec, record string) (*logger, error) {
	w := p.newLogger()
	w.outputs, w.record, w.count = outputs, record, c.Int64("count")
	var err error
	if w.duration, err = parseDuration(c, forFlag); err != nil {
		return nil, err
	}
	if w.config, err = sessionConfig(c, w.record == ""); err != nil {
		return nil, err
	}
	// It costs little, and shows the reader of a recording the GC's settings.
	w.config.RundownGC = w.record != ""
	if err := w.config.Validate(); err != nil {
		return nil, usagef("%w", err)
	}
	if w.count < 0 || w.count == 0 && c.IsSet("count") {
		return nil, usagef("--count %d: it must be at least 1", w.count)
	}
	if w.record != "" {
		if err := p.checkRecording(w.record); err != nil {
			return nil, err
		}
		for _, o := range outputs {
			if output.SamePath(o.Path, w.record) {
				return nil, usagef("the log and the recording cannot both be written to %s", w.record)
			}
		}
	}
	return w, nil
}

// newLogger returns a logger without outputs.
func (p *program) newLogger() *logger {
	return &logger{watch: watch{p: p, progress: &attach.Progress{}}, opener: p.opener(), format: p.formatOptions()}
}

// opener returns the opener of the outputs.
func (p *program) opener() *output.Opener {
	return &output.Opener{Files: rotate.Files{IsOurs: logs.IsOurs}, Stdout: p.stdout, Stderr: p.ui.w, Warn: p.ui.say}
}

// formatOptions returns what all formats say of this run of gclog.
func (p *program) formatOptions() formats.Options {
	return formats.Options{Version: p.version(), Session: randomID(), Host: hostname()}
}

// onScreen reports whether records go to the terminal.
func (p *program) onScreen(outputs []output.Spec) bool {
	return slices.ContainsFunc(outputs, func(o output.Spec) bool {
		return o.Path == output.Stdout && screen.IsTerminal(p.stdout) || o.Path == output.Stderr && p.ui.terminal
	})
}

func (p *program) attach(c *cli.Context) error {
	if c.Bool(commandFlag) {
		return p.run(c)
	}
	ch, err := choose(c, c.Args().Slice())
	if err != nil {
		return err
	}
	w, err := p.logOptions(c, output.Stdout)
	if err != nil {
		return err
	}
	ctx, reopen, release := p.signals(c.Context)
	defer release()
	w.reopen = reopen
	defer w.do.close()
	if c.Bool("follow") {
		return w.follow(ctx, ch)
	}
	target, err := p.find(ctx, ch)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	result, err := w.one(ctx, target)
	if err != nil {
		return unlessStopped(ctx, err)
	}
	return resultError(result)
}

// follow watches one process after the other. The first one must exist, unless it is chosen by
// name; for all others it waits, also while a process cannot be attached to yet, because it is
// starting or exits again at once.
func (w *logger) follow(ctx context.Context, ch choice) error {
	var ended time.Time        // when the last process that was watched ended
	announced, reason := 0, "" // what was printed about the next process: its pid, and why it is not watched yet
	wait := func(s string) {
		if s != reason {
			reason = s
			w.p.ui.say(s)
		}
		select {
		case <-time.After(w.untilLook()):
		case <-ctx.Done():
		}
	}
	record := w.record
	w.end() // the duration includes the time of waiting
	for ctx.Err() == nil {
		if w.over() {
			if ended.IsZero() {
				return noProcessf("%w called %q started within %s", errNone, ch.name, w.duration)
			}
			return nil
		}
		target, others, err := w.p.next(ctx, ch, ended)
		switch {
		case err != nil && ctx.Err() != nil:
			return nil
		case err != nil && (ch.name == "" || errors.Is(err, errAmbiguous)):
			return err
		case errors.Is(err, errNone):
			text := "waiting for the next process called " + ch.name
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
			w.p.ui.sayf("process %d is the next one called %s", target.PID, ch.name)
		}
		if !ended.IsZero() && record != "" && !isDevice(record) {
			w.record = withPID(record, target.PID)
		}
		result, err := w.one(ctx, target)
		switch {
		case err != nil && (!ended.IsZero() || ch.name != "") && isAboutTarget(err):
			wait(fmt.Sprintf("waiting: %v", err))
			continue
		case err != nil:
			return unlessStopped(ctx, err)
		case result.Err != nil || w.counted():
			return resultError(result)
		}
		ended, reason = result.Ended, ""
		ch.pid, ch.name = 0, followName(ch, result)
	}
	return nil
}

// isAboutTarget reports whether an error may not occur with another process, or a little later.
func isAboutTarget(err error) bool {
	code := exitCode(err)
	return code == exitSession || code == exitNoProcess || code == exitUnsupported
}

// unlessStopped returns why a session was not begun, or nil if the reason is that gclog was asked
// to stop.
func unlessStopped(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, ctx.Err()) {
		return nil
	}
	return err
}

func (w *logger) counted() bool { return w.count > 0 && w.total >= w.count }

// followName returns the name by which the next process is found if the first was chosen by pid.
func followName(ch choice, r *attach.Result) string {
	switch {
	case ch.name != "":
		return ch.name
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
		return &codedError{exitInternal, fmt.Errorf("%w\n%s", r.Err, defect.Stack)}
	}
	return &codedError{exitData, r.Err}
}

// lookEvery is the interval at which follow looks for the next process.
const lookEvery = 500 * time.Millisecond

// untilLook returns the time until the next look, which is shorter at the end of the duration.
func (w *logger) untilLook() time.Duration {
	if w.until.IsZero() {
		return lookEvery
	}
	return min(lookEvery, time.Until(w.until))
}

// one watches one process until it ends or ctx does.
func (w *logger) one(ctx context.Context, t *host.Target) (*attach.Result, error) {
	if err := w.p.awaitStartup(ctx, t, w.duration); err != nil {
		return nil, err
	}
	facts, err := w.p.identify(ctx, t)
	if err != nil && !session.IsUnknownCommand(err) {
		return nil, doctor.Explain(ctx, t, err)
	}
	w.progress.GCs.Store(0)
	o, endDoing := w.options(t)
	defer endDoing()
	o.Process = &facts
	answered := w.p.sayLate(t)
	defer answered()
	o.Started = func(process *gclog.Process) {
		answered()
		w.sayStarted(process, w.where(process))
	}
	o.Waiting = w.p.sayEnding(t)
	w.p.ui.data = w.p.onScreen(w.outputs)
	defer w.p.ui.watch(w.line)()
	result, err := w.session(ctx, o)
	if err != nil {
		return nil, doctor.Explain(ctx, t, err)
	}
	w.total += w.progress.GCs.Load()
	w.sayEnded(result)
	if len(w.outputs) > 0 && result.Err == nil {
		w.sayIdle(result.Process.ID)
	}
	w.sayClosing("", result)
	return result, nil
}

// identify asks a process for its identity.
func (p *program) identify(ctx context.Context, t *host.Target) (facts gclog.Process, err error) {
	err = p.awaitAnswer(ctx, t, func(ctx context.Context) (err error) {
		facts, err = attach.Identify(ctx, t)
		return err
	})
	return facts, err
}

// awaitAnswer calls ask, which makes requests to a process. If that takes long it prints what it is waiting
// for, and cancels the requests if there will never be an answer.
func (p *program) awaitAnswer(ctx context.Context, t *host.Target, ask func(context.Context) error) error {
	asking, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	defer time.AfterFunc(lateTime, func() {
		p.sayWaiting(t)
		if why := doctor.Explain(asking, t, session.ErrNoAnswer); doctor.CauseOf(why) == doctor.AbandonedWalk {
			giveUp(why)
		}
	}).Stop()
	err := ask(asking)
	if err != nil && asking.Err() != nil {
		return context.Cause(asking)
	}
	return err
}

// lateTime is how long an answer may take before gclog says that it waits for it.
const lateTime = time.Second

// sayLate prints that a process takes long to answer, unless what it returns is called within a second.
func (p *program) sayLate(t *host.Target) (answered func() bool) {
	return time.AfterFunc(lateTime, func() { p.sayWaiting(t) }).Stop
}

func (p *program) sayWaiting(t *host.Target) {
	p.ui.sayf("waiting for process %d to answer%s", t.PID, whyLate(t))
}

// sayEnding returns a function that prints that the runtime of a process takes long to end the
// session.
func (p *program) sayEnding(t *host.Target) func() {
	return func() {
		p.ui.sayf("waiting for process %d to end the session%s%s", t.PID, whyLate(t), p.ui.orInterrupt())
	}
}

// whyLate returns why a process does not answer, if that is known.
func whyLate(t *host.Target) string {
	switch {
	case t.Stopped():
		return fmt.Sprintf(": it is stopped (kill -CONT %d resumes it)", t.PID)
	case t.Held():
		return ": a heap snapshot of it is being taken"
	}
	return ""
}

// awaitStartup waits until a session may begin with a process, and prints what it waits for. It
// does not wait longer than duration, if that is not 0.
func (p *program) awaitStartup(ctx context.Context, t *host.Target, duration time.Duration) error {
	limited, cancel := context.WithCancel(ctx)
	if duration > 0 {
		limited, cancel = context.WithTimeout(ctx, duration)
	}
	defer cancel()
	err := t.AwaitStartup(limited, func(err error) { p.ui.sayf("%v; gclog starts after that", err) })
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return t.CheckStartup(ctx)
	}
	return err
}

// oneOfTree watches a process that gclog has started, from its start: see attach.SessionOptions for
// early and resume. exit returns how it ended, if that is known.
func (w *logger) oneOfTree(ctx context.Context, t *host.Target, early, resume bool, exit func() (int, int, bool)) (*attach.Result, error) {
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
func (w *logger) options(t *host.Target) (o attach.Options, end func()) {
	o = attach.Options{
		Target: t, Config: w.config, Outputs: w.outputs, Opener: w.opener, Format: w.format,
		Count: max(0, w.count-w.total), Until: w.end, Reopen: w.reopen, Progress: w.progress,
	}
	if w.p.ui.terminal && !w.quiet {
		w.closing = analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
		w.closing.Observe(&gclog.Start{At: 0})
	}
	var doing *doing
	if w.do != nil {
		doing = w.do.of(w.config)
		o.Flight, o.Switch = doing.recorder, doing.levels
	}
	o.Observe = func(process *gclog.Process) gclog.Observer {
		var list []gclog.Observer
		if w.closing != nil {
			w.findings = analysis.NewFindings(process, analysis.Thresholds{}, analysis.Always())
			w.findings.Observe(&gclog.Start{At: 0})
			list = append(list, w.closing.Observe, w.findings.Observe)
		}
		if doing != nil {
			list = append(list, doing.engine.Observe(process))
		}
		return gclog.Tee(list...)
	}
	return o, doing.end
}

// end returns when the log is to end. The duration starts with the first call: when the first
// session has begun, or when waiting for the first process begins.
func (w *watch) end() time.Time {
	if w.until.IsZero() && w.duration > 0 {
		w.until = time.Now().Add(w.duration)
	}
	return w.until
}

// over reports whether that time has come.
func (w *watch) over() bool { return !w.until.IsZero() && !time.Now().Before(w.until) }

// session runs a session, with a recording if one was requested. A process that waits for the
// session is resumed in any case.
func (w *logger) session(ctx context.Context, o attach.Options) (*attach.Result, error) {
	if w.record == "" {
		return attach.Run(ctx, o)
	}
	file, err := openRecording(output.Expand(w.record, &gclog.Process{ID: int64(o.Target.PID)}, ""))
	if err != nil {
		if o.Resume {
			err = errors.Join(err, o.Target.Resume(context.WithoutCancel(ctx)))
		}
		return nil, err
	}
	o.Record = file
	result, err := attach.Run(ctx, o)
	if err != nil {
		file.remove() // nothing was recorded
	}
	if result != nil && file.dir != nil {
		result.Wrote = append(result.Wrote, file.path)
	}
	if cerr := file.Close(); cerr != nil && result != nil {
		result.Err = errors.Join(result.Err, &attach.WriteError{Err: cerr})
	}
	return result, err
}

func (w *watch) line(since time.Duration) string {
	s := fmt.Sprintf("[%s] %s, %d lost events, %s read", elapsed(since), counted(uint64(w.progress.GCs.Load()), "GC"), w.progress.Lost.Load(), formats.SizeText(w.progress.Stream.Load()))
	if n := w.progress.Output.Load(); n > 0 {
		s += ", " + formats.SizeText(n) + " written"
	}
	return s
}

// sayStarted prints on a terminal what is being watched, and where the log is.
func (w *watch) sayStarted(process *gclog.Process, where string) {
	if !w.p.ui.terminal {
		return
	}
	known := []string{process.Name}
	if process.RuntimeVersion != "" {
		known = append(known, ".NET "+process.RuntimeVersion)
	}
	switch process.Server {
	case gclog.Yes:
		known = append(known, "server GC")
	case gclog.No:
		known = append(known, "workstation GC")
	}
	w.p.ui.sayf("watching process %d (%s)%s", process.ID, strings.Join(known, ", "), where)
}

// where returns where the log of a process is, as the end of a sentence.
func (w *logger) where(process *gclog.Process) (text string) {
	for _, o := range w.outputs {
		text += ", " + o.Format.Name + " to " + outputName(o, process, w.format.Host)
	}
	return text
}

func outputName(o output.Spec, process *gclog.Process, host string) string {
	if output.IsStream(o.Path) {
		return output.StreamName(o.Path)
	}
	name := output.Expand(o.Path, process, host)
	if o.Rotate.Count > 0 {
		name += fmt.Sprintf(" (at most %s with %d old files)", formats.SizeText(o.Rotate.Size*int64(o.Rotate.Count+1)), o.Rotate.Count)
	}
	return name
}

func (w *watch) sayEnded(r *attach.Result) {
	if r.End.Reason.OfProcess() {
		w.p.ui.sayf("process %d %s", r.Process.ID, r.End.AppendTo(nil))
	}
}

// sayIdle prints that there was no collection of a process, if that is so.
func (w *watch) sayIdle(pid int64) {
	if w.progress.GCs.Load() == 0 {
		w.p.ui.sayf("no collection of process %d started meanwhile", pid)
	}
}

// sayClosing prints on a terminal a summary of a session, and which files contain it.
func (w *logger) sayClosing(who string, r *attach.Result) {
	gcs := uint64(w.progress.GCs.Load())
	if w.closing == nil || gcs == 0 && who == "" {
		return
	}
	w.closing.Observe(&gclog.End{At: r.End.At})
	s := w.closing.Summary()
	if gcs == 0 {
		w.p.ui.sayf("%sno collection in %s", who, spanText(time.Duration(s.Duration.Value)))
		return
	}
	pauses := &s.Classes[analysis.ClassAll].Pauses
	said := []string{fmt.Sprintf("%s%s in %s", who, counted(gcs, "collection"), spanText(time.Duration(s.Duration.Value)))}
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
	said = append(said, counted(uint64(w.progress.Lost.Load()), "event")+" lost")
	if len(r.Wrote) > 0 {
		said = append(said, "wrote "+strings.Join(r.Wrote, ", "))
	}
	w.p.ui.say(strings.Join(said, ", "))
	if w.findings == nil {
		return
	}
	w.findings.Observe(&gclog.End{At: r.End.At})
	if r.End.Reason.OfProcess() {
		w.findings.Ended(history.EndingOf(&r.End))
	}
	v := w.findings.Verdict()
	w.p.ui.say(who + v.Sentence())
}

// spanText formats a duration for people: 46 s, 2 min 3 s, 5 h 12 min.
func spanText(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// isDevice reports whether path exists and is not a regular file.
func isDevice(path string) bool {
	info, err := os.Stat(path)
	return path != "" && err == nil && !info.Mode().IsRegular()
}

// withPID inserts the pid in front of the extension of a name without a placeholder for it. The
// name of a device does not change.
func withPID(path string, pid int) string {
	if output.PerProcess(path) || isDevice(path) {
		return path
	}
	ext := filepath.Ext(path)
	return strings.TrimSuffix(path, ext) + "-" + strconv.Itoa(pid) + ext
}
