package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/flight"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/session"
)

const (
	// idle is how long the stream may be silent before rows that wait for their place in time are
	// released: the runtime writes what it has every 100 ms.
	idle = 100 * time.Millisecond
	// openIdle is how often a silent stream is checked while something is in progress, which may
	// stall; openMost is for how long. A stream in which nothing is in progress is not checked
	// until it sends something.
	openIdle = 500 * time.Millisecond
	openMost = 90 * time.Second
	// interrupted is how long a writer that stopped in the middle of its data is given, at least,
	// to continue.
	interrupted = 20 * time.Second
	// headTime is how long the start of the stream may take before the user is told.
	headTime = 5 * time.Second
	// stopTime is how long the runtime may take to end a session.
	stopTime = 5 * time.Second
	// noticeTime is how long that may take before the user is told.
	noticeTime = time.Second
	// exitTime is how long a process may take to exit after its stream ended.
	exitTime = 3 * time.Second
	// overlap is how long two sessions run concurrently, at least, when one takes over from the
	// other; settled is how old an event may be when it arrives.
	overlap = time.Second
	settled = 500 * time.Millisecond
	// overlapMost is how long the overlap may last when a collection does not end.
	overlapMost = 60 * time.Second
	// sameMoment is how old a memory reading may be to be reused: events that a process has sent at
	// once share one reading.
	sameMoment = 10 * time.Millisecond
)

// SessionOptions configures a Session.
type SessionOptions struct {
	Config      session.Config
	Counters    Counters         // that the session listens to as well
	Runtime     string           // the version of the runtime; "": unknown
	Suspensions bool             // an output requires all suspensions
	Count       int64            // stop after this many collections; 0: no limit
	Record      io.Writer        // receives a copy of the raw stream, with what is known of the process; nil: no copy
	Flight      *flight.Recorder // keeps the latest part of the raw stream in memory; nil: nothing does
	// Early starts the session even while the runtime's startup is pending: the runtime has just
	// connected to a diagnostic port of ours, and no other port suspends it.
	Early bool
	// Resume resumes the runtime, which a port of ours suspends, after the session was opened, even
	// if that failed.
	Resume bool
	// Exit returns how the process ended, once it has: its exit code, or the signal that killed it. It
	// is for processes that gclog, as their parent, has started.
	Exit     func() (code, signal int, known bool)
	Progress *Progress
	Poller   *session.Poller // waits for the data of many sessions; nil: the session does
	Warn     func(string)    // receives messages for people about problems that end nothing
	// Waiting is called when the runtime takes long to end the session; nil: not needed.
	Waiting func()
}

// Progress is the state of a session so far. It may be read at any time.
type Progress struct {
	GCs    atomic.Int64
	Lost   atomic.Int64 // lost events
	Stream atomic.Int64 // bytes read
	Output atomic.Int64 // bytes written
	// Outputs are the paths that are written to; nil before they are open.
	Outputs atomic.Pointer[[]string]
	Last    atomic.Int64 // when the latest record arrived, in nanoseconds of Unix time; 0: none yet
	Full    atomic.Pointer[FullGC]
	// Unwritten is what the outputs lack that have no gap for it so far; nil: nothing.
	Unwritten atomic.Pointer[[]output.Unwritten]
}

// A FullGC is what matters of a full collection for the next one.
type FullGC struct {
	Time     time.Time `json:"time"`
	Heap     uint64    `json:"heap_bytes"` // after it
	Blocking bool      `json:"blocking"`
	Pause    int64     `json:"pause_ns"`
}

