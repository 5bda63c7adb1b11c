package attach

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
)

// A SnapshotPlan is what a heap snapshot will do to a process, estimated before it is taken.
type SnapshotPlan struct {
	Heap     uint64  // bytes of live objects: after the last full collection, or the private memory of the process
	Last     *FullGC // the last full collection; nil: unknown
	Need     uint64  // bytes that the events take in the memory of the process until they are sent
	BufferMB uint32  // limit for them that the runtime is given
	// StreamLimit is how many bytes a real runtime sends at most: what it may buffer before anybody
	// reads, and as much as a walk of all its memory takes, which it may send while somebody reads.
	StreamLimit uint64
	Rooms       []host.Room // what limits the memory of the process
	// Ahead: the runtime answers before it collects and walks its heap, and sends the events meanwhile.
	// Who reads them in time keeps the process from needing memory for all of them.
	Ahead bool

	// Shortest and Longest is how long the program will be paused by the walk, depending on the sizes
	// of its objects. Twice: the runtime collects once more at the end.
	Shortest, Longest time.Duration
	Twice             bool

	walk uint64 // bytes that the walk takes at most; 0: unknown
}

// The cost of a walk, measured with .NET 3.1 to 10 on x86-64 (docs/heap.md, The request).
const (
	// An object takes 32 bytes and a reference 12: objects of 80 bytes on average, with two
	// references each, take 0.7 of their own size, smaller ones up to 1.3. The private memory of a
	// process contains more than live objects.
	needShare     = 1.0
	needOfObjects = 1.3 // if only live objects are counted
	// ownShare is what gclog needs for the graph, as a share of the heap: about 45 bytes for each
	// object.
	ownShare = 1.0
	// bufferShare is the share of the heap that the runtime may buffer: what a walk takes at most, with
	// 1 % for the blocks of the stream. What is not used costs nothing; what does not fit is lost.
	bufferShare              = 1.01 * (32 + 12) / 24
	bufferLeast, bufferLimit = 256, 4095 // MB
	// walkShare is what a walk takes at most, as a share of the memory that is walked: the smallest
	// object with a reference, of 24 bytes, takes 44. With pointers of 4 bytes one of 12 takes 36, but
	// such a process has at most 4 GB, and its runtime as much to buffer.
	walkShare = 2
	// graphShare is what gclog needs for a stream at most, as a share of its bytes: 150 bytes for a root
	// of 21, 250 for an object of 32 whose type nothing else has, and that is rare; usually it is less
	// than half.
	graphShare = 2
	// ownBase is what gclog needs for any stream: buffers of the sessions, what is unread, and the metadata
	// of one assembly, which has up to 64 MB, and twice as much with what is computed of it.
	ownBase = 192 << 20
	// roomShare is the share of the free memory that a snapshot may take.
	roomShare = 0.8

	largeObject, smallObject = 80.0, 45.0  // bytes per object on average
	fastWalk, slowWalk       = 70.0, 190.0 // nanoseconds for each object
	fastMark, slowMark       = 0.2, 0.7    // nanoseconds for each byte
)

// PlanSnapshot estimates what a snapshot will do. The facts need not be complete; last is the last
// full collection, or nil.
func PlanSnapshot(t *host.Target, facts *gclog.Process, last *FullGC) *SnapshotPlan {
	p := planWalk(t.PrivateMemory(), last)
	p.Rooms, p.Twice, p.Ahead = t.Rooms(), collectsAtEnd(facts), answersAhead(facts)
	return p
}

// planWalk estimates the walk of a process with so many bytes of private memory; 0: unknown.
// The process's own report about its last collection can only lower the estimate: a limit must not
// depend on what may be a lie.
func planWalk(private uint64, last *FullGC) *SnapshotPlan {
	p := &SnapshotPlan{Heap: private, Need: uint64(needShare * float64(private)), Last: last}
	if last != nil {
		p.Heap = last.Heap
		if private > 0 {
			p.Heap = min(last.Heap, private)
		}
		p.Need = min(uint64(needOfObjects*float64(p.Heap)), max(p.Need, p.Heap))
	}
	most := private
	if private == 0 {
		most = p.Heap
	}
	p.BufferMB = uint32(min(max(math.Ceil(bufferShare*float64(most)/(1<<20)), bufferLeast), bufferLimit))
	p.walk = walkShare * private
	p.StreamLimit = uint64(p.BufferMB)<<20 + p.walk
	if private == 0 {
		p.StreamLimit = 2 * p.BufferLimit()
	}
	p.Shortest, p.Longest = p.pause(fastMark, fastWalk/largeObject), p.pause(slowMark, slowWalk/smallObject)
	return p
}

