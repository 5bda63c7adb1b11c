//go:build linux

package fakenode

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

// newNode returns a Node with a folder whose name is short enough for sockets.
func newNode(t testing.TB, seed uint64) *Node {
	t.Helper()
	dir, err := os.MkdirTemp("", "node")
	if err != nil {
		t.Fatal(err)
	}
	n := New(dir, seed)
	t.Cleanup(func() {
		n.Close()
		_ = os.RemoveAll(dir)
	})
	return n
}

func start(t testing.TB, n *Node, cfg Config) *Runtime {
	t.Helper()
	r, err := n.Start(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sent returns how many collections the first session of a runtime has sent: not which ones, since
// it may have been opened late.
func sent(r *Runtime) (n int) {
	if l := r.Ledger(); len(l.Sessions) > 0 {
		Each(l.Sessions[0].Sent, func(uint32) { n++ })
	}
	return n
}

// waitFor waits until is returns true. It has a long time limit: a loaded machine is not a failure.
func waitFor(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain for %s", what)
		}
	}
}

var wanted = session.Config{BufferMB: 1, Providers: []session.Provider{{Name: clr.RuntimeProvider, Keywords: clr.KeywordGC, Level: clr.LevelInformational}}}

// An emitted is what the Reducer emitted for a session.
type emitted struct {
	gcs  []*gclog.GCDetails
	gaps []gclog.Gap
	err  error
}

// Observe takes a record.
func (s *emitted) Observe(r gclog.Record) {
	switch r := r.(type) {
	case *gclog.GCDetails:
		s.gcs = append(s.gcs, r.Clone())
	case *gclog.Gap:
		s.gaps = append(s.gaps, *r)
	}
}

// A watched is a session with a runtime.
type watched struct {
	stream *session.Stream
	done   chan *emitted
}

func watch(t *testing.T, r *Runtime) *watched {
	t.Helper()
	target, err := new(host.Host).Find(context.Background(), r.PID())
	if err != nil {
		t.Fatal(err)
	}
	stream, err := target.StartTracing(context.Background(), wanted)
	if err != nil {
		t.Fatal(err)
	}
	w := &watched{stream: stream, done: make(chan *emitted, 1)}
	go func() {
		s := &emitted{}
		reader := parse.NewReader(stream, gclog.Wanted)
		p := gclog.NewProcesses(func(*gclog.Process) gclog.Observer { return s.Observe })
		s.read(reader, p)
		w.done <- s
	}()
	return w
}

func (s *emitted) read(reader *parse.Reader, p *gclog.Processes) {
	s.err = p.Drain(reader)
	p.Finish()
}

// stop stops the session and returns what the Reducer emitted.
func (w *watched) stop(t *testing.T) *emitted {
	t.Helper()
	if err := w.stream.Stop(context.Background()); err != nil {
		t.Error(err)
	}
	return w.end()
}

func (w *watched) end() *emitted {
	s := <-w.done
	_ = w.stream.Close()
	return s
}

// TestRead: the ledger knows what the other end has read, also when that closes the connection, and
// counts nothing that it has not read.
func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		reads bool // everything that is there, before it closes the connection
		read  int  // how many of the two collections
	}{"all": {true, 2}, "nothing more": {false, 1}} {
		t.Run(name, func(t *testing.T) {
			r := start(t, newNode(t, 9), Config{Name: "orders"})
			target, err := new(host.Host).Find(t.Context(), r.PID())
			if err != nil {
				t.Fatal(err)
			}
			s, err := target.StartTracing(t.Context(), wanted)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			numbers := func(list []Span) (n int) {
				Each(list, func(uint32) { n++ })
				return n
			}
			ledger := func() *Session { return &r.Ledger().Sessions[0] }
			s.IdleTimeout = 50 * time.Millisecond
			readAll := func() {
				for b := make([]byte, 64<<10); ; {
					if _, err := s.Read(b); session.IsIdle(err) {
						return
					} else if err != nil {
						t.Fatal(err)
					}
				}
			}
			waitFor(t, "the session", func() bool { return len(r.Ledger().Sessions) == 1 })
			r.Collect()
			waitFor(t, "the first collection", func() bool { return numbers(ledger().Sent) == 1 })
			if l := ledger(); numbers(l.Read) != 0 {
				t.Errorf("nothing is read, and known to be read is %v", l.Read)
			}
			readAll()
			waitFor(t, "that it is known to be read", func() bool { return numbers(ledger().Read) == 1 })
			r.Collect()
			waitFor(t, "the second collection", func() bool { return numbers(ledger().Sent) == 2 })
			if c.reads {
				readAll()
			}
			_ = s.Close()
			r.Collect() // makes the runtime notice
			waitFor(t, "the end", func() bool { return ledger().End == EndLeft })
			if l := ledger(); numbers(l.Read) != c.read {
				t.Errorf("known to be read is %v, of %v", l.Read, l.Sent)
			}
		})
	}
}