// A Session is a live session with one process: its stream is read and reduced, and its records
// wait for a Log.
type Session struct {
	o          SessionOptions
	target     *host.Target
	stream     *session.Stream
	watch      *host.Watch
	memory     *host.MemoryReader
	remembered gclog.Memory // the latest reading of memory
	threads    uint32       // at the same time
	cpu        *shortages
	known      gclog.Process // what its Reducer needs
	queue      *queue
	tee        *tee
	ring       *flight.Ring // nil: the stream is not kept

	once    sync.Once
	asked   atomic.Bool     // the session is to end
	cut     context.Context // done when the session is cut off
	cutOff  context.CancelFunc
	early   atomic.Bool   // it was cut off before the stream had ended
	skip    atomic.Bool   // what is not written yet is only to be counted
	stopped chan struct{} // closed when the runtime was asked to end the session, or will not be
	ordered bool          // the runtime ended the session when it was asked to; final once stopped is closed

	traced chan struct{} // closed when trace is set, or never will be
	trace  *parse.Trace
	began  time.Time     // when the head of the stream arrived
	done   chan struct{} // closed when the stream has ended and everything is in the queue
	err    error         // how the stream ended
	ended  time.Time     // when the stream ended

	processes *gclog.Processes
	mine      *gclog.Process
	stalls    gclog.StallWatch
	open      []gclog.Open
	checked   int64
	counted   int64                 // records of collections that started in the session
	counting  atomic.Bool           // counters have come
	problem   gclog.CountersProblem // that counters had last
	over      bool                  // Count is reached: nothing that starts later is reported
	overAt    int64

	first  atomic.Uint32 // number of the first collection that started in the session; 0: none yet
	until  atomic.Int64  // ticks from which on another session reports what starts; 0: none does
	passed bool          // everything that started before until was reported
}

// Open starts a session with a target and starts reading it. The session must be passed to
// Log.Write. If ctx is done before the session is open, Open returns an error and no session.
func Open(ctx context.Context, t *host.Target, o SessionOptions) (*Session, error) {
	if o.Progress == nil {
		o.Progress = &Progress{}
	}
	o.Config.Providers = o.Counters.add(o.Config.Providers, o.Runtime)
	known := gclog.Process{Flavor: flavors[t.Runtime()], DiagnosticsThreads: t.DiagnosticsThreads()}
	start := t.StartTracing
	if o.Early {
		start = t.StartFirst
	}
	stream, err := start(ctx, o.Config)
	if o.Resume {
		err = errors.Join(err, t.Resume(context.WithoutCancel(ctx)))
	}
	if err != nil {
		if stream != nil {
			stream.Discard(context.WithoutCancel(ctx))
		}
		return nil, err
	}
	s := &Session{
		o: o, target: t, stream: stream, watch: t.Watch(), memory: t.OpenMemory(),
		cpu: newShortages(t.OpenCPU()), known: known, queue: newQueue(),
		ordered: true, stopped: make(chan struct{}), traced: make(chan struct{}), done: make(chan struct{}),
	}
	s.cut, s.cutOff = context.WithCancel(context.Background())
	stream.IdleTimeout = idle
	if o.Poller != nil {
		stream.PollWith(o.Poller)
	}
	s.tee = newTee(stream, nil)
	if o.Record != nil {
		s.tee = newTee(stream, &recorder{w: o.Record, facts: func() gclog.Process { return recordedFacts(s.cut, t) }})
	}
	if o.Flight != nil {
		s.ring = o.Flight.NewRing()
	}
	go s.run()
	return s, nil
}

// Ask asks the runtime to end the session. It does not wait for that.
func (s *Session) Ask() {
	s.once.Do(func() {
		s.asked.Store(true)
		go func() {
			defer close(s.stopped)
			select {
			case <-s.done:
			default:
				s.ordered = stop(s.cut, s.stream, s.done, stopTime, s.o.Waiting)
			}
		}()
	})
}

// Abort ends the session without asking the runtime, because the process has exited. What has
// arrived is still reported.
func (s *Session) Abort() { _ = s.stream.CloseRead() }

// Cut ends the session without waiting for the runtime: its connection is closed. What has arrived
// is still reported, and that more may have been on its way.
func (s *Session) Cut() {
	select {
	case <-s.done:
	default:
		s.early.Store(true)
	}
	s.cutOff()
	s.Ask()
}

// whole reports, once the session has ended, whether everything arrived that the runtime had to
// send.
func (s *Session) whole() bool { return s.ordered && !s.early.Load() }

// Skip ends the session at once: what was read and is not written yet is reported as a gap, and so
// is that there may have been more.
func (s *Session) Skip() {
	s.skip.Store(true)
	s.Cut()
}

// Done is closed when the stream has ended.
func (s *Session) Done() <-chan struct{} { return s.done }

// wait waits until the session has ended.
func (s *Session) wait() {
	<-s.done
	if s.asked.Load() {
		<-s.stopped
	}
}

