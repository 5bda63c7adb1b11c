package metrics

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
)

// A Process counts what is recorded about a process. The goroutine that passes the records waits for
// others only while these copy the numbers, which takes microseconds.
type Process struct {
	registry *Registry

	mu    sync.Mutex
	state state
	sync  int64 // time 0 of the records, in nanoseconds of Unix time
	judge judge // likewise guarded

	// shown is a copy of state; whoever reads the registry guards it.
	shown state

	// The registry guards the rest.
	known   *gclog.Process // never changed, but replaced
	created time.Time      // when counting began; zero: it has not
	labels  *labelSet
	madeOf  string // the key of all labels that it could have had
	info    *Set
	exited  time.Time // zero: it runs
	owed    Readers   // that have not read the last values of a process that has exited
	number  uint64    // in the order of registration
}

// Observe returns the observer of the process's records. It is called again when what is known of
// the process has changed.
func (p *Process) Observe(known *gclog.Process) gclog.Observer {
	p.mu.Lock()
	p.sync = known.Sync.UnixNano()
	p.judge.process = *known
	p.mu.Unlock()
	p.registry.observed(p, known)
	return p.take
}

// Of reports whether the process is one of r.
func (p *Process) Of(r *Registry) bool { return p.registry == r }

// Exit tells the registry that there will be no more records. The series stay until they have been
// read once, and for at most five minutes.
func (p *Process) Exit() { p.registry.exit(p) }

// count has f change the numbers.
func (p *Process) count(f func(s *state)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f(&p.state)
}

// take counts a record.
func (p *Process) take(r gclog.Record) {
	p.count(func(s *state) { p.judge.take(r, s) })
	switch r := r.(type) {
	case *gclog.GCDetails:
		at := r.PauseStart()
		if r.Known.Has(gclog.GroupEnd) {
			at = r.End
		}
		p.count(func(s *state) { s.gc(r, p.sync+at) })
	case *gclog.Pause: // the pauses of a collection are in its record
		if r.GC == nil {
			p.count(func(s *state) { s.otherPaused = add(s.otherPaused, r.Duration) })
		}
	case *gclog.Gap:
		p.count(func(s *state) {
			s.lost = addBytes(s.lost, r.LostEvents)
			s.dropped = addBytes(s.dropped, r.Records)
			s.missed += r.Missed()
		})
	case *gclog.Stall:
		if int(r.Kind) < stalls {
			p.count(func(s *state) { s.stalls[r.Kind]++ })
		}
	case *gclog.End:
		if r.Reason.OfProcess() {
			p.count(func(s *state) { s.ended = r.Reason })
		}
		if r.Process != nil {
			p.registry.learned(p, r.Process)
		}
	}
}

// A labelSet is the labels that identify a process, sorted by name; empty ones are left out.
type labelSet struct {
	list []Attribute
	text string // as in Prometheus's text formats, without braces
}

const (
	// pidLabel is there only if the other labels are not unique.
	pidLabel = "process_pid"
	// maxLabel is the maximum length of a value, in bytes: processes choose their names.
	maxLabel = 200
)

func labelsOf(p *gclog.Process) *labelSet {
	var list []Attribute
	for _, x := range [...]Attribute{
		{"k8s_namespace_name", p.Namespace},
		{"k8s_pod_name", p.Pod},
		{"process_name", p.Name},
		{"service_name", p.Service},
	} {
		if x.Value != "" {
			list = append(list, Attribute{x.Name, cut(x.Value)})
		}
	}
	return newLabelSet(list)
}

func newLabelSet(list []Attribute) *labelSet {
	l := &labelSet{list: list}
	for i, x := range list {
		if i > 0 {
			l.text += ","
		}
		l.text += x.Name + `="` + escapeLabel.Replace(x.Value) + `"`
	}
	return l
}

var escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)

// cut limits the length of a value, and replaces what is invalid in it or what a terminal acts on:
// gclog metrics prints it as it is.
func cut(s string) string {
	if len(s) > maxLabel {
		s = s[:maxLabel]
	}
	return strings.Map(func(r rune) rune {
		if formats.IsControl(r) {
			return utf8.RuneError
		}
		return r // also RuneError for what is invalid
	}, s)
}

// with returns the labels with that of the pid.
func (l *labelSet) with(pid string) *labelSet {
	list := append(slices.Clone(l.list), Attribute{pidLabel, pid})
	slices.SortFunc(list, func(a, b Attribute) int { return strings.Compare(a.Name, b.Name) })
	return newLabelSet(list)
}

func (l *labelSet) key() string { return l.text }

// infoOf returns the attributes of gclog.process.info.
func infoOf(p *gclog.Process) *Set {
	mode := ""
	switch p.Server {
	case gclog.Yes:
		mode = "server"
	case gclog.No:
		mode = "workstation"
	case gclog.Unknown:
	}
	concurrent := ""
	if p.Concurrent != gclog.Unknown {
		concurrent = strconv.FormatBool(p.Concurrent == gclog.Yes)
	}
	set := &Set{}
	for _, x := range [...]Attribute{
		{"pid", strconv.FormatInt(p.ID, 10)},
		{"entity_id", p.Cookie},
		{"service_version", p.ServiceVersion},
		{"runtime_version", p.RuntimeVersion},
		{"runtime_flavor", p.Flavor},
		{"gc_mode", mode},
		{"gc_concurrent", concurrent},
		{"container_id", p.ContainerID[:min(len(p.ContainerID), shortID)]},
	} {
		if x.Value != "" {
			set.Attributes = append(set.Attributes, Attribute{x.Name, cut(x.Value)})
		}
	}
	return set
}

// shortID is how much of a container's id people use.
const shortID = 12
