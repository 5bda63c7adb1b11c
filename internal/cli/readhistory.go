package cli

import (
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/parse/clr"
)

// A historyReader reads the history of one process from files.
type historyReader struct {
	p         *program
	inputs    inputs
	part      stretch // that was asked for
	began     bool    // part.begin is known
	observe   func(*gclog.Process, analysis.Window) historyObserver
	told      *teller          // of the process that is told, nil: none is yet
	processes []*gclog.Process // all that there are, one for each number
	failed    error
	gcs       atomic.Int64
}

// readHistory reads the history of one process from files.
func (p *program) readHistory(names []string, pid int64, asked span, observe func(*gclog.Process, analysis.Window) historyObserver) (*history, error) {
	r := &historyReader{p: p, part: stretch{span: asked}, observe: observe}
	r.inputs = inputs{p: p, pid: pid, twice: func(*input) bool { return asked.mayBeFromEnd() }, want: gclog.WantedFinalized}
	defer r.inputs.close()
	if err := r.inputs.open(names); err != nil {
		return nil, err
	}
	r.part.written = offsetText(r.inputs.begun())
	stop := r.inputs.watch(&r.gcs)
	defer stop()
	if asked.fromEnd(r.inputs.begun()) {
		if err := r.findEnd(); err != nil {
			return nil, err
		}
	}
	err := r.read()
	if r.told != nil {
		r.told.finish()
	}
	stop()
	if r.failed != nil {
		return nil, r.failed
	}
	if err := r.choice(); err != nil {
		return nil, err
	}
	if r.told == nil && err == nil {
		r.tellNothing()
	}
	if r.told == nil {
		return nil, &codedError{exitData, err}
	}
	if wrong := r.part.outside(r.told.process.Time(r.told.newest)); wrong != nil {
		return nil, wrong
	}
	if o, ok := r.told.to.(sparseObserver); ok && r.inputs.isLog() {
		head := &r.inputs.list[0].log
		if !head.Sessions {
			o.CollectionsOnly()
		}
		if r.told.window == analysis.Always() && !(head.Sessions && head.Dated) {
			o.Unbounded()
		}
	}
	h := &history{process: r.told.process, window: r.told.window, begin: r.told.begun, end: r.told.newest, observer: r.told.to, format: r.inputs.list[0].log.Format, part: r.part, unheard: !r.inputs.isLog() && !r.inputs.heard}
	h.skipped = r.inputs.skipped
	for _, in := range r.inputs.list {
		h.names = append(h.names, in.name)
	}
	for _, s := range h.part.doubts(h.process.Time(h.begin), h.process.Time(h.end)) {
		r.inputs.sayf("%s", s)
	}
	if err != nil {
		h.damage = err.Error()
		return h, &codedError{exitData, err}
	}
	if r.gcs.Load() == 0 {
		r.inputs.sayNothing()
	}
	return h, nil
}

// A sparseObserver wants to know what the format of a log cannot hold.
type sparseObserver interface {
	Unbounded()
	CollectionsOnly()
}

// read reads all inputs.
func (r *historyReader) read() error {
	if !r.inputs.isLog() {
		return r.inputs.recordings(r)
	}
	return r.inputs.logs(func(p *gclog.Process) logs.Observer { return &loggedLife{r: r, process: p} }, r.over)
}

// choice finds fault with the choice of the process.
func (r *historyReader) choice() error {
	pid := r.inputs.pid
	switch {
	case pid != 0 && r.told == nil:
		var pids []int64
		for _, x := range r.processes {
			pids = append(pids, x.ID)
		}
		return noSuchProcess(pid, pids)
	case pid == 0 && len(r.processes) > 1:
		return usagef("%s holds %d processes with a .NET runtime: choose one with --pid:\n%s", r.inputs.list[0].name, len(r.processes), strings.TrimRight(processesText(r.processes), "\n"))
	}
	return nil
}