// stop asks the runtime to end the session and makes sure that the stream ends. It reports whether
// the runtime ended it in time, which begins when no heap snapshot is being taken: however a session
// ends, the runtime would walk its heap again. waiting is called if all that takes long.
func stop(
	cut context.Context, stream *session.Stream, done <-chan struct{}, within time.Duration, waiting func(),
) bool {
	if waiting != nil {
		defer time.AfterFunc(noticeTime, waiting).Stop()
	}
	held, over := context.WithCancel(cut)
	defer over()
	go func() {
		defer over()
		_ = stream.AwaitRelease(held)
	}()
	select {
	case <-held.Done():
	case <-done:
	}
	ctx, cancel := context.WithTimeout(cut, within)
	defer cancel()
	// Whether it answers does not matter: what counts is that the stream ends.
	_ = stream.Stop(ctx)
	select {
	case <-done:
	case <-ctx.Done():
	}
	select {
	case <-done: // perhaps just before it was cut off
		return true
	default:
		_ = stream.CloseRead()
		return false
	}
}

func (s *Session) run() {
	defer close(s.done)
	defer func() { s.ended = time.Now() }()
	defer s.queue.close()
	defer s.ring.Close()
	defer s.leave()
	defer s.memory.Close()
	defer s.cpu.close()
	defer s.expectCounters()()
	if defect := Contain(s.read); defect != nil {
		s.err = defect
		s.queue.put(s.unreduced())
	}
}

// unreduced returns the gap after a defect: the collections that were in progress are in no record.
// The next session reports which later collections are missing too.
func (s *Session) unreduced() *gclog.Gap {
	g := &gclog.Gap{Reason: gclog.GapInternal, Time: s.checked, Ticks: s.syncTicks() + s.checked}
	_ = Contain(func() { // what a defect left behind may trigger another one
		for _, o := range s.processes.Reducer(s.mine).AppendOpen(nil) {
			switch {
			case !o.HasNumber:
			case g.To == 0:
				g.From, g.To = o.Number, o.Number
			default:
				g.From, g.To = min(g.From, o.Number), max(g.To, o.Number)
			}
		}
	})
	return g
}

// read reads the stream to its end and reduces it.
func (s *Session) read() {
	p := parse.NewReader(s.tee, gclog.Wanted)
	if s.ring != nil {
		p.OnBlock(s.ring.Block)
	}
	s.readTrace(p)
	if s.trace == nil {
		return
	}
	s.cpu.begin(s.now())
	s.processes = onlyProcess(&s.mine, s.reduced, s.known)
	s.processes.Requested = s.requested
	silence := silence{}
	for {
		for p.Scan() {
			s.processes.Take(p)
			if l := p.Loss(); l != nil {
				s.o.Progress.Lost.Add(int64(l.Events))
				s.ring.Lost(l)
			} else if e := p.Event(); e.Time-s.checked > int64(idle) {
				s.check(p, e.Time)
			}
		}
		if !session.IsIdle(p.Err()) {
			break
		}
		// Silence: rows that wait are due, and what is open gets older.
		settled := silence.lasts(p)
		if settled {
			p.Flush()
		}
		s.check(p, s.now())
		s.stream.SetPatience(s.patience(settled))
	}
	s.err = p.Err()
	s.o.Progress.Stream.Store(p.Stats().Bytes)
	s.processes.Finish()
}

// onlyProcess returns the Processes for a stream of a single process, which is stored in mine at
// its first event, with what a Reducer needs that is known.
func onlyProcess(mine **gclog.Process, observer gclog.Observer, known gclog.Process) *gclog.Processes {
	return gclog.NewProcesses(func(p *gclog.Process) gclog.Observer {
		if *mine != nil {
			return nil
		}
		*mine = p
		p.Flavor, p.DiagnosticsThreads = known.Flavor, known.DiagnosticsThreads
		return observer
	})
}

// leave closes the connection.
func (s *Session) leave() {
	if s.asked.Load() || Contain(func() { leave(s.cut, s.stream, s.err) }) != nil {
		_ = s.stream.Close()
	}
}

// leave closes the connection of a stream that nobody has asked the runtime to end. err is how
// reading it ended: a session that has not ended but cannot be read is ended first.
func leave(ctx context.Context, stream *session.Stream, err error) {
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		_ = stream.Close()
		return
	}
	stream.Discard(ctx)
}

// A silence is a time in which no byte arrives.
type silence struct {
	bytes int64
	times int // how often it was checked
}

