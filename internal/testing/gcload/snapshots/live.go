//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/testing/gcload"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
	"golang.org/x/sys/unix"
)

// A taking is what it took to take a snapshot.
type taking struct {
	resumed  time.Duration // from the start of the command to the end of the collection, as the program saw it
	complete time.Duration // until the file was complete
	paused   time.Duration // by the walk, according to the events
	memory   int64         // bytes, of gclog
}

// A round is a snapshot in both ways.
type round struct{ raw, own taking }

// live measures snapshots of an idle and of a busy program, and returns a row for each.
func (o *options) live(r *gcload.Runtime, s size) (rows []string, err error) {
	p, err := r.Start(o.dir, "wks", nil, append([]string{"graph", "--exit-on-eof"}, s.args...)...)
	if err != nil {
		return nil, err
	}
	defer p.Kill()
	if _, err := p.Wait(buildTime, func(l *gcload.Line) bool { return l.Event == "graph" }); err != nil {
		return nil, err
	}
	if _, err := o.gclogSnapshot(p); err != nil { // discarded: the first session differs from later ones
		return nil, err
	}
	for _, state := range []string{"idle", "busy"} {
		rest := func() error { return nil }
		if state == "busy" {
			rest = occupy(p)
		}
		rounds, err := o.takeBoth(p, fmt.Sprintf("%s M, %s", s.millions, state))
		if err = errors.Join(err, rest()); err != nil {
			return nil, err
		}
		seconds := func(of func(round) time.Duration) float64 {
			return median(rounds, func(r round) float64 { return of(r).Seconds() })
		}
		memory := int64(median(rounds, func(r round) float64 { return float64(r.own.memory) }))
		if s.millions != "12" {
			o.limit(s, "heap snapshot", memory, snapshotMemory)
		}
		rows = append(rows, fmt.Sprintf("%10s %-5s %8.3f %8.3f %6.2f %8.3f %8.3f %6.2f %8.3f %8.3f %5d MB", s.millions+" M", state,
			seconds(func(r round) time.Duration { return r.raw.resumed }), seconds(func(r round) time.Duration { return r.own.resumed }),
			median(rounds, func(r round) float64 { return r.own.resumed.Seconds() / r.raw.resumed.Seconds() }),
			seconds(func(r round) time.Duration { return r.raw.complete }), seconds(func(r round) time.Duration { return r.own.complete }),
			median(rounds, func(r round) float64 { return r.own.complete.Seconds() / r.raw.complete.Seconds() }),
			seconds(func(r round) time.Duration { return r.raw.paused }), seconds(func(r round) time.Duration { return r.own.paused }), memory>>20))
	}
	return rows, nil
}

// takeBoth takes snapshots in both ways, in as many rounds as there are to be.
func (o *options) takeBoth(p *gcload.Process, name string) (rounds []round, err error) {
	for i := range o.rounds {
		var r round
		takings := []struct {
			of   *taking
			take func(*gcload.Process) (taking, error)
		}{{&r.raw, o.rawSnapshot}, {&r.own, o.gclogSnapshot}}
		if i%2 == 1 {
			slices.Reverse(takings)
		}
		for _, x := range takings {
			unix.Sync() // so that the disk is not busy with what was written before
			if *x.of, err = x.take(p); err != nil {
				return nil, err
			}
		}
		fmt.Fprintf(os.Stderr, "%s: %+v\n", name, r)
		rounds = append(rounds, r)
	}
	return rounds, nil
}

// median returns that of a number of each element.
func median[T any](list []T, of func(T) float64) float64 {
	var numbers []float64
	for _, x := range list {
		numbers = append(numbers, of(x))
	}
	slices.Sort(numbers)
	n := len(numbers)
	return (numbers[(n-1)/2] + numbers[n/2]) / 2
}

const (
	buildTime  = 5 * time.Minute
	answerTime = 5 * time.Minute
)

// occupy makes a thread of the program allocate until the result is called.
func occupy(p *gcload.Process) (rest func() error) {
	stop := make(chan struct{})
	var work sync.WaitGroup
	var failed error
	work.Go(func() {
		for failed == nil {
			select {
			case <-stop:
				return
			default:
				_, failed = p.Send("burst 100")
			}
		}
	})
	return func() error {
		close(stop)
		work.Wait()
		return failed
	}
}

