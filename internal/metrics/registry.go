// Package metrics counts what is recorded about processes, for Prometheus and OpenTelemetry. A
// Process is an observer of records and counts those of one process; a Registry has all of them, and
// passes their numbers on. The families of metrics are the rows of one table.
package metrics

import (
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
)

// A Registry has the numbers of all processes.
type Registry struct {
	now func() time.Time

	mu        sync.Mutex
	readers   Readers
	processes []*Process           // in the order of registration
	exited    []*Process           // those of them that have exited, in the order of that
	unique    map[string]*Process  // by labels
	used      map[string]time.Time // when labels were last used by a process that was forgotten
	number    uint64
	forgotten uint64 // exited processes that not all readers have read in time

	reading sync.Mutex // held while views are used
}

// Readers is a set of those who read the numbers.
type Readers uint8

// The readers.
const (
	Scraper  Readers = 1 << iota // Prometheus
	Exporter                     // to OpenTelemetry
)

const (
	// exitedTime is how long the series of a process stay after its exit if nobody reads them.
	exitedTime = 5 * time.Minute
	// exitedMost is how many exited processes are kept: when processes come and go all the time and
	// nobody reads, the oldest are forgotten.
	exitedMost = 1000
	// usedMost is how many labels of such processes are remembered.
	usedMost = 10_000
)

// NewRegistry returns a Registry without processes.
func NewRegistry() *Registry {
	return &Registry{now: time.Now, unique: map[string]*Process{}, used: map[string]time.Time{}}
}

// SetReaders sets who reads: a process that has exited is kept until all of them have read its last
// values.
func (r *Registry) SetReaders(all Readers) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.readers = all
	r.release()
}

// Process returns what counts the records of one more process. It has no series before its first
// session.
func (r *Registry) Process() *Process { return &Process{registry: r} }

// observed records what is known of a process, and that counting its records begins.
func (r *Registry) observed(p *Process, known *gclog.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.created.IsZero() {
		p.created = known.Sync
		r.number++
		p.number = r.number
		r.processes = append(r.processes, p)
	}
	r.identify(p, known)
}

// learned records what has become known of a process.
func (r *Registry) learned(p *Process, more *gclog.Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := *p.known
	known.Merge(more)
	r.identify(p, &known)
}

// identify gives a process its labels. They are unique while it is registered, and do not change as
// long as what they are made of does not. Soon after a process has exited, its labels are not given
// to another one: Prometheus could not distinguish its counters from those before.
func (r *Registry) identify(p *Process, known *gclog.Process) {
	copied := *known
	p.known, p.info = &copied, infoOf(known)
	l := labelsOf(known)
	madeOf := l.with(strconv.FormatInt(known.ID, 10)).key()
	if p.labels != nil {
		if p.madeOf == madeOf {
			return
		}
		r.leave(p)
	}
	p.madeOf = madeOf
	if r.unique[l.key()] != nil || r.now().Sub(r.used[l.key()]) < exitedTime {
		l = r.withPID(l, known)
	}
	p.labels = l
	r.unique[l.key()] = p
}

// withPID returns labels with the pid of a process. If a running one has these, both are in pid
// namespaces that gclog does not know, or lie: then the pid has a number behind it.
func (r *Registry) withPID(l *labelSet, known *gclog.Process) *labelSet {
	pid := strconv.FormatInt(known.ID, 10)
	for n := 1; ; n++ {
		x := l.with(pid)
		if n > 1 {
			x = l.with(pid + "-" + strconv.Itoa(n))
		}
		other := r.unique[x.key()]
		if other == nil {
			return x
		}
		if !other.exited.IsZero() || other.known.StartKey != 0 && known.StartKey != 0 { // it had the same pid before
			r.forget(other)
			return x
		}
	}
}

// exit records that there will be no more records of a process.
func (r *Registry) exit(p *Process) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p.created.IsZero() || !p.exited.IsZero() {
		return
	}
	p.exited, p.owed = r.now(), r.readers
	r.exited = append(r.exited, p)
	if p.owed == 0 {
		r.release()
	}
	r.expire()
}

// expire forgets processes that exited too long ago, or when there are too many.
func (r *Registry) expire() {
	now := r.now()
	for len(r.exited) > 0 && (len(r.exited) > exitedMost || now.Sub(r.exited[0].exited) >= exitedTime) {
		r.forget(r.exited[0])
	}
}

// release forgets the exited processes that nobody needs to read any more.
func (r *Registry) release() {
	for _, p := range slices.Clone(r.exited) {
		if p.owed&r.readers == 0 {
			r.forget(p)
		}
	}
}

// forget removes a process.
func (r *Registry) forget(p *Process) {
	is := func(other *Process) bool { return other == p }
	r.processes, r.exited = slices.DeleteFunc(r.processes, is), slices.DeleteFunc(r.exited, is)
	if !p.exited.IsZero() && p.owed&r.readers != 0 {
		r.forgotten++
	}
	r.leave(p)
}

// leave makes the labels of a process free.
func (r *Registry) leave(p *Process) {
	key := p.labels.key()
	if r.unique[key] != p {
		return
	}
	delete(r.unique, key)
	if len(r.used) >= usedMost {
		clear(r.used)
	}
	r.used[key] = r.now()
}

// Forgotten returns how many processes have exited so far without all readers having read their last
// values in time.
func (r *Registry) Forgotten() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.forgotten
}

// A View is the numbers of one process at a moment.
type View struct {
	Process *gclog.Process // what is known of it
	Created time.Time      // when counting began
	ID      uint64         // of the process in its registry, never used twice

	labels *labelSet
	info   *Set
	state  *state
	exited bool
	of     *Process
}

// Labels returns the labels that identify the process among all of its registry.
func (v *View) Labels() []Attribute { return v.labels.list }

// A Reading is what was passed on at one time.
type Reading struct {
	registry *Registry
	by       Readers
	passed   []View
}

// Read passes the numbers of all processes to use, in the order in which they were registered. They
// are valid during the call. use returns how many of them it passes on, from the first.
func (r *Registry) Read(by Readers, use func([]View) int) Reading {
	r.reading.Lock()
	defer r.reading.Unlock()
	r.mu.Lock()
	r.expire()
	views := make([]View, len(r.processes))
	for i, p := range r.processes {
		views[i] = View{
			Process: p.known, Created: p.created, ID: p.number, labels: p.labels, info: p.info, state: &p.shown,
			exited: !p.exited.IsZero(), of: p,
		}
	}
	x := Reading{registry: r, by: by}
	r.mu.Unlock()
	now := r.now()
	for i := range views {
		p := views[i].of
		p.mu.Lock()
		p.judge.renew(now, &p.state)
		p.shown.copyFrom(&p.state)
		p.mu.Unlock()
	}
	x.passed = views[:use(views)]
	return x
}

// Done records that what was read has arrived: processes that had exited need not be kept for this
// reader.
func (x Reading) Done() {
	r := x.registry
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range x.passed {
		if v := &x.passed[i]; v.exited {
			v.of.owed &^= x.by
		}
	}
	r.release()
}
