// Package daemon logs every .NET process of a node for as long as it runs: it finds the processes,
// keeps a session with each, and writes their logs where the configuration says. It implements the
// command of the same name.
//
// One goroutine, the loop, owns all state about the processes. Whatever can take time is done by
// other goroutines, which post their results to the loop: asking a process who it is, opening a
// session, reading it (attach.Session), writing (attach.Log), scanning /proc (sweeper), listening
// on ports. Each process has a supervisor, which decides what is done about it.
package daemon

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"regexp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/session"
	"github.com/rs/zerolog"
)

// Options configures a Daemon.
type Options struct {
	Config  *config.Loaded
	Load    func() (*config.Loaded, error) // reads the configuration again
	Log     zerolog.Logger
	Version string
	Session string // a random id of this run
	Host    string
	// Processes finds processes; nil: without a helper.
	Processes *host.Host
	// Explain adds what is known about the process to the error of a request.
	Explain func(context.Context, *host.Target, error) error
	// ClockOffset returns how far the host's wall clock is ahead of the clock that is never set;
	// nil: it is computed from this host's clocks.
	ClockOffset func() time.Duration
	// Environ has more environment variables, NAME=VALUE, for the commands of gclog that the daemon
	// runs: those of tests.
	Environ []string
	// Signals received from outside.
	Reload, Rotate, Status <-chan struct{}
}

// Daemon is a running daemon. The loop owns its fields; other goroutines only use o, opener and the
// fields that are channels, atomics or mutexes.
type Daemon struct {
	o       Options
	config  *config.Loaded
	log     zerolog.Logger
	limiter limiter
	opener  output.Opener
	poller  *session.Poller // nil: sessions wait for their own data

	events    chan func()
	stopped   chan struct{} // closed when the loop has ended
	started   bool          // a configuration was applied
	ready     atomic.Bool
	reloading sync.Mutex
	defects   int           // panics of gclog so far
	offset    time.Duration // of the clock, when it was last checked
	summaries *time.Timer   // until the next summaries are due

	processes map[key]*process
	discovery discovery
	queue     queue
	limits    limits
	unwritten []*UnwrittenLog
	ending    ending

	parts     []part // all that follow
	ports     *ports
	rules     *ruleSets
	metrics   *measurements
	exports   *exports
	snapshots *snapshots
	table     *table
	cleaner   *cleaner
	servers   *servers
}

// ending is what is known about the end of the daemon.
type ending struct {
	begun bool      // the daemon was asked to end, or has failed
	by    time.Time // when everything must have ended; zero: it has not begun
	shutdown
	hurry      []func(*attach.Session) // called for every session, including new ones, because time is running out
	lastWrites chan struct{}           // closed when what cannot be written is given up
}

// A shutdown has the time limits of the steps after the daemon was asked to end. All of them count
// from then, but more: that is how long what has ended at the deadline may take to say so.
type shutdown struct{ ask, cut, skip, write, leave, stop, more time.Duration }

const (
	// stopTime is how long the shutdown may take: all that ends gets the same deadline. Requests to a
	// process that are pending then may take askTime of it. A session that has not ended after cutTime
	// is cut off, so that what has arrived is still written; what is not written after skipTime is
	// reported as a gap. On a busy host that is the work of most sessions, so it has half of the time.
	// After writeTime nobody waits for room on a full disk any more, after leaveTime nor for sessions
	// and heap snapshots: actions of rules, recordings and what is exported get the rest.
	stopTime  = 4800 * time.Millisecond
	askTime   = time.Second
	cutTime   = 2 * time.Second
	skipTime  = 2500 * time.Millisecond
	writeTime = 3700 * time.Millisecond
	leaveTime = 4000 * time.Millisecond
	sayTime   = 150 * time.Millisecond
	// chanceEvery is how often a process that was given up gets another chance: a debugger may have
	// stopped it for an hour.
	chanceEvery = time.Hour
	// clockStep is the smallest step of the clock that records follow.
	clockStep = 200 * time.Millisecond
	// tick is how often the loop checks for work that is rarely due.
	tick = 10 * time.Second
)

// pathIn finds the file that a message about an output names.
var pathIn = regexp.MustCompile(`/[^ :;,]+`)

// errReplaced reports that a process runs another program than before.
var errReplaced = errors.New("it now runs another program")