// now is the time of the clock that the program and the events use.
func now() time.Duration {
	var t unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return time.Duration(t.Nano())
}

// resumed returns when the program saw that a collection of its whole heap had ended. Its threads
// see that when they run again.
func resumed(p *gcload.Process, since time.Duration) (time.Duration, error) {
	l, err := p.Wait(answerTime, func(l *gcload.Line) bool {
		return l.Event == "gc" && l.Kind == "fullBlocking" && l.Generation == 2 && l.QPC > int64(since)
	})
	if err != nil {
		return 0, err
	}
	return time.Duration(l.QPC) - since, nil
}

// rawSnapshot copies a session to a file.
func (o *options) rawSnapshot(p *gcload.Process) (t taking, err error) {
	_ = os.Remove(o.recording())
	ctx, cancel := context.WithTimeout(context.Background(), answerTime)
	defer cancel()
	target, err := (&host.Host{}).Find(ctx, p.PID)
	if err != nil {
		return t, err
	}
	target.Timeout = answerTime
	began := now()
	if err := copySession(ctx, target, o.recording()); err != nil {
		return t, err
	}
	t.complete = now() - began
	if t.resumed, err = resumed(p, began); err != nil {
		return t, err
	}
	t.paused, err = pauseOf(o.recording())
	return t, err
}

func copySession(ctx context.Context, target *host.Target, path string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	stream, err := target.StartTracing(ctx, session.Config{BufferMB: 1024, Providers: []session.Provider{
		{Name: clr.RuntimeProvider, Keywords: 0x1D80001, Level: clr.LevelInformational},
	}})
	if err != nil {
		return err
	}
	defer stream.Close()
	stopped := make(chan error, 1)
	go func() { stopped <- stream.Stop(ctx) }()
	if _, err := io.CopyBuffer(struct{ io.Writer }{f}, stream, make([]byte, 1<<20)); err != nil {
		return err
	}
	return errors.Join(<-stopped, f.Close())
}

// A pauses keeps the pause of the last full collection.
type pauses struct {
	last time.Duration
}

// Observe takes a record.
func (x *pauses) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if d.Generation == gclog.Gen2 {
			x.last = time.Duration(d.Pause())
		}
	}
}

func pauseOf(recording string) (time.Duration, error) {
	f, err := os.Open(recording)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	x := &pauses{}
	err = gclog.Read(bufio.NewReaderSize(f, 1<<16), func(*gclog.Process) gclog.Observer { return x.Observe })
	return x.last, err
}

var pauseText = regexp.MustCompile(`paused the program for ([0-9.]+) ms`)

// gclogSnapshot takes one with gclog.
func (o *options) gclogSnapshot(p *gcload.Process) (t taking, err error) {
	_ = os.Remove(o.dump())
	var out bytes.Buffer
	cmd := exec.Command(o.gclog, "heap", "snapshot", strconv.Itoa(p.PID), "-o", o.dump())
	cmd.Stdout, cmd.Stderr = &out, &out
	began := now()
	if err := cmd.Start(); err != nil {
		return t, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	// The file gets its name when it is complete; then gclog waits before it lets other sessions go on.
	for t.complete == 0 {
		select {
		case err = <-ended:
			return t, fmt.Errorf("no file: %w: %s", err, out.Bytes())
		case <-time.After(time.Millisecond):
		}
		if _, err := os.Stat(o.dump()); err == nil {
			t.complete = now() - began
		}
	}
	if err := <-ended; err != nil {
		return t, fmt.Errorf("%w: %s", err, out.Bytes())
	}
	t.memory = memoryOf(cmd)
	if t.resumed, err = resumed(p, began); err != nil {
		return t, err
	}
	if m := pauseText.FindSubmatch(out.Bytes()); m != nil {
		ms, err := strconv.ParseFloat(string(m[1]), 64)
		t.paused = time.Duration(ms * 1e6)
		return t, err
	}
	fmt.Fprintf(os.Stderr, "gclog does not say how long it has paused the program: %s", out.Bytes())
	return t, nil
}

// memoryOf returns the peak of the memory of a process that has exited.
func memoryOf(cmd *exec.Cmd) int64 {
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10
}
