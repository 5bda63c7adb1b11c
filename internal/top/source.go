package top

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/gclog/gclog/formats/logs"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// A source provides the records of one process.
type source struct {
	id     int
	feed   feed
	cancel context.CancelFunc
	done   chan struct{}
	ended  time.Time // zero: it has not
	last   bool      // nothing can follow it
	send   func(any)
	daemon bool                         // it reads the records of the daemon
	err    error                        // of the files of a replay; final once done is closed
	clock  atomic.Pointer[func() int64] // of a replay; nil: the wall clock
}

// start runs a source in a goroutine of its own. A defect of gclog ends only the source.
func (s *source) start(ctx context.Context, run func(context.Context) Ended) {
	ctx, s.cancel = context.WithCancel(ctx)
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		end := Ended{ID: s.id}
		if defect := attach.Contain(func() { end = run(ctx) }); defect != nil {
			end.Text = defect.Error()
		}
		end.ID = s.id
		s.send(end)
	}()
}

// session observes a process in a session of its own, until the process ends or ctx does.
func (s *source) session(
	ctx context.Context, t *host.Target, poller *session.Poller,
	explain func(context.Context, *host.Target, error) error,
) Ended {
	config, err := attach.SessionConfig("normal", nil, true)
	if err != nil {
		return Ended{Text: err.Error()}
	}
	release, err := t.Share(ctx) // a heap snapshot may be taken
	if err != nil {
		return Ended{Text: explain(ctx, t, err).Error()}
	}
	release()
	if err := t.AwaitStartup(ctx, func(error) {}); err != nil {
		return Ended{Text: explain(ctx, t, err).Error()}
	}
	facts, err := attach.Identify(ctx, t)
	if err != nil && !session.IsUnknownCommand(err) {
		return Ended{Text: explain(ctx, t, err).Error()}
	}
	o, err := attach.Open(ctx, t,
		attach.SessionOptions{Config: config, Poller: poller, Warn: func(text string) { s.send(Said(text)) }})
	if err != nil {
		return Ended{Text: explain(ctx, t, err).Error()}
	}
	defer context.AfterFunc(ctx, o.Ask)()
	end, err := o.Observe(&facts, func(p *gclog.Process) gclog.Observer {
		s.send(Started{ID: s.id, Process: *p, From: "session"})
		return s.feed.Observe
	})
	return endOf(&end, err)
}

// endOf returns how a session ended.
func endOf(end *gclog.End, err error) (e Ended) {
	switch {
	case end.Reason.OfProcess():
		e.Exited, e.Text = true, "the process "+string(end.AppendTo(nil))
		e.End = end
	case err != nil:
		e.Text = err.Error()
	}
	return e
}

// records reads the records of a process from the daemon.
func (s *source) records(ctx context.Context, socket string, pid int) (e Ended) {
	body, err := control.Records(ctx, socket, pid)
	if err != nil {
		return Ended{Text: err.Error()}
	}
	defer body.Close()
	defer context.AfterFunc(ctx, func() { _ = body.Close() })()
	o := &daemonFeed{feed: &s.feed, s: s, pid: pid}
	r, err := logs.NewReader(logs.Head{Format: "json", Dated: true, Sessions: true}, o.observe)
	if err != nil {
		return Ended{Text: err.Error()}
	}
	r.Live = true
	_, err = r.Read(body)
	if o.end.Exited || err == nil {
		return o.end
	}
	return Ended{Text: fmt.Sprintf("reading from the daemon: %v", err)}
}

// A daemonFeed observes the records that a daemon sends.
type daemonFeed struct {
	*feed
	s       *source
	pid     int
	process *gclog.Process
	end     Ended
}

func (o *daemonFeed) observe(p *gclog.Process) gclog.Observer {
	if o.process != nil || p.ID != int64(o.pid) {
		return nil
	}
	o.process = p
	return o.Observe
}

// Observe takes a record.
func (o *daemonFeed) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		o.s.send(Started{ID: o.s.id, Process: *o.process, From: "daemon", At: time.Since(o.process.Sync).Nanoseconds()})
	case *gclog.End:
		o.end = endOf(r, nil)
	default:
		o.feed.Observe(r)
	}
}

// A replay passes on the records of files as fast as they happened, or faster.
type replay struct {
	*feed
	s     *source
	speed float64 // 0: at once
	ctx   context.Context
	from  int64 // time of the first record
	began time.Time
}

// replay reads files.
func (s *source) replay(ctx context.Context, files *history.Source, speed float64) Ended {
	o := &replay{feed: &s.feed, s: s, speed: speed, ctx: ctx}
	h, err := files.Read(func(p *gclog.Process, _ analysis.Window) (gclog.Observer, gclog.EventObserver) {
		o.began = time.Time{}
		return (&replayOf{o, p}).Observe, nil
	})
	switch {
	case err != nil:
		s.err = err
		return Ended{Text: err.Error()}
	case h != nil && files.GCs() == 0:
		s.send(Said(files.NothingText()))
	}
	return Ended{Text: "the recording has ended"}
}

// now returns the time of the replay: as far as the speed allows, and no farther than the records.
func (o *replay) now() int64 {
	if o.speed == 0 {
		o.mu.Lock()
		defer o.mu.Unlock()
		return o.latest
	}
	return o.from + int64(float64(time.Since(o.began))*o.speed)
}

// wait waits until a record is due.
func (o *replay) wait(at int64) {
	if o.speed == 0 {
		return
	}
	d := time.Duration(float64(at-o.from)/o.speed) - time.Since(o.began)
	if d <= 0 {
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-o.ctx.Done():
	}
}

// A replayOf is the observer of the process of a replay.
type replayOf struct {
	*replay
	process *gclog.Process
}

// Observe takes a record, once it is due.
func (o *replayOf) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.Start:
		if !o.began.IsZero() {
			o.wait(r.At)
			return
		}
		o.from, o.began = r.At, time.Now()
		now := o.now
		o.s.clock.Store(&now)
		o.s.send(Started{ID: o.s.id, Process: *o.process, From: "replay", At: r.At})
	case *gclog.End:
		o.wait(r.At)
		o.reach(r.At)
	case *gclog.Pause, *gclog.GCDetails, *gclog.Gap:
		o.wait(endOfRecord(r))
		o.feed.Observe(r)
	}
}
