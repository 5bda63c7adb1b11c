package daemon

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/actions"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/rules"
	"github.com/rs/zerolog"
)

// Rules are evaluated by the writers of the logs, which must not wait. What their actions do is done
// by a worker for each action, or by the loop, if it is about the daemon's own state.

// ruleSets are the rules of the daemon, and what their actions need. Rules of an earlier configuration may
// still have actions that have not ended.
type ruleSets struct {
	d          *Daemon
	set        *ruleSet
	firings    chan func() // actions that the loop does; whoever puts them does not wait
	memory     *flight.Memory
	recordings atomic.Pointer[flight.Files]
	saving     sync.WaitGroup // recordings that are being written
}

func newRuleSets(d *Daemon) *ruleSets {
	return &ruleSets{d: d, set: &ruleSet{}, firings: make(chan func(), maxFirings), memory: flight.NewMemory(0)}
}

// prepare implements part. If the rules are the same, nothing changes: their cooldowns continue.
func (x *ruleSets) prepare(next *config.Loaded) (change, error) {
	set, err := x.d.newRuleSet(&next.Config)
	if err != nil { // a file has gone since it was checked
		return change{}, err
	}
	apply := func() {
		old := x.set
		if reflect.DeepEqual(old.config, set.config) && slices.Equal(old.secrets, set.secrets) {
			old, set = set, old
		}
		x.set = set
		x.useRecordings(&next.Config)
		go old.closeLater(actionsEnd)
	}
	return change{apply, func() { set.closeLater(0) }}, nil
}

// observe implements part.
func (x *ruleSets) observe(p *process) func(*gclog.Process) gclog.Observer {
	if e := p.ruleEngine(); e != nil {
		return e.Observe
	}
	return nil
}

// forget implements part.
func (x *ruleSets) forget(p *process) {
	p.keep(0)
	p.raised.end()
}

// settle implements part: the actions of the rules are ended, and recordings written. Actions that do
// not end are logged.
func (x *ruleSets) settle(ctx context.Context, all *sync.WaitGroup) {
	within := actionsStop
	if end, limited := ctx.Deadline(); limited { // stopping them takes time, too
		within = min(within, time.Until(end)/2)
	}
	all.Go(func() {
		for _, name := range x.set.close(ctx, within) {
			x.d.post(func() {
				x.d.log.Warn().Str("rule", name).Msg("an action of the rule does not end: gclog ends without it")
			})
		}
	})
	all.Go(x.saving.Wait)
}

// A ruleSet contains the rules of a configuration, in its order.
type ruleSet struct {
	config  []config.Rule
	secrets []webhookSecrets // one of each action
	list    []*activeRule
}

// An activeRule is a rule with the workers of its actions.
type activeRule struct {
	*rules.Rule
	actions []*activeAction
	fired   atomic.Int64
	left    atomic.Int64 // actions that the loop had no room for
	said    int64        // how many of what was left out have been logged
}

// An activeAction is one action of a rule.
type activeAction struct {
	config.Action
	worker *actions.Worker // of an action that takes time; nil: the loop does it
	actionCounts
}

// actionCounts are how often an action without a worker was done, has failed, and was left out.
type actionCounts struct {
	done, failed, left atomic.Int64
	why                atomic.Pointer[string] // why it has failed the last time; nil: it never has
}

// fail counts a failure.
func (c *actionCounts) fail(err error) {
	c.failed.Add(1)
	why := err.Error()
	c.why.Store(&why)
}

const (
	// maxFirings is how many actions wait for the loop.
	maxFirings = 1000
	// actionsEnd is how long the actions of a rule that was removed have to end; actionsStop is how
	// long all have when the daemon ends, except for recordings that are being written.
	actionsEnd  = time.Minute
	actionsStop = 500 * time.Millisecond
	// actionsKill is how long an action of a rule that was removed may take to end after that. A command
	// that waits for a disk cannot even be killed.
	actionsKill = 3 * time.Second
)

// webhookSecrets are the values of the secrets of a webhook; "": there is none.
type webhookSecrets struct{ url, key string }

