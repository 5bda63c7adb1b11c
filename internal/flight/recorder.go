package flight

import (
	"math"
	"slices"
	"time"
)

// A Recorder keeps the latest events of a process.
type Recorder struct {
	m      *Memory
	keep   time.Duration
	held   int64 // bytes of its chunks and metadata
	userID string
	user   *holder

	rings  []*Ring // one for each session, oldest first: a session may start before the last one ends
	now    *Recording
	closed bool
}

const (
	// late is how old an event may be when it arrives.
	late = 500 * time.Millisecond
	// settle is how late a trigger may be, because the outputs of the log are slow.
	settle = 2 * time.Second
	// longest is how long a recording may become, and how far back what is in progress is kept.
	longest = 10 * time.Minute
	// protected is the time before a collection that is not given up for what comes after it.
	protected = time.Second
)

// NewRecorder returns a recorder for a process of a user; "": it is unknown whose it is. It keeps the
// latest events of a time, and those since so long before the oldest collection in progress. It must be
// closed.
func (m *Memory) NewRecorder(user string, keep time.Duration) *Recorder {
	o := &Recorder{m: m, keep: keep}
	m.add(o, user)
	return o
}

// Keep changes how much the recorder keeps.
func (o *Recorder) Keep(keep time.Duration) {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	o.keep = keep
}

// NewRing returns a ring for a new session with the process. It must be closed.
func (o *Recorder) NewRing() *Ring {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	r := &Ring{o: o, closed: o.closed}
	o.rings = append(o.rings, r)
	return r
}

// Close ends the recording in progress and forgets all events. Recordings that are complete can still
// be written.
func (o *Recorder) Close() {
	o.m.mu.Lock()
	defer o.m.mu.Unlock()
	o.closed = true
	o.complete()
	for _, r := range o.rings {
		r.closed = true
	}
	for _, r := range o.rings {
		r.discard()
	}
	o.rings = nil
	o.m.remove(o)
}

// account counts memory that is not in chunks.
func (o *Recorder) account(size int) {
	o.m.used += int64(size)
	o.hold(int64(size))
}

// hold counts memory that it holds now, or no longer.
func (o *Recorder) hold(size int64) {
	o.held += size
	o.user.held += size
	if o.user.held == 0 && o.user.recorders == 0 {
		delete(o.m.users, o.userID)
	}
}

// holdsMore reports whether its blocks go before those of another recorder.
func (o *Recorder) holdsMore(other *Recorder) bool {
	if o.user != other.user {
		return o.user.held > other.user.held
	}
	return o.held > other.held
}

// forget forgets the blocks that are too old.
func (o *Recorder) forget() {
	from := int64(math.MaxInt64)
	for _, r := range o.rings {
		if !r.closed && r.trace != nil {
			from = min(from, r.needed(0))
		}
	}
	if from < math.MaxInt64 {
		o.forgetBefore(from)
	}
}

// expire does so if nothing more has arrived until now.
func (o *Recorder) expire(now time.Time) {
	if n := len(o.rings); n > 0 {
		r := o.rings[n-1]
		o.forgetBefore(r.needed(now.Sub(r.arrived)))
	}
}

// forgetBefore forgets the blocks that a recording of what begins at a time or later does not need.
func (o *Recorder) forgetBefore(at int64) {
	for i := 0; i < len(o.rings); i++ {
		r := o.rings[i]
		from := at - r.clock.ticks(o.keep+settle)
		if o.now != nil {
			from = min(from, o.now.from)
		}
		for r.blocks > 0 && r.oldest().at < from {
			r.drop()
		}
		if r.closed && r.blocks == 0 && i < len(o.rings)-1 {
			r.discard()
			o.rings = slices.Delete(o.rings, i, i+1)
			i--
		}
	}
}

// losing returns the ring that would lose its oldest block; nil: there is none.
func (o *Recorder) losing() *Ring {
	for _, r := range o.rings {
		if r.blocks > 0 {
			return r
		}
	}
	return nil
}

// canLose reports whether forgetting the oldest block frees memory.
func (o *Recorder) canLose() bool {
	r := o.losing()
	return r != nil && r.head.c.refs == 1
}

// lose forgets the oldest blocks until that has freed a chunk. If they are needed for the recording
// in progress, it ends that one instead, and returns false.
func (o *Recorder) lose() bool {
	for held := o.held; o.held == held; {
		r := o.losing()
		if r == nil {
			return false
		}
		at := r.oldest().at
		if o.now != nil && at >= o.now.protected {
			o.complete()
			return false
		}
		r.given = at
		r.drop()
	}
	return true
}

// ended is called when a session has ended. Without another one a recording cannot continue.
func (o *Recorder) ended() {
	if !slices.ContainsFunc(o.rings, func(r *Ring) bool { return !r.closed }) {
		o.complete()
	}
}
