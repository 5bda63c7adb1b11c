package top

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/history"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

const (
	// sessionsMost is how many processes have a session at a time.
	sessionsMost = 64
	// streamsMost is how many processes the daemon's records are read of: less than the connections
	// that it accepts.
	streamsMost = 32
	tickEvery   = time.Second
	lookEvery   = 2 * time.Second
	// lookShare bounds the time that looking takes: at most one part in so many.
	lookShare  = 150
	askEvery   = 10 * time.Second // the daemon
	retryAfter = 10 * time.Second
	// endTime is how long ending the sessions may take at the end.
	endTime = 7 * time.Second
)

// RunOptions configure Run.
type RunOptions struct {
	Options
	In      io.Reader
	Out     io.Writer
	Host    *host.Host
	Match   func(*host.Process) bool // which processes are listed
	Explain func(context.Context, *host.Target, error) error
	Socket  string          // the daemon's control socket; "": there is none
	Files   *history.Source // are replayed instead of processes; nil: none
	Speed   float64         // speed of the replay; 0: at once
}

// Run shows processes, or replays files, until the user ends it. The terminal is restored, also
// after a panic, which is returned as an error, as is what was wrong with the files.
func Run(ctx context.Context, o RunOptions) error {
	r := &runner{
		o:       o,
		m:       New(o.Options),
		sources: map[int]*source{},
		targets: map[int]*host.Target{},
		ids:     map[identity]int{},
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.ctx = ctx
	if o.Host != nil {
		r.lister = &lister{inspect: o.Host.Inspect, known: map[int]*inspected{}}
		defer r.lister.close()
		var err error
		if r.poller, err = session.NewPoller(); err != nil {
			return fmt.Errorf("top: polling sessions: %w", err)
		}
		defer func() { _ = r.poller.Close() }()
	}
	p := tea.NewProgram(r, tea.WithInput(o.In), tea.WithOutput(o.Out), tea.WithFPS(10))
	r.send = func(m any) { p.Send(m) }
	// Not WithContext, which ends the program while its input is still being read.
	context.AfterFunc(ctx, p.Quit)
	_, err := p.Run()
	r.close()
	if err = errors.Join(r.panicked, err); err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("top: %w", err)
	}
	if s := r.sources[replayed]; r.o.Files != nil && s != nil && isClosed(s.done) {
		return s.err
	}
	return nil
}

// replayed is the id of the process of a replay.
const replayed = 1

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// An identity is a process among all others, including earlier ones with the same pid.
type identity struct {
	pid   int
	start uint64
}

// A runner connects the model with the terminal and with processes. Bubble Tea calls its methods
// one at a time.
type runner struct {
	o       RunOptions
	m       *Model
	ctx     context.Context //nolint:containedctx // of the program: sources and commands end with it
	send    func(any)
	lister  *lister
	poller  *session.Poller // waits for the data of all sessions; nil in a replay
	sources map[int]*source
	targets map[int]*host.Target
	ids     map[identity]int
	logged  map[int]bool // pids that a daemon has sessions with
	// profiles are of who allocates in processes.
	profiles []*source
	// panicked is a panic of the model. Nothing is shown after it.
	panicked error
}

// recoverPanic ends the program after a panic in the same way as otherwise, so that its input is not
// closed while it is being read.
func (r *runner) recoverPanic() {
	if x := recover(); x != nil {
		r.panicked = fmt.Errorf("panic: %v\n%s", x, debug.Stack())
		go r.send(tea.Quit())
	}
}

type (
	tickMessage time.Time
	lookMessage struct {
		list []host.Listed
		err  error
		took time.Duration
	}
	daemonMessage map[int]bool
)

// Init implements tea.Model.
func (r *runner) Init() tea.Cmd {
	if r.o.Files != nil {
		s := r.newSource(replayed)
		s.start(r.ctx, func(ctx context.Context) Ended { return s.replay(ctx, r.o.Files, r.o.Speed) })
		return tick(0)
	}
	return tea.Batch(tick(0), r.look(0), r.askDaemon(0))
}

