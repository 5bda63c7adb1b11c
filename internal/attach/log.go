package attach

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/output"
)

// A Log writes the records of one process, from one session after the other. The records of each
// session continue those of the one before: a collection is written once, and collections that no
// session has seen are written as a gap.
//
// Its methods must be called by one goroutine at a time. While Write or Serve runs that is the
// goroutine that called it; others send functions to Requests.
type Log struct {
	Outputs []output.Spec
	Opener  *output.Opener
	Format  formats.Options // without the process
	// Requests are carried out between two records.
	Requests <-chan func(*Log)
	// Observe returns what receives every record before it is written, and the start and the end of
	// each session; nil: nothing does. It is called at the start of a session, and again when what
	// is known of the process has changed: before that, the process belongs to the Log. The Observer
	// must not wait. If it panics, it receives nothing more of the session.
	Observe func(*gclog.Process) gclog.Observer
	// Summaries has a summary written at the end of each session, of everything since the previous
	// one.
	Summaries bool

	set     *output.Set
	known   *gclog.Process
	process gclog.Process
	tally   gclog.Tally
	tallied int64         // time of the last summary
	last    uint32        // the highest number of a collection that was written
	reached int64         // ticks of the latest record
	parts   []uint32      // collections of which the latest records are parts: a session ended before they did
	missing uint64        // records that the queue had no room for
	session *Session      // the session that is being written; nil if none is
	skipped gclog.Missing // records of the session that there was no time to write
	writing *gclog.Slot   // the record that is being written; nil if none is
	taps    []tap         // receive the records of the session too
	// observer is what Observe has returned last; nil: there is none.
	observer gclog.Observer
	findings *analysis.Findings // about the session; nil: a defect prevents it
	verdict  analysis.Verdict   // about the latest session that has ended
}

func (l *Log) format() formats.Options {
	o := l.Format
	o.Process = l.process
	return o
}

// start returns the start of the session.
func (l *Log) start() *gclog.Start {
	return &gclog.Start{Ticks: l.session.syncTicks(), Providers: providersText(l.session.o.Config.Providers)}
}

// observe passes a record to the observer, and judges it.
func (l *Log) observe(r gclog.Record) {
	if l.findings != nil && l.spoils(func() { l.findings.Observe(r) }) {
		l.findings = nil
	}
	if l.observer != nil && l.spoils(func() { l.observer(r) }) {
		l.observer = nil
	}
}

// spoils reports whether a defect ends what a function does, which the log can do without.
func (l *Log) spoils(f func()) bool {
	defect := Contain(f)
	if defect != nil {
		l.session.o.Warn(defect.Error())
	}
	return defect != nil
}

// judge completes the end of a session with the verdict about it.
func (l *Log) judge(end *gclog.End) {
	l.verdict = analysis.Verdict{}
	if l.findings == nil {
		return
	}
	l.spoils(func() {
		l.verdict = l.findings.Conclude(end)
		end.Verdict = l.verdict.Record()
	})
	l.findings = nil
}

// renewObserver asks for an observer, because what is known of the process has changed.
func (l *Log) renewObserver() {
	l.observer = nil
	if l.Observe != nil && l.session != nil {
		l.observer = l.Observe(&l.process)
	}
}

// pass passes a record to the observer, the outputs and the taps.
func (l *Log) pass(r gclog.Record) {
	l.observe(r)
	l.set.Each(func(w *formats.Writer) { w.Observe(r) })
	l.passToTaps(r)
}

// Serve writes the sessions it receives, one after the other, and carries out the requests in
// between, until sessions is closed. It calls ended with how each session ended.
func (l *Log) Serve(sessions <-chan *Session, known *gclog.Process, ended func(*Session, gclog.End, error)) {
	l.known = known
	for {
		select {
		case s, more := <-sessions:
			if !more {
				return
			}
			end, err := l.Write(s, l.known, nil)
			ended(s, end, err)
		case f := <-l.Requests:
			f(l)
		}
	}
}

