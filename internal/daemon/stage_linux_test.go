package daemon

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/testing/child"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/session"
	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// A stage is a daemon whose loop runs in synctest's time, with real processes that do nothing and
// have a fake runtime in the test: hours take no time, and times are exact to the nanosecond.
type stage struct {
	*Daemon
	t      *testing.T
	dir    string // of the logs, and of the configuration
	said   lines
	ahead  time.Duration // of the host's clock; owned by the loop
	reload chan struct{}
	rotate chan struct{}
	status chan struct{}
	stop   context.CancelFunc
	ended  chan struct{} // closed when the daemon has ended
	err    error         // with which it ended
	cast   []*actor
	traps  int // defects that the test has caused
	sweeps atomic.Bool
	// explain is called instead of Options.Explain; nil: nothing is called.
	explain func(*host.Target, error)
}

// stageConfig is a configuration for the processes of a stage only.
const stageConfig = `version: 1
discovery: {interval: 1000h, include: [{command_line: "actor*"}]}
outputs: [{path: "%s/%%p.json"}]
control: {socket: ""}
`

// play runs a daemon while f runs. more is added to the configuration of all stages.
func play(t *testing.T, more string, f func(*stage)) {
	t.Helper()
	s := &stage{dir: t.TempDir()}
	s.t = t
	s.configure(more)
	loaded, err := s.load()
	if err != nil {
		t.Fatal(err)
	}
	s.Daemon = New(Options{
		Config: loaded, Load: s.load, Log: zerolog.New(&s.said), Version: "1", Session: "s", Host: "h",
		Explain: func(_ context.Context, t *host.Target, err error) error {
			if s.explain != nil {
				s.explain(t, err)
			}
			return fmt.Errorf("explained: %w", err)
		},
		ClockOffset: func() time.Duration { return s.ahead },
	})
	s.warm()
	synctest.Test(t, func(t *testing.T) {
		s.t, s.ended = t, make(chan struct{})
		s.events, s.rules.firings, s.stopped = make(chan func()), make(chan func(), maxFirings), make(chan struct{}) // created in synctest's time
		reload, rotate, status := make(chan struct{}), make(chan struct{}), make(chan struct{})
		s.reload, s.rotate, s.status = reload, rotate, status
		s.o.Reload, s.o.Rotate, s.o.Status = reload, rotate, status
		var ctx context.Context
		ctx, s.stop = context.WithCancel(context.Background())
		go func() {
			defer close(s.ended)
			s.err = s.run(ctx, func(sweeping context.Context) {
				s.sweeps.Store(true)
				defer s.sweeps.Store(false)
				s.discovery.sweeper.run(sweeping, func() ([]host.Sighting, error) { return nil, nil }, nil) // it finds nothing on its own
			})
		}()
		defer func() {
			s.stop()
			<-s.ended
			for _, p := range s.processes { // that it had no time for
				p.cancel()
				if p.sessions != nil && p.sup.state != stateOver {
					close(p.sessions)
				}
			}
			for _, a := range s.cast {
				a.leave()
			}
			time.Sleep(time.Minute) // what was late can end
			if s.defects != s.traps {
				t.Errorf("%d defects have shown, want %d", s.defects, s.traps)
			}
		}()
		f(s)
	})
}

