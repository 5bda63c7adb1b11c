package stacks

import (
	"errors"
	"io"
	"math"
	"sync"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// Limits on what is counted separately. Anything beyond them is counted together.
const (
	maxTypes    = 65_536
	maxRows     = 200_000
	maxStrata   = 4096
	maxThreads  = 10_000
	maxCalls    = 50_000
	maxServed   = 100_000  // collections whose request is kept
	maxPending  = 4096     // requests whose collection is still to be reported
	maxTypeName = 1024     // UTF-16 units
	maxTypeText = 64 << 20 // bytes of the names of all types
)

// otherTypes are the types for which there is no room.
const otherTypes = "[other types]"

// Read returns the profile of a recording. If the recording is damaged, the profile is that of what
// precedes the damage, and there is an error: see Builder.Read.
func Read(r io.Reader) (*Profile, error) {
	b := NewBuilder()
	err := b.Read(r)
	return b.Profile(), err
}

// A Builder makes a Profile of the recordings of a process. Several may be read at the same time: see
// ReadWindow.
type Builder struct {
	mu          sync.Mutex // protects all of it
	pointerSize int
	stacks      *interner
	methods     *methods
	types       map[string]uint32
	typeNames   []string
	typeText    int // bytes of typeNames
	scratch     []byte
	strata      map[stratumKey]uint32
	stratum     []stratum
	rows        map[rowKey]*cell
	threads     map[threadKey]*cell
	calls       map[callKey]*Call
	pending     []request          // in time order
	served      map[uint32]callKey // by the number of a collection that was asked for
	spans       []span             // of the time; the last one is not over
	tallies     []tally            // by type
	tallied     int                // windows

	p       Profile
	process int64 // that the profile is of
	begun   bool
	dry     uint64 // collections because of allocations since the last allocation event
	last    int64  // time of that event
	amount  float64
	scanned int64 // events, wanted or not

	each func(e *parse.Event, stack uint32) // nil, or a test
}

type stratumKey struct {
	heap    uint32
	clr     uint16
	kind    clr.AllocationKind
	sampled bool
	span    int
}

type rowKey struct{ stack, typ, stratum uint32 }

type threadKey struct {
	thread  uint64
	stratum uint32
}

type callKey struct {
	stack      uint32
	reason     clr.Reason
	generation int // -1: unknown
	background bool
}

// A request is a GCTriggered whose collection has not been reported.
type request struct {
	at     int64
	thread uint64
	stack  uint32
	reason clr.Reason
}

// NewBuilder returns a Builder.
func NewBuilder() *Builder {
	return &Builder{
		methods: newMethods(), types: map[string]uint32{}, strata: map[stratumKey]uint32{},
		rows: map[rowKey]*cell{}, threads: map[threadKey]*cell{}, calls: map[callKey]*Call{},
		served: map[uint32]callKey{},
		spans:  []span{{}}, last: math.MinInt64 / 2,
	}
}

// Wanted is the filter for parse.NewReader that delivers what a Builder uses.
func Wanted(m *parse.Metadata) parse.Want {
	w := gclog.Wanted(m)
	switch m.Provider {
	case clr.RuntimeProvider:
		switch m.EventID {
		case clr.IDGCAllocationTick, clr.IDAllocationSampled,
			clr.IDMethodLoad, clr.IDMethodUnload, clr.IDModuleLoad, clr.IDR2REntryPoint:
			w.Deliver = true
		}
	case clr.RundownProvider:
		switch m.EventID {
		case clr.IDRundownMethodDCEnd, clr.IDRundownStart, clr.IDRundownEnd,
			clr.IDRundownModuleDCEnd, clr.IDRundownModuleDCStart:
			w.Deliver = true
		}
	}
	return w
}

// ErrOtherProcess reports that a recording is of another process than those before.
var ErrOtherProcess = errors.New("the recordings are of different processes")

// Read reads a recording. More recordings of the same process may follow: names are looked up in all of
// them, as in the one that gclog takes of what has been compiled before. If a recording is damaged,
// Read makes use of what precedes the damage, and returns a *parse.KindError, a *parse.FormatError or the
// error of r.
func (b *Builder) Read(r io.Reader) error {
	return b.read(parse.NewReader(r, Wanted), session{ahead: true})
}

func (b *Builder) read(x *parse.Reader, s session) error {
	t, err := x.ReadTrace()
	if err != nil {
		return err
	}
	if err := s.begin(b, t); err != nil {
		return err
	}
	x.KeepStacks()
	if s.ahead {
		defer x.ReadAhead()()
	}
	gcs := gclog.NewProcesses(func(of *gclog.Process) gclog.Observer {
		return func(r gclog.Record) {
			if d, ok := r.(*gclog.GCDetails); ok && of.ID == s.process && !s.names {
				s.collection(d)
			}
		}
	})
	d := clr.NewDecoder(t.PointerSize)
	for x.Scan() {
		s.take(x, d, gcs)
	}
	s.end(x, gcs)
	return x.Err()
}

// A session is the reading of one recording. Its times are those of the recording.
type session struct {
	*Builder
	offset  int64   // to the times of the first recording
	own     bool    // it has what the profile is of
	names   bool    // it is only for names
	ahead   bool    // nothing keeps its reader waiting
	rundown bool    // in it
	seen    int64   // rows
	before  float64 // amount when it began
}

// begin begins the reading of a recording.
func (s *session) begin(b *Builder, t *parse.Trace) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	s.Builder = b
	if b.stacks == nil {
		b.pointerSize = t.PointerSize
		b.stacks = newInterner(t.PointerSize)
		b.p.Start, b.p.ticks = t.SyncTime, t.SyncTicks
	}
	if b.pointerSize != t.PointerSize || b.begun && t.ProcessID != 0 && b.process != t.ProcessID {
		return ErrOtherProcess
	}
	s.offset = t.Nanoseconds(t.SyncTicks) - t.Nanoseconds(b.p.ticks)
	s.before = b.amount
	return nil
}