func tick(after time.Duration) tea.Cmd {
	return tea.Tick(after, func(t time.Time) tea.Msg { return tickMessage(t) })
}

// look lists the processes.
func (r *runner) look(after time.Duration) tea.Cmd {
	return tea.Tick(after, func(time.Time) tea.Msg {
		began := time.Now()
		list, err := r.lister.list(began)
		return lookMessage{list, err, time.Since(began)}
	})
}

// askDaemon finds out which processes a daemon has sessions with. Without a daemon there is none.
func (r *runner) askDaemon(after time.Duration) tea.Cmd {
	if r.o.Socket == "" {
		return nil
	}
	return tea.Tick(after, func(time.Time) tea.Msg {
		logged := daemonMessage{}
		b, err := control.Ask(r.ctx, r.o.Socket, "GET", control.PathStatus)
		if err != nil {
			return logged
		}
		var all struct {
			Processes []struct {
				PID   int    `json:"pid"`
				State string `json:"state"`
			} `json:"processes"`
		}
		_ = json.Unmarshal(b, &all)
		for _, p := range all.Processes {
			logged[p.PID] = p.State == "on"
		}
		return logged
	})
}

// Update implements tea.Model.
func (r *runner) Update(message tea.Msg) (same tea.Model, next tea.Cmd) {
	same = r // also after a panic
	if r.panicked != nil {
		return r, nil
	}
	defer r.recoverPanic()
	switch x := message.(type) {
	case tea.WindowSizeMsg:
		r.m.Update(Size{x.Width, x.Height})
	case tea.KeyPressMsg:
		return r, r.command(r.m.Update(Key(x.String())))
	case tickMessage:
		r.tick(time.Time(x))
		return r, tick(tickEvery)
	case lookMessage:
		if x.err == nil {
			r.seen(x.list)
		} else if r.ctx.Err() == nil {
			r.m.Update(Said(x.err.Error()))
		}
		return r, r.look(max(lookEvery, lookShare*x.took))
	case daemonMessage:
		first := r.logged == nil
		r.logged = x
		if first {
			r.ensure()
		}
		return r, r.askDaemon(askEvery)
	case Ended:
		if s := r.sources[x.ID]; s != nil {
			r.tick(time.Now()) // a replay ends after its last record
			s.ended, s.last = time.Now(), x.Exited || r.o.Files != nil
		}
		r.m.Update(x)
		if r.o.Files != nil && r.m.find(x.ID) == nil { // there is nothing to show
			return r, tea.Quit
		}
	case Started, Said, Profiled:
		r.m.Update(x)
	}
	return r, nil
}

// View implements tea.Model.
func (r *runner) View() (v tea.View) {
	if r.panicked != nil {
		return v
	}
	defer r.recoverPanic()
	v = tea.NewView(r.m.View())
	v.AltScreen = true
	return v
}

// tick passes on what the sources have collected.
func (r *runner) tick(now time.Time) {
	at := map[int]int64{}
	for _, s := range r.sources {
		r.drain(s)
		if clock := s.clock.Load(); clock != nil && s.ended.IsZero() {
			at[s.id] = (*clock)()
		}
	}
	r.m.Update(Tick{now, at})
	r.ensure()
}

func (r *runner) drain(s *source) {
	if list, dropped, _ := s.feed.take(); len(list)+dropped > 0 {
		r.m.Update(Records{s.id, list, dropped})
	}
}

// seen passes on which processes there are.
func (r *runner) seen(list []host.Listed) {
	var seen Seen
	for i := range list {
		l := &list[i]
		if !r.o.Match(&l.Process) || l.Ignored() {
			continue
		}
		k := identity{l.PID, l.StartKey}
		id, known := r.ids[k]
		if !known {
			id = len(r.ids) + 1
			r.ids[k] = id
		}
		if l.Err == nil && r.targets[id] == nil { // a runtime that is starting has no socket yet
			r.targets[id] = l.Target()
		}
		x := Listed{
			ID:          id,
			PID:         l.PID,
			Name:        attach.Names(&l.Process)[0],
			CommandLine: strings.Join(l.CommandLine, " "),
			Directory:   l.Directory,
		}
		if l.Err != nil {
			x.Trouble = l.Err.Error()
		}
		seen = append(seen, x)
	}
	r.m.Update(seen)
	r.ensure()
}

