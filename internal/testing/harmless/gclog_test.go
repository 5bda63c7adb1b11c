//go:build linux

package harmless

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// A program is a gclog command. One that does not run until it is stopped may be run more than
// once.
type program struct {
	command string
	lasts   bool   // it runs until it is stopped
	log     string // its log or recording
	out     string // its standard output
	err     string // its standard error
	done    chan struct{}

	mu      sync.Mutex
	running *exec.Cmd
	last    bool // it is not run again
	killed  bool
	code    int         // of the last run
	codes   map[int]int // how many runs ended with each exit code
	failed  error
}

// newProgram returns a command that writes to dir. number distinguishes several of the same
// command.
func newProgram(command, dir string, number int) *program {
	base := filepath.Join(dir, fmt.Sprintf("%s-%d", command, number))
	return &program{
		command: command, lasts: slices.Contains([]string{"attach", "record", "run", "daemon"}, command),
		log: base + cmp.Or(map[string]string{"record": ".nettrace", "snapshot": ".gcdump"}[command], ".json"),
		out: base + ".out", err: base + ".err", done: make(chan struct{}), codes: map[int]int{},
	}
}

// start starts the command with begin, and starts it again each time it has ended and again returns
// true.
func (p *program) start(begin func() (*exec.Cmd, error), again func() bool) error {
	cmd, err := begin()
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.running = cmd
	p.mu.Unlock()
	go func() {
		defer close(p.done)
		for p.wait() && again() && p.next(begin) {
		}
	}()
	return nil
}

// wait waits for the end of this run, and reports whether there may be another.
func (p *program) wait() bool {
	_ = p.running.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.code = p.running.ProcessState.ExitCode()
	p.codes[p.code]++
	return !p.last
}

func (p *program) next(begin func() (*exec.Cmd, error)) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last {
		return false
	}
	cmd, err := begin()
	if err != nil {
		p.failed = err
		return false
	}
	p.running = cmd
	return true
}

// signal sends a signal to the command, which is not run again.
func (p *program) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last = true
	p.killed = p.killed || s == syscall.SIGKILL
	_ = p.running.Process.Signal(s)
}

// ask asks the command to exit.
func (p *program) ask() {
	if p.command == "daemon" {
		p.signal(syscall.SIGTERM)
	} else {
		p.signal(syscall.SIGINT)
	}
}

func (p *program) hasStarted() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.running != nil
}

// runsWith returns how many runs have ended with an exit code.
func (p *program) runsWith(code int) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.codes[code]
}

func (p *program) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// isDone reports whether the command has ended.
func (p *program) isDone() bool {
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

// awaitEnd waits until the command has ended.
func (p *program) awaitEnd() error {
	return poll("the end of gclog "+p.command, patience, p.isDone)
}

// stdout and stderr return what the command has printed so far.
func (p *program) stdout() string { return read(p.out) }
func (p *program) stderr() string { return read(p.err) }

func read(path string) string {
	b, _ := os.ReadFile(path) // a missing file counts as empty
	return string(b)
}

// attached reports whether the command has a session.
func (p *program) attached() bool {
	if p.command == "record" {
		return read(p.log) != ""
	}
	return strings.Contains(read(p.log), `"action":"gc-session-start"`)
}

// collections counts the collections in the log or recording of a command that has ended.
func (p *program) collections() (n int, err error) {
	content := read(p.log)
	if p.command != "record" {
		return strings.Count(content, `"action":"gc",`), nil
	}
	if err := newWalker(strings.NewReader(content)).walk(func() {}); err != nil {
		return 0, fmt.Errorf("the recording: %w", err)
	}
	r := parse.NewReader(strings.NewReader(content), gclog.Wanted)
	for r.Scan() {
		if e := r.Event(); e != nil && e.Meta.Provider == clr.RuntimeProvider && e.Meta.EventID == clr.IDGCStart {
			n++
		}
	}
	return n, r.Err()
}

// crashText returns what a Go program prints when it crashes, or "" if gclog has not crashed.
func (p *program) crashText() string {
	for _, text := range []string{"panic:", "fatal error:", "goroutine ", "DATA RACE"} {
		if strings.Contains(p.stderr(), text) {
			return text
		}
	}
	return ""
}
