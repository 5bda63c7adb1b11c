package daemon

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/command"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/rs/zerolog"
)

// Heap snapshots that the daemon takes on its own (heap.auto). The writer of a process passes the
// sizes after full collections to the loop; snapshotTurns decides what is due, a snapshotTask does
// it.

// snapshots are the heap snapshots that the daemon takes.
type snapshots struct {
	idle
	d       *Daemon
	turns   snapshotTurns
	taking  context.Context // of all that are being taken
	end     context.CancelFunc
	run     runGclog
	results map[string]int // how many were taken, and refused because they could not be
}

func newSnapshots(d *Daemon) *snapshots {
	x := &snapshots{d: d, run: command.Self, results: map[string]int{"taken": 0, "refused": 0}}
	x.taking, x.end = context.WithCancel(context.Background())
	return x
}

// observe implements part.
func (x *snapshots) observe(p *process) func(*gclog.Process) gclog.Observer {
	if !p.snapshots {
		return nil
	}
	return func(*gclog.Process) gclog.Observer { return p.observeHeap }
}

// forget implements part.
func (x *snapshots) forget(p *process) { x.turns.leave(&p.heap, "it has exited") }

// stop interrupts all snapshots. They end a little later.
func (x *snapshots) stop() {
	x.turns.close("gclog is ending")
	x.end()
}

// settle implements part.
func (x *snapshots) settle(context.Context, *sync.WaitGroup) { x.end() }

// areTaken reports whether snapshots are being taken.
func (x *snapshots) areTaken() bool { return len(x.turns.running) > 0 }

// folder returns the directory of the snapshots.
func (x *snapshots) folder() string {
	return output.Expand(x.d.config.SnapshotFolder(), &gclog.Process{}, x.d.o.Host)
}

// observeHeap passes the sizes of the heap after full collections to the loop. The collection of a
// snapshot does not count: it has promoted all that is alive to gen2.
func (p *process) observeHeap(r gclog.Record) {
	d, ok := r.(*gclog.GCDetails)
	if !ok || d.Generation != gclog.Gen2 || !d.Known.Has(gclog.GroupAfter) || d.HeapDump {
		return
	}
	left, whole := leftBy(d), d.SizeAfter()
	p.post(func() { p.collected(left, whole) })
}

// leftBy returns how many bytes of objects a full collection has left: a blocking one in all
// generations, because .NET may demote what it compacts to gen0. A background collection lets the
// program go on, so that what is in gen0 and gen1 after it is new.
func leftBy(d *gclog.GCDetails) (bytes uint64) {
	from := gclog.Gen0
	if d.Kind == gclog.KindBackground {
		from = gclog.Gen2
	}
	for g := from; g < d.GenerationCount; g++ {
		if d.Known.Has(gclog.GroupObjects) {
			bytes += d.Generations[g].ObjectsAfter // free space is no leak
		} else {
			bytes += d.Generations[g].After
		}
	}
	return bytes
}

// hasSession reports whether the process has a session, and is not being left.
func (p *process) hasSession() bool {
	switch p.sup.state {
	case stateOn, stateSwitching, stateHanding:
		return !p.sup.stop && !p.sup.gone
	}
	return false
}

// collected handles a full collection that has left this many bytes of objects, in a heap of that
// size.
func (p *process) collected(left, whole uint64) {
	d := p.d
	if !p.snapshots || !p.hasSession() || d.ending.begun {
		return
	}
	if !d.snapshots.turns.collected(time.Now(), &p.heap, left, &d.config.Heap.Auto) {
		return
	}
	if attach.WalkRefusal(&p.target.Process, &p.facts) != nil {
		return
	}
	p.askSnapshot(whole, fmt.Sprintf("full collections leave %s, and left %s before",
		formats.SizeText(int64(left)), formats.SizeText(int64(p.heap.trend.mark))), new(actionCounts))
}