// lasts reports whether it has lasted so long that nothing older can be on its way. A writer that
// stopped in the middle of its data gets more time: it may be stopped, or have used up its CPU
// quota.
func (x *silence) lasts(p *parse.Reader) bool {
	if n := p.Stats().Bytes; n != x.bytes {
		x.bytes, x.times = n, 0
	}
	x.times++
	return !p.Interrupted() || x.times >= int(interrupted/idle)
}

// now returns the time of the stream's clock.
func (s *Session) now() int64 { return time.Since(s.began).Nanoseconds() }

// ticks converts a time of the stream's clock to ticks.
func (s *Session) ticks(at int64) int64 {
	f := s.trace.TicksPerSecond
	return s.trace.SyncTicks + at/int64(time.Second)*f + at%int64(time.Second)*f/int64(time.Second)
}

// patience returns how long the next silence may last before it is checked; 0 is no limit, so that
// an idle process costs nothing.
func (s *Session) patience(settled bool) time.Duration {
	switch {
	case s.until.Load() != 0 || !settled:
		return idle
	case s.mine != nil && !s.processes.Reducer(s.mine).Idle() && s.now()-s.processes.Latest() < int64(openMost):
		return openIdle
	}
	return 0
}

// headLate is how late the head of a stream may arrive, at most, for its time to count as one of
// this host's clock.
const headLate = time.Second

// readTrace reads the head of the stream. It reports when the zero of the stream's clock was, some
// ten milliseconds before it arrives.
func (s *Session) readTrace(p *parse.Reader) {
	defer close(s.traced)
	if s.trace, s.err = readTrace(p); s.err != nil {
		return
	}
	s.began = time.Now()
	if late := s.began.Sub(s.trace.SyncTime); late > 0 && late < headLate {
		s.began = s.began.Add(-late)
	}
}

// readTrace reads the head of a stream, however long it takes to arrive. A stream that ends before
// that was cut off.
func readTrace(p *parse.Reader) (*parse.Trace, error) {
	for {
		trace, err := p.ReadTrace()
		is, ok := errors.AsType[*parse.KindError](err)
		if ok && (is.Kind == parse.KindEmpty || is.Kind == parse.KindBegin) {
			return nil, io.ErrUnexpectedEOF
		}
		if err == nil || !session.IsIdle(err) {
			return trace, err
		}
	}
}

// check reports what has been open for long at the time now of the stream, and ends a session from
// which another one has taken over.
func (s *Session) check(p *parse.Reader, now int64) {
	s.checked = now
	s.o.Progress.Stream.Store(p.Stats().Bytes)
	s.processes.Advance(now)
	s.open = s.open[:0]
	if s.mine != nil {
		r := s.processes.Reducer(s.mine)
		s.stalls.Check(r, now, func(x *gclog.Stall) {
			if !s.over && !s.isLate(x.Ticks) {
				s.queue.put(x)
			}
		})
		s.open = r.AppendOpen(s.open)
	}
	s.ring.Reduced(s.ticks(now), s.oldestOpen())
	if until := s.until.Load(); until != 0 && !s.passed && s.allEnded(until, now) {
		s.passed = true
		s.Ask()
	}
}

// oldestOpen returns when the oldest of what is in progress began, in ticks; 0: nothing is.
func (s *Session) oldestOpen() (ticks int64) {
	for i := range s.open {
		if t := s.open[i].Ticks; ticks == 0 || t < ticks {
			ticks = t
		}
	}
	return ticks
}

// allEnded reports whether everything that started before until has ended.
func (s *Session) allEnded(until, now int64) bool {
	since := now - s.trace.Nanoseconds(until)
	if since > int64(overlapMost) {
		return true
	}
	for i := range s.open {
		if s.open[i].Ticks < until {
			return false
		}
	}
	return since > int64(settled)
}

// HandOver makes next report what starts from a moment on that HandOver chooses, ends s when
// everything that started before has ended, and returns when next may be written. It does not
// return before s has ended.
func (s *Session) HandOver(next *Session) {
	select {
	case <-next.traced:
	case <-next.done:
	case <-s.done:
	}
	if next.hasTrace() && s.hasTrace() {
		s.until.Store(next.ticks(next.now() + int64(overlap)))
		s.stream.Wake()
	} else {
		s.Ask()
	}
	s.wait()
}

