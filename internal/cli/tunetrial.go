package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/history"
)

// A trial is a run of a program with a setting.
type trial struct {
	run     comparedRun
	took    time.Duration
	cpu     time.Duration // of the program, and of the processes that it waited for
	metric  float64       // of --metric; 0: none
	problem string        // why the run does not count
}

// endGrace is how long a program may take to end after it was asked to.
const endGrace = 10 * time.Second

// run runs the program with a setting until it exits, or its time is over. The error is that it
// cannot be run at all.
func (t *tuning) run(ctx context.Context, s *tuneSetting, dir string) (*trial, error) {
	defer func() { t.done++ }()
	defer t.p.ui.watch(t.progress(s))()
	logs, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(logs)
	w, err := t.logger(logs)
	if err != nil {
		return nil, err
	}
	tree := &tree{w: w, exited: make(chan struct{}), known: map[int]bool{}}
	unlisten, err := tree.listen()
	if err != nil {
		return nil, err
	}
	defer unlisten()
	out := &programOutput{metric: t.metric}
	tree.child = exec.Command(t.command[0], t.command[1:]...)
	tree.child.Stdout, tree.child.Stderr = out, out
	tree.child.Env = append(s.environment(os.Environ()), portsVariable+"="+tree.ports())
	tree.child.WaitDelay = endGrace // processes that it leaves behind may keep its output open
	ownGroup(tree.child)
	began := time.Now()
	if err := tree.child.Start(); err != nil {
		return nil, notStarted(t.command[0], err)
	}
	defer endGroup(tree.child, true) // what it has left behind
	stopLoad := t.startLoad(tree.child.Process.Pid)
	ended := make(chan bool)
	go func() { ended <- t.endInTime(ctx, tree) }()
	tree.watchUntilExit(context.WithoutCancel(ctx), nil)
	x := &trial{took: time.Since(began), cpu: tree.state.UserTime() + tree.state.SystemTime(), metric: out.value()}
	byUs := <-ended
	loadFailed := stopLoad()
	switch {
	case !byUs && !tree.state.Success():
		x.problem = fmt.Sprintf("it ended after %s with %s%s", spanText(x.took), tree.state, out.lastLine())
	case len(tree.known) == 0:
		x.problem = "it ran no process with a .NET runtime that gclog can attach to"
	case tree.failed != nil:
		x.problem = tree.failed.Error()
	case loadFailed != "":
		x.problem = "the load " + loadFailed
	default:
		x.problem = t.readRun(x, logs)
	}
	return x, nil
}

// endInTime ends the program when its time is over or ctx is, and reports whether it did.
func (t *tuning) endInTime(ctx context.Context, tree *tree) bool {
	select {
	case <-tree.exited:
		return false
	case <-time.After(t.limit):
	case <-ctx.Done():
	}
	endGroup(tree.child, false)
	select {
	case <-tree.exited:
	case <-time.After(endGrace):
		endGroup(tree.child, true)
	}
	return true
}

// startLoad starts the load. The function that it returns ends it, and returns what was wrong with
// it.
func (t *tuning) startLoad(pid int) (stop func() string) {
	if t.load == "" {
		return func() string { return "" }
	}
	out := &programOutput{}
	cmd := shellCommand(t.load)
	cmd.Env = append(os.Environ(), "GCLOG_TUNE_PID="+strconv.Itoa(pid))
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = out, out, endGrace
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return func() string { return "cannot be run: " + err.Error() }
	}
	var failed error
	exited := make(chan struct{})
	go func() {
		failed = cmd.Wait()
		close(exited)
	}()
	return func() string {
		select {
		case <-exited: // before the program did
			if failed != nil {
				return "ended with " + failed.Error() + out.lastLine()
			}
			return ""
		default:
		}
		endGroup(cmd, false)
		select {
		case <-exited: // we have ended it: how it exits does not matter
		case <-time.After(endGrace):
			endGroup(cmd, true)
			<-exited
		}
		return ""
	}
}

// readRun reads the log of the run, of the process with the most collections, and returns why it
// does not count.
func (t *tuning) readRun(x *trial, logs string) string {
	files, err := filepath.Glob(filepath.Join(logs, "*"))
	if err != nil || len(files) == 0 {
		return "no session was opened before it ended"
	}
	most := uint64(0)
	for _, name := range files {
		var r comparedRun
		r.h, err = t.p.readRunLog(name, t.asked, func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
			var a *assessment
			a, r.s = newSampleAssessment(process, analysis.Thresholds{}, w)
			return a.observe, a.event
		})
		if r.h == nil {
			continue
		}
		if n := r.s.Summary().Classes[analysis.ClassAll].Pauses.Count; x.run.h == nil || n > most {
			x.run, most = r, n
		}
	}
	switch {
	case x.run.h == nil:
		return "its log cannot be read: " + err.Error()
	case most == 0:
		return fmt.Sprintf("it ran for %s without a collection", spanText(x.took))
	}
	return ""
}

// readRunLog reads one log, without messages.
func (p *program) readRunLog(name string, asked history.Span, observe history.Observe) (*history.History, error) {
	in, err := history.Open([]string{name}, history.Options{Want: gclog.Wanted, Span: asked})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return in.Read(observe)
}

// programOutput receives the output of a program. It keeps its last line, and the last number that
// the metric matches.
type programOutput struct {
	mu     sync.Mutex
	metric *regexp.Regexp
	line   []byte // incomplete
	last   string // not empty
	number float64
}

// longestLine is how much of a line of output is kept.
const longestLine = 64 << 10

// Write implements io.Writer.
func (o *programOutput) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n := len(b)
	for {
		line, rest, complete := bytes.Cut(b, []byte("\n"))
		o.line = append(o.line, line[:min(len(line), longestLine-min(longestLine, len(o.line)))]...)
		if !complete {
			return n, nil
		}
		o.take()
		b = rest
	}
}

// take takes a complete line.
func (o *programOutput) take() {
	line := string(o.line)
	o.line = o.line[:0]
	if strings.TrimSpace(line) == "" {
		return
	}
	o.last = line
	if o.metric == nil {
		return
	}
	if m := o.metric.FindStringSubmatch(line); m != nil {
		text := m[min(1, len(m)-1)]
		if v, err := strconv.ParseFloat(strings.TrimSpace(strings.ReplaceAll(text, ",", "")), 64); err == nil {
			o.number = v
		}
	}
}

func (o *programOutput) value() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.take()
	return o.number
}

// lastLine returns the last line of the output, as the end of a sentence.
func (o *programOutput) lastLine() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.take()
	if o.last == "" {
		return ""
	}
	return ": " + oneLine(shorten(o.last, 300))
}