// New returns a Daemon that is not running yet.
func New(o Options) *Daemon {
	d := &Daemon{
		o: o, config: o.Config, log: o.Log, events: make(chan func()), stopped: make(chan struct{}),
		processes: map[key]*process{}, queue: newQueue(),
		ending: ending{shutdown: shutdown{askTime, cutTime, skipTime, writeTime, leaveTime, stopTime, sayTime}},
	}
	if d.o.Processes == nil {
		d.o.Processes = &host.Host{}
	}
	if d.o.ClockOffset == nil {
		d.o.ClockOffset = clockOffset
	}
	d.offset = d.o.ClockOffset()
	d.ports, d.rules, d.metrics, d.exports = newPorts(d), newRuleSets(d), newMeasurements(d), &exports{d: d}
	d.snapshots, d.table, d.cleaner, d.servers = newSnapshots(d), &table{d: d}, &cleaner{d: d}, newServers(d)
	// The servers are last: what they serve is there, and what they do is not undone.
	d.parts = []part{d.ports, d.rules, d.metrics, d.exports, d.snapshots, d.table, d.cleaner, d.servers}
	d.limiter.log = &d.log
	d.limit()
	d.opener.Files.IsOurs = logs.IsOurs
	d.opener.Warn = func(s string) { d.post(func() { d.limiter.warn("output "+pathIn.FindString(s), s, nil) }) }
	return d
}

// Run runs the daemon until ctx is done. Then it ends all sessions in an orderly way, within five
// seconds.
func (d *Daemon) Run(ctx context.Context) error {
	scanner, err := host.NewScanner()
	if err != nil {
		return err
	}
	if d.poller, err = session.NewPoller(); err != nil {
		scanner.Close()
		return fmt.Errorf("polling sessions: %w", err)
	}
	defer func() { _ = d.poller.Close() }()
	made, stop := hints(os.TempDir())
	return d.run(ctx, func(sweeping context.Context) {
		defer scanner.Close()
		defer stop()
		d.discovery.sweeper.run(sweeping, scanner.Scan, made)
	})
}

// run is Run with a function that sweeps until its context is done.
func (d *Daemon) run(ctx context.Context, sweep func(context.Context)) error {
	sweeping, stopSweeping := context.WithCancel(context.Background())
	defer func() {
		stopSweeping()
		d.ending.begun = true // also of a daemon that has failed to start: what was found meanwhile is not logged
		d.settle(d.Ends())
		close(d.stopped)
	}()
	d.ending.lastWrites = make(chan struct{})
	d.discover(d.config.Discovery.Interval)
	go sweep(sweeping)
	if err := d.apply(d.config); err != nil {
		return err
	}
	for _, w := range d.config.Warnings {
		d.log.Warn().Msg(w)
	}
	d.sayStarted()
	watchdog, ticker := newWatchdog(), time.NewTicker(tick)
	done := ctx.Done()
	var steps []lateStep
	var next <-chan time.Time // for the first of the steps
	for !d.ending.begun || len(d.processes) > 0 || d.snapshots.areTaken() || len(d.unwritten) > 0 {
		if d.ending.begun && !d.snapshots.areTaken() {
			d.endWrites() // there will be no more room
		}
		select {
		case f := <-d.events:
			d.handle(f)
		case f := <-d.rules.firings: // contains its own panics
			f()
		case <-ticker.C:
			d.tick()
		case <-d.summaries.C:
			for _, p := range d.processes {
				p.guard(p.summarize)
			}
			d.awaitSummaries()
		case <-watchdog:
			notify(notifyWatchdog)
		case <-d.o.Reload:
			go func() { _ = d.reload() }() // reload has logged the error
		case <-d.o.Rotate:
			d.rotate()
		case <-d.o.Status:
			d.logStatus(d.status())
		case <-done:
			done = nil
			stopSweeping()
			d.stop()
			steps = d.lateSteps()
			next = time.After(time.Until(steps[0].at))
		case <-next:
			steps[0].do()
			if steps = steps[1:]; len(steps) == 0 {
				return nil
			}
			next = time.After(time.Until(steps[0].at))
		}
	}
	d.log.Info().Msg("gclog daemon stopped: no sessions left")
	return nil
}