// warm has the daemon open some files before synctest's time starts: goroutines that are started
// with the first files never end. Later files reuse them.
func (s *stage) warm() {
	s.t.Helper()
	dir := s.t.TempDir()
	for i := range 16 {
		f, err := s.opener.Files.Open(filepath.Join(dir, fmt.Sprint(i)), rotate.Options{})
		if err != nil {
			s.t.Fatal(err)
		}
		defer f.Close()
		if err := f.Write(formats.Head{Append: func(b []byte, _ int) []byte { return b }}, []byte("x\n"), false); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *stage) file() string { return filepath.Join(s.dir, "gclog.yaml") }

// configure writes the configuration of all stages, and more.
func (s *stage) configure(more string) {
	s.t.Helper()
	if err := os.WriteFile(s.file(), fmt.Appendf(nil, stageConfig+more, s.dir), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) load() (*config.Loaded, error) { return config.Load(s.file(), nil) }

// exclude has the daemon read a configuration that excludes all actors, or one that does not. Other
// processes of this host must never be logged.
func (s *stage) exclude(yes bool) {
	s.t.Helper()
	const without = "discovery: {"
	const with = without + `exclude: [{command_line: "actor*"}], `
	if yes {
		s.change(without, with)
	} else {
		s.change(with, without)
	}
}

// change replaces part of the configuration, and has it read again.
func (s *stage) change(from, to string) {
	s.t.Helper()
	text, err := os.ReadFile(s.file())
	if err != nil {
		s.t.Fatal(err)
	}
	if !bytes.Contains(text, []byte(from)) {
		s.t.Fatalf("there is no %s in\n%s", from, text)
	}
	if err := os.WriteFile(s.file(), bytes.ReplaceAll(text, []byte(from), []byte(to)), 0o600); err != nil {
		s.t.Fatal(err)
	}
	s.reload <- struct{}{}
	synctest.Wait()
}

// do has the loop call f, after everything that can happen now has happened.
func (s *stage) do(f func()) {
	s.t.Helper()
	synctest.Wait()
	if !s.ask(s.t.Context(), f) {
		s.t.Fatal("the loop does not turn")
	}
	synctest.Wait()
}

// of returns the daemon's process of an actor; nil: there is none.
func (s *stage) of(a *actor) *process { return s.processes[a.key()] }

// process is of for callers outside the loop.
func (s *stage) process(a *actor) (p *process) {
	s.t.Helper()
	s.do(func() { p = s.of(a) })
	return p
}

// shows returns the status of an actor.
func (s *stage) shows(a *actor) (status Status) {
	s.t.Helper()
	s.do(func() {
		for _, x := range s.Daemon.status().Processes {
			if x.PID == a.target.PID {
				status = x
			}
		}
	})
	return status
}

// expect compares the state of an actor with what it should be; "": it is unknown.
func (s *stage) expect(a *actor, state string) {
	s.t.Helper()
	if got := s.shows(a); got.State != state {
		s.t.Errorf("%v after the begin the process is %q (%s), want %q", time.Since(epoch), got.State, got.Why, state)
	}
}

// epoch is when synctest's time starts.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// count returns how many processes are in a state.
func (s *stage) count(in state) (n int) {
	s.do(func() {
		for _, p := range s.processes {
			if p.sup.state == in {
				n++
			}
		}
	})
	return n
}

// parse parses a line of JSON.
func parse(t *testing.T, line string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(line), v); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
}

// says checks that the daemon has logged each of the words since the last call.
func (s *stage) says(words ...string) {
	s.t.Helper()
	synctest.Wait()
	said := s.said.take()
	for _, w := range words {
		if !strings.Contains(said, w) {
			s.t.Errorf("it does not say %s, but\n%s", w, said)
		}
	}
}

// An actor is a process with a runtime.
type actor struct {
	target  *host.Target
	cfg     fakeruntime.Config
	runtime *fakeruntime.Runtime
	pipes   atomic.Pointer[pipes]
	cmd     *exec.Cmd
	in      io.Writer // input of its program: see cue
	out     *bufio.Reader
}

func (a *actor) key() key { return key{pid: a.target.PID, start: a.target.StartKey} }

// cue starts an actor that behaves as configured, without having it found yet. By default it is
// .NET 8 and sends the recording at once.
func (s *stage) cue(cfg fakeruntime.Config) *actor {
	s.t.Helper()
	a := &actor{cfg: cfg}
	a.cmd = exec.Command("sh", "-c", `echo; while read what value; do case $what in exit) exit $value;; name) printf %s "$value" >/proc/$$/comm; echo;; esac; done`)
	a.in, a.out = child.Pipes(s.t, a.cmd)
	if err := a.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.cast = append(s.cast, a)
	if _, err := a.out.ReadString('\n'); err != nil { // until then it may have no environment in /proc
		s.t.Fatal(err)
	}
	p, err := new(host.Host).Describe(a.cmd.Process.Pid)
	if err != nil {
		s.t.Fatal(err)
	}
	p.Name, p.CommandLine, p.Environ = "actor", []string{"actor", "plays"}, map[string]string{}
	a.cfg.PID, a.cfg.Name = p.PID, "actor.dll"
	if a.cfg.Version == "" {
		a.cfg.Version = "8.0.0"
	}
	if a.cfg.Stream == nil {
		a.cfg.Stream = recording(s.t)
	}
	a.target = &host.Target{Process: *p, Client: session.Client{Dial: func(ctx context.Context) (net.Conn, error) { return a.pipes.Load().dial(ctx) }}}
	a.start(s.t)
	return a
}

// start starts the runtime of an actor.
func (a *actor) start(t *testing.T) {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	a.pipes.Store(l)
	a.cfg.Listener = l
	var err error
	if a.runtime, err = fakeruntime.Start(a.cfg); err != nil {
		t.Fatal(err)
	}
}

// become replaces the runtime of an actor with one that behaves as configured now.
func (a *actor) become(t *testing.T, change func(*fakeruntime.Config)) {
	t.Helper()
	a.close()
	change(&a.cfg)
	a.start(t)
}

func (a *actor) close() {
	if a.runtime != nil {
		_ = a.runtime.Close()
		a.runtime = nil
	}
}

// find has the daemon find an actor.
func (s *stage) find(a *actor) {
	s.t.Helper()
	t := *a.target
	t.Client = session.Client{Dial: a.target.Dial}
	s.do(func() { s.found(&t, nil) })
}

// enter is cue and find.
func (s *stage) enter(cfg fakeruntime.Config) *actor {
	s.t.Helper()
	a := s.cue(cfg)
	s.find(a)
	return a
}

// exit has an actor exit normally.
func (a *actor) exit(t *testing.T, code int) {
	t.Helper()
	if _, err := fmt.Fprintln(a.in, "exit", code); err != nil {
		t.Fatal(err)
	}
	a.end(t)
}

// name sets the name of an actor's first thread.
func (a *actor) name(t *testing.T, name string) {
	t.Helper()
	if _, err := fmt.Fprintln(a.in, "name", name); err != nil {
		t.Fatal(err)
	}
	if _, err := a.out.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

// kill ends an actor with a signal.
func (a *actor) kill(t *testing.T) {
	t.Helper()
	if err := a.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	a.end(t)
}

// end waits until the process has exited, and ends its runtime.
func (a *actor) end(t *testing.T) {
	t.Helper()
	a.await(t)
	a.close()
}

// await waits until the process has exited. It does not reap the process, so that the kernel still
// reports how it ended.
func (a *actor) await(t *testing.T) {
	t.Helper()
	for {
		switch err := unix.Waitid(unix.P_PID, a.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); {
		case err == nil:
			return
		case !errors.Is(err, unix.EINTR):
			t.Fatal(err)
		}
	}
}

// leave ends what is left of an actor.
func (a *actor) leave() {
	a.close()
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait()
}

// wrote returns the records in the json log of an actor.
func (s *stage) wrote(a *actor) (records []map[string]any) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.dir, fmt.Sprintf("%d.json", a.target.PID)))
	if err != nil {
		s.t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var r map[string]any
		if err := json.Unmarshal(line, &r); err != nil {
			s.t.Fatalf("%v: %s", err, line)
		}
		records = append(records, r)
	}
	return records
}

