package attach

import (
	"errors"

	"github.com/gclog/gclog/gclog"
)

// Observe passes the records of the session to an observer, instead of a Log, until the session has
// ended. known is what Facts returned. started is called when the stream has started, and returns
// the observer; the process it receives stays valid, and is completed at the end with what events
// have shown. The error is about what went wrong with the stream.
func (s *Session) Observe(known *gclog.Process, started func(*gclog.Process) gclog.Observer) (gclog.End, error) {
	process := s.process(known)
	to := started(&process)
	for {
		slot, over := s.queue.take()
		switch {
		case over:
			s.wait()
			if s.mine != nil {
				learn(&process, s.mine)
			}
			end := s.end()
			s.watch.Close()
			return end, errors.Join(s.failure(end.Reason), s.tee.close())
		case slot == nil:
			<-s.queue.more
		default:
			to(slot.Record)
			s.queue.give(slot)
		}
	}
}

// learn completes what was known of a process with what events have shown.
func learn(p, shown *gclog.Process) {
	p.SetServer(shown.Server, shown.ServerFrom)
	if p.Concurrent == gclog.Unknown {
		p.Concurrent = shown.Concurrent
	}
	if p.HeapCount == 0 {
		p.HeapCount = shown.HeapCount
	}
}