// Ends returns when everything must have ended, computed once: when the daemon is asked to end, or has
// failed.
func (d *Daemon) Ends() time.Time {
	if d.ending.by.IsZero() {
		d.ending.by = time.Now().Add(d.ending.stop)
	}
	return d.ending.by
}

// A lateStep is what is done at a time if the daemon has not ended by then.
type lateStep struct {
	at time.Time
	do func()
}

// lateSteps returns the steps of a shutdown that takes long. After the last one nothing is waited for but
// the parts.
func (d *Daemon) lateSteps() []lateStep {
	began := d.Ends().Add(-d.ending.stop)
	cancel := func() {
		for _, p := range d.processes {
			p.cancel()
		}
	}
	return []lateStep{
		{began.Add(d.ending.ask), cancel},
		{began.Add(d.ending.cut), func() { d.hasten((*attach.Session).Cut) }},
		{began.Add(d.ending.skip), func() { d.hasten((*attach.Session).Skip) }},
		{began.Add(d.ending.write), d.endWrites},
		{began.Add(d.ending.leave), d.sayLate},
	}
}

// handle does what was posted to the loop. A panic of it ends nothing else.
func (d *Daemon) handle(f func()) {
	if defect := attach.Contain(f); defect != nil {
		d.sayDefect(defect, 0)
	}
}

// aside does something about a process in a goroutine of its own. A panic of it ends nothing else.
func (d *Daemon) aside(pid int, f func()) {
	go func() {
		if defect := attach.Contain(f); defect != nil {
			d.post(func() { d.sayDefect(defect, pid) })
		}
	}()
}

// sayLate logs what has not ended when there is no time left.
func (d *Daemon) sayLate() {
	if n := len(d.snapshots.turns.running); n > 0 {
		d.log.Warn().Int("snapshots", n).Msg("not all heap snapshots ended in time: the kernel ends them with gclog")
	}
	if n := len(d.processes); n > 0 {
		d.log.Warn().Int("processes", n).
			Msg("not all sessions ended in time: closing their connections, which also ends them")
	}
	for _, p := range d.processes {
		d.log.Warn().Int("pid", p.target.PID).Str("process", p.name()).
			Msgf("gclog ends before the log of process %d is complete: its last collections may be missing",
				p.target.PID)
	}
}

// sayDefect counts a panic and logs it, with the process that it was about, if any.
func (d *Daemon) sayDefect(defect *attach.DefectError, pid int) {
	d.defects++
	log := d.log
	if pid != 0 {
		log = log.With().Int("pid", pid).Logger()
	}
	log.Error().Str("stack", string(defect.Stack)).Msg(defect.Error())
}

// sayStarted logs where the daemon accepts requests.
func (d *Daemon) sayStarted() {
	e := d.log.Info().Str("version", d.o.Version).Str("config", d.config.File)
	if x := d.servers.control; x != nil {
		e = e.Str("control", x.address)
	}
	if x := d.servers.tcp; x != nil {
		e = e.Str("http", x.address)
	}
	e.Msg("gclog daemon started")
}

// post has the loop call f.
func (d *Daemon) post(f func()) {
	select {
	case d.events <- f:
	case <-d.stopped:
	}
}

// ask has the loop call f and waits for that; it reports whether f returned in time.
func (d *Daemon) ask(ctx context.Context, f func()) bool {
	done := make(chan struct{})
	select {
	case d.events <- func() { f(); close(done) }:
	case <-ctx.Done():
		return false
	case <-d.stopped:
		return false
	}
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	case <-d.stopped:
		return false
	}
}

func (d *Daemon) stop() {
	d.ending.begun = true
	d.ready.Store(false)
	notify(notifyStopping)
	d.log.Info().Int("processes", len(d.processes)).Msg("ending")
	d.snapshots.stop()
	for _, p := range d.processes {
		p.guard(func() { p.step(event{kind: eventStop}) })
	}
}

// hasten has all sessions hurry, and those that are opened later.
func (d *Daemon) hasten(how func(*attach.Session)) {
	d.ending.hurry = append(d.ending.hurry, how)
	for _, p := range d.processes {
		for _, s := range p.live {
			p.guard(func() { how(s) })
		}
	}
}

// forget removes a process from the list when everything about it is finished.
func (d *Daemon) forget(p *process) {
	if d.processes[p.key] == p {
		delete(d.processes, p.key)
	}
	for _, x := range d.parts {
		x.forget(p)
	}
	d.admit()
}