// requestSnapshot takes a snapshot because an action of a rule asks for it, unless it must not be
// taken now.
func (p *process) requestSnapshot(a *activeAction, rule string) {
	d := p.d
	why := ""
	switch unwalkable := attach.WalkRefusal(&p.target.Process, &p.facts); {
	case !p.hasSession() || d.ending.begun:
		a.left.Add(1)
		return
	case unwalkable != nil:
		why = unwalkable.Error()
	case p.key.pid == 0:
		why = "only a diagnostic port leads to the process"
	case turnOf(d.snapshots.turns.running, &p.heap) != nil:
		why = "one of the process is being taken"
	case turnOf(d.snapshots.turns.waiting, &p.heap) != nil:
		why = "one of the process is already waiting"
	case time.Now().Before(p.heap.next):
		why = "heap.auto.cooldown of the last one lasts until " + p.heap.next.Format(time.RFC3339)
	}
	if why != "" {
		a.left.Add(1)
		d.say(p, false, "no heap snapshot for rule "+rule+": "+why)
		return
	}
	var whole uint64
	if full := p.progress.Full.Load(); full != nil {
		whole = full.Heap
	}
	p.askSnapshot(whole, "rule "+rule+" has fired", &a.actionCounts)
}

// askSnapshot has a snapshot taken of a heap of a size, 0 if that is unknown, as soon as it is the
// turn of the process. It says why, and counts what came of it.
func (p *process) askSnapshot(whole uint64, why string, counts *actionCounts) {
	d := p.d
	t := &snapshotTurn{of: &p.heap, uid: p.target.Principal(), since: time.Now()}
	t.begin = func(t *snapshotTurn) { p.takeSnapshot(t, whole, why, counts) }
	t.drop = func(because string) {
		counts.left.Add(1)
		d.say(p, false, "no heap snapshot, although "+why+": "+because)
	}
	switch begun, waits := d.snapshots.turns.ask(t); {
	case begun:
	case waits:
		d.say(p, false,
			fmt.Sprintf("%s: a heap snapshot waits until those of other processes of %s are taken", why, p.user()))
	default:
		p.refuseSnapshot(snapshotResult{err: fmt.Errorf("%d other processes of %s wait for one",
			mostWaiting, p.user())}, "", counts)
	}
}

// user returns whose process it is, for people.
func (p *process) user() string { return cmp.Or(p.target.User, fmt.Sprintf("user %d", p.target.UID)) }

// takeSnapshot takes a snapshot, whose turn it is.
func (p *process) takeSnapshot(turn *snapshotTurn, whole uint64, why string, counts *actionCounts) {
	d, o := p.d, &p.d.config.Heap.Auto
	if !p.hasSession() {
		d.snapshots.turns.end(&p.heap, false, p.heap.next)
		turn.drop("it is no longer logged")
		return
	}
	if most := o.MaxHeap; most > 0 && whole > uint64(most) {
		p.snapshotEnded(snapshotResult{err: fmt.Errorf("the heap of %s is larger than heap.auto.max_heap = %s",
			formats.SizeText(int64(whole)), formats.SizeText(most))}, counts)
		return
	}
	text := why + ": taking a heap snapshot"
	if waited := time.Since(turn.since).Round(time.Second); waited > 0 {
		text += fmt.Sprintf(", %v later because of others", waited)
	}
	d.say(p, false, text)
	target, facts := *p.target, p.facts
	t := &snapshotTask{
		target: &target, facts: &facts, dir: d.snapshots.folder(), o: *o, running: d.running(), run: d.snapshots.run,
		environ: append([]string{
			"GCLOG_CONTROL__SOCKET=" + d.controlAddress(), host.OwnerVariable + "=" + strconv.Itoa(os.Getpid()),
		}, d.o.Environ...),
		say: func(text string) { p.post(func() { d.say(p, false, "heap snapshot: "+text) }) },
	}
	ctx, cancel := context.WithTimeout(d.snapshots.taking, snapshotMost)
	go func() {
		defer cancel()
		var r snapshotResult
		if defect := attach.Contain(func() { r = t.do(ctx) }); defect != nil {
			r.err = defect
			d.post(func() { p.sayDefect(defect) })
		}
		d.post(func() { p.snapshotEnded(r, counts) })
	}()
}

// controlAddress returns the path of the control socket; "" if there is none.
func (d *Daemon) controlAddress() string {
	if d.servers.control == nil {
		return ""
	}
	return d.servers.control.address
}

