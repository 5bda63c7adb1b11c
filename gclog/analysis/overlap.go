package analysis

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Timeline keeps all pauses of a recording or log, 48 bytes for each, and where pauses may be
// missing, so that it can return for any stretch of time how long the program was paused in it. Its
// Observe is a gclog.Observer. It can be queried at any time.
//
// A Timeline must not be used by several goroutines at once.
type Timeline struct {
	window      Window
	stops       []Stop
	settled     int  // number of stops that are in order and have their sums
	unsorted    bool // a stop came that began before the previous one
	missing     gaps
	pausedSince int64 // since when the program may be paused: nothing later shows that it ran; or never
	begin, end  int64 // of all sessions
	started     bool
}

// A Stop is one pause for garbage collection.
type Stop struct {
	Start    int64
	Duration int64
	Suspend  int64 // part of Duration until all threads were suspended

	before int64 // sum of the durations of the previous ones

	Number     uint32 // of the collection; 0: there is none, or it is unknown
	Generation int8   // of the collection; -1: there is none
	GCKind     gclog.Kind
	Kind       gclog.PauseKind
	Reason     clr.Reason
	HasReason  bool
	HasSuspend bool
	HeapDump   bool // for a heap snapshot, requested by HeapDumpBy
	HeapDumpBy gclog.Requester
}

// stopOf returns what a Timeline keeps of a pause.
func stopOf(p *gclog.Pause) Stop {
	s := Stop{
		Start:      p.Start,
		Duration:   p.Duration,
		Suspend:    p.Suspend,
		HasSuspend: p.HasSuspend,
		Kind:       p.Kind,
		Generation: -1,
	}
	if d := p.GC; d != nil {
		s.Generation, s.GCKind = int8(min(d.Generation, math.MaxInt8)), d.Kind
		s.Reason, s.HasReason = d.Reason, d.Known.Has(gclog.GroupReason)
		s.HeapDump, s.HeapDumpBy = d.HeapDump, d.HeapDumpBy
		if d.Known.Has(gclog.GroupNumber) {
			s.Number = d.Number
		}
	}
	return s
}

// End returns when the program resumed.
func (s *Stop) End() int64 { return s.Start + s.Duration }

const (
	unseen = "the start or the end of a collection was not recorded"
	never  = math.MaxInt64
)

// NewTimeline returns an empty Timeline of a Window.
func NewTimeline(w Window) *Timeline { return &Timeline{window: w, pausedSince: never} }

// Observe adds a record. Nothing is known about the time between two sessions.
func (t *Timeline) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		if t.started {
			t.miss(t.end, r.At, noSession)
		} else {
			t.begin, t.started = r.At, true
		}
		t.ran(r.At)
		t.extend(r.At)
	case *gclog.End:
		t.extend(r.At)
		for i := range r.Open {
			if o := &r.Open[i]; o.Kind == gclog.OpenSuspension {
				t.pausedFrom(o.Since)
			}
		}
	case *gclog.Pause:
		t.pause(r)
	case *gclog.GCDetails:
		t.collection(r)
	case *gclog.Gap:
		m, _ := missingOf(r, t.end)
		t.missing.add(m)
		t.extend(r.Time)
	}
}

// pause adds a pause.
func (t *Timeline) pause(p *gclog.Pause) {
	t.extend(p.Start + p.Duration)
	t.ran(p.Start)
	if from, to := t.window.Clip(p.Start, p.Start+p.Duration); from == to && !t.window.Contains(p.Start) {
		return
	}
	if n := len(t.stops); n > 0 && p.Start < t.stops[n-1].Start {
		t.unsorted = true
	}
	t.stops = append(t.stops, stopOf(p))
}

// collection records where a pause of the collection is unknown.
func (t *Timeline) collection(d *gclog.GCDetails) {
	b := d.Background
	if d.Flaws&(gclog.FlawNoSuspend|gclog.FlawNoRestart) != 0 {
		from := d.Start
		switch {
		case d.Flaws&gclog.FlawNoStart != 0:
			from = t.end
		case d.Suspended != 0:
			from = min(from, d.Suspended)
			fallthrough
		default:
			t.ran(from)
		}
		switch {
		case b != nil && b.MarkStart > from:
			t.miss(from, b.MarkStart, unseen)
		case d.Flaws&gclog.FlawNoRestart != 0 || d.Kind != gclog.KindBackground && !d.Known.Has(gclog.GroupEnd):
			t.pausedFrom(from)
		case d.Kind != gclog.KindBackground:
			t.miss(from, d.End, unseen)
		default:
			t.miss(from, from, unseen)
		}
	}
	if b == nil || b.MarkEnd == 0 {
		return
	}
	switch _, final := d.FinalPauseStart(); {
	case final:
	case b.SweepStart >= b.MarkEnd:
		t.miss(b.MarkEnd, b.SweepStart, unseen)
	case d.Known.Has(gclog.GroupEnd):
		t.miss(b.MarkEnd, d.End, unseen)
	default:
		t.pausedFrom(b.MarkEnd)
	}
}