// compare compares what was emitted in a session with what was sent, when the session has ended. It
// returns what the runtime has done.
func compare(t *testing.T, s *emitted, r *Runtime, session int) *Ledger {
	t.Helper()
	var l *Ledger
	waitFor(t, "the end of the session", func() bool {
		l = r.Ledger()
		return l.Sessions[session].End != EndOpen
	})
	sent := l.Sessions[session]
	whole := 0
	for _, d := range s.gcs {
		if !sent.Has(d.Number) {
			if d.Complete && l.GCs[d.Number-1].First > sent.Opened { // otherwise only the trigger is missing
				t.Errorf("#%d is complete, and was not sent", d.Number)
			}
			continue
		}
		g := l.GCs[d.Number-1]
		if !d.Complete || d.End-d.Start != g.End-g.Start || d.Generation != int(g.Generation) || d.Kind.String() != kindNames[g.Kind] || !d.Known.Has(gclog.GroupHistory) {
			t.Errorf("#%d is %+v, flaws %v, sent was %+v", d.Number, d, d.Flaws.Names(nil), g)
		}
		whole++
	}
	want := 0
	for _, p := range sent.Sent {
		want += int(p.To - p.From + 1)
	}
	if whole != want || want == 0 {
		t.Errorf("%d of %d collections were reported", whole, want)
	}
	return l
}

var kindNames = map[Kind]string{Blocking: "blocking", Background: "background", Foreground: "foreground"}

// TestRecords: every collection that is sent completely becomes a complete record, with workstation
// and with server GC, and numbers continue between sessions.
func TestRecords(t *testing.T) {
	t.Parallel()
	for name, heaps := range map[string]int{"workstation": 1, "server": 2} {
		t.Run(name, func(t *testing.T) {
			r := start(t, newNode(t, 1), Config{Name: "orders", Rate: 200, Background: 0.2, Heaps: heaps})
			for i := range 2 {
				w := watch(t, r)
				from := len(r.Ledger().GCs)
				waitFor(t, "100 collections", func() bool { return len(r.Ledger().GCs) > from+100 })
				s := w.stop(t)
				l := compare(t, s, r, i)
				if s.err != nil || len(s.gaps) > 0 || l.Sessions[i].End != EndStopped {
					t.Errorf("error %v, gaps %+v, end %q", s.err, s.gaps, l.Sessions[i].End)
				}
			}
			kinds := map[Kind]int{}
			for _, g := range r.Ledger().GCs {
				kinds[g.Kind]++
			}
			if kinds[Blocking] == 0 || kinds[Background] == 0 || kinds[Foreground] == 0 {
				t.Errorf("kinds %v", kinds)
			}
		})
	}
}

// TestTwoSessions: both sessions receive the same collections.
func TestTwoSessions(t *testing.T) {
	t.Parallel()
	r := start(t, newNode(t, 2), Config{Name: "orders", Rate: 300, Background: 0.1})
	a := watch(t, r)
	b := watch(t, r)
	waitFor(t, "100 collections", func() bool { return len(r.Ledger().GCs) > 100 })
	sa, sb := a.stop(t), b.stop(t)
	compare(t, sa, r, 0)
	compare(t, sb, r, 1)
}

