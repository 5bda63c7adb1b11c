package attach

import (
	"context"
	"io"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/nettrace"
)

// factsTime is how long a recording waits for the facts about its process.
const factsTime = 2 * time.Second

// A recorder writes a recording. After the head of the stream it inserts an event with facts that
// the runtime reports only to its clients, or only at the end of a session that a client ends.
type recorder struct {
	w     io.Writer
	facts func() gclog.Process // called when the head has arrived
	head  []byte               // of the stream, up to the end of its Trace object
	done  bool                 // the head has been written
}

// recordedFacts returns what a recording says about its process. What cannot be found out in time
// is unknown there too.
func recordedFacts(ctx context.Context, t *host.Target) (p gclog.Process) {
	ctx, cancel := context.WithTimeout(ctx, factsTime)
	defer cancel()
	_ = Contain(func() { p, _ = Identify(ctx, t) })
	p.DiagnosticsThreads = t.DiagnosticsThreads()
	return p
}

// Write implements io.Writer. An incomplete head is not written: it contains nothing.
func (r *recorder) Write(b []byte) (int, error) {
	if r.done {
		return r.w.Write(b)
	}
	n := min(len(b), nettrace.HeadSize-len(r.head))
	r.head = append(r.head, b[:n]...)
	if nettrace.MayBeHead(r.head) {
		if len(r.head) < nettrace.HeadSize {
			return n, nil
		}
		p := r.facts()
		r.head = nettrace.AppendProcess(r.head, &p)
	}
	r.done = true
	if _, err := r.w.Write(r.head); err != nil || n == len(b) {
		return n, err
	}
	rest, err := r.w.Write(b[n:])
	return n + rest, err
}