func (t *Timeline) extend(at int64) { t.end = max(t.end, at) }

// pausedFrom records that a pause began whose end was not seen, for example because the recording
// was cut off. It may last until something shows that the program ran.
func (t *Timeline) pausedFrom(from int64) {
	if _, after := t.Nearest(from, from+1); after != nil { // it is reported late
		t.miss(from, after.Start, unseen)
		return
	}
	t.pausedSince = min(t.pausedSince, from)
}

// ran records that the program ran just before a time.
func (t *Timeline) ran(at int64) {
	if at > t.pausedSince {
		t.miss(t.pausedSince, at, unseen)
		t.pausedSince = never
	}
}

// miss records that pauses may be missing in a time.
func (t *Timeline) miss(from, to int64, why string) { t.missing.add(Missing{Window{from, to}, why}) }

// settle sorts the pauses and computes their sums. They are in order and do not overlap, unless the
// stream is damaged: then the later pause is cut.
func (t *Timeline) settle() {
	if t.unsorted {
		slices.SortStableFunc(t.stops, func(a, b Stop) int { return cmp.Compare(a.Start, b.Start) })
		t.unsorted, t.settled = false, 0
	}
	for ; t.settled < len(t.stops); t.settled++ {
		s := &t.stops[t.settled]
		s.before = 0
		if t.settled == 0 {
			continue
		}
		last := &t.stops[t.settled-1]
		s.before = last.before + last.Duration
		if cut := last.End() - s.Start; cut > 0 {
			s.Start, s.Duration = s.Start+cut, max(0, s.Duration-cut)
		}
	}
}

// All returns the pauses in the order of time. They belong to the Timeline, and are valid until it
// is changed.
func (t *Timeline) All() []Stop {
	t.settle()
	return t.stops
}

// Known returns the time about which the Timeline knows anything: the sessions, as far as they are
// in its Window.
func (t *Timeline) Known() Window {
	from, to := t.window.Clip(t.begin, t.end)
	return Window{from, to}
}

// An Overlap is what a Timeline knows about a stretch of time.
type Overlap struct {
	Pause  int64 // how long the program was paused in it
	Pauses int   // number of pauses in it, also partially
	// Outside reports that it is not completely within the sessions, Gap that something is missing
	// in it. In both cases there may be more pauses than are counted.
	Outside, Gap bool
	first        int
}

// Overlap returns how long the program was paused in the time [from, to). A moment, where both are
// equal, is in the pause that lasts then.
func (t *Timeline) Overlap(from, to int64) (o Overlap) {
	t.settle()
	known := t.Known()
	o.Outside = !t.started || from < known.From || to > known.To
	_, missing := t.missing.near(from, to)
	o.Gap = len(missing) > 0 || t.pausedSince <= to
	var last int
	o.first, last = t.find(from, to)
	if o.Pauses = last - o.first; o.Pauses > 0 {
		a, b := &t.stops[o.first], &t.stops[last-1]
		o.Pause = b.before + b.Duration - a.before - max(0, from-a.Start) - max(0, b.End()-to)
	}
	return o
}

// find returns the first stop of a time, and the first one after it.
func (t *Timeline) find(from, to int64) (first, after int) {
	first = sort.Search(len(t.stops), func(i int) bool { return t.stops[i].End() > from })
	rest := t.stops[first:]
	near := 1 // usually there is none or one
	for near < len(rest) && rest[near-1].Start < to {
		near *= 2
	}
	return first, first + sort.Search(min(near, len(rest)), func(i int) bool { return rest[i].Start >= to })
}

// Stops returns the pauses counted in an Overlap. They belong to the Timeline, and are valid until
// it is changed.
func (t *Timeline) Stops(o Overlap) []Stop { return t.stops[o.first : o.first+o.Pauses] }

// AppendNumbers appends the numbers of the collections of the pauses in an Overlap: each once, and
// at most so many.
func (t *Timeline) AppendNumbers(dst []uint32, o Overlap, most int) []uint32 {
	begin := len(dst)
	stops := t.Stops(o)
	for i := 0; i < len(stops) && len(dst)-begin < most; i++ {
		if n := stops[i].Number; n != 0 && !slices.Contains(dst[begin:], n) {
			dst = append(dst, n)
		}
	}
	return dst
}

// Nearest returns the last pause that had ended by from, and the first that began at to or later;
// nil if there is none. They belong to the Timeline, and are valid until it is changed.
func (t *Timeline) Nearest(from, to int64) (before, after *Stop) {
	t.settle()
	i, j := t.find(from, to)
	if i > 0 {
		before = &t.stops[i-1]
	}
	if j < len(t.stops) {
		after = &t.stops[j]
	}
	return before, after
}

// Missing appends what is missing in a time.
func (t *Timeline) Missing(dst []Missing, from, to int64) []Missing {
	_, missing := t.missing.near(from, to)
	dst = append(dst, missing...)
	if t.pausedSince <= to {
		dst = append(dst, Missing{Window{t.pausedSince, max(t.pausedSince, t.end)}, unseen})
	}
	return dst
}