// newRuleSet returns the rules of a configuration. Their workers are running.
func (d *Daemon) newRuleSet(c *config.Config) (*ruleSet, error) {
	s := &ruleSet{config: c.Rules}
	for i := range c.Rules {
		for j := range c.Rules[i].Do {
			hook := &c.Rules[i].Do[j].Webhook
			var x webhookSecrets
			var errs [2]error
			x.url, errs[0] = hook.URL.Value()
			x.key, errs[1] = hook.Secret.Value()
			if err := errors.Join(errs[:]...); err != nil {
				return nil, fmt.Errorf("the webhook of rule %s: %w", c.Rules[i].Name, err)
			}
			s.secrets = append(s.secrets, x)
		}
	}
	secrets := s.secrets
	for i := range c.Rules {
		r := &c.Rules[i]
		compiled, err := r.Compile()
		if err != nil { // the configuration was checked
			return nil, err
		}
		active := &activeRule{Rule: compiled}
		for j := range r.Do {
			active.actions = append(active.actions,
				&activeAction{Action: r.Do[j], worker: d.worker(compiled, &r.Do[j], secrets[0])})
			secrets = secrets[1:]
		}
		s.list = append(s.list, active)
	}
	return s, nil
}

// worker returns the worker of an action, nil if the loop does it.
func (d *Daemon) worker(r *rules.Rule, a *config.Action, secrets webhookSecrets) *actions.Worker {
	var action actions.Action
	what := ""
	switch {
	case secrets.url != "":
		what, action = "webhook", actions.NewWebhook(secrets.url, secrets.key, a.Webhook.Timeout, "gclog/"+d.o.Version)
	case len(a.Exec.Command) > 0:
		account, err := a.Exec.Account()
		if err != nil { // the account has been removed since the configuration was checked
			d.log.Error().Err(err).Str("rule", r.Name).Msg("the command of the rule is not run")
			return nil
		}
		say := func(c *actions.Call, line string) {
			d.report(zerolog.InfoLevel, r.Name, "output", c.PID, "exec: "+line)
		}
		what, action = "exec", &actions.Exec{Args: a.Exec.Command, As: account, Timeout: a.Exec.Timeout, Say: say}
	default:
		return nil
	}
	return actions.Start(action, func(c *actions.Call, err error) {
		level := zerolog.WarnLevel
		if _, running := errors.AsType[*command.UnendedError](err); running {
			level = zerolog.ErrorLevel
		}
		d.report(level, r.Name, what, c.PID, what+": "+err.Error())
	})
}

// report logs what came of an action; the limit for a rule is one for each what, so that the output
// of a command hides nothing else. It must not be called by the loop.
func (d *Daemon) report(level zerolog.Level, rule, what string, pid int64, text string) {
	text = fmt.Sprintf("rule %s, process %d: %s", rule, pid, text)
	say := func() { d.limiter.say(level, "rule "+rule+" "+what, text, nil) }
	select {
	case d.events <- say:
	case <-d.stopped:
		d.log.WithLevel(level).Msg(text)
	}
}

// close ends the workers: see actions.Worker.Close. It returns the rules whose actions do not end.
func (s *ruleSet) close(ctx context.Context, within time.Duration) (left []string) {
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, r := range s.list {
		for _, a := range r.actions {
			if a.worker == nil {
				continue
			}
			all.Go(func() {
				if !a.worker.Close(ctx, within) {
					mu.Lock()
					defer mu.Unlock()
					left = append(left, r.Name)
				}
			})
		}
	}
	all.Wait()
	return left
}

// closeLater is close without a need to hurry.
func (s *ruleSet) closeLater(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within+actionsKill)
	defer cancel()
	s.close(ctx, within)
}

// numbered returns the rules with these numbers.
func (s *ruleSet) numbered(numbers []int) (list []*activeRule) {
	for _, i := range numbers {
		list = append(list, s.list[i])
	}
	return list
}

// ruleEngine returns what evaluates the rules of the process, nil if there are none. It is the same
// one as long as the rules are, because it knows when they have fired.
func (p *process) ruleEngine() *rules.Engine {
	if len(p.rules) == 0 {
		p.engine, p.engineRules = nil, nil
		return nil
	}
	if p.engine != nil && slices.Equal(p.rules, p.engineRules) {
		return p.engine
	}
	byRule := map[*rules.Rule]*activeRule{}
	var list []*rules.Rule
	for _, r := range p.rules {
		byRule[r.Rule] = r
		list = append(list, r.Rule)
	}
	recorder := p.recorder
	p.engine = rules.NewEngine(list, p.d.format(), func(f *rules.Firing) { p.fire(byRule[f.Rule], f, recorder) })
	p.engine.Live, p.engineRules = true, p.rules
	return p.engine
}

// fire has the actions of a rule done. The writer of the log calls it.
func (p *process) fire(r *activeRule, f *rules.Firing, recorder *flight.Recorder) {
	r.fired.Add(1)
	var call *actions.Call
	for i := range r.actions {
		a := r.actions[i]
		if a.worker != nil {
			if call == nil {
				call = actions.NewCall(f, p.d.o.Host)
			}
			a.worker.Offer(call)
			continue
		}
		if a.Record.Before > 0 {
			p.record(recorder, r, a, f)
			continue
		}
		if do := p.inLoop(r, a, f); do != nil {
			select {
			case p.d.rules.firings <- func() { p.guard(do) }:
			default:
				r.left.Add(1)
				a.left.Add(1)
			}
		}
	}
}

