package gcload

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// A Line is a line of the program's own account. Nothing in it comes from EventPipe. Index is a
// number, in marks an object.
type Line struct {
	Text json.RawMessage `json:"-"` // the line itself

	Event, Kind, Label, Cmd string
	PID                     int
	Index                   json.RawMessage
	QPC                     int64 // time in ticks of the clock that events use
	Runtime                 string
	AOT, Server, Concurrent bool
	Config                  map[string]json.RawMessage // GC.GetConfigurationVariables; not on .NET Core 3.1

	Generation          int
	Compacted, Phantom  bool
	HeapSizeBytes       uint64
	FragmentedBytes     uint64
	PromotedBytes       uint64
	TotalCommittedBytes uint64
	PinnedObjectsCount  uint64
	FinalizationPending uint64 `json:"finalizationPendingCount"`
	GenerationInfo      []GenerationInfo
	Gen0, Gen1, Gen2    int
	Allocated           uint64
	PauseTotal          *float64 `json:"pauseTotal_us"` // nil on .NET Core 3.1
	Still               bool
}

// GenerationInfo is one generation before and after a collection.
type GenerationInfo struct{ SizeBefore, SizeAfter, FragBefore, FragAfter uint64 }

// Number returns the number of the collection of a gc line.
func (l *Line) Number() uint32 {
	n, _ := strconv.ParseUint(string(l.Index), 10, 32)
	return uint32(n)
}

// A Process is a running load program.
type Process struct {
	PID   int
	Ready Line

	cmd   *exec.Cmd
	stdin io.WriteCloser

	mu    sync.Mutex
	lines []Line
	more  chan struct{} // receives a value when a line arrived; closed at the end of output
}

// Start starts the program in a flavour. dir is its temporary directory, where it creates its
// socket; "" means that of this process.
func (r *Runtime) Start(dir, flavour string, knobs []string, args ...string) (*Process, error) {
	if err := r.Unpack(); err != nil {
		return nil, err
	}
	cmd := exec.Command(r.Program(flavour), args...)
	cmd.Env = r.Environment(os.Environ(), flavour, knobs...)
	if dir != "" {
		cmd.Env = append(cmd.Env, "TMPDIR="+dir)
	}
	return StartCommand(cmd)
}

// StartCommand starts a command that is, or runs, a load program.
func StartCommand(cmd *exec.Cmd) (*Process, error) {
	p := &Process{cmd: cmd, more: make(chan struct{}, 1)}
	var err error
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go p.read(out)
	ready, err := p.Wait(answerTime, func(l *Line) bool { return l.Event == "ready" })
	if err != nil {
		p.Kill()
		return nil, err
	}
	p.Ready, p.PID = *ready, ready.PID
	return p, nil
}

func (p *Process) read(out io.Reader) {
	defer close(p.more)
	s := bufio.NewScanner(out)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var l Line
		if json.Unmarshal(s.Bytes(), &l) != nil {
			continue
		}
		l.Text = bytes.Clone(s.Bytes())
		p.mu.Lock()
		p.lines = append(p.lines, l)
		p.mu.Unlock()
		select {
		case p.more <- struct{}{}:
		default:
		}
	}
}

// Lines returns what the program has printed so far.
func (p *Process) Lines() []Line {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]Line(nil), p.lines...)
}

// Wait waits for a line for which is returns true.
func (p *Process) Wait(timeout time.Duration, is func(*Line) bool) (*Line, error) {
	deadline := time.After(timeout)
	for seen, open := 0, true; ; {
		lines := p.Lines()
		for ; seen < len(lines); seen++ {
			if is(&lines[seen]) {
				return &lines[seen], nil
			}
		}
		if !open {
			return nil, fmt.Errorf("the load program ended: %v", p.cmd.Args)
		}
		select {
		case _, open = <-p.more:
		case <-deadline:
			return nil, fmt.Errorf("the load program did not answer within %v: %v", timeout, p.cmd.Args)
		}
	}
}

// answerTime is how long the program may take to answer. It is long, because other processes may
// keep the processors busy.
const answerTime = 2 * time.Minute

// Send sends the program a command, and waits for its answer: an ack, or an account that is named after
// the command, such as alloc.
func (p *Process) Send(command string) (*Line, error) {
	before := len(p.Lines())
	if _, err := fmt.Fprintln(p.stdin, command); err != nil {
		return nil, err
	}
	n := 0
	return p.Wait(answerTime, func(l *Line) bool {
		n++
		return n > before && (l.Event == "ack" && l.Cmd == command || l.Event == command)
	})
}

// StandStill stops the load, and waits until every thread of it stands.
func (p *Process) StandStill() error {
	for {
		ack, err := p.Send("stop")
		if err != nil || ack.Still {
			return err
		}
	}
}

// Mark makes the program print its counters.
func (p *Process) Mark(label string) (*Line, error) {
	if _, err := fmt.Fprintln(p.stdin, "mark", label); err != nil {
		return nil, err
	}
	return p.Wait(answerTime, func(l *Line) bool { return l.Event == "mark" && l.Label == label })
}

// Exit makes the program exit, and waits until it has.
func (p *Process) Exit(code int) error {
	_, _ = fmt.Fprintln(p.stdin, "exit", code)
	return p.cmd.Wait()
}

// Kill kills the program.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// Signal sends a signal.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }
