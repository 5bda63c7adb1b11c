package gclog

import (
	"slices"

	"github.com/gclog/gclog/parse/clr"
)

// A Request is what gclog requested from a runtime.
type Request uint8

// The requests.
const (
	RequestNone     Request = iota
	RequestGC               // a collection without a snapshot
	RequestSnapshot         // a heap snapshot
)

// leastWalk is how long, in nanoseconds, the end of a collection takes if the runtime walks the
// heap there. Between the last history and GCEnd there is little else: docs/reduction.md 4 has the
// measurements.
const leastWalk = 100_000

// recognizeDump decides whether a collection is that of a heap snapshot. If the session has the
// events of the walk, they show it. Otherwise its request does, and how long its end took.
func (r *Reducer) recognizeDump(c *collection) {
	request := RequestNone
	if r.Requested != nil && (c.HeapDump || r.mayBeDump(c)) {
		request = r.Requested()
	}
	c.HeapDump = c.HeapDump || r.mayBeDump(c) && r.isDump(c, request)
	if c.HeapDump && (request == RequestSnapshot || r.process != nil && r.process.Snapshot) {
		c.HeapDumpBy = RequesterGclog
	}
}

// mayBeDump reports whether a collection without events of a walk may be that of a snapshot.
func (r *Reducer) mayBeDump(c *collection) bool {
	like := c.Complete && c.Kind == KindBlocking && c.Type == clr.TypeBlocking && c.Generation == Gen2 &&
		c.Reason == clr.ReasonInduced
	if !like || !c.Known.Has(GroupTrigger) || c.reported == 0 {
		return false
	}
	requested := r.byDiagnostics(c)
	return requested == Yes || requested == Unknown && c.mayHaveWalked()
}

// isDump decides about a collection that may be that of a snapshot.
func (r *Reducer) isDump(c *collection, request Request) bool {
	switch request {
	case RequestGC:
		return false // on a busy machine its end may take as long as a walk
	case RequestSnapshot:
		return true
	}
	return r.byDiagnostics(c) == Yes && c.mayHaveWalked()
}

// byDiagnostics reports whether a collection was requested by the thread that carries out what
// diagnostic tools request.
func (r *Reducer) byDiagnostics(c *collection) Known {
	if r.process == nil || len(r.process.DiagnosticsThreads) == 0 {
		return Unknown
	}
	return KnownBool(slices.Contains(r.process.DiagnosticsThreads, c.Trigger))
}

// mayHaveWalked reports whether the end of a collection took long enough for a walk.
func (c *collection) mayHaveWalked() bool { return c.End-c.reported >= leastWalk }