// actions counts the records of an actor by action, gaps by their reason too.
func (s *stage) actions(a *actor) map[string]int {
	s.t.Helper()
	n := map[string]int{}
	for _, r := range s.wrote(a) {
		action := text(r, "event", "action")
		if action == "gc-gap" {
			action += " " + text(r, "dotnet", "gc", "gap", "reason")
		}
		n[action]++
	}
	return n
}

// text returns a field of a record; "" if there is none, or it is not text.
func text(r map[string]any, path ...string) string {
	for _, name := range path[:len(path)-1] {
		r, _ = r[name].(map[string]any)
	}
	s, _ := r[path[len(path)-1]].(string)
	return s
}

// stall blocks the writer of an actor until the result is called.
func (s *stage) stall(a *actor) (goOn func()) {
	s.t.Helper()
	wait := make(chan struct{})
	s.do(func() { s.of(a).request(func(*attach.Log) { <-wait }) })
	return sync.OnceFunc(func() { close(wait) })
}

// A pipe is a connection in memory that can be closed for reading, as a socket can.
type pipe struct {
	net.Conn
	over atomic.Bool
}

// CloseRead ends reading.
func (p *pipe) CloseRead() error {
	p.over.Store(true)
	return p.Close()
}

// Read implements net.Conn.
func (p *pipe) Read(b []byte) (int, error) {
	n, err := p.Conn.Read(b)
	if p.over.Load() && errors.Is(err, io.ErrClosedPipe) {
		err = io.EOF
	}
	return n, err
}

// pipes is a listener in memory: unlike a socket, waiting for it counts as blocked for synctest.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (p *pipes) dial(ctx context.Context) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case p.conns <- theirs:
		return &pipe{Conn: ours}, nil
	case <-p.closed:
		return nil, unix.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener.
func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

// Addr implements net.Listener.
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes", Net: "unix"} }

// collections is the number of collections in the recording that actors send.
const collections = 142

// recording returns the recording that actors send.
func recording(tb testing.TB) []byte {
	tb.Helper()
	return recordings.Read(tb, filepath.Join(recordings.Root(), "testdata", "traces", "net8-datas-induced.nettrace.gz"))
}
