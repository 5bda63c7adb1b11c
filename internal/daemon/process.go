package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/session"
	"github.com/rs/zerolog"
)

const (
	// openTime is how long it may take to open a session.
	openTime = 10 * time.Second
	// sessionsMost is one more than the number of sessions that a process has at a time.
	sessionsMost = 4
)

// A process carries out what the supervisor of a process decides. Its fields belong to the daemon's
// loop, except for those that are passed to the writer.
type process struct {
	d      *Daemon
	key    key
	target *host.Target
	seen   config.Subject // what could be known of it without asking it
	peer   *session.Peer  // that connected to a port of ours; nil: none
	sup    supervisor
	ctx    context.Context
	cancel context.CancelFunc
	timer  *time.Timer

	ignored bool          // it was started with GCLOG_IGNORE=1
	asked   bool          // it was asked who it is
	found   gclog.Process // what was found out about it
	facts   gclog.Process // found, completed by the configuration
	outputs []output.Spec

	rules       []*activeRule // those that apply to it
	engine      *rules.Engine // that evaluates engineRules; its writer uses it
	engineRules []*activeRule
	raised      raised
	recorder    *flight.Recorder // for rules that record; nil: none does

	inTable        bool             // its records are written to Parquet files
	snapshots      bool             // heap snapshots are taken when its heap grows
	counts         *metrics.Process // counts its records; nil: nothing does
	heap           heapWatch
	snapshotStatus *SnapshotStatus // nil: none was due yet

	live     map[int]*attach.Session
	sessions chan *attach.Session // to the writer; nil: there is no writer
	requests chan func(*attach.Log)
	owed     []func(*attach.Log) // requests that the writer has had no room for
	progress attach.Progress
	gaveUp   time.Time
	stopped  bool // a signal or a debugger had stopped it when an attempt last failed
	defects  int  // panics of gclog that it has triggered
	reported bool // its end was logged; two sessions see it when one is taking over from the other
}

// A key identifies a process among all others of this host, including earlier ones with the same
// pid.
type key struct {
	pid   int
	start uint64
	// If the pid is unknown, for a process that connected to a port:
	cookie string
	uid    int
}