func (s *Session) hasTrace() bool {
	select {
	case <-s.traced:
		return s.trace != nil
	default:
		return false
	}
}

// isLate reports whether another session reports what started at a time.
func (s *Session) isLate(ticks int64) bool {
	until := s.until.Load()
	return until != 0 && ticks >= until
}

// wants reports whether to report something that started at a time, or that belongs to a collection
// that did: once enough collections were counted, those in progress are still reported completely.
func (s *Session) wants(at, ticks int64, d *gclog.GCDetails) bool {
	if d != nil && d.Flaws&gclog.FlawNoStart == 0 {
		at, ticks = min(at, d.Start), d.StartTicks
		if s.first.Load() == 0 {
			s.first.Store(s.processes.Reducer(s.mine).First())
		}
	}
	return (!s.over || at <= s.overAt) && !s.isLate(ticks)
}

// requested returns what a gclog has requested from the process.
func (s *Session) requested() gclog.Request {
	switch {
	case s.target.Held():
		return gclog.RequestSnapshot
	case s.target.AnnouncedGC():
		return gclog.RequestGC
	}
	return gclog.RequestNone
}

// reduced takes a record from the Reducer.
func (s *Session) reduced(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Pause:
		if s.wants(r.Start, r.Ticks, r.GC) {
			if r.GC != nil && r.Kind == gclog.PauseBlocking { // formats write its collection with it
				s.measure(r.GC)
			}
			s.paused(r)
			s.queue.put(r)
		}
	case *gclog.Phase:
		if s.wants(r.Start, r.GC.StartTicks, r.GC) {
			s.queue.put(r)
		}
	case *gclog.Suspension:
		if s.o.Suspensions && s.wants(r.Start, r.Ticks, nil) {
			s.queue.put(r)
		}
	case *gclog.Counters:
		if !s.over && !s.isLate(r.Ticks) {
			s.counters(r)
		}
	case *gclog.Gap:
		if !s.over && !s.isLate(r.Ticks) {
			s.queue.put(r)
		}
	case *gclog.GCDetails:
		if s.wants(r.Start, r.StartTicks, r) {
			s.collected(r)
		}
	}
}

// paused adds to a slow pause what made it slow, as far as the kernel shows that.
func (s *Session) paused(p *gclog.Pause) {
	if !slow(&p.PausePart) {
		return
	}
	x := &p.CPU
	if p.GC != nil {
		x = &p.GC.CPU
	}
	*x = s.cpu.around(&p.PausePart, s.now())
}

// collected takes the record of a collection that the session reports.
func (s *Session) collected(d *gclog.GCDetails) {
	s.measure(d)
	s.cpu.pass(s.now())
	s.queue.put(d)
	if s.over || d.Flaws&gclog.FlawNoStart != 0 {
		return
	}
	s.counted++
	s.o.Progress.GCs.Add(1)
	if d.Generation == gclog.Gen2 && d.Known.Has(gclog.GroupAfter) && !d.HeapDump {
		s.o.Progress.Full.Store(
			&FullGC{Time: time.Now(), Heap: d.SizeAfter(), Blocking: d.Kind == gclog.KindBlocking, Pause: d.Pause()})
	}
	if s.o.Count > 0 && s.counted >= s.o.Count {
		s.over, s.overAt = true, s.processes.Latest()
		s.Ask()
	}
}

// measure adds the memory and the number of threads of the process to a record that has none yet.
func (s *Session) measure(d *gclog.GCDetails) {
	if d.Memory.Known() {
		return
	}
	// Without the process, the group's figures are those of other processes, or leftovers.
	if m, threads := s.readMemory(); m.Resident > 0 {
		d.Memory, d.Threads = m, threads
	}
}

// readMemory returns the memory and the number of threads of the process as they are now. Collections
// that arrive together share one reading.
func (s *Session) readMemory() (m gclog.Memory, threads uint32) {
	if m, now := &s.remembered, s.now(); m.At == 0 || now-m.At > int64(sameMoment) {
		m.Resident, m.Cgroup, m.CgroupLimit = s.memory.Read()
		m.At = now
		s.threads = uint32(s.cpu.r.Threads())
	}
	return s.remembered, s.threads
}