// inLoop returns what the loop does for an action.
func (p *process) inLoop(r *activeRule, a *activeAction, f *rules.Firing) func() {
	name := r.Name
	switch {
	case a.Log != "":
		text := "rule " + name + ": " + f.Text()
		level, err := zerolog.ParseLevel(a.Log)
		if err != nil { // the configuration was checked
			level = zerolog.WarnLevel
		}
		return func() {
			p.d.limiter.say(level, fmt.Sprintf("rule %s %d", name, p.key.pid), text, p)
			a.done.Add(1)
		}
	case a.Level.To != "":
		return func() { p.raise(a, name) }
	case a.HeapSnapshot:
		return func() { p.requestSnapshot(a, name) }
	}
	return nil
}

// raise changes the level of the session for some time. If that is in progress already, it takes
// longer.
func (p *process) raise(a *activeAction, rule string) {
	if !p.hasSession() {
		a.left.Add(1)
		return
	}
	a.done.Add(1)
	level, lasting := a.Level.To, a.Level.For
	until := time.Now().Add(lasting)
	if p.raised.until.After(until) {
		return
	}
	p.raised.level, p.raised.until = level, until
	if p.raised.over == nil {
		p.raised.over = time.AfterFunc(lasting, func() { p.post(p.lower) })
	} else {
		p.raised.over.Reset(lasting) // a rule may fire all the time
	}
	if p.sup.want.level == level {
		return
	}
	p.d.say(p, false,
		fmt.Sprintf("rule %s: the level of the session is %s until %s", rule, level, until.Format(time.RFC3339)))
	p.replan()
}

// lower ends what raise has begun, if it is over.
func (p *process) lower() {
	if p.raised.level == "" || time.Now().Before(p.raised.until) {
		return
	}
	p.raised.end()
	if p.hasSession() {
		p.d.say(p, false, "the level of the session is as configured again")
		p.replan()
	}
}

// raised is a level that a rule has asked for.
type raised struct {
	level string // "": none has
	until time.Time
	over  *time.Timer // calls lower; nil: there is no level
}

func (r *raised) end() {
	if r.over != nil {
		r.over.Stop()
	}
	*r = raised{}
}

// tick implements part: it logs which actions were left out since the last call.
func (x *ruleSets) tick() {
	for _, r := range x.set.list {
		left := r.left.Load()
		for i := range r.actions {
			if w := r.actions[i].worker; w != nil {
				left += w.Counts().Dropped
			}
		}
		if left > r.said {
			x.d.limiter.warn("rule "+r.Name, fmt.Sprintf("rule %s fires too often: %d of its actions were left out, "+
				"because those before them take too long; set cooldown", r.Name, left-r.said), nil)
			r.said = left
		}
	}
}

// A RuleStatus is what is known about a rule.
type RuleStatus struct {
	Name    string         `json:"name"`
	Event   string         `json:"event"`
	When    string         `json:"when,omitempty"`
	Fired   int64          `json:"fired"` // since the rules were loaded, for all processes
	LeftOut int64          `json:"left_out"`
	Actions []ActionStatus `json:"actions"`
}

// An ActionStatus is what is known about an action of a rule.
type ActionStatus struct {
	Action  string `json:"action"`
	Done    int64  `json:"done,omitempty"`
	Failed  int64  `json:"failed,omitempty"`
	LeftOut int64  `json:"left_out,omitempty"`
	// LastError is why the action has failed, the last time that it has.
	LastError string `json:"last_error,omitempty"`
}

// status returns what is known about the rules.
func (s *ruleSet) status() (list []RuleStatus) {
	for i, r := range s.list {
		x := RuleStatus{
			Name:    r.Name,
			Event:   r.On.String(),
			When:    s.config[i].When,
			Fired:   r.fired.Load(),
			LeftOut: r.left.Load(),
		}
		for j := range r.actions {
			a := r.actions[j]
			status := ActionStatus{
				Action:  a.Names()[0],
				Done:    a.done.Load(),
				Failed:  a.failed.Load(),
				LeftOut: a.left.Load(),
			}
			if why := a.why.Load(); why != nil {
				status.LastError = *why
			}
			if a.worker != nil {
				counts := a.worker.Counts()
				status.Done, status.Failed, status.LeftOut = counts.Done, counts.Failed, counts.Dropped
				status.LastError = a.worker.LastError()
			}
			x.Actions = append(x.Actions, status)
		}
		list = append(list, x)
	}
	return list
}