// take handles what the reader has scanned.
func (s *session) take(x *parse.Reader, d *clr.Decoder, gcs *gclog.Processes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := x.Stats().Rows; !s.names {
		s.scanned, s.seen = s.scanned+n-s.seen, n
	}
	if l := x.Loss(); l != nil {
		if l.Process == 0 || l.Process == s.process {
			s.p.Lost += uint64(l.Events)
			s.p.namesLost = s.p.namesLost || s.rundown
		}
	} else if err := s.event(d, x.Event()); err != nil {
		s.p.Damaged++
	}
	gcs.Take(x)
}

// end notes how long the recording was, if it has what the profile is of.
func (s *session) end(x *parse.Reader, gcs *gclog.Processes) {
	s.mu.Lock()
	defer s.mu.Unlock()
	gcs.Finish()
	stats := x.Stats()
	s.p.Skipped += uint64(stats.SkippedStacks)
	if s.own {
		s.watched(stats.Until)
	}
	if !s.names {
		for _, q := range s.pending {
			s.unserved(q)
		}
		s.pending = s.pending[:0]
	}
	for _, of := range gcs.List() {
		if of.ID == s.process {
			s.p.Process.Merge(of)
		}
	}
}

// event handles an event.
func (s *session) event(d *clr.Decoder, e *parse.Event) error {
	if !s.begun {
		if e.Meta.Provider == clr.RecordingProvider {
			return nil
		}
		s.begun, s.process, s.p.Process.ID = true, e.Process, e.Process
	}
	if e.Process != s.process {
		if e.Meta.Provider != clr.RecordingProvider {
			s.p.Others++
		}
		return nil
	}
	c, err := d.Decode(e)
	if err != nil {
		return err
	}
	at := e.Time + s.offset
	switch c := c.(type) {
	case *clr.Method:
		s.method(e, c, at)
		return nil
	case *clr.R2REntryPoint:
		s.methods.entry(c, at)
		return nil
	case *clr.Module:
		s.methods.module(c)
		return nil
	case *clr.RundownMark:
		s.rundown = !c.End
		s.p.rundown = s.p.rundown || c.End
		return nil
	}
	if s.names {
		return nil
	}
	switch c := c.(type) {
	case *clr.GCAllocationTick:
		s.tick(e, c, at)
	case *clr.AllocationSampled:
		s.sample(e, c, at)
	case *clr.GCTriggered:
		s.triggered(e, c, at)
	}
	return nil
}

func (s *session) method(e *parse.Event, c *clr.Method, at int64) {
	switch {
	case e.Meta.Provider == clr.RundownProvider:
		s.methods.add(c, math.MinInt64, math.MaxInt64)
	case e.Meta.EventID == clr.IDMethodUnload:
		s.methods.unload(c, at)
		s.stacks.change(c.StartAddress, uint64(c.Size), at, true)
	default:
		s.methods.load(c, at)
		s.stacks.change(c.StartAddress, uint64(c.Size), at, false)
	}
}

func (s *session) tick(e *parse.Event, c *clr.GCAllocationTick, at int64) {
	k := s.stratumOf(stratumKey{heap: c.Heap, clr: c.ClrInstance, kind: c.Kind, span: len(s.spans) - 1})
	stack, typ := s.number(e, at), s.typeOf(c.TypeName)
	size := c.ObjectSize
	s.stratum[k].tick(c.Amount, size)
	s.row(stack, typ, k).tick(c.Kind, c.Amount, size)
	s.thread(e.Thread, k).tick(c.Kind, c.Amount, size)
	s.count(typ)
	s.p.ticksSeen++
	s.allocated(c.TypeName, at, float64(c.Amount))
}

func (s *session) sample(e *parse.Event, c *clr.AllocationSampled, at int64) {
	k := s.stratumOf(stratumKey{clr: c.ClrInstance, kind: c.Kind, sampled: true, span: len(s.spans) - 1})
	s.stratum[k].sampled = true
	stack, typ := s.number(e, at), s.typeOf(c.TypeName)
	s.row(stack, typ, k).sample(c.ObjectSize)
	s.thread(e.Thread, k).sample(c.ObjectSize)
	s.count(typ)
	s.p.samplesSeen++
	s.allocated(c.TypeName, at, tickStep)
}