// Write writes the records of a session until it has ended, and returns how it ended. known is what
// Facts returned; nil: found out during the session. started is called when the outputs are open.
// An error means that they could not be opened; the session has ended then.
func (l *Log) Write(s *Session, known *gclog.Process, started func(*gclog.Process)) (gclog.End, error) {
	l.process = s.process(l.withSettings(known))
	l.session = s
	defer func() { l.session = nil }()
	var err error
	if l.set == nil {
		l.set, err = l.Opener.Open(l.Outputs, l.format())
	} else {
		l.set.Renew(l.format())
	}
	if err != nil {
		s.discard()
		return gclog.End{}, err
	}
	if started != nil {
		started(&l.process)
	}
	l.tally, l.tallied, l.skipped = gclog.Tally{}, 0, gclog.Missing{}
	l.findings = analysis.NewFindings(&l.process, analysis.Thresholds{}, analysis.Always())
	l.publishOutputs(s)
	var lost gclog.Missing // because of a defect
	var defects defects
	if defects.contain(func() {
		l.renewObserver()
		l.pass(l.start())
		l.deliver(s)
	}) {
		lost = l.abandon(s)
	}
	s.wait()
	end := s.end()
	defects.contain(func() { l.writeLost(gclog.GapInternal, &lost, &end) })
	defects.contain(func() { l.writeStopped(s, &end) })
	defects.contain(func() {
		if l.Summaries {
			l.summarize(true)
		}
	})
	l.judge(&end)
	defects.contain(func() { l.pass(&end) })
	l.endTaps()
	s.o.Progress.Output.Store(l.set.Bytes())
	l.publishUnwritten(s.o.Progress)
	s.watch.Close()
	return end, errors.Join(s.failure(end.Reason), s.tee.close(), errors.Join(defects...))
}

// writeLost writes the gaps for what was not written, at the end of a session.
func (l *Log) writeLost(reason gclog.GapReason, lost *gclog.Missing, end *gclog.End) {
	lost.Gaps(gclog.Gap{Reason: reason, Time: end.At, Ticks: end.Ticks}, l.writeGap)
}

func (l *Log) writeGap(g *gclog.Gap) {
	l.tally.Observe(g)
	l.last = max(l.last, g.To)
	l.pass(g)
}

// writeStopped writes the gaps for what there was no time for when gclog had to end: the records
// that were not written, and what the runtime has not sent. How much that is is unknown.
func (l *Log) writeStopped(s *Session, end *gclog.End) {
	l.writeLost(gclog.GapStopped, &l.skipped, end)
	if !s.whole() && s.trace != nil {
		l.writeGap(&gclog.Gap{Reason: gclog.GapStopped, Time: end.At, Ticks: end.Ticks})
	}
}

// abandon ends a session whose records cannot be written because of a defect, discards the rest of
// them, and returns what was lost. New Writers write everything after that.
func (l *Log) abandon(s *Session) (lost gclog.Missing) {
	s.Ask()
	if l.writing != nil {
		lost.Add(l.writing.Record)
	}
	for {
		slot, over := s.queue.take()
		switch {
		case over:
			l.writing = nil
			l.set.Renew(l.format())
			return lost
		case slot == nil:
			<-s.queue.more
		default:
			lost.Add(slot.Record)
			s.queue.give(slot)
		}
	}
}

// withSettings returns known completed with the settings that the previous session asked the
// runtime for.
func (l *Log) withSettings(known *gclog.Process) *gclog.Process {
	if known == nil || !l.process.HasLimits || known.HasLimits || known.Cookie != l.process.Cookie {
		return known
	}
	p := *known
	p.Concurrent, p.Limits, p.HasLimits = l.process.Concurrent, l.process.Limits, true
	p.SetServer(l.process.Server, l.process.ServerFrom)
	return &p
}

// deliver writes the records as they arrive.
func (l *Log) deliver(s *Session) {
	var news *follower
	if l.last > 0 {
		news = &follower{l: l, s: s, base: l.last, reached: l.reached}
		defer news.end()
	}
	for {
		select { // an output that is always slow must not keep them waiting
		case f := <-l.Requests:
			f(l)
		default:
		}
		slot, over := s.queue.take()
		switch {
		case over:
			return
		case slot == nil:
			select {
			case <-s.queue.more:
			case f := <-l.Requests:
				f(l)
			}
		default:
			l.writing = slot
			switch {
			case news != nil && !news.isNew(slot.Record):
			case s.skip.Load():
				l.skipped.Add(slot.Record)
			default:
				l.write(s, slot.Record)
			}
			l.writing = nil
			s.queue.give(slot)
		}
	}
}

