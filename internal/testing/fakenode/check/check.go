//go:build linux

package check

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/internal/testing/fakenode"
)

// Options are the faults outside of the runtime. They excuse what they can cause.
type Options struct {
	// Kills are the times at which gclog was killed, in the ledger's clock. Each may tear the last
	// line of a file and leave a session without an end, and no record contains what was in transit
	// when gclog died.
	Kills []int64
	// Truncated: other processes truncated files to nothing, so these may lack their header.
	Truncated bool
	// Said is what gclog has said in its own log. Where it ends before the log of a process is complete
	// and says so, as on a starved host, that has the effects of a kill.
	Said string
	// Full are the times in which the disk was full. The log of a process that ended then may lack
	// its end and the last records.
	Full []Period
}

// A Period is an interval in the ledger's clock.
type Period struct{ From, To int64 }

// unfinished returns whether gclog has said that the log of a process is not complete.
func (o *Options) unfinished(pid int) bool {
	return strings.Contains(o.Said, fmt.Sprintf("gclog ends before the log of process %d is complete", pid))
}

func (o *Options) killed() bool { return len(o.Kills) > 0 }

// Output checks the files that gclog wrote about a process, in the order in which they were
// written. The error has a line for each problem.
func Output(l *fakenode.Ledger, files []string, o Options) error {
	return output(l, files, o, map[string]*record{})
}

// output is Output with the records that were read before, by their ids.
func output(l *fakenode.Ledger, files []string, o Options, documents map[string]*record) error {
	if o.unfinished(l.PID) {
		o.Kills = append(slices.Clone(o.Kills), math.MaxInt64)
	}
	c := &checker{
		l: l, o: o, fileIDs: map[string]string{}, documents: documents,
		reports: make([]reports, len(l.GCs)+1), sessions: map[string]bool{},
	}
	for _, f := range files {
		c.read(f)
	}
	for i := range c.records {
		c.record(&c.records[i])
	}
	if c.broken || o.killed() && c.sessions[c.life] { // the last instance of gclog reported no number
		c.breaks = append(c.breaks, lifeBreak{next: uint32(len(c.reports)), end: c.lastEnd})
	}
	c.order()
	c.coverage()
	c.delivered()
	for id, open := range c.sessions {
		if open && !o.killed() && !c.unwritten && c.unwritable() == 0 {
			c.wrong("the last session has no end (%s)", id)
		}
	}
	return c.err()
}

// Node checks the files of all processes of a node, in one folder or in folders below it, and that
// no runtime has an open session.
func Node(n *fakenode.Node, dir string, o Options) error {
	open := n.Settle()
	files, err := Files(dir)
	errs := []error{err}
	documents := map[string]*record{}
	for _, r := range n.Runtimes() {
		l := r.Ledger()
		if err := output(l, files[l.Cookie], o, documents); err != nil {
			errs = append(errs, fmt.Errorf("process %d (%q):\n%w", l.PID, l.Name, err))
		}
		delete(files, l.Cookie)
	}
	for cookie, list := range files {
		if cookie != "" || !o.killed() && !o.Truncated {
			errs = append(errs, fmt.Errorf("files of no process that there was (%s): %v", cookie, list))
		}
	}
	if len(open) > 0 {
		errs = append(errs, fmt.Errorf("sessions are left open in %v", open))
	}
	return errors.Join(errs...)
}

// A checker contains what was read from the files of one process.
type checker struct {
	l         *fakenode.Ledger
	o         Options
	records   []record
	fileIDs   map[string]string
	documents map[string]*record // by id
	sessions  map[string]bool    // by instance of gclog; true: a session has begun and not ended
	life      string             // the instance of gclog in which a session last began
	started   int                // number of sessions that have begun
	reports   []reports          // by number of the collection
	breaks    []lifeBreak        // where gclog was killed
	lastEnd   int64              // latest end of the collections reported so far
	first     uint32             // lowest number reported that began in a session; lower ones may be reported too
	newest    uint32             // highest number reported so far
	unwritten bool               // the previous record says that records before it are missing
	broken    bool               // the next number reported is the first of another instance of gclog
	damaged   bool               // the last session could not be read to its end, and no number was reported since
	problems  []string
}

// A lifeBreak is where an instance of gclog was killed: next is the first number that the next
// instance reported, and end is the latest end of the collections reported before.
type lifeBreak struct {
	next uint32
	end  int64
}

// reports is what was reported about a collection.
type reports struct {
	records []*record
	gaps    []*record // except those about lost events
	lost    []*record // gaps about lost events: the collection may have a record too
	// The collection has a record of a suspension, and nothing else.
	suspended bool
}

