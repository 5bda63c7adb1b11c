package gclog

import (
	"slices"
	"time"

	"github.com/gclog/gclog/parse/clr"
)

// A Record is one thing that a log contains about a process: a *Start, *Pause, *Phase, *GCDetails,
// *Suspension, *Gap, *Stall, *Counters, *HeapGrowth, *Summary or *End. Whoever receives one selects those
// that matter with a type switch, and ignores the rest.
type Record interface {
	// When returns the time of the record in the order of a log, in nanoseconds since the sync point and
	// in ticks of the stream's clock.
	When() (at, ticks int64)
}

// CollectionOf returns the collection that a record is about, nil if there is none. For a pause or a
// phase it is what is known of the collection so far.
func CollectionOf(r Record) *GCDetails {
	switch r := r.(type) {
	case *Pause:
		return r.GC
	case *Phase:
		return r.GC
	case *GCDetails:
		return r
	}
	return nil
}

// An Observer receives records in time order. A Record is valid during the call only; a Slot keeps a
// copy.
//
// A Pause is passed on when it ends. The record of a blocking collection follows its last Pause;
// that of a background collection comes when the runtime has reported its sizes, long after its
// pauses. A phase that starts or ends while the program is paused is passed on after that pause.
type Observer func(Record)

// Tee returns an Observer that passes everything to all of list, in that order.
func Tee(list ...Observer) Observer {
	if len(list) == 1 {
		return list[0]
	}
	return func(r Record) {
		for _, o := range list {
			o(r)
		}
	}
}

// An EventObserver receives the events, each with the collection that it belongs to, nil if there is
// none. GCStart, GCEnd and GCGlobalHeapHistory are passed on after the Reducer has handled them: d
// is the collection that they started or reported on. All other events are passed on before: the
// record that they complete has not been emitted yet.
//
// The event is valid during the call. d is valid until its record has been emitted; its UserData
// belongs to the observer.
type EventObserver func(at Stamp, e clr.Event, d *GCDetails)

// A Slot has the memory for a record of any kind. It keeps the memory of lists when it is reused, so
// that queues of Slots need not allocate.
type Slot struct {
	Record // points to one of the fields below; nil: the Slot is empty

	Start      Start
	Pause      Pause
	Phase      Phase
	GC         GCDetails // also the collection of the Pause or Phase
	Suspension Suspension
	Gap        Gap
	Stall      Stall
	Counters   Counters
	HeapGrowth HeapGrowth
	Summary    Summary
	End        End
}

// Copy makes the Slot a copy of r.
func (s *Slot) Copy(r Record) {
	d := CollectionOf(r)
	if d != nil {
		s.GC.CopyFrom(d)
		d = &s.GC
	}
	switch r := r.(type) {
	case *Start:
		s.Start, s.Record = *r, &s.Start
	case *Pause:
		s.Pause, s.Record = *r, &s.Pause
		s.Pause.GC = d
	case *Phase:
		s.Phase, s.Record = *r, &s.Phase
		s.Phase.GC = d
	case *GCDetails:
		s.Record = d
	case *Suspension:
		s.Suspension, s.Record = *r, &s.Suspension
	case *Gap:
		s.Gap, s.Record = *r, &s.Gap
	case *Stall:
		s.Stall, s.Record = *r, &s.Stall
	case *Counters:
		values := append(s.Counters.Values[:0], r.Values...)
		s.Counters, s.Record = *r, &s.Counters
		s.Counters.Values = values
	case *HeapGrowth:
		s.HeapGrowth, s.Record = *r, &s.HeapGrowth
		s.HeapGrowth.Snapshots, s.HeapGrowth.Types = slices.Clone(r.Snapshots), slices.Clone(r.Types)
	case *Summary:
		s.Summary, s.Record = *r, &s.Summary
	case *End:
		s.End, s.Record = *r, &s.End
	}
}

// Reset empties the Slot, keeping the memory of its lists.
func (s *Slot) Reset() {
	s.GC.Reset()
	s.Record, s.Start, s.Gap, s.Stall = nil, Start{}, Gap{}, Stall{}
	s.Pause, s.Phase, s.Suspension = Pause{}, Phase{}, Suspension{}
	s.HeapGrowth, s.Summary, s.End = HeapGrowth{}, Summary{}, End{}
	s.Counters = Counters{Values: s.Counters.Values[:0]}
}

// CloneRecord returns a copy of r.
func CloneRecord(r Record) Record {
	s := &Slot{}
	s.Copy(r)
	return s.Record
}

// A Start is the start of a session with a process, or of a recording.
type Start struct {
	At        int64  // nanoseconds since the sync point
	Ticks     int64  // At in ticks
	Providers string // what the session listens to, in dotnet-trace's syntax; "": start of a recording
	// Logs may lack more than a session, because of their format. Unbounded: when the session really
	// started and ended is unknown; its Start and End have the times of the first and last record.
	// CollectionsOnly: there are no pauses without a collection.
	Unbounded, CollectionsOnly bool
}

// A Summary is what happened in an interval.
type Summary struct {
	From, To int64 // nanoseconds since the sync point
	Ticks    int64 // To in ticks
	Partial  bool  // the session started or ended within the interval
	Tally
}

// Span returns the length of the interval in nanoseconds.
func (s *Summary) Span() int64 { return max(0, s.To-s.From) }

// A HeapGrowth is what grew from the first to the last of several heap snapshots of a process.
type HeapGrowth struct {
	At        int64 // when it was found: nanoseconds since the sync point
	Ticks     int64 // At in ticks
	Snapshots []HeapSnapshot
	Types     []TypeGrowth // those that grew most
}

// A HeapSnapshot is the file of a heap snapshot.
type HeapSnapshot struct {
	File string
	Time time.Time // zero: unknown
}

// A TypeGrowth is how the objects of a type have changed.
type TypeGrowth struct {
	Type                   string // exact name; it comes from the process
	Objects, Bytes         uint64 // in the last snapshot
	ObjectsDiff, BytesDiff int64  // since the first one
	EveryTime              bool   // the bytes grew from each snapshot to the next; false if there are only two
}

// When implements Record.
func (s *Start) When() (at, ticks int64) { return s.At, s.Ticks }

// When implements Record: it is the start of the pause.
func (p *Pause) When() (at, ticks int64) { return p.Start, p.Ticks }

// When implements Record. The ticks are those of the start of the collection.
func (p *Phase) When() (at, ticks int64) { return p.Time, p.GC.StartTicks }

// When implements Record: it is the start of the first pause, in the ticks of the collection's start.
func (d *GCDetails) When() (at, ticks int64) { return d.PauseStart(), d.StartTicks }

// When implements Record: it is the start of the suspension.
func (s *Suspension) When() (at, ticks int64) { return s.Start, s.Ticks }

// When implements Record: it is when the gap was noticed.
func (g *Gap) When() (at, ticks int64) { return g.Time, g.Ticks }

// When implements Record. The ticks are those of the start of what is open.
func (s *Stall) When() (at, ticks int64) { return s.Now, s.Ticks }

// When implements Record: it is when the growth was found.
func (g *HeapGrowth) When() (at, ticks int64) { return g.At, g.Ticks }

// When implements Record: it is the end of the interval.
func (s *Summary) When() (at, ticks int64) { return s.To, s.Ticks }

// When implements Record.
func (e *End) When() (at, ticks int64) { return e.At, e.Ticks }