// pause estimates the pause from the nanoseconds for each byte that marking and walking take. What
// the last full collection took is known better, if it was a blocking one.
func (p *SnapshotPlan) pause(mark, walk float64) time.Duration {
	collection := time.Duration(mark * float64(p.Heap))
	if p.Last != nil && p.Last.Blocking {
		collection = time.Duration(p.Last.Pause)
	}
	return collection + time.Duration(walk*float64(p.Heap))
}

// After makes the plan one for a process whose last walk is known to have taken so many bytes: the next
// one takes as much, and half as much again if the heap has grown.
func (p *SnapshotPlan) After(walk uint64) {
	p.Need = walk + walk/2
	p.buffer(uint32(min(p.Need>>20+1, bufferLimit)))
}

// Again returns the plan for another walk after events of one were lost: with twice the buffer, and the
// limits of the process's memory as they are now. It returns nil if the runtime buffers no more.
func (p *SnapshotPlan) Again(rooms []host.Room) *SnapshotPlan {
	if p.BufferMB >= bufferLimit {
		return nil
	}
	again := *p
	again.Rooms = rooms
	again.buffer(min(2*p.BufferMB, bufferLimit))
	again.Need = uint64(again.BufferMB) << 20
	if p.walk > 0 {
		again.Need = max(p.Need, min(again.Need, p.walk))
	}
	return &again
}

// buffer gives the runtime a larger buffer, if it is larger.
func (p *SnapshotPlan) buffer(mb uint32) {
	if mb > p.BufferMB {
		p.StreamLimit += uint64(mb-p.BufferMB) << 20
		p.BufferMB = mb
	}
}

// BufferLimit returns how many bytes of events the runtime can buffer.
func (p *SnapshotPlan) BufferLimit() uint64 { return bufferLimit << 20 }

// OwnNeed returns the bytes that gclog itself takes for the graph of the objects.
func (p *SnapshotPlan) OwnNeed() uint64 { return uint64(ownShare * float64(p.Heap)) }

// AllowNames makes room for the names of methods: the runtime writes them when the walk has been sent,
// into the same buffer.
func (p *SnapshotPlan) AllowNames() { p.StreamLimit += uint64(p.BufferMB) << 20 }

// OwnLimit returns the bytes of memory that gclog itself takes at most while it takes the snapshot.
func (p *SnapshotPlan) OwnLimit() uint64 { return ownBase + graphShare*p.StreamLimit }

// CPULimit returns the time of a processor that gclog takes at most: for each GB, 10 s are usual.
func (p *SnapshotPlan) CPULimit() time.Duration {
	const base, perMB = time.Minute, 250 * time.Millisecond
	return base + time.Duration(p.StreamLimit>>20)*perMB
}

// Lacks returns the limit of the process that leaves the least memory, if that does not suffice, or
// nil.
func (p *SnapshotPlan) Lacks() *host.Room { return Lacks(p.Rooms, p.Need) }

// Lacks returns the limit that leaves the least memory, if that does not suffice, or nil.
func Lacks(rooms []host.Room, need uint64) (least *host.Room) {
	for i := range rooms {
		r := &rooms[i]
		if float64(need) > roomShare*float64(r.Free()) && (least == nil || r.Free() < least.Free()) {
			least = r
		}
	}
	return least
}

// Timeout is how long the runtime may take to answer if the user does not say otherwise.
func (p *SnapshotPlan) Timeout() time.Duration {
	const base, perGB, most = 30 * time.Second, 2 * time.Second, 10 * time.Minute
	return min(base+max(time.Duration(p.Heap>>30)*perGB, 5*p.Longest), most)
}

// WalkRefusal returns why the runtime of a process must not be asked to walk its heap, as a
// *host.TargetError, or nil. Whatever takes snapshots asks this: commands, rules, heap.auto.
func WalkRefusal(p *host.Process, facts *gclog.Process) error {
	kind := host.Runtime(slices.Index(flavors[:], facts.Flavor))
	return p.PermitHeap(kind, facts.RuntimeVersion, facts.CommandLine, true)
}

// SnapshotRefusal returns why no snapshot of a process can be taken, or nil.
func SnapshotRefusal(t *host.Target, facts *gclog.Process) error {
	var why string
	switch unwalkable := WalkRefusal(&t.Process, facts); {
	case unwalkable != nil:
		return unwalkable
	case t.Tracer() != 0:
		why = fmt.Sprintf(
			"is being debugged (process %d), so its threads may not stop for a snapshot: detach the debugger first",
			t.Tracer())
	case t.Stopped():
		why = fmt.Sprintf("is stopped: kill -CONT %d resumes it", t.PID)
	default:
		return nil
	}
	return fmt.Errorf("process %d %s", t.PID, why)
}