func (l *Log) write(s *Session, r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Gap:
		if r.Reason == gclog.GapQueueFull {
			l.missing += r.Records
			l.last = max(l.last, r.To)
			s.o.Warn(fmt.Sprintf("the outputs were too slow: %d records are missing", r.Records))
		}
	case *gclog.GCDetails:
		l.last = max(l.last, r.Number)
		l.notePart(r)
		s.o.Progress.Last.Store(time.Now().UnixNano())
	}
	l.tally.Observe(r)
	l.reached = max(l.reached, startTicks(r))
	l.pass(r)
	s.o.Progress.Output.Store(l.set.Bytes())
	l.publishUnwritten(s.o.Progress)
	if l.set.Broken() {
		s.Ask() // nobody reads the pipe any more
	}
}

// notePart remembers of which collections a part was written: the next session may see their end.
func (l *Log) notePart(d *gclog.GCDetails) {
	l.parts = slices.DeleteFunc(l.parts, func(n uint32) bool { return n == d.Number })
	if d.Known.Has(gclog.GroupNumber) && d.Flaws&gclog.FlawCutOff != 0 && len(l.parts) < partialMost {
		l.parts = append(l.parts, d.Number)
	}
}

// A follower decides which records of a session are new after the sessions before it.
type follower struct {
	l       *Log
	s       *Session
	base    uint32   // everything up to this number was written, or was reported as missing
	reached int64    // ticks of the latest record of the previous sessions
	found   bool     // a collection that started in this session was seen
	first   uint32   // its number: those before it were written already, or are missing
	partial []uint32 // collections that were in progress when the session started, and were written
}

// partialMost is how many collections can be in progress at a time, with some margin.
const partialMost = 64

// startTicks returns when what a record is about started: its collection, if it has one.
func startTicks(r gclog.Record) int64 {
	if d := gclog.CollectionOf(r); d != nil {
		return d.StartTicks
	}
	_, ticks := r.When()
	return ticks
}

// isNew reports whether a record must be written. At the first collection that started in this
// session it writes a gap for those before it that no session has seen.
func (f *follower) isNew(r gclog.Record) bool {
	if g, ok := r.(*gclog.Gap); ok && !f.found && g.To > 0 {
		f.gap(g)
		return true
	}
	_, whole := r.(*gclog.GCDetails)
	d := gclog.CollectionOf(r)
	switch {
	case d == nil || !d.Known.Has(gclog.GroupNumber):
		return startTicks(r) > f.reached
	case slices.Contains(f.l.parts, d.Number): // its pauses until then were written with the part
		return whole || startTicks(r) > f.reached
	case f.found:
		return d.Number >= f.first
	case d.Number <= f.base || slices.Contains(f.partial, d.Number):
		return false
	case d.Flaws&gclog.FlawNoStart != 0 && len(f.partial) < partialMost:
		if whole {
			f.partial = append(f.partial, d.Number)
		}
		return true
	}
	// A collection that ran in the first pause of a background collection is reported before it.
	first := d.Number
	if began := f.s.first.Load(); began > 0 {
		first = min(first, began)
	}
	f.found, f.first = true, max(f.base+1, first)
	f.missed(f.first, d)
	return true
}

// gap removes from a gap the collections that the previous sessions have written: both sessions
// have seen them.
func (f *follower) gap(g *gclog.Gap) {
	if g.From = max(g.From, f.base+1); g.From > g.To {
		g.From, g.To = 0, 0
		return
	}
	f.found, f.first = true, g.From
	f.missed(g.From, &gclog.GCDetails{Start: g.Time, StartTicks: g.Ticks})
}

// missed writes gaps for the collections before a number that are missing.
func (f *follower) missed(number uint32, d *gclog.GCDetails) {
	slices.Sort(f.partial)
	from := f.base + 1
	for _, reported := range append(f.partial, number) {
		if reported > number {
			continue
		}
		if from < reported {
			g := gclog.Gap{
				Reason: gclog.GapReattached,
				Time:   d.Start,
				Ticks:  d.StartTicks,
				From:   from,
				To:     reported - 1,
			}
			f.l.pass(&g)
		}
		from = reported + 1
	}
}

