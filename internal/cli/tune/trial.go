package tune

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
	"github.com/gclog/gclog/internal/cli/assess"
	"github.com/gclog/gclog/internal/cli/compare"
	"github.com/gclog/gclog/internal/cli/record"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/view"
)

// A trial is a run of a program with a setting.
type trial struct {
	run     compare.Run
	took    time.Duration
	cpu     time.Duration // of the program, and of the processes that it waited for
	metric  float64       // of --metric; 0: none
	problem string        // why the run does not count
}

// endGrace is how long a program may take to end after it was asked to.
const endGrace = 10 * time.Second

// run runs the program with a setting until it exits, or its time is over. The error is that it
// cannot be run at all.
func (t *tuning) run(ctx context.Context, s *candidate, dir string) (*trial, error) {
	defer func() { t.done++ }()
	defer t.p.UI.Watch(t.progress(s))()
	logs, err := os.MkdirTemp(dir, "run-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(logs)
	w, err := t.logger(logs)
	if err != nil {
		return nil, err
	}
	tree := record.NewTree(w)
	unlisten, err := tree.Listen()
	if err != nil {
		return nil, err
	}
	defer unlisten()
	out := &programOutput{metric: t.metric}
	tree.Child = exec.Command(t.command[0], t.command[1:]...)
	tree.Child.Stdout, tree.Child.Stderr = out, out
	tree.Child.WaitDelay = endGrace // processes that it leaves behind may keep its output open
	ownGroup(tree.Child)
	began := time.Now()
	if err := tree.Start(s.environment(os.Environ())); err != nil {
		return nil, err
	}
	defer endGroup(tree.Child, true) // what it has left behind
	stopLoad := t.startLoad(tree.Child.Process.Pid)
	ended := make(chan bool)
	go func() { ended <- t.endInTime(ctx, tree) }()
	tree.WatchUntilExit(context.WithoutCancel(ctx), nil)
	x := &trial{took: time.Since(began), cpu: tree.State.UserTime() + tree.State.SystemTime(), metric: out.value()}
	byUs := <-ended
	loadFailed := stopLoad()
	switch {
	case !byUs && !tree.State.Success():
		x.problem = fmt.Sprintf("it ended after %s with %s%s", view.Span(x.took), tree.State, out.lastLine())
	case len(tree.Known) == 0:
		x.problem = "it ran no process with a .NET runtime that gclog can attach to"
	case tree.Failed != nil:
		x.problem = tree.Failed.Error()
	case loadFailed != "":
		x.problem = "the load " + loadFailed
	default:
		x.problem = t.readRun(x, logs)
	}
	return x, nil
}

// endInTime ends the program when its time is over or ctx is, and reports whether it did.
func (t *tuning) endInTime(ctx context.Context, tree *record.Tree) bool {
	select {
	case <-tree.Exited:
		return false
	case <-time.After(t.limit):
	case <-ctx.Done():
	}
	endGroup(tree.Child, false)
	select {
	case <-tree.Exited:
	case <-time.After(endGrace):
		endGroup(tree.Child, true)
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
		var r compare.Run
		observe := func(process *gclog.Process, w analysis.Window) (gclog.Observer, gclog.EventObserver) {
			var a *assess.Assessment
			a, r.Sample = assess.NewSample(process, analysis.Thresholds{}, w)
			return a.Observe, a.Event
		}
		r.History, err = t.p.readRunLog(name, t.asked, observe)
		if r.History == nil {
			continue
		}
		if n := r.Sample.Summary().Classes[analysis.ClassAll].Pauses.Count; x.run.History == nil || n > most {
			x.run, most = r, n
		}
	}
	switch {
	case x.run.History == nil:
		return "its log cannot be read: " + err.Error()
	case most == 0:
		return fmt.Sprintf("it ran for %s without a collection", view.Span(x.took))
	}
	return ""
}

// readRunLog reads one log, without messages.
func (p *commands) readRunLog(name string, asked history.Span, observe history.Observe) (*history.History, error) {
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
	return ": " + view.OneLine(view.Shorten(o.last, 300))
}
