package analysis_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// What the events of a recording say, assembled as simply as possible: a second opinion on the
// records, from which explanations are made. It cannot handle damaged streams: it is asked only
// about complete ones.

// rawSuspension is a suspension for the collector.
type rawSuspension struct {
	reason     clr.SuspendReason
	begin, end int64 // end 0: it goes on
	suspended  int64
	gcs        []*rawGC // that began in it
	lost       bool
}

func (s *rawSuspension) duration() int64 { return s.end - s.begin }

// rawGC is a collection.
type rawGC struct {
	start      clr.GCStart
	startTicks int64
	at, end    int64
	ended      bool
	in         *rawSuspension   // that it began in
	finals     []*rawSuspension // of a background one: that it ran through
	beside     *rawGC           // background one that was running when it began
	stats      *clr.GCHeapStats
	global     *clr.GCGlobalHeapHistory
	heaps      []clr.GCPerHeapHistory
	committed  []uint64 // as it was told
	trigger    int64    // when it was asked for
	triggerer  uint64
	triggered  bool
	lost       bool
	walked     bool // roots were reported one by one
	marks      [clr.MarkTypes]bool

	promotedFrom [clr.MarkTypes]uint64

	pins, pinBytes, plugs, plugBytes uint64
	loh                              []clr.LOHCompact
	waits                            []uint32 // reasons
	drained                          uint64
	overflowed                       uint64
	pages, references                uint64 // revisited, counted as often as they were reported
	finalizerSince                   int64  // since when the finalizer thread was running when it began; 0: it was not
	runs                             uint32 // of the finalizer thread, since the sizes before
	finalized                        uint64
	created, freed                   uint32
	createdBytes                     uint64
}

func (g *rawGC) background() bool {
	return g.start.Type == clr.TypeBackground && (g.global == nil || g.global.Mechanisms&clr.MechanismConcurrent != 0)
}

// conditions returns those of all heaps, and those of the decision for all.
func (g *rawGC) conditions() (heaps, joined clr.Condemned) {
	for i := range g.heaps {
		heaps |= g.heaps[i].Condemned
	}
	if g.global != nil {
		joined = g.global.Condemned
	}
	return heaps, joined
}

// most returns the oldest generation that a heap requested.
func (g *rawGC) most() (final, budget int) {
	for i := range g.heaps {
		final = max(final, g.heaps[i].CondemnedGenerations.Final())
		budget = max(budget, g.heaps[i].CondemnedGenerations.BudgetExceeded())
	}
	return final, budget
}

// rawProcess is a process with its collections.
type rawProcess struct {
	gcs         []*rawGC
	datas       bool
	tunings     map[uint64][]uint16 // heaps that DATAS decided on, by collection
	samples     map[uint64]clr.SizeAdaptationSample
	waits8      map[uint64]uint64 // microseconds, by collection
	limits      *clr.GCSettings
	suspensions map[uint64]*rawSuspension // open, by thread
	last        map[uint64]*rawGC         // that ended, by thread
	globals     map[uint64]*rawGC         // whose global history was told, by thread
	pending     *rawGC                    // request that no collection has followed
	finalizing  int64
	since       rawGC // runs and segments since the sizes before
}

func (p *rawProcess) suspension() *rawSuspension {
	for _, s := range p.suspensions {
		return s
	}
	return nil
}

// openBackground returns the background collection in progress.
func (p *rawProcess) openBackground() *rawGC {
	for _, g := range slices.Backward(p.gcs) {
		if g.start.Type == clr.TypeBackground {
			if g.ended {
				return nil
			}
			return g
		}
	}
	return nil
}

// current returns the collection that events without a number belong to.
func (p *rawProcess) current() *rawGC {
	if n := len(p.gcs); n > 0 && p.gcs[n-1].start.Type != clr.TypeBackground && !p.gcs[n-1].ended {
		return p.gcs[n-1]
	}
	return p.openBackground()
}