func (s *session) allocated(name clr.UTF16, at int64, amount float64) {
	s.own, s.dry, s.last, s.amount = true, 0, at, s.amount+amount
	if isNull(name) {
		s.p.nameless++
	}
}

// isNull reports whether a type has no name, as all have with NativeAOT.
func isNull(name clr.UTF16) bool {
	return len(name) == 0 || len(name) == 8 && name.String() == "NULL"
}

func (s *session) triggered(e *parse.Event, c *clr.GCTriggered, at int64) {
	stack := s.number(e, at)
	s.own = true
	s.p.Requests++
	if len(s.pending) >= maxPending {
		s.unserved(s.pending[0])
		s.pending = s.pending[1:]
	}
	s.pending = append(s.pending, request{e.Time, e.Thread, stack, c.Reason})
}

// number returns the number of the stack of an event.
func (s *session) number(e *parse.Event, at int64) uint32 {
	n := s.stacks.number(e.Stack, at)
	if s.each != nil {
		s.each(e, n)
	}
	return n
}

func (b *Builder) typeOf(name clr.UTF16) uint32 {
	b.scratch = parse.AppendUTF16(b.scratch[:0], name[:min(len(name), 2*maxTypeName)])
	if i, ok := b.types[string(b.scratch)]; ok {
		return i
	}
	if len(b.typeNames) >= maxTypes || b.typeText >= maxTypeText {
		return b.otherType()
	}
	return b.addType(string(b.scratch))
}

func (b *Builder) otherType() uint32 {
	if i, ok := b.types[otherTypes]; ok {
		return i
	}
	return b.addType(otherTypes)
}

func (b *Builder) addType(name string) uint32 {
	i := uint32(len(b.typeNames))
	b.types[name] = i
	b.typeNames = append(b.typeNames, name)
	b.typeText += len(name)
	return i
}

func (b *Builder) stratumOf(k stratumKey) uint32 {
	i, ok := b.strata[k]
	if !ok {
		if len(b.stratum) >= maxStrata {
			k = stratumKey{kind: k.kind, sampled: k.sampled, span: k.span, heap: math.MaxUint32}
			if i, ok = b.strata[k]; ok {
				return i
			}
		}
		i = uint32(len(b.stratum))
		b.strata[k] = i
		b.stratum = append(b.stratum, stratum{kind: k.kind, span: k.span})
	}
	return i
}

func (b *Builder) row(stack, typ, stratum uint32) *cell {
	other := rowKey{stack: otherStack, stratum: stratum}
	if len(b.rows) >= maxRows {
		other.typ = b.otherType()
	}
	return counted(b.rows, maxRows, rowKey{stack, typ, stratum}, other)
}

func (b *Builder) thread(id uint64, stratum uint32) *cell {
	return counted(b.threads, maxThreads, threadKey{id, stratum}, threadKey{0, stratum})
}

// counted returns the value of a key, which it adds if it is missing; with so many keys, the value of
// another key, which stands for all that there is no room for.
func counted[K comparable, V any](m map[K]*V, most int, key, other K) *V {
	if v := m[key]; v != nil {
		return v
	}
	if len(m) >= most {
		if v := m[other]; v != nil {
			return v
		}
		key = other
	}
	v := new(V)
	m[key] = v
	return v
}

// collection handles a collection that is complete.
func (s *session) collection(d *gclog.GCDetails) {
	s.p.Collections++
	switch d.Reason {
	case clr.ReasonAllocSmall, clr.ReasonAllocLarge:
		if s.dry++; s.dry > 1 {
			s.p.Silent++
		}
	}
	if !d.Known.Has(gclog.GroupTrigger) {
		return
	}
	// Requests before this one were not served by a collection of their own.
	for i, q := range s.pending {
		if q.at != d.Triggered || q.thread != d.Trigger {
			continue
		}
		s.pending = append(s.pending[:i], s.pending[i+1:]...)
		served := Requested{Count: 1, Paused: d.Pause(), Longest: d.Pause()}
		if len(d.Pauses) > 0 {
			served.Timed = 1
		}
		k, c := s.call(q, d.Generation, d.Kind == gclog.KindBackground)
		c.Add(served)
		if q.reason.Induced() && d.Known.Has(gclog.GroupNumber) && len(s.served) < maxServed {
			s.served[d.Number] = k
		}
		return
	}
}

// sum adds durations, which are the longest possible one if a damaged clock makes them longer.
func sum(a, b int64) int64 {
	if b > math.MaxInt64-a {
		return math.MaxInt64
	}
	return a + b
}

// unserved counts a request that no collection is known for.
func (b *Builder) unserved(q request) {
	_, c := b.call(q, -1, false)
	c.Count++
}

// call returns the calls that a request belongs to.
func (b *Builder) call(q request, generation int, background bool) (callKey, *Call) {
	k := callKey{q.stack, q.reason, generation, background}
	other := k
	other.stack = otherStack
	c := counted(b.calls, maxCalls, k, other)
	if b.calls[k] != c {
		k = other
	}
	c.Reason, c.Generation, c.Background = q.reason, generation, background
	return k, c
}