// processesText is the list to choose from.
func processesText(list []*gclog.Process) string {
	var b strings.Builder
	for i, p := range list {
		if i == listMost {
			fmt.Fprintf(&b, "  and %d more\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "  %d", p.ID)
		for _, text := range []string{p.Name, shorten(p.CommandLine, 100)} {
			if text != "" {
				b.WriteString("  " + oneLine(text))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// begin learns when the inputs begin.
func (r *historyReader) begin(t time.Time) {
	if !r.began {
		r.began, r.part.begin = true, t
		r.failed = r.part.check()
	}
}

// list lists a process, and tells whether it is the one to tell.
func (r *historyReader) list(p *gclog.Process) bool {
	known := false
	for _, x := range r.processes {
		known = known || x.ID == p.ID
	}
	if !known {
		r.processes = append(r.processes, p)
	}
	return r.inputs.wanted(p) && (r.told == nil || r.told.process.ID == p.ID)
}

// tell begins to tell a process.
func (r *historyReader) tell(p *gclog.Process) *teller {
	p.Sync = p.Sync.In(r.part.zone.location()) // in which all that is said of it tells times
	t := &teller{process: p, window: r.part.window(p), gcs: &r.gcs}
	t.to = r.observe(p, t.window)
	t.numbers.tell = t.to.Gap
	r.told = t
	return t
}

// tellNothing tells of the process whose files hold nothing of it.
func (r *historyReader) tellNothing() {
	first := r.inputs.list[0]
	p := &gclog.Process{ID: first.log.ProcessID, Sync: first.begun()}
	if first.trace != nil {
		p.ID = first.trace.ProcessID
	}
	r.begin(p.Sync)
	r.tell(p).begin(0)
	r.told.end(0)
}

// over implements recordingReader.
func (r *historyReader) over() error { return r.failed }

// process implements recordingReader.
func (r *historyReader) process(p *gclog.Process, shift, ticks int64) gclog.Observer {
	r.begin(r.inputs.begun())
	if !r.list(p) {
		return nil
	}
	if r.told == nil {
		p.Sync = r.inputs.begun()
		r.tell(p)
	}
	again := r.told.started && !r.told.open
	r.told.begin(shift)
	if again {
		r.told.Gap(&gclog.Gap{Reason: gclog.GapReattached, Time: shift, Ticks: ticks})
	}
	if events, ok := r.told.to.(gclog.EventObserver); ok {
		return eventTeller{r.told, events}
	}
	return r.told
}

// end implements recordingReader.
func (r *historyReader) end(at int64, open []gclog.Open) {
	if r.told == nil {
		return
	}
	r.told.end(at)
	if t, ok := r.told.to.(interface{ Stand(since int64) }); ok {
		for _, o := range open {
			if o.Kind == gclog.OpenSuspension {
				t.Stand(o.Since)
			}
		}
	}
}

// A teller tells the history of a process to its observer, where its sessions begin and end,
// and which collections are missing.
type teller struct {
	process *gclog.Process
	window  analysis.Window
	to      historyObserver
	gcs     *atomic.Int64
	started bool  // a session has begun
	open    bool  // it has not ended
	begun   int64 // when the first one began
	newest  int64 // time that was told
	numbers numbers
}

// An eventTeller also shows the events to an observer that wants them.
type eventTeller struct {
	*teller
	events gclog.EventObserver
}

func (t eventTeller) Event(at gclog.Stamp, e clr.Event, d *gclog.GCDetails) { t.events.Event(at, e, d) }

// begin tells that a session began, if none is on.
func (t *teller) begin(at int64) {
	if t.open {
		return
	}
	if t.started {
		t.numbers.begin(t.newest, at)
	} else {
		t.started, t.begun = true, at
	}
	t.open, t.newest = true, max(at, t.newest)
	t.to.Begin(at)
}

// end tells that the session ended, if one is on.
func (t *teller) end(at int64) {
	if !t.open {
		return
	}
	t.open, t.newest = false, max(at, t.newest)
	t.to.End(t.newest)
}

// has tells whether a time is in what was told. Those that count from the begin or the end
// are in whatever is told.
func (t *teller) has(i *instant) bool {
	if i.kind != instantTime && i.kind != instantClock {
		return false
	}
	begin, end := t.process.Time(t.begun), t.process.Time(t.newest)
	at := i.in(begin, end)
	return at.Add(i.unit()).After(begin) && !at.After(end)
}

// finish tells what is open when nothing more comes.
func (t *teller) finish() {
	t.numbers.finish()
	t.end(t.newest)
}

func (t *teller) Pause(p *gclog.Pause) {
	t.numbers.pause(p)
	t.to.Pause(p)
}

func (t *teller) Phase(p *gclog.Phase) { t.to.Phase(p) }

func (t *teller) Gap(g *gclog.Gap) {
	t.numbers.gap(g)
	t.to.Gap(g)
}

func (t *teller) GC(d *gclog.GCDetails) {
	t.numbers.gc(d)
	t.gcs.Add(1)
	t.to.GC(d)
}
