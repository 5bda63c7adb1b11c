package attach

import (
	"errors"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// Observe has an observer told what the session finds, instead of a Log, until it has
// ended. known is what Facts found. begun is told when the stream has begun, and returns
// the observer; the process stays valid, and learns at the end what events have shown. An
// error is what went wrong with the stream.
func (s *Session) Observe(known *gclog.Process, begun func(*gclog.Process) gclog.Observer) (formats.End, error) {
	process := s.process(known)
	to := begun(&process)
	for {
		it, over := s.queue.take()
		switch {
		case over:
			s.wait()
			if s.mine != nil {
				learn(&process, s.mine)
			}
			end := s.end()
			s.watch.Close()
			return end, errors.Join(s.failure(end.Reason), s.tee.close())
		case it == nil:
			<-s.queue.more
		default:
			it.observe(to)
			s.queue.give(it)
		}
	}
}

// learn adds what events have shown to what was known of a process.
func learn(p, shown *gclog.Process) {
	if p.Server == gclog.Unknown {
		p.Server = shown.Server
	}
	if p.Concurrent == gclog.Unknown {
		p.Concurrent = shown.Concurrent
	}
	if p.HeapCount == 0 {
		p.HeapCount = shown.HeapCount
	}
}