func (t *reports) any() bool { return len(t.records)+len(t.gaps)+len(t.lost) > 0 }

const mostProblems = 30

func (c *checker) wrong(format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf(format, args...))
}

func (c *checker) err() error {
	if n := len(c.problems); n > mostProblems {
		c.problems = append(c.problems[:mostProblems], fmt.Sprintf("and %d more", n-mostProblems))
	}
	if len(c.problems) == 0 {
		return nil
	}
	return errors.New(strings.Join(c.problems, "\n"))
}

// record processes the next record.
func (c *checker) record(r *record) {
	if r.Process.EntityID != c.l.Cookie {
		c.wrong("%s: a record of process %d %s among those of %d", r.at, r.Process.PID, r.Process.EntityID, c.l.PID)
		return
	}
	defer func() { c.unwritten = r.unwritten() || c.unwritten && r.Event.Action == "gc-gap" }()
	id := r.GCLog.Session.ID // the id is that of the instance of gclog: all its sessions with a process share it
	switch r.Event.Action {
	case "gc-session-start":
		if c.sessions[id] && !c.unwritten {
			c.wrong("%s: a session begins and the one before it has not ended (%s)", r.at, id)
		}
		if _, known := c.sessions[id]; c.o.killed() && !known && len(c.sessions) > 0 {
			c.broken = true
		}
		c.sessions[id], c.life = true, id
		c.started++
		r.session = c.started
		c.document(r)
		return
	case "gc-session-end":
		c.within(r)
		c.document(r)
		c.sessions[id] = false
		c.damaged = c.damaged || r.Event.Reason == "stream-error"
		return
	}
	if r.unwritten() && !c.sessions[id] { // its start is among the missing records
		c.sessions[id] = true
		c.started++
	}
	c.within(r)
	r.session = c.started
	c.document(r)
	switch r.Event.Action {
	case "gc":
		c.collection(r)
	case "gc-gap":
		c.gap(r)
	case "gc-suspension":
		if n := r.Dotnet.GC.Number; n > 0 && int(n) < len(c.reports) {
			c.reports[n].suspended = true
		}
	case "gc-stall", "gc-summary", "gc-heap-growth", "gc-counters":
	default:
		c.wrong("%s: a record of kind %q", r.at, r.Event.Action)
	}
}

// within checks that the session of a record has begun and not ended.
func (c *checker) within(r *record) {
	id := r.GCLog.Session.ID
	switch open, known := c.sessions[id]; {
	case !known:
		c.wrong("%s: a session was not begun (%s)", r.at, id)
		c.sessions[id] = true // reported once
	case !open:
		c.wrong("%s: a record (%s) behind the end of its session (%s)", r.at, r.Event.Action, id)
	}
}

// document checks that no other record of any log has the id of a record.
func (c *checker) document(r *record) {
	if r.DocID == "" {
		c.wrong("%s: a record without gclog_doc_id", r.at)
		return
	}
	if other := c.documents[r.DocID]; other != nil {
		c.wrong("%s: the gclog_doc_id is that of %s", r.at, other.at)
	}
	c.documents[r.DocID] = r
}

var kindNames = map[fakenode.Kind]string{fakenode.Blocking: "blocking", fakenode.Background: "background", fakenode.Foreground: "foreground"}

// collection processes a record of a collection.
func (c *checker) collection(r *record) {
	g := &r.Dotnet.GC
	if g.Number == 0 && !g.Complete {
		return // it began and ended outside of the session, or its events were lost
	}
	if g.Number == 0 || int(g.Number) >= len(c.reports) {
		c.wrong("%s: #%d is not in the ledger, which ends with #%d", r.at, g.Number, len(c.l.GCs))
		return
	}
	t := &c.reports[g.Number]
	t.records = append(t.records, r)
	if slices.Contains(g.Flaws, "no-start") {
		return
	}
	c.reach(g.Number, g.Number)
	if !g.Complete {
		return
	}
	was := c.l.GCs[g.Number-1]
	if g.Generation != int(was.Generation) || g.Type != kindNames[was.Kind] || r.Event.Duration != was.End-was.Start {
		c.wrong("%s: #%d is gen%d %s of %d ns, and was gen%d %s of %d ns", r.at, g.Number, g.Generation, g.Type, r.Event.Duration,
			was.Generation, kindNames[was.Kind], was.End-was.Start)
	}
}

