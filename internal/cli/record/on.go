package record

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/actions"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/internal/view"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// Rules on the command line: --on RULE --do ACTION.

// onFlags are the flags of commands that watch processes.
func onFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{
			Name:     flags.On,
			Category: flags.RuleGroup,
			Usage: "when `RULE` fires, do what --do says: a condition on a collection, such as 'pause > 200ms && " +
				"generation == 2', or EVENT: CONDITION (see gclog rules); may be repeated",
		},
		&cli.StringSliceFlag{
			Name:     flags.Do,
			Category: flags.RuleGroup,
			Usage: "what to do, `ACTION`: log, exec:COMMAND (for sh, with the record on standard input), " +
				"webhook:URL, record or record:DIRECTORY (the events from 30 s before to 5 s after), level:LEVEL or " +
				"level:LEVEL:TIME (5m), heap or heap:FILE; may be repeated",
		},
		&cli.StringFlag{
			Name: flags.Cooldown, Category: flags.RuleGroup, Usage: "minimum `TIME` between two firings of a rule",
		},
	}
}

// A doer does what --do says when rules of --on fire.
type doer struct {
	p       *commands
	rules   []*rules.Rule
	format  formats.Options
	workers []*actions.Worker
	memory  *flight.Memory // for record; nil: nothing is recorded
	files   *flight.Files
	saving  sync.WaitGroup
	level   *raisedLevel // for level; nil: the level does not change
}

// A raisedLevel is what the action level asks for.
type raisedLevel struct {
	name    string
	lasting time.Duration
	config  session.Config
}

const (
	// actionsTime is how long what is in progress may take at the end.
	actionsTime = 5 * time.Second
	// actionsKill is how long that may take to end when it is stopped then.
	actionsKill = 3 * time.Second
)

// doer returns what the flags say, nil if they were not given.
func (p *commands) doer(c *cli.Context, format formats.Options) (*doer, error) {
	on, do := c.StringSlice(flags.On), c.StringSlice(flags.Do)
	switch {
	case len(on) == 0 && len(do) == 0 && !c.IsSet(flags.Cooldown):
		return nil, nil
	case len(on) == 0:
		return nil, exit.Usagef("--%s and --%s need --%s, such as --%s 'pause > 200ms'",
			flags.Do, flags.Cooldown, flags.On, flags.On)
	case len(do) == 0:
		return nil, exit.Usagef("--%s needs --%s, such as --%s log", flags.On, flags.Do, flags.Do)
	}
	cooldown, err := flags.Duration(c, flags.Cooldown)
	if err != nil {
		return nil, err
	}
	d := &doer{p: p, format: format}
	for _, text := range on {
		r, err := flags.Rule(text, cooldown)
		if err != nil {
			return nil, err
		}
		d.rules = append(d.rules, r)
	}
	var list []actions.Action
	for _, text := range do {
		a, err := d.action(c, text)
		if err != nil {
			return nil, err
		}
		if a != nil {
			list = append(list, a)
		}
	}
	for _, a := range list {
		d.workers = append(d.workers,
			actions.Start(a, func(c *actions.Call, err error) { p.UI.Sayf("--%s: %v", flags.Do, err) }))
	}
	return d, nil
}

// An actionFunc is an action that is a function.
type actionFunc func(context.Context, *actions.Call) error

// Do implements actions.Action.
func (f actionFunc) Do(ctx context.Context, c *actions.Call) error { return f(ctx, c) }

const execTime = time.Minute

const (
	// doBefore and doAfter are the time around something that the action record records.
	doBefore = 30 * time.Second
	doAfter  = 5 * time.Second
	// doKeep is how many recordings of a process are kept.
	doKeep = 10
	// doLevel is how long the action level lasts, if nothing else is said.
	doLevel = 5 * time.Minute
)

// action parses the argument of --do. It returns nil for an action that needs no worker.
func (d *doer) action(c *cli.Context, text string) (actions.Action, error) {
	p := d.p
	what, value, _ := strings.Cut(text, ":")
	switch {
	case what == "record":
		dir := cmp.Or(value, ".")
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return nil, exit.Usagef("--%s %q: %s is not a directory", flags.Do, text, dir)
		}
		d.memory, d.files = flight.NewMemory(recordMemory), &flight.Files{Dir: dir, Keep: doKeep}
		return nil, nil
	case what == "level" && value != "":
		return nil, d.parseLevel(c, text, value)
	case text == "log":
		return actionFunc(func(_ context.Context, c *actions.Call) error {
			p.UI.Sayf("process %d, %s: %s", c.PID, c.Rule, c.Text)
			return nil
		}), nil
	case what == "exec" && value != "":
		args := []string{"sh", "-c", value}
		if runtime.GOOS == "windows" {
			args = []string{"cmd", "/C", value}
		}
		return &actions.Exec{Args: args, Timeout: execTime, Say: func(_ *actions.Call, s string) { p.UI.Say(s) }}, nil
	case what == "webhook" && (strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://")):
		return actions.NewWebhook(value, os.Getenv(secretVariable), webhookTime, "gclog/"+p.Version), nil
	case what == "heap":
		if value != "" {
			if err := outfile.CheckDump(p.Run, value, false); err != nil {
				return nil, exit.Usagef("--%s %q: %w", flags.Do, text, err)
			}
		}
		return p.heapAction(value), nil
	}
	return nil, exit.Usagef("--%s %q: it must be log, exec:COMMAND, webhook:URL (http or https), record or "+
		"record:DIRECTORY, level:LEVEL or level:LEVEL:TIME, heap or heap:FILE", flags.Do, text)
}