// ensure opens sources for the processes that are needed most, and ends those of others if there
// are too many. While it is unknown what the daemon does, none is opened.
func (r *runner) ensure() {
	if r.o.Files != nil || r.o.Socket != "" && r.logged == nil {
		return
	}
	wanted := r.m.Wanted()
	sessions, streams := 0, 0
	for _, s := range r.sources {
		if s.ended.IsZero() && s.daemon {
			streams++
		} else if s.ended.IsZero() {
			sessions++
		}
	}
	for i, id := range wanted {
		t := r.targets[id]
		s := r.sources[id]
		if t == nil || s != nil && (s.ended.IsZero() || s.last || time.Since(s.ended) < retryAfter) {
			continue
		}
		switch byDaemon := r.logged[t.PID]; {
		case byDaemon && streams < streamsMost:
			streams++
			s := r.newSource(id)
			s.daemon = true
			s.start(r.ctx, func(ctx context.Context) Ended { return s.records(ctx, r.o.Socket, t.PID) })
		case byDaemon && i < streamsMost:
			r.endOne(wanted[min(len(wanted), streamsMost):], true)
		case byDaemon:
		case sessions < sessionsMost:
			sessions++
			s := r.newSource(id)
			s.start(r.ctx, func(ctx context.Context) Ended { return s.session(ctx, t, r.poller, r.o.Explain) })
		case i < sessionsMost:
			r.endOne(wanted[min(len(wanted), sessionsMost):], false)
		}
	}
}

// endOne ends the source of one of the processes that are needed least: the records of the daemon, or
// a session.
func (r *runner) endOne(least []int, daemon bool) {
	for _, id := range slices.Backward(least) {
		if s := r.sources[id]; s != nil && s.ended.IsZero() && s.daemon == daemon {
			s.cancel()
			return
		}
	}
}

func (r *runner) newSource(id int) *source {
	s := &source{id: id, send: r.send}
	r.sources[id] = s
	return s
}

// command carries out what the model asks for.
func (r *runner) command(c any) tea.Cmd {
	switch x := c.(type) {
	case Quit:
		return tea.Quit
	case Suspend:
		return tea.Suspend
	case Export:
		return func() tea.Msg {
			f, err := os.OpenFile(x.Name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
			if err != nil {
				return Said("the screen was not written: " + err.Error())
			}
			_, err = f.WriteString(x.Text)
			if err = errors.Join(err, f.Close()); err != nil {
				return Said("the screen was not written completely: " + err.Error())
			}
			return Said("the screen was written to " + x.Name)
		}
	case Induce:
		return r.induce(x)
	case Profile:
		r.profile(x)
	}
	return nil
}

// induceTime is how long an induced collection may take to start and then to end.
const induceTime = 30 * time.Second

func (r *runner) induce(x Induce) tea.Cmd {
	t := r.targets[x.ID]
	if t == nil {
		return nil
	}
	var facts gclog.Process
	if p := r.m.find(x.ID); p != nil {
		facts = p.facts
	}
	return func() tea.Msg {
		_, err := attach.Induce(r.ctx, t, attach.InduceOptions{
			Timeout: induceTime, Repeat: attach.AnswersAfterCollecting(&facts),
		})
		if err != nil {
			return Said(r.o.Explain(r.ctx, t, err).Error())
		}
		return Said(fmt.Sprintf("process %d has started an induced collection", x.PID))
	}
}

// close ends all sessions, and waits for that.
func (r *runner) close() {
	late := time.After(endTime)
	all := slices.AppendSeq(r.profiles, maps.Values(r.sources))
	for _, s := range all {
		s.cancel()
	}
	for _, s := range all {
		select {
		case <-s.done:
		case <-late:
			return
		}
	}
}
