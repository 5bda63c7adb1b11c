package stacks

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A Source is what allocations were estimated from.
type Source uint8

// The sources.
const (
	None    Source = iota // the recording has no allocation events
	Ticks                 // AllocationTick: one for each 100 KB of a heap
	Samples               // AllocationSampled, since .NET 10: each byte has the same chance
)

func (s Source) String() string { return [...]string{"none", "ticks", "samples"}[s] }

// A Profile is what the recordings of a process say about who allocates and who asks for collections.
type Profile struct {
	Process  gclog.Process
	Start    time.Time     // of the first recording
	Duration time.Duration // of the recordings with these events, or what they stand for
	Watched  time.Duration // of the windows that were read; 0: the recordings are whole

	Frames []Frame  // distinct
	Stacks []Stack  // distinct
	Types  []string // distinct, as the events name them: see ReadableType

	Source      Source
	Allocations []Allocation // most bytes first
	Threads     []Thread     // most bytes first
	Total       Estimate     // of all allocations

	Calls       []Call // most frequent first
	Requests    uint64 // of collections: GCTriggered events
	Collections uint64 // in the recordings

	Names   Names
	Lost    uint64 // events that the runtime dropped
	Damaged uint64 // events that could not be decoded
	Skipped uint64 // stacks that were damaged, or for which the reader had no room
	Others  uint64 // events of other processes
	// Silent collections began because of allocations, and no allocation was reported since the collection before,
	// although they are: the event filter of the session lacks something, or the sampling of another tool
	// has switched ticks off.
	Silent uint64
	Gaps   int // sessions at whose end no allocations were reported any more, although there were some

	samplesSeen, ticksSeen uint64
	unwatched              float64 // variance of Total, because nobody has watched all the time
	dispersion             float64 // factor of variances: see Builder.dispersion
	nameless               uint64  // allocation events without a name of the type
	ticks                  int64   // sync point of the first recording
	rundown, namesLost     bool
	paths                  [][]int32 // by stack: see Path
	served                 map[uint32]callKey
}

// Names says which frames have names.
type Names struct {
	Frames   uint64 // of events
	Unnamed  uint64 // of these, frames without a name: native code, or a rundown that is missing
	Complete bool   // a rundown is in the recordings, and nothing of it was lost
	Dropped  uint64 // methods for which there was no room
}

// Nameless reports whether no allocation event has the name of a type, as with NativeAOT.
func (p *Profile) Nameless() bool {
	return p.Total.Events > 0 && p.nameless >= p.ticksSeen+p.samplesSeen
}

// HasStacks reports whether any event has a stack.
func (p *Profile) HasStacks() bool { return p.Names.Frames > 0 }

// A Stack is a distinct call stack.
type Stack struct {
	Frames    []int32 // indexes in Profile.Frames, the outermost first
	Truncated bool    // outer frames are missing
	Other     bool    // stands for all stacks for which there was no room
}

// An Allocation is what a stack allocated of a type.
type Allocation struct {
	Stack int // index in Profile.Stacks
	Type  int // index in Profile.Types
	Kind  clr.AllocationKind
	Estimate
}

// A Thread is what a thread allocated.
type Thread struct {
	ID uint64 // 0: all for which there was no room
	Estimate
}

// A Call is how often a stack has asked for a collection in some way.
type Call struct {
	Stack      int // index in Profile.Stacks
	Reason     clr.Reason
	Generation int // that was collected; -1: there was no collection, or it is not in the recording
	Background bool
	Requested
}

// CallOf returns the calls of the stack that asked for a collection in the same way, nil if that is unknown.
func (p *Profile) CallOf(collection uint32) *Call {
	k, ok := p.served[collection]
	if !ok {
		return nil
	}
	i := slices.IndexFunc(p.Calls, func(c Call) bool {
		return callKey{uint32(c.Stack), c.Reason, c.Generation, c.Background} == k
	})
	return &p.Calls[i]
}

// Requested is how often collections were asked for, and how long they paused the program.
type Requested struct {
	Count   uint64 // of requests; a call that is served by the collection of another one is none
	Timed   uint64 // of these, those whose collection has known pauses
	Paused  int64  // their pauses, nanoseconds
	Longest int64  // the longest pause of one, nanoseconds
}