const (
	webhookTime = 10 * time.Second
	// secretVariable has the secret that signs what webhooks receive.
	secretVariable = "GCLOG_WEBHOOK_SECRET"
	// heapEvery is how often a heap snapshot may be taken: each one pauses the program.
	heapEvery = time.Minute
)

// heapAction returns an action that takes heap snapshots, a minute apart or more.
func (p *commands) heapAction(file string) actions.Action {
	var last time.Time
	return actionFunc(func(ctx context.Context, c *actions.Call) error {
		if since := time.Since(last); !last.IsZero() && since < heapEvery {
			p.UI.Sayf("no heap snapshot: the last one was %v ago, and they are at least %v apart",
				since.Round(time.Second), heapEvery)
			return nil
		}
		args := []string{"heap", "snapshot", "--pid", strconv.FormatInt(c.PID, 10)}
		if file != "" {
			args = append(args, "--output", file)
		}
		_, err := command.Self(ctx, args, nil, p.UI.Say)
		last = time.Now()
		return err
	})
}

// parseLevel parses the value of the action level.
func (d *doer) parseLevel(c *cli.Context, text, value string) error {
	name, lasting, hasTime := strings.Cut(value, ":")
	l := &raisedLevel{name: name, lasting: doLevel}
	var err error
	if l.config, err = attach.SessionConfig(name, c.StringSlice("providers"), true); err != nil {
		return exit.Usagef("--%s %q: %w", flags.Do, text, err)
	}
	if hasTime {
		if l.lasting, err = time.ParseDuration(lasting); err != nil || l.lasting <= 0 {
			return exit.Usagef("--%s %q: %q is not a time: write it like 30s or 5m", flags.Do, text, lasting)
		}
	}
	if c.String("record") != "" {
		return exit.Usagef(
			"--%s level and --record cannot be combined: the recording would end where the level changes", flags.Do)
	}
	d.level = l
	return nil
}

// A doing is what is done for one process.
type doing struct {
	*doer
	engine   *rules.Engine       // of all sessions: it knows when rules have fired
	recorder *flight.Recorder    // nil: nothing is recorded
	levels   chan session.Config // to the session; nil: its level does not change
	usual    session.Config      // of the session

	mu    sync.Mutex
	timer *time.Timer // ends the raised level; nil: it was never raised
	until time.Time   // when it ends
}

// of returns what is done for a process with a session of this configuration.
func (d *doer) of(usual session.Config) *doing {
	x := &doing{doer: d, usual: usual}
	if d.memory != nil {
		x.recorder = d.memory.NewRecorder("", doBefore)
	}
	if d.level != nil {
		x.levels = make(chan session.Config, 2)
	}
	x.engine = rules.NewEngine(d.rules, d.format, x.fire)
	x.engine.Live = true
	return x
}

// fire does what is to be done.
func (x *doing) fire(f *rules.Firing) {
	call := actions.NewCall(f, x.format.Host)
	for _, w := range x.workers {
		w.Offer(call)
	}
	if x.recorder != nil {
		x.record(f)
	}
	if x.levels != nil {
		x.raise()
	}
}

// record begins a recording, or prolongs the one in progress.
func (x *doing) record(f *rules.Firing) {
	recording, isNew := x.recorder.Record(flight.TriggerFor(f.Process, f.Began(), f.At, doBefore, doAfter))
	if !isNew {
		return
	}
	process := *f.Process
	x.saving.Go(func() {
		saved, err := x.files.Save(recording, &process)
		for _, file := range saved.Files {
			x.p.UI.Sayf("%s recorded to %s (gclog convert %s converts it to a log)",
				formats.SizeText(file.Bytes), file.Path, view.ShellWords([]string{file.Path}))
		}
		if len(saved.Files) > 0 {
			x.p.sayMissing(saved.Missing, saved.Exhausted)
		}
		if err != nil {
			x.p.UI.Sayf("--%s record: %v", flags.Do, err)
		}
	})
}

// raise raises the level, or keeps it raised.
func (x *doing) raise() {
	x.mu.Lock()
	defer x.mu.Unlock()
	now := time.Now()
	if raised := now.Before(x.until); !raised {
		select {
		case x.levels <- x.level.config:
			x.p.UI.Sayf("the level is %s for %v", x.level.name, x.level.lasting)
		default: // it is changing anyway
		}
	}
	x.until = now.Add(x.level.lasting)
	if x.timer == nil {
		x.timer = time.AfterFunc(x.level.lasting, x.lower)
	} else {
		x.timer.Reset(x.level.lasting)
	}
}

// lower makes the level the usual one again.
func (x *doing) lower() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if left := time.Until(x.until); left > 0 {
		x.timer.Reset(left)
		return
	}
	select {
	case x.levels <- x.usual:
		x.p.UI.Say("the level is as before again")
	default: // it has not even changed before
		x.timer.Reset(time.Second)
	}
}

// end ends what is done for the process, whose session has ended.
func (x *doing) end() {
	if x == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.timer != nil {
		x.timer.Stop()
	}
	if x.recorder != nil {
		x.recorder.Close()
	}
}

// close waits until what is in progress is done, for some time, and says what was left out.
func (d *doer) close() {
	if d == nil {
		return
	}
	enough := time.Now().Add(actionsTime)
	ctx, cancel := context.WithDeadline(context.Background(), enough.Add(actionsKill))
	defer cancel()
	dropped := int64(0)
	for _, w := range d.workers {
		w.Close(ctx, time.Until(enough))
		dropped += w.Counts().Dropped
	}
	if dropped > 0 {
		d.p.UI.Sayf("%s were left out, because those before them took too long: use --%s",
			view.Counted(uint64(dropped), "action"), flags.Cooldown)
	}
	d.saving.Wait() // a file is complete or not there, and was asked for
}
