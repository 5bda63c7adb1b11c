//go:build linux

package harmless

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A target is a running load program (testdata/dotnet), or a shell that becomes one: a child of the
// test or of gclog run.
type target struct {
	process  atomic.Int64 // pid; 0 until it is known
	stdin    *os.File
	patience time.Duration // time limit for what the program must do

	mu    sync.Mutex
	lines []line
	torn  string // output after the last line
	marks int

	ended  chan struct{} // closed when its status is known and its output has been read
	status syscall.WaitStatus
	killed bool // by the test
}

// A line is a line of the program's output, which is JSON.
type line struct {
	text             string
	bad              error
	Event, Kind      string
	Label, Cmd       string
	PID              int
	Gen0, Gen1, Gen2 int
	Index            struct{ Background int } // of the last background collection, in a mark
	Still            bool
}

// lookEvery is the interval at which conditions are checked.
const lookEvery = 3 * time.Millisecond

// errSlow means that something did not happen in time, errEnded that the program ended before it
// happened.
var (
	errSlow  = errors.New("it did not happen in time")
	errEnded = errors.New("the program has ended")
)

// poll waits until is returns true.
func poll(what string, patience time.Duration, is func() bool) error {
	for deadline := time.Now().Add(patience); !is(); time.Sleep(lookEvery) {
		if time.Now().After(deadline) {
			return fmt.Errorf("%s: %w", what, errSlow)
		}
	}
	return nil
}

// startTarget starts a command whose standard input and output are, or become, those of a target.
// wait returns its status when it has ended.
func startTarget(cmd *exec.Cmd, patience time.Duration, wait func(t *target) syscall.WaitStatus) (*target, error) {
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	stdout, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	cmd.Stdin, cmd.Stdout = in, out
	err = cmd.Start()
	in.Close()
	out.Close()
	if err != nil {
		return nil, err
	}
	t := &target{stdin: stdin, patience: patience, ended: make(chan struct{})}
	go func() {
		defer close(t.ended)
		t.read(stdout)
		stdout.Close()
		t.status = wait(t)
	}()
	return t, nil
}

func (t *target) read(from io.Reader) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadString('\n')
		t.mu.Lock()
		if err != nil {
			t.torn = text
			t.mu.Unlock()
			return
		}
		l := line{text: strings.TrimSuffix(text, "\n")}
		l.bad = json.Unmarshal([]byte(text), &l)
		t.lines = append(t.lines, l)
		if l.PID != 0 {
			t.process.Store(int64(l.PID))
		}
		t.mu.Unlock()
	}
}

// output returns what the program has printed so far.
func (t *target) output() (lines []line, torn string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clip(t.lines), t.torn
}

// pid returns the program's pid, or 0 while it is unknown.
func (t *target) pid() int { return int(t.process.Load()) }

// hasEnded reports whether the program has ended.
func (t *target) hasEnded() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// await waits for something that only a running program does.
func (t *target) await(what string, is func() bool) error {
	ended := false
	err := poll(what, t.patience, func() bool {
		ended = t.hasEnded() // read before is: it may have happened just before the end
		return is() || ended
	})
	if err == nil && ended && !is() {
		return fmt.Errorf("%s: %w", what, errEnded)
	}
	return err
}

// awaitLine waits for a line; it skips the first from lines.
func (t *target) awaitLine(what string, from int, is func(*line) bool) (found *line, err error) {
	err = t.await(what, func() bool {
		lines, _ := t.output()
		for ; from < len(lines); from++ {
			if is(&lines[from]) {
				found = &lines[from]
				return true
			}
		}
		return found != nil
	})
	return found, err
}

// hasStarted reports whether the program has started: it prints a mark first.
func (t *target) hasStarted() bool {
	lines, _ := t.output()
	return slices.ContainsFunc(lines, func(l line) bool { return l.Event == "mark" })
}

// ready waits until the program has started.
func (t *target) ready() error { return t.await("the start of the program", t.hasStarted) }

// ask gives the program a command and waits for its answer.
func (t *target) ask(command string) (*line, error) {
	lines, _ := t.output()
	if _, err := fmt.Fprintln(t.stdin, command); err != nil {
		return nil, fmt.Errorf("%s: %w", command, errEnded)
	}
	return t.awaitLine("the answer to "+command, len(lines), func(l *line) bool { return l.Event == "ack" && l.Cmd == command })
}

// mark returns the counters of the program.
func (t *target) mark() (*line, error) {
	t.marks++
	label := fmt.Sprint("m", t.marks)
	if _, err := fmt.Fprintln(t.stdin, "mark", label); err != nil {
		return nil, fmt.Errorf("mark: %w", errEnded)
	}
	return t.awaitLine("mark "+label, 0, func(l *line) bool { return l.Event == "mark" && l.Label == label })
}

// collect makes the program collect by itself, which adds one to each counter. The collection is a
// gen0, because a gen2 would wait for a background collection.
func (t *target) collect() error {
	_, err := t.ask("gc 0 forced true false")
	return err
}

// exit makes the program exit, without waiting for it.
func (t *target) exit(code int) { fmt.Fprintln(t.stdin, "exit", code) }

// awaitEnd waits until the program has ended.
func (t *target) awaitEnd() error { return poll("the end of the program", t.patience, t.hasEnded) }

// isSuspensionText reports whether a line is one that the runtime itself prints after being
// suspended for some seconds.
func isSuspensionText(line string) bool {
	return strings.HasPrefix(line, "The runtime has been configured to pause during startup") ||
		strings.HasPrefix(line, "DOTNET_DiagnosticPorts=") || strings.HasPrefix(line, "DOTNET_DefaultDiagnosticPortSuspend=")
}

// checkOutput returns what is wrong with the output of a program that has ended.
func (t *target) checkOutput(exited bool) error {
	lines, torn := t.output()
	if torn != "" {
		return fmt.Errorf("the output ends with half a line: %q", torn)
	}
	for _, l := range lines {
		if l.bad != nil && !isSuspensionText(l.text) {
			return fmt.Errorf("the output has a line that is not JSON: %q: %w", l.text, l.bad)
		}
	}
	if exited && (len(lines) == 0 || lines[len(lines)-1].Label != "end") {
		return errors.New("the output lacks the final mark")
	}
	return nil
}

// kill kills the program.
func (t *target) kill() {
	t.mu.Lock()
	t.killed = true
	pid := t.pid()
	t.mu.Unlock()
	if pid != 0 && !t.hasEnded() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

func (t *target) wasKilled() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.killed
}
