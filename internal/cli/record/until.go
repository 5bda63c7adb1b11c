package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/watch"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/doctor"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

const (
	lastFlag = "last"

	// recordAfter is how much is recorded from after what --on waits for.
	recordAfter = 5 * time.Second
	// recordMemory is the most memory for what is recorded.
	recordMemory = 128 << 20
	// mostLast is the highest value of --last.
	mostLast = 10 * time.Minute
)

// An untilOption is what record --on waits for.
type untilOption struct {
	text   string
	rules  []*rules.Rule
	before time.Duration
}

// untilOption reads --on and --last; nil: they are not given.
func (p *commands) untilOption(c *cli.Context) (*untilOption, error) {
	u := &untilOption{text: c.String(flags.On)}
	var err error
	switch u.before, err = flags.Duration(c, lastFlag); {
	case err != nil:
		return nil, err
	case !c.IsSet(flags.On) && c.IsSet(lastFlag):
		return nil, exit.Usagef("--%s is how much to record from before what --%s waits for: give both",
			lastFlag, flags.On)
	case !c.IsSet(flags.On):
		return nil, nil
	case u.before > mostLast:
		return nil, exit.Usagef("--%s %v: it must be at most %v", lastFlag, u.before, mostLast)
	}
	u.rules, err = untilRules(u.text)
	if wrong, ok := errors.AsType[*condition.Error](err); ok {
		return nil, exit.Usagef("--%s %q, column %d: %s", flags.On, u.text, wrong.Column, wrong.Msg)
	}
	return u, err
}

// untilRules returns the rules for a condition: on the event that it names, or else on a collection;
// otherwise on a pause or a stall, if it has fields that only these have. A condition on a collection
// that a pause has the fields for also waits for pauses without a collection.
func untilRules(text string) (list []*rules.Rule, err error) {
	if kind, _, named := flags.EventOf(text); named {
		if kind == rules.OnFinding || kind == rules.OnExit {
			return nil, exit.Usagef("--%s %q: only gc, pause, stall and gap can be recorded", flags.On, text)
		}
		r, err := flags.Rule(text, 0)
		return []*rules.Rule{r}, err
	}
	for _, k := range []rules.Kind{rules.OnGC, rules.OnPause, rules.OnStall} {
		r, wrong := rules.New(flags.On, k, text, 0, 0, 0)
		switch {
		case wrong != nil && err == nil:
			err = wrong // what is said of collections is most useful
		case wrong == nil && (len(list) == 0 || k == rules.OnPause):
			list = append(list, r)
		}
	}
	if len(list) > 0 {
		return list, nil
	}
	return nil, err
}

// wanted reports whether a rule fired for what is waited for: a pause of a collection that the rule on
// collections will see is not.
func (u *untilOption) wanted(f *rules.Firing) bool {
	return f.Rule == u.rules[0] || f.GC() == nil
}

// An until is a session that waits.
type until struct {
	*untilOption
	say      func(string)
	session  *attach.Session
	recorder *flight.Recorder

	progress attach.Progress
	found    atomic.Bool // what is waited for has happened
	process  *gclog.Process
	result   *flight.Recording // nil: it has not happened yet
}