// gap processes a record of a gap.
func (c *checker) gap(r *record) {
	g := r.Dotnet.GC.Gap
	switch {
	case g == nil:
		c.wrong("%s: a gap that says nothing", r.at)
		return
	case !slices.Contains([]string{"lost-events", "missed-gcs", "reattached", "queue-full", "unwritten", "internal-error", "stopped"}, g.Reason):
		c.wrong("%s: a gap with the reason %q", r.at, g.Reason)
	case g.To == 0:
		return
	case g.From == 0 || g.From > g.To || int(g.To) >= len(c.reports):
		c.wrong("%s: a gap from #%d to #%d, and the ledger ends with #%d", r.at, g.From, g.To, len(c.l.GCs))
		return
	}
	for n := g.From; n <= g.To && g.To > 0; n++ {
		if t := &c.reports[n]; g.Reason == "lost-events" {
			t.lost = append(t.lost, r)
		} else {
			t.gaps = append(t.gaps, r)
		}
	}
	from := g.From
	for r.dropped() && from <= g.To && !c.wasSent(from) { // it may have begun before the first session
		from++
	}
	if from <= g.To {
		c.reach(from, g.To)
	}
}

// reach notes that the records have reached the numbers from from to to, and what was skipped
// because gclog was killed.
func (c *checker) reach(from, to uint32) {
	if c.broken {
		c.broken = false
		c.breaks = append(c.breaks, lifeBreak{next: from, end: c.lastEnd})
	}
	if c.first == 0 || from < c.first {
		c.first = from
	}
	c.newest = max(c.newest, to)
	c.damaged = false
	c.lastEnd = max(c.lastEnd, c.l.GCs[to-1].End)
}

// order checks that collections are reported in the order of their ends. A session that takes over
// from another reports the collections that began later, all of them after those of the other. If
// not all events of a collection arrived, its end is recognized later.
func (c *checker) order() {
	var last *record
	for i := range c.records {
		r := &c.records[i]
		n := r.Dotnet.GC.Number
		if r.Event.Action != "gc" || !r.Dotnet.GC.Complete || n == 0 || int(n) >= len(c.reports) || !c.wasSent(n) {
			continue
		}
		if last != nil && c.overtakes(r, last) {
			c.wrong("%s: #%d ended before #%d, which is reported earlier (%s)", r.at, n, last.Dotnet.GC.Number, last.at)
		}
		last = r
	}
}

func (c *checker) overtakes(r, last *record) bool {
	is, was := c.l.GCs[r.Dotnet.GC.Number-1], c.l.GCs[last.Dotnet.GC.Number-1]
	return is.End < was.End && (r.session == last.session || is.First < was.First)
}

// coverage checks that each number between the first and the last one reported is in one record or
// in one gap.
func (c *checker) coverage() {
	for n := uint32(1); n <= c.newest; n++ {
		switch t := &c.reports[n]; {
		case !t.any():
			if n >= c.first && !c.excused(n) && (!t.suspended || c.wasSent(n)) {
				c.wrong("#%d is in no record and no gap, and #%d is told", n, c.newest)
			}
		case len(t.gaps) > 1 && !c.twice(t, n):
			c.wrong("#%d is in two gaps: %s and %s", n, t.gaps[0].at, t.gaps[1].at)
		case len(t.records) > 0 && len(t.gaps) > 0:
			if !c.straddles(t.gaps[0], n) && !c.startLost(n) {
				c.wrong("#%d is in a record (%s) and in a gap (%s)", n, t.records[0].at, t.gaps[0].at)
			}
		case len(t.records) > 0 && len(t.lost) > 0:
			if r := complete(t.records); r != nil && !c.straddles(t.lost[0], n) {
				c.wrong("#%d is complete (%s), and in a gap of lost events (%s)", n, r.at, t.lost[0].at)
			}
		}
		c.once(n)
	}
}

// twice reports whether a collection may be in two gaps: its record could not be written, and
// another gap contains its number only because it is between two missing ones; or two sessions have
// seen a part of it, and neither could be written.
func (c *checker) twice(t *reports, n uint32) bool {
	if c.l.GCs[n-1].Kind == fakenode.Background && len(t.gaps) == 2 && t.gaps[0].dropped() && t.gaps[1].dropped() && t.gaps[0].session != t.gaps[1].session {
		return true
	}
	return slices.ContainsFunc(t.gaps, (*record).dropped) && slices.ContainsFunc(t.gaps, func(r *record) bool {
		return !r.dropped() && (c.l.GCs[n-1].Kind == fakenode.Background || c.straddles(r, n))
	})
}