// process completes the facts with the head of the stream, for which it waits.
//
// Only then is the runtime known to have been resumed, wherever it runs, and may be asked for its
// settings in a session of its own: a session that is started and stopped earlier harms the
// runtime.
func (s *Session) process(known *gclog.Process) gclog.Process {
	var p gclog.Process
	if known != nil {
		p = *known
	} else {
		p, _ = Identify(s.cut, s.target)
	}
	select {
	case <-s.traced:
	case <-time.After(headTime):
		s.o.Warn(fmt.Sprintf("process %d has sent nothing yet: if it has just been started, it may be waiting for a "+
			"diagnostic port (DOTNET_DiagnosticPorts)", s.target.PID))
		<-s.traced
	}
	if s.trace == nil {
		p.Sync = time.Now().UTC()
		return p
	}
	if !p.HasLimits {
		s.complete(&p)
	}
	if p.Sync = s.trace.SyncTime; !s.trace.Dated() {
		p.Sync = s.began.UTC()
	}
	if !p.Started.IsZero() {
		p.UptimeAtSync = max(0, p.Sync.Sub(p.Started))
	}
	return p
}

// complete is Complete until the session is cut off: a runtime that does not answer by then must
// not keep its records from being written.
func (s *Session) complete(p *gclog.Process) {
	whole := *p
	done := make(chan struct{})
	go func() {
		defer close(done)
		if defect := Contain(func() { Complete(s.cut, s.target, &whole) }); defect != nil {
			s.o.Warn(defect.Error())
		}
	}()
	select {
	case <-done:
		*p = whole
	case <-s.cut.Done():
	}
}

func (s *Session) syncTicks() int64 {
	if s.trace == nil {
		return 0
	}
	return s.trace.SyncTicks
}

// discard ends a session that nobody writes.
func (s *Session) discard() {
	s.Ask()
	s.wait()
	s.watch.Close()
	go func() { _ = s.tee.close() }() // nobody needs the copy
}

// end determines how the session ended.
func (s *Session) end() gclog.End {
	e := gclog.End{Reason: gclog.EndDetached}
	asked := s.asked.Load()
	if s.trace != nil {
		e.At = max(s.now(), s.processes.Latest())
		e.Ticks = s.trace.SyncTicks + e.At // an id, not a time: the clock's unit does not matter
	}
	cut := s.err != nil && errors.Is(s.err, io.ErrUnexpectedEOF)
	switch {
	case asked && s.trace == nil: // nothing has arrived
	case s.err != nil && !cut:
		e.Reason, e.Message = gclog.EndStreamError, s.err.Error()
	case asked && !cut:
	case s.gone():
		o := s.watch.Outcome()
		if s.o.Exit != nil && !o.Known {
			if code, signal, known := s.o.Exit(); known {
				o = host.Outcome{Known: true, Exited: signal == 0, Code: code, Signal: signal, OOM: o.OOM}
			}
		}
		ended(&e, o)
	case asked: // the target did not end the session in time
	default:
		e.Reason, e.Message = gclog.EndStreamError, "the runtime ended the session"
	}
	if !s.whole() && e.Reason == gclog.EndDetached {
		e.Message = fmt.Sprintf("process %d did not end the session in time: its last events may be missing",
			s.target.PID)
		s.o.Warn(e.Message)
	}
	return e
}

// ended records how the process ended.
func ended(e *gclog.End, o host.Outcome) {
	switch {
	case o.OOM:
		e.Reason = gclog.EndOOMKilled
	case o.Exited:
		e.Reason = gclog.ExitedWith(o.Code)
	case o.Unseen:
		e.Reason = gclog.EndUnseen
	default:
		e.Reason = gclog.KilledBy(o.Signal)
	}
	e.Signal = o.Signal
	e.ExitCode, e.HasCode = o.Code, o.Known && o.Exited
}

// gone waits until the process has exited, which its stream precedes a little, and reports whether
// it has. After a cut there is nothing to wait for.
func (s *Session) gone() bool { return s.target.Ends(s.cut, exitTime) }

// failure returns what was wrong with the stream. A stream that breaks off because the target
// exited is not an error.
func (s *Session) failure(reason gclog.EndReason) error {
	if reason != gclog.EndStreamError {
		return nil
	}
	if s.err == nil || errors.Is(s.err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("process %d is still running, but its runtime ended the session", s.target.PID)
	}
	return fmt.Errorf("the stream of process %d: %w", s.target.PID, s.err)
}