// find returns the latest collection with a number.
func (p *rawProcess) find(number uint32) *rawGC {
	for _, g := range slices.Backward(p.gcs) {
		if g.start.Count == number {
			return g
		}
	}
	return nil
}

// readRaw reads a recording.
func readRaw(t testing.TB, stream []byte) map[[2]int64]*rawProcess {
	t.Helper()
	all := map[[2]int64]*rawProcess{}
	r := parse.NewReader(bytes.NewReader(stream), gclog.Wanted)
	var decoder *clr.Decoder
	for r.Scan() {
		if decoder == nil {
			decoder = clr.NewDecoder(r.Trace().PointerSize)
		}
		if l := r.Loss(); l != nil {
			for _, p := range all {
				p.lose()
			}
			continue
		}
		e := r.Event()
		typed, err := decoder.Decode(e)
		if err != nil || typed == nil {
			continue
		}
		key := [2]int64{e.Process, int64(typed.InstanceID())}
		p := all[key]
		if p == nil {
			p = &rawProcess{
				tunings: map[uint64][]uint16{}, samples: map[uint64]clr.SizeAdaptationSample{}, waits8: map[uint64]uint64{},
				suspensions: map[uint64]*rawSuspension{}, last: map[uint64]*rawGC{}, globals: map[uint64]*rawGC{},
			}
			all[key] = p
		}
		p.event(e, typed)
	}
	return all
}

func (p *rawProcess) lose() {
	for _, g := range p.gcs {
		if !g.ended || g.stats == nil || g.in != nil && g.in.end == 0 {
			g.lost = true
		}
	}
	for _, s := range p.suspensions {
		s.lost = true
	}
	p.finalizing = 0
}

func (p *rawProcess) event(at *parse.Event, e clr.Event) {
	switch e := e.(type) {
	case *clr.GCSuspendEEBegin:
		delete(p.suspensions, at.Thread)
		if e.Reason == clr.SuspendForGC || e.Reason == clr.SuspendForGCPrep {
			p.suspensions[at.Thread] = &rawSuspension{reason: e.Reason, begin: at.Time}
		}
	case *clr.GCSuspendEEEnd:
		if s := p.suspensions[at.Thread]; s != nil {
			s.suspended = at.Time
		}
	case *clr.GCRestartEEEnd:
		p.restarted(at)
	case *clr.GCTriggered:
		p.pending = &rawGC{trigger: at.Time, triggerer: at.Thread}
	case *clr.GCStart:
		p.started(at, e)
	case *clr.GCEnd:
		if g := p.find(e.Count); g != nil {
			g.end, g.ended = at.Time, true
			p.last[at.Thread] = g
		} else {
			p.unseen(e.Count)
		}
	case *clr.GCHeapStats:
		if g := p.last[at.Thread]; g != nil {
			stats := *e
			g.stats = &stats
			g.runs, g.finalized, g.created, g.createdBytes, g.freed = p.since.runs, p.since.finalized, p.since.created, p.since.createdBytes, p.since.freed
		}
		p.since = rawGC{}
	case *clr.GCGlobalHeapHistory:
		p.global(at, e)
	case *clr.GCPerHeapHistory:
		if g := p.globals[at.Thread]; g != nil {
			g.heaps = append(g.heaps, *e)
		}
	case *clr.CommittedUsage:
		if g := p.current(); g != nil {
			g.committed = append(g.committed, e.Total())
		}
	case *clr.GCFinalizersBegin:
		p.finalizing = at.Time
	case *clr.GCFinalizersEnd:
		p.finalizing = 0
		p.since.runs++
		p.since.finalized += uint64(e.Count)
	case *clr.GCCreateSegment:
		p.since.created++
		p.since.createdBytes += e.Size
	case *clr.GCFreeSegment:
		p.since.freed++
	case *clr.GCSettings:
		limits := *e
		p.limits = &limits
	case *clr.SizeAdaptationSample:
		p.datas, p.samples[e.GCIndex] = true, *e
	case *clr.SizeAdaptationTuning:
		p.datas, p.tunings[e.GCIndex] = true, append(p.tunings[e.GCIndex], e.NewHeaps)
	case *clr.SizeAdaptationFullGCTuning:
		p.datas, p.tunings[e.GCIndex] = true, append(p.tunings[e.GCIndex], e.NewHeaps)
	case *clr.HeapCountTuning:
		p.datas, p.tunings[e.GCIndex] = true, append(p.tunings[e.GCIndex], e.NewHeaps)
	case *clr.HeapCountSample:
		p.datas, p.waits8[e.GCIndex] = true, e.LockMicroseconds
	default:
		if g := p.current(); g != nil {
			g.event(e)
		}
	}
}