// TestIdentity: the process that listens has the name and environment that it was given.
func TestIdentity(t *testing.T) {
	r := start(t, newNode(t, 3), Config{Name: "orders\x1b[31m\nx", Env: []string{"OTEL_SERVICE_NAME=shop\nhop"}})
	target, err := new(host.Host).Find(context.Background(), r.PID())
	if err != nil {
		t.Fatal(err)
	}
	info, err := target.ProcessInfo(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if info.PID != uint64(r.PID()) || info.Cookie != r.Cookie() || info.EntryAssembly != "orders\x1b[31m\nx" || target.Runtime() != host.RuntimeCoreCLR {
		t.Errorf("%+v", info)
	}
	if target.Environ["OTEL_SERVICE_NAME"] != "shop\nhop" || target.Name == "" || target.CommandLine[0] != "orders\x1b[31m\nx" {
		t.Errorf("%+v", target)
	}
}

// TestLoss: dropped events are reported as lost, and their collections do not count as sent.
func TestLoss(t *testing.T) {
	r := start(t, newNode(t, 4), Config{Name: "orders", Rate: 300})
	w := watch(t, r)
	waitFor(t, "20 collections", func() bool { return len(r.Ledger().GCs) > 20 })
	r.Drop(25)
	from := len(r.Ledger().GCs)
	waitFor(t, "20 more", func() bool { return len(r.Ledger().GCs) > from+20 })
	s := w.stop(t)
	l := compare(t, s, r, 0)
	lost := uint64(0)
	for _, g := range s.gaps {
		lost += g.LostEvents
	}
	if lost != 25 || l.Sessions[0].Lost != 25 {
		t.Errorf("%d events are told as lost, %d were", lost, l.Sessions[0].Lost)
	}
}

// TestEnds checks how streams end, and that everything sent before the end arrives.
func TestEnds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		do   func(*Runtime)
		end  string
		bad  bool // the stream does not end properly
	}{
		{"exit", func(r *Runtime) { r.Exit(3) }, EndExited, false},
		{"kill", (*Runtime).Kill, EndDied, true},
		{"break", (*Runtime).Break, EndBroken, true},
		{"end", (*Runtime).End, EndBroken, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			// One at a time: a write that the end cuts may contain whole collections.
			r := start(t, newNode(t, 5), Config{Name: "orders"})
			w := watch(t, r)
			waitFor(t, "50 collections", func() bool { return sent(r) >= 50 || !r.Collect() })
			c.do(r)
			s := w.end()
			l := compare(t, s, r, 0)
			if l.Sessions[0].End != c.end || c.bad != (s.err != nil) {
				t.Errorf("the session ended %q, its stream with %v", l.Sessions[0].End, s.err)
			}
		})
	}
}

// TestExit: a process that exits removes its socket and returns the exit code; a killed one leaves
// its socket behind.
func TestExit(t *testing.T) {
	n := newNode(t, 6)
	r := start(t, n, Config{Name: "orders"})
	socket := r.proc.files[0]
	r.Exit(7)
	if code := r.proc.cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("code %d", code)
	}
	if _, err := os.Lstat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the socket is still there: %v", err)
	}
	r = start(t, n, Config{Name: "orders"})
	r.Kill()
	if _, err := os.Lstat(r.proc.files[0]); err != nil {
		t.Error(err)
	}
}

