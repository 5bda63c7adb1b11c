//go:build linux

package harmless

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	killSignal = syscall.SIGKILL
	exitCode   = 7 // of the program
)

// programArgs returns the arguments of the load program, which is idle until it is told to work.
func (x *trial) programArgs() []string {
	args := []string{"churn", "--rate", "200", "--live", "10", "--threads", "2"}
	if x.cell.moment == backgroundGC {
		args = []string{"bgc", "--rate", "40", "--live", "50", "--every", "5"}
	}
	return append(args, "--wait", "--quiet", "--exit-on-eof", "--seed", "1")
}

// environment returns the environment of the load program, and of gclog run.
func (x *trial) environment() []string {
	env := x.runtime.Environment(cleanEnvironment(), "wks", "GCgen0size=400000")
	env = append(env, "TMPDIR="+x.dir, "OTEL_SERVICE_NAME="+x.name)
	var ports []string
	for i, port := range x.cell.ports() {
		if x.cell.has("run") && strings.HasPrefix(port, "ours") {
			continue // gclog run adds it
		}
		_, tag, _ := strings.Cut(port, "-")
		ports = append(ports, x.socket(i)+","+tag)
	}
	if len(ports) > 0 {
		env = append(env, "DOTNET_DiagnosticPorts="+strings.Join(ports, ";"))
	}
	if x.cell.start == defaultSuspend {
		env = append(env, "DOTNET_DefaultDiagnosticPortSuspend=1")
	}
	return env
}

// launch starts the program.
func (x *trial) launch() error {
	return x.startTarget(exec.Command(x.runtime.Program("wks"), x.programArgs()...))
}

// place starts the process that open turns into the program, so that gclog can be given its pid
// before its runtime listens.
func (x *trial) place() error {
	if x.cell.has("run") {
		return nil
	}
	return x.startTarget(exec.Command("sh", append([]string{"-c", `read -r go && exec "$0" "$@"`, x.runtime.Program("wks")}, x.programArgs()...)...))
}

