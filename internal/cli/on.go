package cli

import (
	"cmp"
	"context"
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/actions"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/condition"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// Rules on the command line: --on RULE --do ACTION.

const (
	onFlag       = "on"
	doFlag       = "do"
	cooldownFlag = "cooldown"
)

// onFlags are the flags of commands that watch processes.
func onFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: onFlag, Category: ruleOptions, Usage: "when `RULE` fires, do what --do says: a condition on a collection, such as 'pause > 200ms && generation == 2', or EVENT: CONDITION (see gclog rules); may be repeated"},
		&cli.StringSliceFlag{Name: doFlag, Category: ruleOptions, Usage: "what to do, `ACTION`: log, exec:COMMAND (for sh, with the record on standard input), webhook:URL, record or record:DIRECTORY (the events from 30 s before to 5 s after), level:LEVEL or level:LEVEL:TIME (5m), heap or heap:FILE; may be repeated"},
		&cli.StringFlag{Name: cooldownFlag, Category: ruleOptions, Usage: "minimum `TIME` between two firings of a rule"},
	}
}

// parseOn parses the argument of --on: a condition on a collection, or an event and a condition on
// it, or just an event.
func parseOn(text string, cooldown time.Duration) (*rules.Rule, error) {
	kind, when, named := eventOf(text)
	if name, _, ok := strings.Cut(text, ":"); ok && !named && isWord(strings.TrimSpace(name)) {
		// In a condition there is a ':' only in quotes.
		_, err := rules.ParseKind(strings.TrimSpace(name))
		return nil, usagef("--%s %q: %w", onFlag, text, err)
	}
	r, err := rules.New(text, kind, when, 0, 0, cooldown)
	if wrong, ok := errors.AsType[*condition.Error](err); ok {
		return nil, usagef("--%s %q, column %d: %s", onFlag, text, wrong.Column+strings.LastIndex(text, when), wrong.Msg)
	}
	if err != nil {
		return nil, usagef("--%s %q: %w", onFlag, text, err)
	}
	return r, nil
}

// eventOf splits the argument of --on into the event that it names, if any, and the condition.
func eventOf(text string) (kind rules.Kind, when string, named bool) {
	name, rest, _ := strings.Cut(text, ":")
	if kind, err := rules.ParseKind(strings.TrimSpace(name)); err == nil {
		return kind, strings.TrimSpace(rest), true
	}
	return rules.OnGC, strings.TrimSpace(text), false
}

// isWord reports whether text consists of letters.
func isWord(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// A doer does what --do says when rules of --on fire.
type doer struct {
	p       *program
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
func (p *program) doer(c *cli.Context, format formats.Options) (*doer, error) {
	on, do := c.StringSlice(onFlag), c.StringSlice(doFlag)
	switch {
	case len(on) == 0 && len(do) == 0 && !c.IsSet(cooldownFlag):
		return nil, nil
	case len(on) == 0:
		return nil, usagef("--%s and --%s need --%s, such as --%s 'pause > 200ms'", doFlag, cooldownFlag, onFlag, onFlag)
	case len(do) == 0:
		return nil, usagef("--%s needs --%s, such as --%s log", onFlag, doFlag, doFlag)
	}
	cooldown, err := parseDuration(c, cooldownFlag)
	if err != nil {
		return nil, err
	}
	d := &doer{p: p, format: format}
	for _, text := range on {
		r, err := parseOn(text, cooldown)
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
		d.workers = append(d.workers, actions.Start(a, func(c *actions.Call, err error) { p.ui.sayf("--%s: %v", doFlag, err) }))
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
			return nil, usagef("--%s %q: %s is not a directory", doFlag, text, dir)
		}
		d.memory, d.files = flight.NewMemory(recordMemory), &flight.Files{Dir: dir, Keep: doKeep}
		return nil, nil
	case what == "level" && value != "":
		return nil, d.parseLevel(c, text, value)
	case text == "log":
		return actionFunc(func(_ context.Context, c *actions.Call) error {
			p.ui.sayf("process %d, %s: %s", c.PID, c.Rule, c.Text)
			return nil
		}), nil
	case what == "exec" && value != "":
		args := []string{"sh", "-c", value}
		if runtime.GOOS == "windows" {
			args = []string{"cmd", "/C", value}
		}
		return &actions.Exec{Args: args, Timeout: execTime, Say: func(_ *actions.Call, s string) { p.ui.say(s) }}, nil
	case what == "webhook" && (strings.HasPrefix(value, "https://") || strings.HasPrefix(value, "http://")):
		return actions.NewWebhook(value, os.Getenv(secretVariable), webhookTime, "gclog/"+p.version()), nil
	case what == "heap":
		if value != "" {
			if err := p.checkDump(value, false); err != nil {
				return nil, usagef("--%s %q: %w", doFlag, text, err)
			}
		}
		return p.heapAction(value), nil
	}
	return nil, usagef("--%s %q: it must be log, exec:COMMAND, webhook:URL (http or https), record or record:DIRECTORY, level:LEVEL or level:LEVEL:TIME, heap or heap:FILE", doFlag, text)
}

const (
	webhookTime = 10 * time.Second
	// secretVariable has the secret that signs what webhooks receive.
	secretVariable = "GCLOG_WEBHOOK_SECRET"
	// heapEvery is how often a heap snapshot may be taken: each one pauses the program.
	heapEvery = time.Minute
)

// heapAction returns an action that takes heap snapshots, a minute apart or more.
func (p *program) heapAction(file string) actions.Action {
	var last time.Time
	return actionFunc(func(ctx context.Context, c *actions.Call) error {
		if since := time.Since(last); !last.IsZero() && since < heapEvery {
			p.ui.sayf("no heap snapshot: the last one was %v ago, and they are at least %v apart", since.Round(time.Second), heapEvery)
			return nil
		}
		args := []string{"heap", "snapshot", "--pid", strconv.FormatInt(c.PID, 10)}
		if file != "" {
			args = append(args, "--output", file)
		}
		_, err := command.Self(ctx, args, nil, p.ui.say)
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
		return usagef("--%s %q: %w", doFlag, text, err)
	}
	if hasTime {
		if l.lasting, err = time.ParseDuration(lasting); err != nil || l.lasting <= 0 {
			return usagef("--%s %q: %q is not a time: write it like 30s or 5m", doFlag, text, lasting)
		}
	}
	if c.String("record") != "" {
		return usagef("--%s level and --record cannot be combined: the recording would end where the level changes", doFlag)
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
			x.p.ui.sayf("%s recorded to %s (gclog convert %s converts it to a log)", formats.SizeText(file.Bytes), file.Path, file.Path)
		}
		if len(saved.Files) > 0 {
			x.p.sayMissing(saved.Missing, saved.Exhausted)
		}
		if err != nil {
			x.p.ui.sayf("--%s record: %v", doFlag, err)
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
			x.p.ui.sayf("the level is %s for %v", x.level.name, x.level.lasting)
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
		x.p.ui.say("the level is as before again")
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
		d.p.ui.sayf("%s were left out, because those before them took too long: use --%s", counted(uint64(dropped), "action"), cooldownFlag)
	}
	d.saving.Wait() // a file is complete or not there, and was asked for
}