// Add adds other requests.
func (r *Requested) Add(other Requested) {
	r.Count += other.Count
	r.Timed += other.Timed
	r.Paused = sum(r.Paused, other.Paused)
	r.Longest = max(r.Longest, other.Longest)
}

// maxText is the size of the names of all frames of all stacks, in bytes. A recording of an hour has a tenth
// of it; but as any stack may have any name, without a limit a small file has names of gigabytes.
const maxText = 256 << 20

// frameText is what a frame of a stack counts besides its names, in bytes.
const frameText = 16

// deepest is the number of frames at which the runtime cuts a stack.
const deepest = 100

// Profile returns the profile of what was read.
func (b *Builder) Profile() *Profile {
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.p
	p.Duration, p.Watched = b.lengths()
	p.unwatched, p.dispersion = b.unwatched(), b.dispersion()
	p.Source = None
	switch {
	case p.samplesSeen > 0:
		p.Source = Samples
	case p.ticksSeen > 0:
		p.Source = Ticks
	}
	p.Names.Complete = p.rundown && !p.namesLost
	p.Names.Dropped = uint64(b.methods.dropped)
	p.Types = slices.Clone(b.typeNames)
	r := b.resolver(&p)
	r.allocations()
	p.Threads = b.threadsOf(p.Source)
	r.calls()
	for i := range p.Stacks {
		p.paths = append(p.paths, p.path(p.Stacks[i].Frames))
	}
	return &p
}

// chosen returns the stratum with an index if what it counts is of the source that is used.
func (b *Builder) chosen(index uint32, source Source) *stratum {
	s := &b.stratum[index]
	if s.sampled != (source == Samples) {
		return nil
	}
	return s
}

// allocations adds the rows up by stack and type.
func (r *resolver) allocations() {
	type key struct {
		stack, typ int
		kind       clr.AllocationKind
	}
	p, rows := r.p, map[key]*Estimate{}
	for _, k := range slices.SortedFunc(maps.Keys(r.rows), func(x, y rowKey) int {
		return cmp.Or(cmp.Compare(x.stack, y.stack), cmp.Compare(x.typ, y.typ), cmp.Compare(x.stratum, y.stratum))
	}) {
		s := r.chosen(k.stratum, p.Source)
		if s == nil {
			continue
		}
		e := r.rows[k].estimate(s, r.stretch(s.span))
		to := key{r.stack(k.stack), int(k.typ), s.kind}
		if rows[to] == nil {
			rows[to] = &Estimate{}
		}
		rows[to].Add(e)
		p.Total.Add(e)
		r.named(to.stack, e.Events)
	}
	for k, e := range rows {
		p.Allocations = append(p.Allocations, Allocation{k.stack, k.typ, k.kind, *e})
	}
	slices.SortFunc(p.Allocations, func(x, y Allocation) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Stack, y.Stack), cmp.Compare(x.Type, y.Type),
			cmp.Compare(x.Kind, y.Kind))
	})
}

// threadsOf adds the cells of threads up.
func (b *Builder) threadsOf(source Source) (list []Thread) {
	threads := map[uint64]*Estimate{}
	for _, k := range slices.SortedFunc(maps.Keys(b.threads), func(x, y threadKey) int {
		return cmp.Or(cmp.Compare(x.thread, y.thread), cmp.Compare(x.stratum, y.stratum))
	}) {
		s := b.chosen(k.stratum, source)
		if s == nil {
			continue
		}
		if threads[k.thread] == nil {
			threads[k.thread] = &Estimate{}
		}
		threads[k.thread].Add(b.threads[k].estimate(s, b.stretch(s.span)))
	}
	for id, e := range threads {
		list = append(list, Thread{id, *e})
	}
	slices.SortFunc(list, func(x, y Thread) int {
		return cmp.Or(cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.ID, y.ID))
	})
	return list
}