// end is called when the session has ended. If no collection started in it, only now is it known
// which collections are missing before those that were in progress.
func (f *follower) end() {
	if n := len(f.partial); !f.found && n > 0 {
		last := slices.Max(f.partial)
		f.partial = slices.DeleteFunc(f.partial, func(n uint32) bool { return n == last })
		f.missed(last, &gclog.GCDetails{Start: f.l.session.now(), StartTicks: f.l.reached})
	}
}

// Change switches to other outputs, or to other facts about the process, from now on. Outputs that
// stay are not interrupted.
func (l *Log) Change(outputs []output.Spec, format formats.Options, known *gclog.Process) error {
	l.Outputs, l.Format, l.known = outputs, format, l.withSettings(known)
	if l.set == nil {
		return nil
	}
	sync, uptime := l.process.Sync, l.process.UptimeAtSync
	l.process = *l.known
	l.process.Sync, l.process.UptimeAtSync = sync, uptime
	end := gclog.End{Reason: gclog.EndDetached, Message: "the output is no longer configured"}
	if l.session != nil {
		end.At = l.session.now()
		end.Ticks = l.session.syncTicks() + end.At
	}
	err := l.set.Change(l.Opener, outputs, l.format(),
		func(w *formats.Writer) {
			if l.session != nil {
				w.Observe(l.start())
			}
		},
		func(w *formats.Writer) {
			if l.session != nil {
				w.Observe(&end)
			}
		})
	if l.session != nil {
		l.publishOutputs(l.session)
		l.renewObserver()
	}
	return err
}

// publishOutputs publishes in Progress which outputs are written to.
func (l *Log) publishOutputs(s *Session) {
	paths := l.set.Paths()
	s.o.Progress.Outputs.Store(&paths)
}

// publishUnwritten publishes in Progress what the outputs lack.
func (l *Log) publishUnwritten(to *Progress) {
	if !l.set.Failing() {
		if to.Unwritten.Load() != nil {
			to.Unwritten.Store(nil)
		}
		return
	}
	lack := l.set.Unwritten()
	to.Unwritten.Store(&lack)
}

// Summarize writes a summary of the time since the last one, or since the session started.
func (l *Log) Summarize() { l.summarize(l.tallied == 0) }

func (l *Log) summarize(partial bool) {
	if l.set == nil || l.session == nil {
		return
	}
	s := gclog.Summary{From: l.tallied, To: l.session.now(), Partial: partial, Tally: l.tally}
	s.Ticks = l.session.syncTicks() + s.To
	l.tally, l.tallied = gclog.Tally{}, s.To
	l.set.Each(func(w *formats.Writer) { w.Observe(&s) })
}

// HeapGrowth writes what grew between heap snapshots of the process, found now.
func (l *Log) HeapGrowth(g gclog.HeapGrowth) {
	if l.set == nil || l.session == nil {
		return
	}
	g.At = l.session.now()
	g.Ticks = l.session.syncTicks() + g.At
	l.pass(&g)
}

// Shift makes records report a time later by d from now on, because the clock was set.
func (l *Log) Shift(d time.Duration) {
	if l.set == nil {
		return
	}
	l.process.Sync = l.process.Sync.Add(d)
	l.endTaps() // they start over with the new time
	l.set.Renew(l.format())
	l.renewObserver()
}

// Reopen makes every output start a new file.
func (l *Log) Reopen() {
	if l.set != nil {
		l.set.Reopen()
	}
}

// Err returns an error about what is missing in the outputs.
func (l *Log) Err() error {
	if l.set == nil {
		return nil
	}
	err := l.set.Err()
	if l.missing > 0 {
		err = errors.Join(fmt.Errorf("%d records could not be written: the outputs were too slow", l.missing), err)
	}
	return err
}

// Flush tries again to write the gaps for what could not be written, and returns what is still in
// none.
func (l *Log) Flush() []output.Unwritten {
	if l.set == nil {
		return nil
	}
	l.set.Flush()
	if l.session != nil {
		l.publishUnwritten(l.session.o.Progress)
	}
	return l.set.Unwritten()
}

// Close closes the outputs. Its error includes what is in no gap there: see output.LackError.
func (l *Log) Close() error {
	if l.set == nil {
		return nil
	}
	return l.set.Close()
}