// event handles an event that belongs to no collection.
func (g *rawGC) event(e clr.Event) {
	switch e := e.(type) {
	case *clr.GCMarkWithType:
		if e.Type == clr.MarkOverflow {
			break // the next event, of dependent handles, contains it
		}
		if e.Type < clr.MarkTypes {
			g.marks[e.Type] = true
			g.promotedFrom[e.Type] += e.Promoted
		}
	case *clr.GCBulkRootEdge:
		g.walked = true
	case *clr.PinObjectAtGCTime:
		g.pins += uint64(e.More) + 1
		g.pinBytes += e.TotalSize
	case *clr.PinPlugAtGCTime:
		g.plugs++
		g.plugBytes += e.End - e.Start
	case *clr.GCLOHCompact:
		for i := range e.Count {
			g.loh = append(g.loh, e.At(i))
		}
	case *clr.BGCAllocWait:
		if !e.End {
			g.waits = append(g.waits, e.Reason)
		}
	case *clr.BGCDrainMark:
		g.drained += e.Objects
	case *clr.BGCOverflow:
		g.overflowed += e.Objects
	case *clr.BGCRevisit:
		g.pages += e.Pages
		g.references += e.Objects
	}
}

func (p *rawProcess) started(at *parse.Event, e *clr.GCStart) {
	g := &rawGC{start: *e, startTicks: at.Ticks, at: at.Time, beside: p.openBackground(), finalizerSince: p.finalizing}
	if g.in = p.suspension(); g.in != nil {
		g.in.gcs = append(g.in.gcs, g)
	}
	if p.pending != nil {
		g.trigger, g.triggerer, g.triggered = p.pending.trigger, p.pending.triggerer, true
		p.pending = nil
	}
	p.gcs = append(p.gcs, g)
}

// unseen records that a collection has ended whose start was before the recording: if others have
// started since, it was a background one that was running.
func (p *rawProcess) unseen(number uint32) {
	background := &rawGC{start: clr.GCStart{Count: number, Type: clr.TypeBackground}}
	for _, g := range p.gcs {
		if g.beside == nil && g.start.Count > number {
			g.beside = background
		}
	}
}

func (p *rawProcess) restarted(at *parse.Event) {
	s := p.suspensions[at.Thread]
	if s == nil {
		return
	}
	delete(p.suspensions, at.Thread)
	s.end = at.Time
	if g := p.openBackground(); g != nil && g.in != s && len(s.gcs) == 0 && s.reason == clr.SuspendForGCPrep {
		g.finals = append(g.finals, s)
	}
}

// global assigns a history to the collection that started last among those that it fits.
func (p *rawProcess) global(at *parse.Event, e *clr.GCGlobalHeapHistory) {
	concurrent := e.Mechanisms&clr.MechanismConcurrent != 0
	for _, g := range slices.Backward(p.gcs) {
		if g.global == nil && g.start.Depth == e.CondemnedGeneration && (!concurrent || g.start.Type == clr.TypeBackground) {
			global := *e
			g.global = &global
			p.globals[at.Thread] = g
			return
		}
	}
	delete(p.globals, at.Thread)
}