// TestRequests checks the faults of requests.
func TestRequests(t *testing.T) {
	r := start(t, newNode(t, 7), Config{Name: "orders", Rate: 100})
	target, err := new(host.Host).Find(context.Background(), r.PID())
	if err != nil {
		t.Fatal(err)
	}
	r.Refuse(session.CodeFail, time.Hour)
	var refused *session.ServerError
	if _, err := target.StartTracing(context.Background(), wanted); !errors.As(err, &refused) || refused.Code != session.CodeFail {
		t.Errorf("refused with %v", err)
	}
	r.Refuse(0, 0)
	r.Garble(time.Hour)
	var bad *session.AnswerError
	if _, err := target.ProcessInfo(context.Background()); !errors.As(err, &bad) {
		t.Errorf("garbage is %v", err)
	}
	r.Garble(0)
	w := watch(t, r)
	target.Client.Timeout = 50 * time.Millisecond
	r.Stop()
	waitFor(t, "the stop", target.Stopped)
	if _, err := target.ProcessInfo(context.Background()); !errors.Is(err, session.ErrNoAnswer) {
		t.Errorf("stopped: %v", err)
	}
	r.Continue()
	r.Stall(time.Hour)
	if _, err := target.ProcessInfo(context.Background()); !errors.Is(err, session.ErrNoAnswer) {
		t.Errorf("stalled: %v", err)
	}
	r.free(&r.stalled)
	r.HangStop(time.Hour)
	if err := w.stream.Stop(deadline(t)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("StopTracing: %v", err)
	}
	_ = w.stream.Close()
	<-w.done
	waitFor(t, "the end of the session", func() bool { return r.Collect() && r.Sessions() == 0 })
	if l := r.Ledger(); l.Sessions[0].End != EndLeft {
		t.Errorf("%+v", l.Sessions)
	}
}

func deadline(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond) // allowed: what is asked for does not come
	t.Cleanup(cancel)
	return ctx
}

// TestStop: no collection happens in a stopped process.
func TestStop(t *testing.T) {
	t.Parallel()
	r := start(t, newNode(t, 8), Config{Name: "orders", Rate: 1000})
	waitFor(t, "a collection", func() bool { return len(r.Ledger().GCs) > 10 })
	r.Stop()
	before := r.Ledger()
	time.Sleep(250 * time.Millisecond) // more than two writes of the node
	if after := r.Ledger(); len(after.GCs) != len(before.GCs) {
		t.Errorf("%d collections while it stood", len(after.GCs)-len(before.GCs))
	}
	at := monotonic()
	r.Continue()
	waitFor(t, "another collection", func() bool { return len(r.Ledger().GCs) > len(before.GCs)+1 })
	if g := r.Ledger().GCs[len(before.GCs)+1]; g.First < at {
		t.Errorf("%+v happened before %d", g, at)
	}
}

// TestSpoilt: invalid streams end with an error, or with an end that is reported, and never use
// much memory.
func TestSpoilt(t *testing.T) {
	t.Parallel()
	for name, do := range map[string]func(*Runtime){"huge": (*Runtime).Huge, "metadata": func(r *Runtime) { r.Metadata(time.Hour) }} {
		t.Run(name, func(t *testing.T) {
			r := start(t, newNode(t, 9), Config{Name: "orders", Rate: 100})
			w := watch(t, r)
			waitFor(t, "10 collections", func() bool { return sent(r) >= 10 })
			do(r)
			if s := w.end(); s.err == nil {
				t.Error("the stream ended without an error")
			}
		})
	}
}

// BenchmarkFlush measures what a runtime costs its host: one write to a socket, with one collection
// in it.
func BenchmarkFlush(b *testing.B) {
	r := start(b, newNode(b, 10), Config{Name: "orders", Background: 0.05})
	target, err := new(host.Host).Find(context.Background(), r.PID())
	if err != nil {
		b.Fatal(err)
	}
	stream, err := target.StartTracing(context.Background(), wanted)
	if err != nil {
		b.Fatal(err)
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			if _, err := stream.Read(buf); err != nil {
				return
			}
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		r.Collect()
	}
	_ = stream.Close()
}

// TestCheap: a process has little memory of its own, so that 500 fit.
func TestCheap(t *testing.T) {
	if testing.Short() {
		t.Skip("-short comes with the race detector, which takes memory")
	}
	r := start(t, newNode(t, 11), Config{Name: "orders"})
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", r.PID()))
	if err != nil {
		t.Skipf("the kernel does not tell: %v", err)
	}
	kB := 0
	for line := range strings.Lines(string(b)) {
		if n, ok := strings.CutPrefix(line, "Private_Dirty:"); ok {
			kB, err = strconv.Atoi(strings.Fields(n)[0])
		}
	}
	if err != nil || kB == 0 || kB > 4096 {
		t.Errorf("%d kB, %v", kB, err)
	}
}