// reportReady reports, to systemd and over HTTP, that all processes have been looked for.
func (d *Daemon) reportReady() {
	if d.discovery.swept && !d.ending.begun {
		d.ready.Store(true)
		notify(notifyReady)
	}
}

// awaitSummaries sets when the next summaries are due.
func (d *Daemon) awaitSummaries() {
	wait := time.Duration(math.MaxInt64)
	if every := d.config.Summary; every > 0 {
		wait = untilSummary(time.Now(), every)
	}
	if d.summaries == nil {
		d.summaries = time.NewTimer(wait)
	}
	d.summaries.Reset(wait)
}

// untilSummary returns how long it is until the clock reaches a multiple of an interval. One that
// is just being reached does not count again.
func untilSummary(now time.Time, every time.Duration) time.Duration {
	return now.Add(time.Second).Truncate(every).Add(every).Sub(now)
}

// tick does work that is rarely due.
func (d *Daemon) tick() {
	d.admit()
	d.limiter.tick(time.Now())
	d.followClock()
	for _, p := range d.processes {
		p.guard(p.tick)
	}
	for _, x := range d.parts {
		x.tick()
	}
	stuck, _ := d.o.Processes.Stuck()
	notify(fmt.Sprintf("STATUS=%d processes, %d logged, %d not reachable, %d inspections stuck",
		len(d.processes)+len(d.discovery.unreachable), d.on(), len(d.discovery.unreachable), stuck))
}

// followClock keeps the time of records in step with the host's clock, even when that is set during
// a session, or the host has slept.
func (d *Daemon) followClock() {
	step := d.o.ClockOffset() - d.offset
	if step.Abs() < clockStep {
		return
	}
	d.offset += step
	d.log.Warn().Dur("by_ms", step).Msg("the host's clock was set: records follow the new time")
	for _, p := range d.processes {
		p.request(func(l *attach.Log) { l.Shift(step) })
	}
}

// on returns how many processes have a session.
func (d *Daemon) on() (n int) {
	for _, p := range d.processes {
		if len(p.live) > 0 {
			n++
		}
	}
	return n
}

// format returns the options of the records' format.
func (d *Daemon) format() formats.Options {
	return formats.Options{
		DotnetCauses: d.config.Causes == "dotnet", Version: d.o.Version, Session: d.o.Session, Host: d.o.Host,
		LongPause: d.config.LongPause.Nanoseconds(),
	}
}

// say logs something about a process in the daemon's own log.
func (d *Daemon) say(p *process, warn bool, text string) {
	if !warn {
		d.log.Info().Int("pid", p.target.PID).Str("process", p.name()).Msg(text)
		return
	}
	d.limiter.warn(fmt.Sprintf("%d/%d/%s", p.key.pid, p.key.start, p.key.cookie), text, p)
}

func (p *process) name() string {
	if p.facts.Name != "" {
		return p.facts.Name
	}
	return p.seen.Processes[0]
}

// rotate makes every output start a new file.
func (d *Daemon) rotate() {
	d.opener.Rotate()
	d.table.rotate()
	d.log.Info().Msg("all outputs started new files")
}

// reload reads the configuration again. An invalid configuration changes nothing. It runs outside
// the loop, because reading a file can hang. A reload that was started is completed even if its
// requester no longer waits for it: systemd is notified of its start and its end.
func (d *Daemon) reload() error {
	d.reloading.Lock() // one after the other
	defer d.reloading.Unlock()
	notify(notifyReloading())
	d.opener.Follow()
	loaded, err := d.o.Load()
	var wrong error
	if !d.ask(context.Background(), func() { wrong = d.reloaded(loaded, err) }) {
		return errors.New("gclog does not respond")
	}
	return wrong
}

// reloaded applies a configuration that was read, or logs why it could not be.
func (d *Daemon) reloaded(loaded *config.Loaded, err error) error {
	defer d.reportReady()
	if err == nil {
		err = d.apply(loaded)
	}
	if err != nil {
		d.log.Error().Err(err).Msg("keeping the current configuration")
		return err
	}
	for _, w := range loaded.Warnings {
		d.log.Warn().Msg(w)
	}
	d.log.Info().Str("config", loaded.File).Int("processes", len(d.processes)).Msg("configuration reloaded")
	return nil
}

