package parse

import "io"

const (
	batchEvents   = 512      // enough to cost little for each event, and few enough to stay in the caches
	batchPayloads = 64 << 10 // bytes
	batchCount    = 4
)

// A batch is a series of events and losses that were found ahead, with copies of their payloads.
type batch struct {
	events   []Event // one without Meta stands for the next of losses
	losses   []Loss
	payloads []byte
	stats    Stats // after its events
	err      error // the error after them, when Scan returned false
	ended    bool  // Scan returned false after them
}

// A batches scans for a Reader in a goroutine of its own, so that its caller's work and the parsing
// share two CPUs. Batches go round: from free to the goroutine, which fills them, through full to
// next, which lets the caller use one at a time and then returns it.
type batches struct {
	free, full   chan *batch
	stop, exited chan struct{}

	inUse  *batch
	events []Event // events of inUse that are not delivered yet
	losses []Loss
	stats  Stats // after inUse
	ended  bool  // Scan returned false, and will do so again
}

// start moves the state of r to a Reader that only the goroutine uses. What remains in r is what its
// caller sees.
func (q *batches) start(r *Reader) {
	for range batchCount {
		q.free <- new(batch)
	}
	scanner := *r
	*r = Reader{filter: r.filter, trace: r.trace, ahead: q}
	go q.run(&scanner)
}

func (q *batches) run(r *Reader) {
	defer close(q.exited)
	for {
		var b *batch
		select {
		case b = <-q.free:
		case <-q.stop:
			return
		}
		b.fill(r)
		last := b.ended && !isTimeout(b.err)
		q.full <- b // has room
		if last {
			return
		}
	}
}

func (b *batch) fill(r *Reader) {
	b.events, b.losses, b.payloads = b.events[:0], b.losses[:0], b.payloads[:0]
	b.err, b.ended = nil, false
	for len(b.events) < batchEvents && len(b.payloads) < batchPayloads {
		if !r.scan() {
			b.err, b.ended = r.err, true
			break
		}
		if r.isLoss {
			b.events, b.losses = append(b.events, Event{}), append(b.losses, r.loss)
			continue
		}
		b.events = append(b.events, r.event)
		e := &b.events[len(b.events)-1]
		e.Payload, e.Stack = b.copy(e.Payload), b.copy(e.Stack)
	}
	b.stats = r.Stats()
}

// copy returns a copy of a part of an event. The copies before stay where they are.
func (b *batch) copy(part []byte) []byte {
	at := len(b.payloads)
	b.payloads = append(b.payloads, part...)
	return b.payloads[at:len(b.payloads):len(b.payloads)]
}

// next is what Scan of r does.
func (q *batches) next(r *Reader) bool {
	for len(q.events) == 0 {
		if b := q.inUse; b != nil {
			ended, err := b.ended, b.err
			q.inUse = nil
			q.free <- b // has room
			if ended {
				q.ended, r.err = !isTimeout(err), err
				return false
			}
		}
		select {
		case q.inUse = <-q.full:
		case <-q.exited:
			select {
			case q.inUse = <-q.full: // found before
			default:
				if !q.ended {
					r.err = io.ErrClosedPipe // stopped before the end
				}
				return false
			}
		}
		q.events, q.losses, q.stats = q.inUse.events, q.inUse.losses, q.inUse.stats
	}
	e := &q.events[0]
	q.events = q.events[1:]
	if r.isLoss = e.Meta == nil; r.isLoss {
		r.loss = q.losses[0]
		q.losses = q.losses[1:]
	} else {
		r.event = *e
	}
	return true
}