// once checks that a collection has one record. Each session that ended before it may have written a
// part, in front of the record.
func (c *checker) once(n uint32) {
	var before *record
	for _, r := range c.reports[n].records {
		switch {
		case before == nil:
		case !before.part():
			c.wrong("#%d has two records: %s and %s", n, before.at, r.at)
			return
		case r.session == before.session:
			c.wrong("#%d has two records in one session: %s and %s", n, before.at, r.at)
			return
		}
		before = r
	}
}

func complete(records []*record) *record {
	for _, r := range records {
		if r.Dotnet.GC.Complete {
			return r
		}
	}
	return nil
}

// straddles reports whether a gap contains a collection's number only because it is between two
// missing ones: background collections have lower numbers than those that end before them.
func (c *checker) straddles(r *record, n uint32) bool {
	g := r.Dotnet.GC.Gap
	of := c.l.GCs[n-1]
	for i := g.From; i <= g.To; i++ {
		if b := c.l.GCs[i-1]; i != n && (b.Kind == fakenode.Background || of.Kind == fakenode.Background) && b.First < of.Last && of.First < b.Last {
			return true
		}
	}
	return false
}

// startLost reports whether all that is reported of a collection is the end of a background one,
// after collections with higher numbers: the gap before those had to contain its number.
func (c *checker) startLost(n uint32) bool {
	return c.l.GCs[n-1].Kind == fakenode.Background && !slices.ContainsFunc(c.reports[n].records, func(r *record) bool {
		return !slices.Contains(r.Dotnet.GC.Flaws, "no-start")
	})
}

// endTime is how long it may take until everything about a process that has ended is written.
const endTime = 10 * time.Second

// unwritable returns the time from which the end of the process could not be written, because the
// disk was full; 0: it could be written.
func (c *checker) unwritable() int64 {
	for _, p := range c.o.Full {
		if c.l.Ended && p.From < c.l.EndedAt+int64(endTime) && p.To > c.l.EndedAt {
			return p.From
		}
	}
	return 0
}

// excused reports whether a collection need not be reported: gclog was killed, or the process ended
// while the disk was full.
func (c *checker) excused(n uint32) bool {
	// Where one session takes over from another, a background collection that was in progress is
	// reported before those that began later, and may end after them: then the number decides what
	// comes last.
	if full, end := c.unwritable(), c.l.GCs[n-1].End; full > 0 && end > full-int64(endTime) && (end > c.lastEnd || n > c.newest) {
		return true
	}
	for _, b := range c.breaks {
		if n < b.next && c.l.GCs[n-1].End > b.end {
			return true
		}
	}
	if !c.o.killed() {
		return false
	}
	// Instances of gclog before the first that reported a number reported nothing.
	if slices.Max(c.o.Kills) > c.l.GCs[n-1].Last && (c.first == 0 || n < c.first) {
		return true
	}
	// What could not be written was to be reported with the next record that could be.
	g := c.l.GCs[n-1]
	full := slices.ContainsFunc(c.o.Full, func(p Period) bool { return g.Last > p.From-int64(endTime) && g.First < p.To })
	return full || !c.wasSent(n) // its record may have been in transit
}

func (c *checker) wasSent(n uint32) bool {
	return slices.ContainsFunc(c.l.Sessions, func(s fakenode.Session) bool { return s.Has(n) })
}

// wentDown reports whether a collection was to be reported by a session that took over from the
// session with index i, and had not been sent in it when the process was killed.
func (c *checker) wentDown(i int, n uint32) bool {
	return slices.ContainsFunc(c.l.Sessions[i+1:], func(s fakenode.Session) bool {
		return s.End == fakenode.EndDied && s.Opened < c.l.GCs[n-1].First && !s.Has(n)
	})
}

// delivered checks that everything that gclog has read is reported, also before the first and after
// the last number reported. The kernel says how much it has read (fakenode.Session); what was
// unread in a socket when it was closed was not delivered. If a stream cannot be read from some
// point on, it is unknown what came after it, until another session follows.
func (c *checker) delivered() {
	for i := range c.l.Sessions {
		s := &c.l.Sessions[i]
		broken := c.damaged && (s.End == fakenode.EndStopped || s.End == fakenode.EndUnwritten || s.End == fakenode.EndLeft)
		fakenode.Each(s.Read, func(n uint32) {
			inside := c.first <= n && n <= c.newest // coverage has checked it
			late := broken && n > c.newest
			if !c.reports[n].any() && !inside && !late && !c.excused(n) && !c.wentDown(i, n) {
				c.wrong("#%d was delivered in session %d (%s), and is in no record and no gap", n, s.ID, s.End)
			}
		})
	}
}