// running returns the processes that are known and on this host.
func (d *Daemon) running() (list []runningProcess) {
	for _, p := range d.processes {
		if p.key.pid != 0 {
			list = append(list, asRunning(&p.target.Process))
		}
	}
	return list
}

// snapshotEnded handles what came of a snapshot.
func (p *process) snapshotEnded(r snapshotResult, counts *actionCounts) {
	d, now := p.d, time.Now()
	cooldown := d.config.Heap.Auto.Cooldown
	if !r.before.IsZero() {
		counts.left.Add(1)
		d.snapshots.turns.end(&p.heap, false, r.before.Add(cooldown))
		last := "the last one is from " + r.before.Format(time.RFC3339)
		if r.begun {
			last += ", and gclog was ended while it took that"
		}
		d.say(p, false, fmt.Sprintf("no heap snapshot: %s, and heap.auto.cooldown is %v", last, cooldown))
		return
	}
	defer d.snapshots.turns.end(&p.heap, r.err == nil, now.Add(cooldown))
	if r.err != nil {
		p.refuseSnapshot(r,
			fmt.Sprintf(", and none before %s (heap.auto.cooldown)", now.Add(cooldown).Format(time.RFC3339)), counts)
		return
	}
	s := p.snapshotsUntil(now, r.took)
	s.Taken++
	counts.done.Add(1)
	s.File, s.Why = r.file, ""
	d.snapshots.results["taken"]++
	if r.failed != nil {
		d.say(p, !d.ending.begun,
			fmt.Sprintf("%s cannot be compared with the heap snapshots before it: %v", r.file, r.failed))
	}
	if g := r.growth; g != nil {
		level, advice := zerolog.InfoLevel, ""
		if len(g.Types) > 0 {
			level, advice = zerolog.WarnLevel, ": gclog heap suspects "+r.file+" shows what holds it"
		}
		d.log.WithLevel(level).Int("pid", p.target.PID).Str("process", p.name()).Str("service", p.facts.Service).
			Str("action", "gc-heap-growth").Msg(formats.GrowthText(g) + advice)
		p.request(func(l *attach.Log) { l.HeapGrowth(*g) })
	}
}

// refuseSnapshot handles that a snapshot could not be taken. until says when the next one can be.
func (p *process) refuseSnapshot(r snapshotResult, until string, counts *actionCounts) {
	d := p.d
	s := p.snapshotsUntil(time.Now(), r.took)
	s.Refused++
	s.Why = r.err.Error()
	d.snapshots.results["refused"]++
	counts.fail(r.err)
	d.say(p, !d.ending.begun && p.hasSession(), "no heap snapshot"+until+": "+s.Why)
}

// snapshotsUntil returns the status of the snapshots of the process, of which the last ended at a time.
func (p *process) snapshotsUntil(at time.Time, took time.Duration) *SnapshotStatus {
	if p.snapshotStatus == nil {
		p.snapshotStatus = &SnapshotStatus{}
	}
	p.snapshotStatus.Last, p.snapshotStatus.Took = at, took.Nanoseconds()
	return p.snapshotStatus
}

// snapshotState returns what is known about the snapshots of the process; nil: nothing has asked for
// one.
func (p *process) snapshotState() *SnapshotStatus {
	s := SnapshotStatus{}
	if p.snapshotStatus != nil {
		s = *p.snapshotStatus
	}
	switch {
	case turnOf(p.d.snapshots.turns.running, &p.heap) != nil:
		s.State = "running"
	case turnOf(p.d.snapshots.turns.waiting, &p.heap) != nil:
		s.State = "waiting"
	case p.snapshotStatus == nil:
		return nil
	}
	return &s
}

// SnapshotStatus is what is known about the heap snapshots that the daemon has taken of a process.
type SnapshotStatus struct {
	State   string    `json:"state,omitempty"` // running, or waiting until those of other processes are taken
	Taken   int       `json:"taken"`
	Refused int       `json:"refused"`       // those that could not be taken
	Last    time.Time `json:"last,omitzero"` // when the last one ended, or could not be taken
	Took    int64     `json:"took_ns"`
	File    string    `json:"file,omitempty"` // of the last one that was taken
	Why     string    `json:"why,omitempty"`  // why the last one could not be taken; "": it was
}
