//go:build linux

package harmless

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// start starts a command of gclog. A command that needs the target but does not find it yet, or got
// no answer because the machine is overloaded, is started again.
func (x *trial) start(p *program) error {
	if p.command == "daemon" {
		if err := x.configure(p); err != nil {
			return err
		}
	}
	x.note("gclog %s begins", p.command)
	early := x.cell.moment == beforeListening || x.cell.moment == resumed
	return p.start(func() (*exec.Cmd, error) { return x.launchProgram(p) }, func() bool {
		return !x.target.hasEnded() && (early && !x.reached(p) || strings.Contains(p.stderr(), "gets no CPU time"))
	})
}

func (x *trial) launchProgram(p *program) (*exec.Cmd, error) {
	cmd := x.gclog(x.dir, x.args(p)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stderr, err := os.Create(p.err)
	if err != nil {
		return nil, err
	}
	defer stderr.Close()
	cmd.Stderr = stderr
	if p.command == "run" {
		cmd.Env = append(cmd.Env, x.environment()...)
		x.target, err = startTarget(cmd, x.patience(), func(t *target) syscall.WaitStatus { return x.statusAfter(p, t) })
		if err == nil {
			go x.closeWithTarget()
		}
		return cmd, err
	}
	stdout, err := os.Create(p.out)
	if err != nil {
		return nil, err
	}
	defer stdout.Close()
	cmd.Stdout = stdout
	return cmd, cmd.Start()
}

// statusAfter returns how a program that gclog run started has ended: gclog's exit code is the
// program's. If gclog was killed first, the program has become a child of the test.
func (x *trial) statusAfter(p *program, t *target) (status syscall.WaitStatus) {
	<-p.done
	if p.wasKilled() {
		_, _ = syscall.Wait4(t.pid(), &status, 0, nil)
		return status
	}
	if p.code > 128 {
		return syscall.WaitStatus(p.code - 128)
	}
	return syscall.WaitStatus(p.code << 8)
}

// adopt makes this process the parent of its orphaned descendants.
func adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// configure writes the configuration of a daemon that watches only the target.
func (x *trial) configure(p *program) error {
	listen := ""
	if x.cell.hasOurs() {
		listen = fmt.Sprintf("listen: [%q], ", x.ourSocket())
	}
	return os.WriteFile(x.configuration(p), fmt.Appendf(nil, `version: 1
discovery: {%sinterval: 500ms, include: [{process: %q}]}
outputs: [{path: %q}]
control: {socket: ""}
`, listen, x.name, p.log), 0o600)
}

func (x *trial) configuration(p *program) string {
	return filepath.Join(x.dir, filepath.Base(p.log)+".yaml")
}

func (x *trial) args(p *program) []string {
	pid := ""
	if x.target != nil {
		pid = strconv.Itoa(x.target.pid())
	}
	switch p.command {
	case "ps":
		return []string{"ps", "-f", "json"}
	case "daemon":
		return []string{"daemon", "-c", x.configuration(p)}
	case "record":
		return []string{"record", pid, "-o", p.log}
	case "attach":
		if x.cell.moment == beforeListening {
			return []string{"attach", "--follow", "-n", x.name, "-o", p.log}
		}
		return []string{"attach", pid, "-o", p.log}
	case "run":
		args := []string{"run", "-o", p.log}
		if strings.Contains(x.cell.start, oursSuspend) {
			args = append(args, "--suspend")
		}
		return append(append(args, "--", x.runtime.Program("wks")), x.programArgs()...)
	}
	switch p.command {
	case "gc":
		return []string{"gc", pid, "--timeout", "5s"}
	case "snapshot":
		return []string{"heap", "snapshot", pid, "-o", p.log, "--timeout", "10s", "--wait-bgc", "20s"}
	}
	return []string{p.command, pid}
}

// reached reports whether a command has reached the target, or need not be started again to do so.
func (x *trial) reached(p *program) bool {
	switch p.command {
	case "ps":
		row, err := x.row(p)
		return err == nil && row.Problem == ""
	case "doctor":
		return p.code == 0 && !strings.Contains(p.stdout(), "once its runtime has started")
	case "settings", "gc", "snapshot":
		return p.code == x.success(p)
	case "record":
		return p.code == 0
	}
	return true
}

// unsupported is the exit code of gclog gc and heap snapshot where the runtime does not collect on
// request.
const unsupported = 4

// success returns the exit code of a command that has completed.
func (x *trial) success(p *program) int {
	switch {
	case p.command == "run":
		return exitCode
	case (p.command == "gc" || p.command == "snapshot") && x.cell.ignores():
		return unsupported
	}
	return 0
}

// A row is what gclog ps prints about the target.
type row struct {
	PID            int
	Problem, Cause string
}

func (x *trial) row(p *program) (row, error) {
	var rows []row
	if err := json.Unmarshal([]byte(p.stdout()), &rows); err != nil {
		return row{}, fmt.Errorf("gclog ps printed %q: %w", p.stdout(), err)
	}
	i := slices.IndexFunc(rows, func(r row) bool { return r.PID == x.target.pid() })
	if i < 0 {
		return row{}, errors.New("gclog ps does not list the program")
	}
	return rows[i], nil
}

// endGclog ends the commands of the action, and checks how they ended.
func (x *trial) endGclog() error {
	for _, p := range x.action {
		// What waits for the next process, or for all processes, does not end otherwise.
		waits := p.command == "daemon" || p.command == "attach" && x.cell.moment == beforeListening
		if !p.lasts || p.wasKilled() || !waits && x.target.hasEnded() {
			continue
		}
		if waits { // it handles signals only after its first message
			x.fault(poll("a message of gclog "+p.command, patience, func() bool { return p.stderr() != "" || p.attached() }))
		}
		p.ask()
	}
	for _, p := range x.action {
		x.judgeEnd(p)
		if p.runsWith(unsupported) > 0 && !x.cell.isAOT() {
			x.excuses = append(x.excuses, ignoredRequest)
		}
	}
	return nil
}

// endPort ends the daemon that has our port.
func (x *trial) endPort() error {
	if x.port != nil && x.port.hasStarted() {
		x.port.ask()
		x.judgeEnd(x.port)
	}
	return nil
}

// judgeEnd waits for the end of a command, and checks how it ended.
func (x *trial) judgeEnd(p *program) {
	if err := p.awaitEnd(); err != nil {
		x.fault(err)
		return
	}
	x.note("gclog %s ended with %d", p.command, p.code)
	x.fault(x.judge(p))
}

// errCrashed means that gclog has crashed: no defect of a runtime excuses that.
var errCrashed = errors.New("it has crashed")

// judge returns what is wrong with how a command ended.
func (x *trial) judge(p *program) error {
	if text := p.crashText(); text != "" {
		return fmt.Errorf("gclog %s printed %q: %w", p.command, text, errCrashed)
	}
	if p.wasKilled() || p.failed != nil {
		return p.failed
	}
	if codes := x.codes(p); !slices.Contains(codes, p.code) {
		return fmt.Errorf("gclog %s ended with %d, expected was one of %v", p.command, p.code, codes)
	}
	if x.cell.moment == exit || x.cell.ending != normal || x.isRefused(p) {
		return nil
	}
	if p.lasts {
		n, err := p.collections()
		if err == nil && n == 0 {
			err = fmt.Errorf("gclog %s has seen no collection", p.command)
		}
		return err
	}
	return x.judgeAnswer(p)
}

// codes returns the exit codes that a command may have.
func (x *trial) codes(p *program) []int {
	const noSession, noProcess, killed = 1, 7, 128 + 9
	ended := x.cell.moment == exit || x.cell.ending == targetKilled
	switch {
	case p.command == "daemon":
		return []int{0}
	case p.command == "run" && x.cell.ending == targetKilled:
		return []int{killed}
	case ended:
		return []int{x.success(p), noSession, noProcess}
	case x.cell.moment == suspended && slices.Contains([]string{"settings", "gc", "snapshot"}, p.command):
		return []int{noSession}
	case x.isRefused(p):
		return []int{noSession}
	}
	return []int{x.success(p)}
}

// isRefused reports whether gclog has taken no snapshot because of the background collections of a
// program that has been working for so long that it does several a second, as it says itself.
func (x *trial) isRefused(p *program) bool {
	if x.cell.moment != load || p.command != "snapshot" || !strings.Contains(p.stderr(), "refused: background collections") {
		return false
	}
	if m, err := x.target.mark(); err == nil && m.Index.Background > 0 {
		return true
	}
	lines, _ := x.target.output()
	return slices.ContainsFunc(lines, func(l line) bool { return l.Event == "gc" && l.Kind == "background" })
}

// judgeAnswer checks the output of a command that does not run until it is stopped.
func (x *trial) judgeAnswer(p *program) error {
	waits := x.cell.moment == suspended
	switch p.command {
	case "ps":
		row, err := x.row(p)
		if err == nil && (row.Cause == "suspended") != waits {
			err = fmt.Errorf("gclog ps says that the cause is %q", row.Cause)
		}
		return err
	case "doctor":
		if strings.Contains(p.stdout(), "once its runtime has started") != waits {
			return fmt.Errorf("gclog doctor says %s", p.stdout())
		}
	default:
		if strings.Contains(p.stderr(), "is waiting for ") != waits {
			return fmt.Errorf("gclog %s says %s", p.command, p.stderr())
		}
	}
	return nil
}