// recordUntil keeps the latest part of the stream in memory, and writes it when the condition has
// become true and some seconds have passed.
func (p *commands) recordUntil(
	ctx context.Context, t *host.Target, cfg session.Config, duration time.Duration, o *untilOption, path string,
) error {
	facts, err := watch.Identify(ctx, p.Run, t)
	if err != nil && !session.IsUnknownCommand(err) {
		return watch.UnlessStopped(ctx, doctor.Explain(ctx, t, err))
	}
	u := &until{untilOption: o, say: p.UI.Say, recorder: flight.NewMemory(recordMemory).NewRecorder("", o.before)}
	defer u.recorder.Close()
	u.session, err = attach.Open(ctx, t, attach.SessionOptions{
		Config:   cfg,
		Flight:   u.recorder,
		Progress: &u.progress,
		Warn:     p.UI.Say,
		Waiting:  watch.SayEnding(p.Run, t),
	})
	if err != nil {
		return watch.UnlessStopped(ctx, doctor.Explain(ctx, t, err))
	}
	defer context.AfterFunc(ctx, u.session.Ask)()
	if duration > 0 {
		defer time.AfterFunc(duration, u.giveUp).Stop()
	}
	stop := p.UI.Watch(u.line)
	end, err := u.session.Observe(&facts, u.observer)
	stop()
	if err != nil {
		err = exit.With(exit.Data, err)
	}
	switch {
	case u.result != nil:
		return errors.Join(p.writeUntil(u, path), err)
	case err != nil:
		return err
	}
	why := "interrupted"
	switch {
	case end.Reason != gclog.EndDetached:
		why = fmt.Sprintf("process %d ended (%s)", t.PID, end.Reason)
	case ctx.Err() == nil:
		why = fmt.Sprintf("--for %v is over", duration)
	}
	return exit.With(exit.Session, fmt.Errorf("%s, and nothing was recorded: %s was not true of any of %s",
		why, o.text, view.Counted(uint64(u.progress.GCs.Load()), "collection")))
}

// giveUp ends the session if it is still waiting.
func (u *until) giveUp() {
	if !u.found.Load() {
		u.session.Ask()
	}
}

// observer returns what evaluates the condition.
func (u *until) observer(process *gclog.Process) gclog.Observer {
	u.process = process
	engine := rules.NewEngine(u.rules, formats.Options{}, func(f *rules.Firing) {
		if u.result != nil || !u.wanted(f) {
			return
		}
		u.result, _ = u.recorder.Record(flight.TriggerFor(process, f.Began(), f.At, u.before, recordAfter))
		u.found.Store(true)
		u.say(fmt.Sprintf("%s; recording what happens in the next %v", f.Text(), recordAfter))
		go func() {
			<-u.result.Done() // at the latest when the session ends
			u.session.Ask()
		}()
	})
	return engine.Observe(process)
}

// line returns the line of progress.
func (u *until) line(since time.Duration) string {
	if u.found.Load() {
		return fmt.Sprintf("[%s] recording what follows", view.Elapsed(since))
	}
	return fmt.Sprintf("[%s] waiting for %s: %s so far, %s read", view.Elapsed(since), u.text,
		view.Counted(uint64(u.progress.GCs.Load()), "collection"), formats.SizeText(u.progress.Stream.Load()))
}

// writeUntil writes the recording.
func (p *commands) writeUntil(u *until, path string) error {
	parts, err := u.result.Parts()
	if err != nil {
		return exit.Dataf("nothing was recorded: %w", err)
	}
	write := func(w io.Writer) error {
		_, err := parts[0].Write(w, u.process) // there was one session
		return err
	}
	if path == output.Stdout {
		if err := write(p.Unfiltered); !errors.Is(err, syscall.EPIPE) { // its reader may have closed the pipe
			return err
		}
		return nil
	}
	size, err := outfile.Write(path, outfile.SnapshotMode, write)
	if err != nil {
		return err
	}
	p.UI.Sayf("%s recorded to %s (gclog convert %s converts it to a log)", formats.SizeText(size), path,
		view.ShellWords([]string{path}))
	p.sayMissing(u.result.Missing())
	return nil
}

// sayMissing says how much is missing at the beginning of a recording.
func (p *commands) sayMissing(missing time.Duration, exhausted bool) {
	switch {
	case exhausted:
		p.UI.Sayf("the recording begins %s late: %s of memory held no more",
			view.ShortTime(missing), formats.SizeText(recordMemory))
	case missing > 0:
		p.UI.Sayf("the recording begins %s late: gclog had not been attached before", view.ShortTime(missing))
	}
}