func (d *Daemon) newProcess(k key, t *host.Target, peer *session.Peer) *process {
	b := backoff.NewExponentialBackOff()
	b.InitialInterval, b.Multiplier, b.MaxInterval = time.Second, 2, time.Minute
	p := &process{
		d: d, key: k, target: t, seen: outside(&t.Process), peer: peer, ignored: t.Ignored(),
		sup: supervisor{backOff: b}, live: map[int]*attach.Session{},
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	return p
}

// step passes an event to the supervisor and carries out what it decides.
func (p *process) step(e event) {
	for _, a := range p.sup.step(time.Now(), e) {
		p.do(a)
	}
	if p.sup.state == stateGivenUp && p.gaveUp.IsZero() {
		p.gaveUp = time.Now()
	} else if p.sup.state != stateGivenUp {
		p.gaveUp = time.Time{}
	}
}

func (p *process) do(a action) {
	switch a.kind {
	case actIdentify:
		p.identify()
	case actOpen:
		p.open(a)
	case actClose:
		if s := p.live[a.session]; s != nil {
			s.Ask()
		}
	case actAbort:
		if s := p.live[a.session]; s != nil {
			s.Abort()
		}
	case actWait:
		if p.timer != nil {
			p.timer.Stop()
		}
		p.timer = time.AfterFunc(a.wait, func() { p.later(event{kind: eventTimer}) })
	case actFinish:
		p.finish()
	case actSay:
		p.d.say(p, a.warn, a.text)
	}
}

// later passes an event to the supervisor from another goroutine.
func (p *process) later(e event) { p.post(func() { p.step(e) }) }

// post has the loop call f.
func (p *process) post(f func()) { p.d.post(func() { p.guard(f) }) }

// start runs f in a goroutine of its own.
func (p *process) start(f func()) {
	go func() {
		if defect := attach.Contain(f); defect != nil {
			p.post(func() { p.failed(defect) })
		}
	}()
}

// guard runs f, which must be about this process alone: after a panic the daemon gives up this
// process and no other.
func (p *process) guard(f func()) {
	if defect := attach.Contain(f); defect != nil {
		p.failed(defect)
	}
}

// failed gives the process up, whatever state it is in.
func (p *process) failed(defect *attach.DefectError) {
	p.sayDefect(defect)
	for _, s := range p.live {
		s.Cut()
	}
	p.gaveUp = time.Now()
	for _, a := range p.sup.giveUp(defect.Error()) {
		p.do(a)
	}
}

// sayDefect counts a panic and writes it to the daemon's own log.
func (p *process) sayDefect(defect *attach.DefectError) {
	p.defects++
	p.d.sayDefect(defect, p.target.PID)
}

// identify finds out who the process is. A process that must not be logged whatever it answers is
// not asked.
func (p *process) identify() {
	if why := p.refusal(); why != "" {
		p.drop()
		p.step(event{kind: eventIdentified, plan: plan{excluded: why}})
		return
	}
	p.asked = true
	p.start(func() {
		facts, err := p.askWho()
		if err != nil && !session.IsUnknownCommand(err) {
			p.explain(err, event{kind: eventFailed})
			return
		}
		p.post(func() {
			p.found = facts
			p.drop()
			p.step(event{kind: eventIdentified, plan: p.plan()})
		})
	})
}

// refusal returns why the process must not be logged whatever it answers; "" if that is undecided.
func (p *process) refusal() string {
	if p.ignored {
		return "it was started with GCLOG_IGNORE=1"
	}
	return p.d.config.Refused(&p.seen)
}

// drop forgets what was only needed to find out who the process is: it may contain secrets, and be
// long. The arguments are also in p.seen and the facts, for the rules of the configuration.
func (p *process) drop() { p.target.Environ, p.target.CommandLine = nil, nil }

// askWho asks a process who it is, as soon as its runtime has been resumed.
func (p *process) askWho() (facts gclog.Process, err error) {
	err = p.target.AwaitStartup(p.ctx, func(err error) { p.later(event{kind: eventSuspended, why: err.Error()}) })
	if err != nil {
		return facts, err
	}
	return attach.Identify(p.ctx, p.target) // each of its requests has its own limit
}

// explain looks at a process after a failed attempt, and passes the failure to the supervisor. The
// loop must not call it: a look takes time.
func (p *process) explain(err error, e event) {
	stopped := p.target.Stopped()
	e.why = p.d.o.Explain(p.ctx, p.target, err).Error()
	p.post(func() {
		p.d.metrics.failures[failureReason(err)]++
		p.stopped, e.final = stopped, errors.Is(err, errReplaced)
		p.step(e)
		if e.final { // it will be found again, as another process
			p.d.discovery.sweeper.again(p.key)
			p.step(event{kind: eventGone})
		}
	})
}

// plan returns what the configuration asks for.
func (p *process) plan() plan {
	p.facts = p.found
	decided := decide(p.d.config, p.seen, &p.facts)
	if other := p.d.sameRuntime(p); other != nil && decided.excluded == "" {
		p.d.say(p, true, fmt.Sprintf("process %d reports the runtime cookie of process %d (%s): one of them reports "+
			"a false cookie; both are logged", p.target.PID, other.target.PID, p.facts.Cookie))
	}
	p.outputs, p.snapshots, p.inTable = decided.outputs, decided.snapshots && p.key.pid != 0, decided.inTable
	p.rules = p.d.rules.set.numbered(decided.rules)
	p.keep(window(&p.d.config.Config, decided.rules))
	if p.raised.level != "" {
		decided.level = p.raised.level
	}
	return decided.plan
}

// outside returns what can be known of a process without asking it.
func outside(p *host.Process) config.Subject {
	s := config.Subject{
		Processes: attach.Names(p), CommandLine: strings.Join(p.CommandLine, " "),
		User: p.User, Container: p.ContainerName, PID: p.PID,
	}
	if s.Container == "" {
		s.Container = p.ContainerID
	}
	return s
}

// A decision is what a configuration means for a process.
type decision struct {
	plan
	outputs   []output.Spec
	inTable   bool  // its records are written to Parquet files
	snapshots bool  // heap snapshots are taken when its heap grows
	rules     []int // those that apply to it
}

// decide applies a configuration to a process, and adds to its facts what the configuration says
// about it. s is what was seen of it from outside.
func decide(c *config.Loaded, s config.Subject, facts *gclog.Process) (d decision) {
	s.EntryAssembly = strings.TrimSuffix(facts.EntryAssembly, ".dll")
	s.Service, s.Namespace = facts.Service, facts.Namespace
	facts.Labels = c.Labels
	if included, why := c.Included(&s); !included {
		d.excluded = why
		return d
	}
	facts.Service, d.level = c.Identify(&s)
	s.Service = facts.Service
	d.outputs = c.OutputsFor(&s)
	for i := range d.outputs {
		d.outputs[i].Rotate.MakeDirs, d.outputs[i].Rotate.NoLinks = true, true
	}
	for i := range c.Rules {
		if c.Rules[i].Applies(&s) {
			d.rules = append(d.rules, i)
		}
	}
	d.recorded = window(&c.Config, d.rules) > 0
	d.inTable = c.InTable(&s)
	d.snapshots = c.TakesSnapshots(&s)
	d.suspensions, d.providers = output.Suspensions(d.outputs), strings.Join(c.Session.Providers, " ")
	d.counters = c.Session.Counters
	if len(d.outputs) == 0 {
		d.excluded = "no output matches it"
	}
	return d
}

// open opens a session. A session that takes over from another is written after it.
func (p *process) open(a action) {
	cfg, err := p.d.config.SessionConfig(a.level)
	if err != nil { // the configuration was checked
		p.step(event{kind: eventFailed, session: a.session, why: err.Error(), final: true})
		return
	}
	o := attach.SessionOptions{
		Config:      cfg,
		Counters:    p.d.config.Counters(),
		Runtime:     p.facts.RuntimeVersion,
		Suspensions: output.Suspensions(p.outputs),
		Progress:    &p.progress,
		Flight:      p.recorder,
		Poller:      p.d.poller,
		Warn:        func(s string) { p.post(func() { p.d.say(p, true, s) }) },
	}
	cookie := p.facts.Cookie
	p.start(func() {
		s, err := p.openSession(o, cookie, a.session > 1)
		if err != nil {
			p.explain(err, event{kind: eventFailed, session: a.session})
			return
		}
		p.post(func() {
			p.live[a.session] = s
			for _, how := range p.d.ending.hurry {
				how(s)
			}
			p.write(s)
			if p.sup.state == stateGivenUp { // because of a defect, which is not this session's
				s.Ask()
				return
			}
			if before := p.live[a.follows]; before != nil {
				p.start(func() { before.HandOver(s) })
			}
			p.d.log.Info().Int("pid", p.target.PID).Str("service", p.facts.Service).Str("process", p.name()).
				Str("runtime", p.facts.RuntimeVersion).Str("session_level", a.level).Msg("session started")
			p.step(event{kind: eventOpened, session: a.session})
		})
	})
}

// openSession opens a session, after it has made sure that the process is still the same: one that
// runs another program keeps its pid and its start time. A heap snapshot of the process may take any
// time before that.
func (p *process) openSession(o attach.SessionOptions, cookie string, again bool) (*attach.Session, error) {
	release, err := p.target.Share(p.ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	ctx, cancel := context.WithTimeout(p.ctx, openTime)
	defer cancel()
	if again && cookie != "" {
		info, err := p.target.ProcessInfo(ctx)
		if err != nil {
			return nil, err
		}
		if info.Cookie != cookie {
			return nil, errReplaced
		}
	}
	return attach.Open(ctx, p.target, o)
}

// write passes a session to the writer.
func (p *process) write(s *attach.Session) {
	if p.sessions == nil {
		p.sessions = make(chan *attach.Session, sessionsMost)
		p.requests = make(chan func(*attach.Log), sessionsMost)
		l := &attach.Log{
			Outputs:   p.outputs,
			Opener:    &p.d.opener,
			Format:    p.d.format(),
			Requests:  p.requests,
			Observe:   p.observe(),
			Summaries: p.d.config.Summary > 0,
		}
		facts := p.facts
		go p.serve(l, p.sessions, &facts)
	}
	p.sessions <- s // has room
}

// serve writes the log of the process until it is finished.
func (p *process) serve(l *attach.Log, sessions <-chan *attach.Session, facts *gclog.Process) {
	var lacks []output.Unwritten
	defect := attach.Contain(func() {
		l.Serve(sessions, facts, func(s *attach.Session, end gclog.End, err error) {
			p.post(func() { p.ended(s, end, err) })
		})
		lacks = l.Flush()
	})
	if len(lacks) == 0 {
		if another := p.d.closeLog(p, l); defect == nil {
			defect = another
		}
	}
	p.post(func() {
		if len(lacks) > 0 {
			p.d.keepUnwritten(p, l, lacks)
		}
		if defect == nil || p.sup.state == stateOver {
			p.d.forget(p)
		}
		if defect != nil { // another writer may have better luck, when the process gets another chance
			p.sessions, p.requests, p.owed = nil, nil, nil
			p.failed(defect)
		}
	})
}

// ended reports to the supervisor that a session has ended.
func (p *process) ended(s *attach.Session, end gclog.End, err error) {
	var n int
	for number, x := range p.live {
		if x == s {
			n = number
		}
	}
	delete(p.live, n)
	why := "the session ended: " + end.Reason.String()
	if err != nil {
		why = err.Error()
	}
	if defect, ok := errors.AsType[*attach.DefectError](err); ok {
		p.sayDefect(defect)
	}
	p.d.metrics.endings[end.Reason.String()]++
	if end.Reason.OfProcess() {
		if !p.reported {
			p.reported = true
			p.sayEnded(end)
		}
		p.step(event{kind: eventGone})
	}
	p.step(event{kind: eventEnded, session: n, why: why})
	if p.sup.state == stateExcluded {
		p.d.metrics.forget(p)
	}
}

// sayEnded logs how the process ended in the daemon's own log.
func (p *process) sayEnded(end gclog.End) {
	level := zerolog.InfoLevel
	if end.Bad() {
		level = zerolog.WarnLevel
	}
	about := p.d.log.With().Int("pid", p.target.PID).Str("service", p.facts.Service).Str("reason", end.Reason.String())
	if end.HasCode {
		about = about.Int("exit_code", end.ExitCode)
	}
	if end.Signal != 0 {
		about = about.Int("exit_signal", end.Signal)
	}
	log := about.Logger()
	log.WithLevel(level).Int64("gcs", p.progress.GCs.Load()).Msg("process ended")
}

// request has the writer do something between two records. It does not wait for a busy writer: the
// request is kept and passed on later.
func (p *process) request(f func(*attach.Log)) {
	if p.requests != nil { // otherwise a new writer starts with the current state
		p.owed = append(p.owed, f)
		p.pay()
	}
}

// pay passes as many requests to the writer as it has room for.
func (p *process) pay() {
	for len(p.owed) > 0 {
		select {
		case p.requests <- p.owed[0]:
			p.owed = p.owed[1:]
		default:
			return
		}
	}
}

// replan does what a new configuration asks for.
func (p *process) replan() {
	switch {
	case !p.isOut() || p.staysOut():
	case p.sessions == nil: // it has no log yet, so it can be treated as new
		p.again()
		return
	case !p.d.hasPlace(p.target.Principal()):
		return // until the next chance
	}
	if !p.sup.known || !p.asked {
		p.sup.known = false
		p.step(event{kind: eventPlanned})
		return
	}
	plan := p.plan()
	outputs, format, facts, observe := p.outputs, p.d.format(), p.facts, p.observe()
	p.request(func(l *attach.Log) {
		l.Observe = observe
		if err := l.Change(outputs, format, &facts); err != nil {
			p.post(func() { p.d.say(p, true, err.Error()) })
		}
	})
	p.step(event{kind: eventPlanned, plan: plan})
}

// isOut reports whether the process has no place among those that are logged.
func (p *process) isOut() bool { return p.sup.state == stateExcluded || p.sup.state == stateGivenUp }

// staysOut reports whether the configuration excludes it.
func (p *process) staysOut() bool {
	if !p.asked {
		return p.refusal() != ""
	}
	facts := p.found
	return p.sup.known && decide(p.d.config, p.seen, &facts).excluded != ""
}

// again has the process found again, and admitted if there is a place: what is needed to find out
// who it is has been dropped.
func (p *process) again() {
	delete(p.d.processes, p.key)
	p.cancel()
	if p.key.pid != 0 {
		p.d.discovery.sweeper.again(p.key)
		return
	}
	p.d.findPeer(p.peer)
}

// goOn retries at once with a process that was stopped and has been resumed.
func (p *process) goOn() {
	if !p.stopped || p.target.Stopped() {
		return
	}
	switch p.sup.state {
	case stateWaiting:
		p.step(event{kind: eventTimer})
	case stateGivenUp:
		p.replan()
	}
}

// tick does work that is rarely due.
func (p *process) tick() {
	p.pay()
	p.goOn()
	if p.progress.Unwritten.Load() != nil && len(p.owed) == 0 { // the next record may come late
		p.request(func(l *attach.Log) { l.Flush() })
	}
	if p.sup.state == stateGivenUp && time.Since(p.gaveUp) >= chanceEvery {
		p.replan()
	}
}

// summarize has a summary written.
func (p *process) summarize() {
	if p.sup.state == stateOn && len(p.owed) == 0 { // a writer that lags writes none
		p.request((*attach.Log).Summarize)
	}
}

// finish closes the outputs and forgets the process.
func (p *process) finish() {
	p.cancel()
	if p.sessions == nil {
		p.d.forget(p)
		return
	}
	close(p.sessions) // serve forgets it when everything is written
}
