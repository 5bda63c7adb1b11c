package attach

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/session"
)

// A SnapshotPlan is what a heap snapshot will do to a process, estimated before it is taken.
type SnapshotPlan struct {
	Heap     uint64         // bytes of live objects: after the last full collection, or the private memory of the process
	Last     *FullGC        // the last full collection; nil: unknown
	Need     uint64         // bytes that the events take in the memory of the process until they are sent
	BufferMB uint32         // limit for them that the runtime is given
	Rooms    []session.Room // what limits the memory of the process

	// Shortest and Longest is how long the program will be paused by the walk, depending on the sizes
	// of its objects. Twice: the runtime collects once more at the end.
	Shortest, Longest time.Duration
	Twice             bool
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
	// bufferShare is the share of the heap that the runtime may buffer. What is not used costs
	// nothing; what does not fit is lost.
	bufferShare              = 1.5
	bufferLeast, bufferLimit = 256, 4095 // MB
	// roomShare is the share of the free memory that a snapshot may take.
	roomShare = 0.8

	largeObject, smallObject = 80.0, 45.0  // bytes per object on average
	fastWalk, slowWalk       = 70.0, 190.0 // nanoseconds for each object
	fastMark, slowMark       = 0.2, 0.7    // nanoseconds for each byte
)

// PlanSnapshot estimates what a snapshot will do. The facts need not be complete; last is the last
// full collection, or nil.
func PlanSnapshot(t *session.Target, facts *gclog.Process, last *FullGC) *SnapshotPlan {
	private := t.PrivateMemory()
	p := &SnapshotPlan{Heap: private, Need: uint64(needShare * float64(private)), Last: last, Rooms: t.Rooms(), Twice: collectsAtEnd(facts)}
	if last != nil {
		p.Heap, p.Need = last.Heap, min(uint64(needOfObjects*float64(last.Heap)), max(p.Need, last.Heap))
	}
	mb := math.Ceil(bufferShare * float64(max(private, p.Heap)) / (1 << 20))
	p.BufferMB = uint32(min(max(mb, bufferLeast), bufferLimit))
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

// BufferLimit returns how many bytes of events the runtime can buffer.
func (p *SnapshotPlan) BufferLimit() uint64 { return bufferLimit << 20 }

// OwnNeed returns the bytes that gclog itself takes for the graph of the objects.
func (p *SnapshotPlan) OwnNeed() uint64 { return uint64(ownShare * float64(p.Heap)) }

// Lacks returns the limit of the process that leaves the least memory, if that does not suffice, or
// nil.
func (p *SnapshotPlan) Lacks() *session.Room { return Lacks(p.Rooms, p.Need) }

// Lacks returns the limit that leaves the least memory, if that does not suffice, or nil.
func Lacks(rooms []session.Room, need uint64) (least *session.Room) {
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

// SnapshotRefusal returns why no snapshot of a process can be taken, or nil.
func SnapshotRefusal(t *session.Target, facts *gclog.Process) error {
	var why string
	switch {
	case facts.Flavor == gclog.FlavorNativeAOT:
		why = "is a NativeAOT program: its runtime cannot walk its heap. A snapshot needs CoreCLR"
	case t.Tracer() != 0:
		why = fmt.Sprintf("is being debugged (process %d), so its threads may not stop for a snapshot: detach the debugger first", t.Tracer())
	case t.Stopped():
		why = fmt.Sprintf("is stopped: kill -CONT %d resumes it", t.PID)
	default:
		return nil
	}
	return fmt.Errorf("process %d %s", t.PID, strings.TrimSuffix(why, "."))
}