// calls adds the calls up by the stacks with the same frames.
func (r *resolver) calls() {
	p, calls := r.p, map[callKey]*Call{}
	for _, k := range slices.SortedFunc(maps.Keys(r.Builder.calls), func(x, y callKey) int {
		return cmp.Or(cmp.Compare(x.stack, y.stack), cmp.Compare(x.reason, y.reason),
			cmp.Compare(x.generation, y.generation))
	}) {
		x := *r.Builder.calls[k]
		x.Stack = r.stack(k.stack)
		r.named(x.Stack, x.Count)
		k.stack = uint32(x.Stack)
		if to := calls[k]; to != nil {
			to.Add(x.Requested)
			continue
		}
		calls[k] = &x
	}
	for _, c := range calls {
		p.Calls = append(p.Calls, *c)
	}
	p.served = map[uint32]callKey{}
	for number, k := range r.served {
		k.stack = uint32(r.stack(k.stack))
		p.served[number] = k
	}
	slices.SortFunc(p.Calls, func(x, y Call) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Reason, y.Reason),
			cmp.Compare(x.Generation, y.Generation), cmp.Compare(x.Stack, y.Stack))
	})
}

// A resolver names the frames of stacks.
type resolver struct {
	*Builder
	p        *Profile
	native   int32
	frames   map[Frame]int32 // indexes in p.Frames
	methods  map[int32]int32 // by method: its frame
	byFrames map[string]int  // indexes in p.Stacks, by the frames
	resolved map[uint32]int  // by the number of the raw stack
	cache    map[uint64]int32
	numbers  []int32
	key      []byte
	text     int // bytes of the names of all stacks
}

func (b *Builder) resolver(p *Profile) *resolver {
	b.methods.sort()
	r := &resolver{
		Builder: b, p: p, frames: map[Frame]int32{}, methods: map[int32]int32{},
		byFrames: map[string]int{}, resolved: map[uint32]int{}, cache: map[uint64]int32{},
	}
	r.native = r.frame(Frame{})
	return r
}

func (r *resolver) frame(f Frame) int32 {
	i, ok := r.frames[f]
	if !ok {
		i = int32(len(r.p.Frames))
		r.frames[f] = i
		r.p.Frames = append(r.p.Frames, f)
	}
	return i
}

// stack returns the index in p.Stacks of a raw stack.
func (r *resolver) stack(number uint32) int {
	if i, ok := r.resolved[number]; ok {
		return i
	}
	i := r.resolve(number)
	r.resolved[number] = i
	return i
}

func (r *resolver) resolve(number uint32) int {
	r.numbers = r.numbers[:0]
	s := Stack{Other: number == otherStack}
	if number >= ownStacks {
		raw := &r.stacks.list[number-ownStacks]
		for address := range addresses(raw.addresses, r.pointerSize) {
			r.numbers = append(r.numbers, r.at(address, raw.first))
		}
		s.Truncated = raw.cut || len(r.numbers) >= deepest
		slices.Reverse(r.numbers)
	}
	r.key = r.key[:0]
	for _, n := range r.numbers {
		r.key = append(r.key, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	if s.Truncated || s.Other {
		r.key = append(r.key, 't')
	}
	if s.Other {
		r.key = append(r.key, 'o')
	}
	i, ok := r.byFrames[string(r.key)]
	if !ok {
		size := 0
		for _, n := range r.numbers {
			f := &r.p.Frames[n]
			size += len(f.Namespace) + len(f.Name) + len(f.Signature) + frameText
		}
		if size > maxText-r.text && !s.Other {
			return r.stack(otherStack)
		}
		r.text += size
		i = len(r.p.Stacks)
		r.byFrames[string(r.key)] = i
		s.Frames = slices.Clone(r.numbers)
		r.p.Stacks = append(r.p.Stacks, s)
	}
	return i
}

// named counts the frames of events.
func (r *resolver) named(stack int, events uint64) {
	for _, f := range r.p.Stacks[stack].Frames {
		r.p.Names.Frames += events
		if f == r.native {
			r.p.Names.Unnamed += events
		}
	}
}

// at returns the frame of an address.
func (r *resolver) at(address uint64, t int64) int32 {
	if i, ok := r.cache[address]; ok {
		return i
	}
	of, always := r.Builder.methods.at(address, t)
	i := r.native
	if of >= 0 {
		var ok bool
		if i, ok = r.methods[of]; !ok {
			i = r.frame(r.Builder.methods.frame(of))
			r.methods[of] = i
		}
	}
	if always {
		r.cache[address] = i
	}
	return i
}
