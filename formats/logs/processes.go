package logs

import (
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse/clr"
)

// A process is one of the processes in a log.
type process struct {
	key     string
	facts   gclog.Process
	sync    int64 // facts.Sync in nanoseconds since 1970
	synced  bool  // sync is known
	follows bool  // earlier instances with its pid were finished
	session int64 // csv: start of the session, relative to the first one
	heads   int   // csv: number of headers read when it was last updated
	records int64 // number of collection records emitted
	emitted tally // collections that were emitted
	out     gclog.Observer
	newest  int64 // start of the last collection
	asked   bool  // observe was called: out is known
	order   order
}

// observer returns the Observer of the process, requesting it when the first call is due; nil if
// there is none.
func (p *process) observer(observe func(*gclog.Process) gclog.Observer) gclog.Observer {
	if !p.asked {
		p.asked = true
		p.facts.Sync = unixTime(p.sync)
		p.out = observe(&p.facts)
	}
	return p.out
}

// conclude adds what a collection reports about its process. For logs whose header may contain it,
// that happens when the record is emitted, so that a log written from this one has the same header.
func conclude(f *gclog.Process, d *gclog.GCDetails) {
	if n := int(d.Global.Heaps); n > 0 {
		f.HeapCount = n
		if n > 1 {
			f.SetServer(gclog.Yes, gclog.EvidenceEvents)
		}
	}
	if d.Type == clr.TypeBackground && f.Concurrent == gclog.Unknown {
		f.Concurrent = gclog.Yes
	}
}

// ticks returns a substitute for the ticks of the stream's clock, which no log contains:
// nanoseconds since 1970. They are the same in every log with the same contents.
func (p *process) ticks(at int64) int64 { return p.sync + at }

// processes finds the processes of a log by their identity in the log.
type processes struct {
	pool
	byKey map[string]*process
	list  []*process // in the order of their first lines
	last  *process
}

// maxProcesses and maxText bound the memory: the number of processes, and the bytes kept of each
// text.
const (
	maxProcesses = 10_000
	maxText      = 1024
)

// find returns the process with this key, and adds it if it is new; nil beyond the limit.
func (p *processes) find(key []byte) *process {
	if p.last != nil && p.last.key == string(key) {
		return p.last
	}
	x := p.byKey[string(key)]
	if x == nil {
		if len(p.byKey) >= maxProcesses {
			return nil
		}
		if p.byKey == nil {
			p.byKey = map[string]*process{}
		}
		x = &process{key: string(key), order: order{pool: &p.pool}}
		p.byKey[x.key] = x
		p.list = append(p.list, x)
	}
	p.last = x
	return x
}

// finish emits everything that is held.
func (p *processes) finish() {
	for _, x := range p.list {
		x.order.finish()
	}
}

// finishOthers emits what is held of earlier instances of a process.
func (p *processes) finishOthers(of *process, pid int64) {
	for _, x := range p.list {
		if x != of && x.facts.ID == pid {
			x.order.finish()
		}
	}
}

// keep copies b to a string.
func keep(b []byte) string { return string(b[:min(len(b), maxText)]) }

// unixTime returns the time ns nanoseconds after the start of 1970.
func unixTime(ns int64) time.Time { return time.Unix(0, ns).UTC() }

// names interns texts that occur often.
type names struct{ known map[string]string }

const maxNames = 256

func (n *names) get(b []byte) string {
	b = b[:min(len(b), maxText)]
	if s, ok := n.known[string(b)]; ok {
		return s
	}
	if n.known == nil {
		n.known = map[string]string{}
	}
	s := string(b)
	if len(n.known) < maxNames {
		n.known[s] = s
	}
	return s
}
