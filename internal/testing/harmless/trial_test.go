//go:build linux

package harmless

import (
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/internal/testing/gcload"
)

// A trial is one run of a cell. Its random numbers decide when something happens, and must not
// affect the result.
type trial struct {
	cell    cell
	runtime *gcload.Runtime
	gclog   func(dir string, args ...string) *exec.Cmd
	random  *rand.Rand
	name    string // of the service, by which gclog finds the target
	dir     string // temporary directory of the target and of gclog

	target  *target
	others  []*tool    // one for each port of another tool, or one at the default port
	company *company   // nil: no other tool has sessions
	port    *program   // gclog daemon with our port if no command of the action has it, or nil
	action  []*program // the commands
	early   bool       // the kill happens at a random time, without waiting for gclog's session
	struck  chan struct{}

	faults  []error  // what gclog did wrong, which does not prevent the examination of the program
	excuses []string // runtime defects that appeared and did not end the cell

	base int // collections when the program became idle
	own  int // collections that it has made by itself since

	mu    sync.Mutex
	began time.Time
	notes []string
}

// patience is the time limit for what must happen. It is long because a loaded machine is not a
// failure.
const patience = time.Minute

// patience returns the time limit for the program. It is shorter where a defect of the runtime may
// make it hang, because that is tolerated anyway.
func (x *trial) patience() time.Duration {
	if x.mayHang() {
		return patience / 3
	}
	return patience
}

// newTrial prepares a cell. Nothing has been started yet.
func newTrial(c cell, r *gcload.Runtime, seed uint64, gclog func(dir string, args ...string) *exec.Cmd) (*trial, error) {
	dir, err := os.MkdirTemp("/tmp", "gclog-") // short enough for sockets
	if err != nil {
		return nil, err
	}
	h := fnv.New64a()
	h.Write([]byte(c.String()))
	x := &trial{
		cell: c, runtime: r, gclog: gclog, random: rand.New(rand.NewPCG(seed, h.Sum64())),
		name: "harmless-" + filepath.Base(dir), dir: dir, struck: make(chan struct{}), began: time.Now(),
	}
	for i, command := range c.commands() {
		x.action = append(x.action, newProgram(command, dir, i))
	}
	if c.hasOurs() && !c.has("run") && !c.has("daemon") {
		x.port = newProgram("daemon", dir, len(x.action))
	}
	x.early = coin(x.random)
	if !x.lasts() || c.moment == exit {
		x.early = true // later there would be nothing left to kill
	}
	if c.ending == gclogKilled && x.ownsSuspended() {
		x.early = false // otherwise nothing would resume the program
	}
	if err := x.listen(); err != nil {
		return nil, err
	}
	if c.other != none {
		x.company = newCompany(x.others[0], c.other == drops, x.random.Uint64(), x.note)
	}
	return x, nil
}

// programs returns all gclog commands.
func (x *trial) programs() []*program {
	if x.port == nil {
		return x.action
	}
	return append(slices.Clone(x.action), x.port)
}

// lasts reports whether a command of the action runs until it is stopped.
func (x *trial) lasts() bool {
	for _, p := range x.action {
		if p.lasts {
			return true
		}
	}
	return false
}

// ownsSuspended reports whether the program is suspended by a port of a command of the action.
func (x *trial) ownsSuspended() bool {
	return x.port == nil && strings.Contains(x.cell.start, oursSuspend)
}

// listen opens the ports of other tools.
func (x *trial) listen() error {
	for i, port := range x.cell.ports() {
		if strings.HasPrefix(port, "ours") {
			continue
		}
		t, err := atPort(x.socket(i))
		if err != nil {
			return err
		}
		x.others = append(x.others, t)
	}
	if len(x.others) == 0 {
		x.others = []*tool{atDefaultPort(x.dir)}
	}
	return nil
}

// closePorts closes the ports of other tools.
func (x *trial) closePorts() {
	for _, t := range x.others {
		if t.port != nil {
			t.port.close()
		}
	}
}

// socket returns the path of port i of the start.
func (x *trial) socket(i int) string { return filepath.Join(x.dir, fmt.Sprintf("port-%d", i)) }

// ourSocket returns the path of gclog's port.
func (x *trial) ourSocket() string {
	for i, port := range x.cell.ports() {
		if strings.HasPrefix(port, "ours") {
			return x.socket(i)
		}
	}
	return ""
}

// note records what happened, for the analysis of a failure.
func (x *trial) note(format string, args ...any) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.notes = append(x.notes, fmt.Sprintf("%7.3f %s", time.Since(x.began).Seconds(), fmt.Sprintf(format, args...)))
}

// run runs the cell. The error says what was wrong.
func (x *trial) run() error {
	err := do(x.opening())
	if err == nil || x.targetKilled() {
		err = do(x.closing())
	}
	return errors.Join(append(x.faults, err)...)
}

// fault records what gclog did wrong.
func (x *trial) fault(err error) {
	if err != nil {
		x.faults = append(x.faults, err)
	}
}

func do(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (x *trial) targetKilled() bool { return x.target != nil && x.target.wasKilled() }

// opening returns the steps until gclog has started and the program runs.
func (x *trial) opening() []func() error {
	type steps = []func() error
	switch x.cell.moment {
	case beforeListening:
		return steps{x.beginPort, x.place, x.begin, x.open, x.visitSuspended, x.linger, x.resume, x.listening, x.stay, x.ready}
	case suspended:
		return steps{x.launch, x.listening, x.visit, x.begin, x.pending, x.visit, x.beginPort, x.resume, x.stay, x.ready}
	case resumed:
		return steps{x.beginPort, x.launch, x.visitSuspended, x.resume, x.listening, x.awaitResumed, x.stay, x.begin, x.ready}
	case load, backgroundGC:
		return steps{x.beginPort, x.launch, x.visitSuspended, x.resume, x.ready, x.stay, x.work, x.begin}
	default:
		return steps{x.beginPort, x.launch, x.visitSuspended, x.resume, x.ready, x.stay, x.begin, x.exitSoon}
	}
}

// closing returns the steps after that.
func (x *trial) closing() []func() error {
	type steps = []func() error
	serve := steps{x.settle, x.collect}
	if x.early && x.cell.ending != normal {
		serve = nil
	}
	switch {
	case x.cell.moment == exit:
		return steps{x.awaitKill, x.exited, x.endGclog, x.endPort, x.depart}
	case x.cell.ending == targetKilled:
		return append(serve, x.awaitKill, x.diedOfKill, x.endGclog, x.endPort, x.depart)
	case x.cell.has("run") && x.cell.ending == normal:
		return append(serve, x.depart, x.calm, x.serves, x.exit, x.exited, x.endGclog)
	default:
		return append(serve, x.awaitKill, x.endGclog, x.endPort, x.depart, x.calm, x.serves, x.exit, x.exited)
	}
}

// end ends what is left of the cell.
func (x *trial) end() {
	for _, p := range x.programs() {
		if p.hasStarted() {
			p.signal(killSignal)
			_ = p.awaitEnd()
		}
	}
	if x.target != nil {
		x.target.kill()
		_ = x.target.awaitEnd()
		x.target.stdin.Close()
	}
	if x.company != nil {
		x.company.close()
	}
	x.closePorts()
	_ = os.RemoveAll(x.dir)
}