// use applies what a configuration says about the daemon itself.
func (d *Daemon) use(next *config.Loaded) {
	if next.Log.Format != d.config.Log.Format {
		d.log.Warn().Msg("log.format takes effect only at startup: the format of the daemon's own log is unchanged")
	}
	every := d.config.Summary
	d.config = next
	if !d.started || next.Summary != every {
		d.awaitSummaries()
	}
	if d.started {
		d.limit()
		d.discovery.sweeper.soon(next.Discovery.Interval)
	}
	d.started = true
	if level, err := zerolog.ParseLevel(next.Log.Level); err == nil {
		d.log = d.log.Level(level)
	}
}

// Processes is what is known about all processes, for people and programs.
type Processes struct {
	Processes   []Status     `json:"processes"`
	Unreachable []Status     `json:"unreachable"`
	StuckLooks  int          `json:"stuck_looks"`     // at processes, that did not end in time
	Defects     int          `json:"internal_errors"` // panics of gclog so far
	Rules       []RuleStatus `json:"rules,omitempty"`
	// Unwritten are the logs of processes that have exited that lack the gap for what could not be
	// written.
	Unwritten []UnwrittenLog `json:"unwritten,omitempty"`
}

// A Status is what is known about one process.
type Status struct {
	PID        int             `json:"pid"`
	Process    string          `json:"process"`
	Service    string          `json:"service,omitempty"`
	Runtime    string          `json:"runtime,omitempty"`
	EntityID   string          `json:"entity_id,omitempty"` // the runtime's cookie
	User       string          `json:"user,omitempty"`
	Container  string          `json:"container,omitempty"`
	Namespace  string          `json:"namespace,omitempty"`
	Pod        string          `json:"pod,omitempty"`
	State      string          `json:"state"`
	Why        string          `json:"why,omitempty"` // why it has no session
	Level      string          `json:"level,omitempty"`
	Since      time.Time       `json:"since,omitzero"` // start of the session
	Attempts   int             `json:"failed_attempts,omitempty"`
	Defects    int             `json:"internal_errors,omitempty"` // panics of gclog that it has triggered
	GCs        int64           `json:"gcs"`
	LostEvents int64           `json:"lost_events"`
	Read       int64           `json:"read_bytes"`
	Written    int64           `json:"written_bytes"`
	LastGC     time.Time       `json:"last_gc,omitzero"`
	LastFull   *attach.FullGC  `json:"last_full_gc,omitempty"`
	Outputs    []string        `json:"outputs,omitempty"`
	Snapshots  *SnapshotStatus `json:"heap_snapshots,omitempty"` // nil: no snapshot was ever requested
	// Unwritten is what the outputs lack so far because they cannot be written.
	Unwritten []output.Unwritten `json:"unwritten,omitempty"`
}

func (p *process) status() Status {
	f := &p.facts
	s := Status{
		PID: p.target.PID, Process: p.name(), Service: f.Service, Runtime: f.RuntimeVersion, EntityID: f.Cookie,
		User: p.target.User, Container: p.target.ContainerID, Namespace: f.Namespace, Pod: f.Pod,
		State: p.sup.state.String(), Why: p.sup.why, Attempts: p.sup.attempts, Defects: p.defects,
		GCs: p.progress.GCs.Load(), LostEvents: p.progress.Lost.Load(), Read: p.progress.Stream.Load(),
		Written: p.progress.Output.Load(),
	}
	if len(p.live) > 0 {
		s.Level, s.Since = p.sup.have.level, p.sup.since
	}
	if last := p.progress.Last.Load(); last != 0 {
		s.LastGC = time.Unix(0, last)
	}
	s.LastFull = p.progress.Full.Load()
	s.Snapshots = p.snapshotState()
	if lacks := p.progress.Unwritten.Load(); lacks != nil {
		s.Unwritten = *lacks
	}
	if open := p.progress.Outputs.Load(); open != nil {
		s.Outputs = *open
	}
	return s
}

func unreachableStatus(l *host.Listed) Status {
	return Status{
		PID:       l.PID,
		Process:   attach.Names(&l.Process)[0],
		User:      l.User,
		Container: l.ContainerID,
		State:     "unreachable",
		Why:       l.Err.Error(),
	}
}