func (x *trial) startTarget(cmd *exec.Cmd) error {
	cmd.Env = x.environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := os.Create(x.stderrFile())
	if err != nil {
		return err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	x.target, err = startTarget(cmd, x.patience(), func(*target) syscall.WaitStatus {
		_ = cmd.Wait()
		return cmd.ProcessState.Sys().(syscall.WaitStatus)
	})
	if err != nil {
		return err
	}
	x.target.process.Store(int64(cmd.Process.Pid))
	x.note("process %d was started", cmd.Process.Pid)
	go x.closeWithTarget()
	return nil
}

// closeWithTarget closes the ports of other tools when the program has ended and will not connect
// to them again.
func (x *trial) closeWithTarget() {
	<-x.target.ended
	x.closePorts()
}

func (x *trial) stderrFile() string { return filepath.Join(x.dir, "target.err") }

// targetStderr returns the standard error of the program, which it shares with gclog run.
func (x *trial) targetStderr() string {
	if x.cell.has("run") {
		return x.action[0].stderr()
	}
	return read(x.stderrFile())
}

// open makes the process run the program.
func (x *trial) open() error {
	if x.cell.has("run") {
		return nil
	}
	time.Sleep(upTo(x.random, 100*time.Millisecond))
	x.note("the process runs the program")
	fmt.Fprintln(x.target.stdin, "go")
	return nil
}

// beginPort starts the daemon that has our port.
func (x *trial) beginPort() error {
	if x.port == nil {
		return nil
	}
	if err := x.start(x.port); err != nil {
		return err
	}
	return poll("the port of gclog daemon", patience, func() bool { return exists(x.ourSocket()) })
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// begin starts the commands of the action.
func (x *trial) begin() error {
	for _, p := range x.action {
		if err := x.start(p); err != nil {
			return err
		}
	}
	if x.early && x.cell.ending != normal {
		after := upTo(x.random, x.killDelay())
		go func() {
			defer close(x.struck)
			x.killAfter(after)
		}()
	}
	return nil
}

// killDelay is the maximum delay of a kill that does not wait for gclog's session.
func (x *trial) killDelay() time.Duration {
	t := 100 * time.Millisecond
	if x.lasts() {
		t = 300 * time.Millisecond
	}
	switch x.cell.moment {
	case beforeListening:
		t += 300 * time.Millisecond
	case suspended: // after a second gclog prints what it waits for
		t += 1200 * time.Millisecond
	}
	return t
}

func (x *trial) killAfter(d time.Duration) {
	if x.cell.has("run") { // otherwise it may not have started the program yet
		_ = poll("the program that gclog run starts", patience, func() bool { return x.findPID() || x.action[0].isDone() })
	}
	time.Sleep(d)
	x.kill()
}

// kill kills what the ending says.
func (x *trial) kill() {
	if x.cell.ending == targetKilled {
		x.note("the program is killed")
		x.target.kill()
		return
	}
	x.note("gclog is killed")
	for _, p := range x.action {
		p.signal(killSignal)
	}
}

// awaitKill kills what the ending says, or waits until that has been done.
func (x *trial) awaitKill() error {
	switch {
	case x.cell.ending == normal:
	case x.early:
		<-x.struck
	default:
		x.kill()
	}
	return nil
}

// findPID reports whether the program's pid is known. The pid of a program that gclog run has
// started is in the name of its socket.
func (x *trial) findPID() bool {
	x.target.mu.Lock()
	defer x.target.mu.Unlock()
	if x.target.pid() == 0 {
		path, err := defaultPort(x.dir)
		if err != nil {
			return false
		}
		pid, _ := strconv.Atoi(strings.Split(filepath.Base(path), "-")[2])
		x.target.process.Store(int64(pid))
	}
	return x.target.pid() != 0
}

// listening waits until the runtime answers at its default port.
func (x *trial) listening() error {
	t := atDefaultPort(x.dir)
	return x.target.await("an answer of the runtime", func() bool {
		_, err := t.processInfo()
		return err == nil
	})
}

// visitSuspended calls visit if another tool suspends the runtime.
func (x *trial) visitSuspended() error {
	if !x.cell.othersSuspend() {
		return nil
	}
	return errors.Join(x.listening(), x.visit())
}

// visit makes the other tool begin a session before the runtime is resumed.
func (x *trial) visit() error {
	if x.company == nil {
		return nil
	}
	return x.company.visit()
}

// linger waits for a random time if another tool is to resume the runtime.
func (x *trial) linger() error {
	if x.cell.othersSuspend() {
		time.Sleep(upTo(x.random, 1500*time.Millisecond))
	}
	return nil
}

// resume makes the other tools resume the runtime.
func (x *trial) resume() error {
	if x.cell.start == defaultSuspend {
		x.note("another tool resumes the runtime")
		return errors.Join(x.listening(), x.others[0].resume())
	}
	i := 0
	for _, port := range x.cell.ports() {
		switch port {
		case otherSuspend:
			x.note("another tool resumes the runtime")
			if err := x.others[i].resume(); err != nil {
				return err
			}
			i++
		case otherNosuspend:
			i++
		}
	}
	return nil
}

// awaitResumed waits until the runtime has been resumed.
func (x *trial) awaitResumed() error {
	return x.target.await("the resumed runtime", x.wasResumed)
}

// wasResumed reports whether the runtime has more threads than while it is suspended.
func (x *trial) wasResumed() bool {
	const suspendedThreads = 3 // in CoreCLR; NativeAOT has two
	threads, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", x.target.pid()))
	return len(threads) > suspendedThreads
}

// pending waits until gclog has noticed that the runtime is suspended.
func (x *trial) pending() error {
	if x.ownsSuspended() && !x.cell.othersSuspend() {
		return nil // the daemon resumes it at once
	}
	for _, p := range x.action {
		if err := x.target.await("the message of gclog "+p.command, func() bool {
			return p.isDone() || p.lasts && strings.Contains(p.stderr(), "is waiting for ")
		}); errors.Is(err, errSlow) {
			x.fault(err)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// ready waits until the program has started.
func (x *trial) ready() error {
	err := x.target.ready()
	x.note("the program has started: %v", err)
	return err
}

// work makes the program work until the load is what the moment requires.
func (x *trial) work() error {
	if _, err := x.target.ask("start"); err != nil {
		return err
	}
	if x.cell.moment == backgroundGC {
		if _, err := x.target.awaitLine("the large heap", 0, func(l *line) bool { return l.Event == "built" }); err != nil {
			return err
		}
	}
	var first *line // after some collections: the load is on
	var asked error
	err := x.target.await("the load", func() bool {
		m, err := x.target.mark()
		if err != nil {
			asked = err
			return true
		}
		if first == nil && x.cycles(m) >= 2 {
			first = m
		}
		return first != nil && x.cycles(m) > x.cycles(first)
	})
	return errors.Join(asked, err)
}

// cycles returns the number of collections of the kind that the moment requires. A background
// collection is counted when it begins.
func (x *trial) cycles(l *line) int {
	if x.cell.moment == backgroundGC {
		return l.Gen2
	}
	return l.Gen0
}

// exitSoon makes the program exit at a random time.
func (x *trial) exitSoon() error {
	time.Sleep(upTo(x.random, 100*time.Millisecond))
	return x.exit()
}

// exit makes the program exit.
func (x *trial) exit() error {
	x.note("the program exits")
	x.target.exit(exitCode)
	return nil
}

// exited checks how the program exited.
func (x *trial) exited() error {
	if err := x.target.awaitEnd(); err != nil {
		return err
	}
	if s := x.target.status; !s.Exited() || s.ExitStatus() != exitCode {
		return fmt.Errorf("the program should exit with %d: %w", exitCode, errEnded)
	}
	return x.target.checkOutput(true)
}

// diedOfKill checks that the program ended because it was killed.
func (x *trial) diedOfKill() error {
	if err := x.target.awaitEnd(); err != nil {
		return err
	}
	if s := x.target.status; !s.Signaled() || s.Signal() != killSignal {
		return fmt.Errorf("the program should die of the signal: %w", errEnded)
	}
	return x.target.checkOutput(false)
}

// stay makes the other tool have sessions from now on.
func (x *trial) stay() error {
	if x.company != nil {
		x.company.stay()
	}
	return nil
}

// depart ends the sessions of the other tool.
func (x *trial) depart() error {
	if x.company == nil {
		return nil
	}
	err := x.company.depart()
	if x.target.hasEnded() { // its sessions broke off then
		return nil
	}
	return err
}

// settle waits until each command has completed or has a session.
func (x *trial) settle() error {
	for _, p := range x.programs() {
		if !p.lasts {
			x.fault(p.awaitEnd())
			continue
		}
		if err := x.target.await("the session of gclog "+p.command, func() bool { return p.attached() || p.isDone() }); err != nil {
			return err
		}
		if !p.attached() {
			x.fault(fmt.Errorf("gclog %s has ended with %d and has no session", p.command, p.code))
		}
	}
	x.note("gclog has done its work, or has its session")
	return nil
}

// collect makes the program collect while gclog is there.
func (x *trial) collect() error {
	if err := x.checkIdle(); err != nil {
		return err
	}
	for range 2 {
		if err := x.collectOnce(); err != nil {
			return err
		}
	}
	return x.checkIdle()
}

func (x *trial) collectOnce() error {
	x.own++
	return x.target.collect()
}

// isWorking reports whether the program allocates, and therefore collects.
func (x *trial) isWorking() bool { return x.cell.moment == load || x.cell.moment == backgroundGC }

// calm makes a working program idle.
func (x *trial) calm() error {
	if !x.isWorking() {
		return nil
	}
	for {
		l, err := x.target.ask("stop")
		if err != nil {
			return err
		}
		if l.Still {
			break
		}
	}
	// The collection waits for a background collection in progress, and leaves no budget nearly
	// exceeded: from now on only gclog and the test make the program collect.
	if _, err := x.target.ask("gc 2 forced true true"); err != nil {
		return err
	}
	m, err := x.target.mark()
	if err != nil {
		return err
	}
	x.base, x.own = m.Gen0, 0
	x.note("the program is idle")
	return nil
}

// checkIdle checks that an idle program has done only the collections that the test, gclog gc or a
// heap snapshot requested.
func (x *trial) checkIdle() error {
	if x.isWorking() && x.base == 0 {
		return nil
	}
	m, err := x.target.mark()
	if err != nil {
		return err
	}
	least, most := x.induced()
	if n := m.Gen0 - x.base - x.own; n < least || n > most {
		return fmt.Errorf("%d collections were induced in the program, %d to %d were expected", n, least, most)
	}
	return nil
}

// induced returns how many collections gclog has induced since the program became idle, by the
// table of docs/protocol.md, Induced collections.
func (x *trial) induced() (least, most int) {
	if !x.cell.has("gc") && !x.cell.has("snapshot") || x.cell.ignores() || x.cell.moment == suspended {
		return 0, 0
	}
	each := 2 // at the start and at the end of its session
	if slices.Contains([]string{net10, "net11", "aot10", "aot11"}, x.cell.runtime) {
		each = 1
	}
	most = each
	// Sessions of other tools induce more collections during the session of gclog gc.
	if x.company != nil {
		most += each * int(x.company.started.Load()+1)
	}
	if x.port != nil {
		const sessions = 3 // of a daemon: its own, and one or two for the settings
		most += each * sessions
	}
	// So do the sessions in serves, if the runtime has not yet noticed that gclog gc was killed.
	if x.cell.ending == gclogKilled {
		most += each * (len(x.others) + 1)
	}
	if x.cell.ending == normal && !x.isWorking() {
		least = each
	}
	if x.cell.moment == beforeListening || x.cell.moment == resumed {
		// A request at the moment at which the runtime is resumed may be lost; gclog gc repeats it
		// only if nothing has collected.
		least = min(least, 1)
	}
	for _, p := range x.action {
		most += each * p.runsWith(unsupported) // see defects
	}
	return least, most
}

// serves checks that the program works as before after gclog has ended.
func (x *trial) serves() error {
	if err := errors.Join(x.checkIdle(), x.collectOnce(), x.checkIdle()); err != nil {
		return err
	}
	x.note("other tools look at the program")
	for _, t := range append(x.others, atDefaultPort(x.dir)) {
		if err := t.probe(x.target.pid()); err != nil {
			return err
		}
	}
	return x.checkIdle()
}
