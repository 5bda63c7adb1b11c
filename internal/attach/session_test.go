package attach

import (
	"bytes"
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
)

// openOn opens a session on a fake runtime; warn receives its messages for people.
func openOn(t *testing.T, target *host.Target, warn func(string)) *Session {
	t.Helper()
	s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Warn: warn})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOpenFails: a session of a runtime that cannot be resumed is stopped.
func TestOpenFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		target := onStage(t, fakeruntime.Config{Version: "8.0.1", Log: func(s string) { said = append(said, s) }, Meet: func(command uint16) fakeruntime.Fault {
			return fakeruntime.Fault{Hangup: command == 0x0401}
		}}, (*stage).untilStopped)
		s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Early: true, Resume: true})
		if s != nil || err == nil {
			t.Errorf("%v, %v", s, err)
		}
		synctest.Wait()
		if last := len(said) - 1; !slices.Contains(said, "request 0x0201 stop session 1") || said[last] != "session 1 is over" {
			t.Errorf("it met %q", said)
		}
	})
}

// TestHead: a session starts when the head of its stream has arrived, and its clock is that of the
// runtime unless that differs too much. A stream without a head is not a session.
func TestHead(t *testing.T) {
	write := func(b string) func(*fakeruntime.Session) {
		return func(s *fakeruntime.Session) { _, _ = s.Conn.Write([]byte(b)) }
	}
	hangUp := func(s *fakeruntime.Session) { _ = s.Conn.Close() }
	after := func(d time.Duration) func(*fakeruntime.Session) {
		return func(s *fakeruntime.Session) {
			select {
			case <-s.Over:
			case <-time.After(d):
			}
		}
	}
	for name, c := range map[string]struct {
		begin func(*fakeruntime.Session)
		asks  time.Duration
		log   string
		at    time.Duration // the end, by the clock of the stream
		fails string
		waits bool // after 5 s this is reported
		lasts time.Duration
		sync  time.Duration // the clock's zero, after the start
	}{
		"at once":           {begin: after(0), asks: 9 * time.Second, log: "session-start, detached", at: 9 * time.Second, lasts: 9 * time.Second},
		"late":              {begin: after(900 * time.Millisecond), asks: 9 * time.Second, log: "session-start, detached", at: 9 * time.Second, lasts: 9 * time.Second},
		"of another clock":  {begin: after(1100 * time.Millisecond), asks: 9 * time.Second, log: "session-start, detached", at: 7900 * time.Millisecond, lasts: 9 * time.Second},
		"very late":         {begin: after(7 * time.Second), asks: 9 * time.Second, log: "session-start, detached", at: 2 * time.Second, lasts: 9 * time.Second, waits: true},
		"too late":          {begin: after(time.Hour), asks: 9 * time.Second, log: "session-start, detached", lasts: 14 * time.Second, waits: true, sync: 14 * time.Second},
		"something else":    {begin: write("HTTP/1.1 400 Bad Request\r\n\r\n"), log: "session-start, stream-error", fails: "the stream of process"},
		"it hangs up":       {begin: hangUp, log: "session-start, stream-error", fails: "its runtime ended the session", lasts: 3010 * time.Millisecond},
		"after a few bytes": {begin: func(s *fakeruntime.Session) { write("Nett")(s); hangUp(s) }, log: "session-start, stream-error", fails: "its runtime ended the session", lasts: 3010 * time.Millisecond},
		"in the middle":     {begin: func(s *fakeruntime.Session) { write("Nettrace\x14\x00\x00")(s); hangUp(s) }, log: "session-start, stream-error", fails: "its runtime ended the session", lasts: 3010 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "8.0.1", Trace: func(s *fakeruntime.Session) string { c.begin(s); return "" }}, (*stage).untilStopped)
				var out bytes.Buffer
				specs, opener := jsonTo(t, &out)
				began := time.Now()
				var said time.Duration
				opener.Warn = func(s string) {
					if strings.Contains(s, "DOTNET_DiagnosticPorts") {
						said = time.Since(began)
					}
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.asks > 0 {
					time.AfterFunc(c.asks, cancel)
				}
				r, err := Run(ctx, Options{Target: target, Config: configOf(t, "light"), Process: &gclog.Process{ID: 1, Started: began.Add(time.Hour)}, Outputs: specs, Opener: opener})
				if err != nil {
					t.Fatal(err)
				}
				if p := &r.Process; !about(p.Sync.Sub(began), c.sync) || p.UptimeAtSync != 0 { // the process was started by another clock
					t.Errorf("its clock began %v later, with %v", p.Sync.Sub(began), p.UptimeAtSync)
				}
				if c.fails == "" && r.Err != nil || c.fails != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), c.fails)) {
					t.Errorf("%v, want %q", r.Err, c.fails)
				}
				if log := summaryOf(t, out.Bytes()); log != c.log {
					t.Errorf("logged %s, want %s", log, c.log)
				}
				if r.End.At != int64(c.at) {
					t.Errorf("it ends at %v, want %v", time.Duration(r.End.At), c.at)
				}
				if (said > 0) != c.waits || c.waits && !about(said, 5*time.Second) {
					t.Errorf("said after %v", said)
				}
				if took := time.Since(began); !about(took, c.lasts) {
					t.Errorf("it took %v, want %v", took, c.lasts)
				}
			})
		})
	}
}

// TestSettingsOfSession: a session asks once for the settings of a GC that reports them; failures
// of that harm nothing else.
func TestSettingsOfSession(t *testing.T) {
	core := gclog.Process{Cookie: "c", Flavor: gclog.FlavorCoreCLR, RuntimeVersion: "10.0.1"}
	known := core
	known.HasLimits = true
	for name, c := range map[string]struct {
		known  gclog.Process
		limits clr.GCSettings
		asked  int64
		panics bool
	}{
		"not known": {core, staged, 1, false},
		"known":     {known, clr.GCSettings{}, 0, false},
		"a defect":  {core, clr.GCSettings{}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked, dials atomic.Int64
				target := onStage(t, fakeruntime.Config{Version: "10.0.1"}, func(x *stage) {
					if x.Rundown {
						asked.Add(1)
						x.untilStopped()
						x.settings()
						return
					}
					everySecond(x)
				})
				dial := target.Dial
				target.Dial = func(ctx context.Context) (net.Conn, error) {
					if dials.Add(1) == 2 && c.panics {
						panic("a trap")
					}
					return dial(ctx)
				}
				var out bytes.Buffer
				specs, opener := jsonTo(t, &out)
				var said []string
				opener.Warn = func(s string) { said = append(said, s) }
				r, err := Run(t.Context(), Options{Target: target, Config: configOf(t, "light"), Process: &c.known, Count: 1, Outputs: specs, Opener: opener})
				if err != nil || r.Err != nil {
					t.Errorf("%v, %v", err, r.Err)
				}
				if asked.Load() != c.asked || r.Process.Limits != c.limits {
					t.Errorf("asked %d times, and the process is %+v", asked.Load(), r.Process)
				}
				if (len(said) > 0) != c.panics || c.panics && !strings.Contains(said[0], "a defect of gclog, please report it: a trap") {
					t.Errorf("said %q", said)
				}
				if log := summaryOf(t, out.Bytes()); log != "session-start, 1, detached" {
					t.Errorf("logged %s", log)
				}
			})
		})
	}
}

// TestCutOff: a session that is cut off has a gap at its end, because more may have been on its
// way, unless it had already ended.
func TestCutOff(t *testing.T) {
	const gap, none = "session-start, 1, 2, gap 0-0 stopped, detached", "session-start, 1, 2, detached"
	ask := func(s *Session) {
		s.Ask()
		<-s.Done()
	}
	for name, c := range map[string]struct {
		deaf bool
		cut  func(*Session)
		log  string
	}{
		"cut":                    {true, (*Session).Cut, gap},
		"cut, and it would end":  {false, (*Session).Cut, gap},
		"cut at last":            {true, func(s *Session) { s.Ask(); time.Sleep(100 * time.Millisecond); s.Cut() }, gap},
		"cut after its end":      {false, func(s *Session) { ask(s); s.Cut() }, none},
		"skipped":                {true, (*Session).Skip, gap},
		"skipped, after its end": {false, func(s *Session) { ask(s); s.Skip() }, none},
		"asked":                  {false, (*Session).Ask, none},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "8.0.1", Deaf: c.deaf}, everySecond)
				var said []string
				s := openOn(t, target, func(s string) { said = append(said, s) })
				var out bytes.Buffer
				specs, opener := jsonTo(t, &out)
				l := &Log{Outputs: specs, Opener: opener}
				began := time.Now()
				time.AfterFunc(2500*time.Millisecond, func() { c.cut(s) })
				end, err := l.Write(s, &gclog.Process{ID: 1}, nil)
				if err != nil || end.Reason != gclog.EndDetached {
					t.Errorf("it ends with %+v: %v", end, err)
				}
				if s.queue.made > 2 {
					t.Errorf("%d records were made for those of two collections", s.queue.made)
				}
				if took := time.Since(began); took < 2500*time.Millisecond || took > 2700*time.Millisecond {
					t.Errorf("it took %v", took)
				}
				if log := summaryOf(t, out.Bytes()); log != c.log {
					t.Errorf("logged %s, want %s", log, c.log)
				}
				if want := c.log == gap; (len(said) == 1) != want || want && !strings.Contains(said[0], "its last events may be missing") || end.Message != strings.Join(said, "") {
					t.Errorf("said %q, and the log %q", said, end.Message)
				}
			})
		})
	}
}

// A trappedStream panics once, after it has read something while it was armed.
type trappedStream struct {
	net.Conn
	armed *atomic.Bool
}

func (c trappedStream) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 && c.armed.CompareAndSwap(true, false) {
		panic("a trap")
	}
	return n, err
}

// TestDefectUnderWay: the gap after a defect names the collections that were in progress.
func TestDefectUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		play     func(*stage)
		from, to uint32
	}{
		"nothing":                 {func(x *stage) { x.collect(3) }, 0, 0},
		"a suspension":            {func(x *stage) { x.suspend(clr.SuspendForGC) }, 0, 0},
		"a background collection": {func(x *stage) { x.beginBackground(4) }, 4, 4},
		"two":                     {func(x *stage) { x.beginBackground(4); x.collect(5); x.suspend(clr.SuspendForGC); x.begin(6, 0, x.kind) }, 4, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var armed atomic.Bool
				target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
					c.play(x)
					time.Sleep(time.Second)
					armed.Store(true)
					x.event(clr.IDGCTriggered, le32(0))
					x.untilStopped()
				})
				dial := target.Dial
				target.Dial = func(ctx context.Context) (net.Conn, error) {
					conn, err := dial(ctx)
					return trappedStream{conn, &armed}, err
				}
				s := openOn(t, target, func(s string) { t.Error(s) })
				<-s.Done()
				if _, ok := errors.AsType[*DefectError](s.err); !ok {
					t.Errorf("it ends with %v", s.err)
				}
				var last gclog.Gap
				for slot, over := s.queue.take(); !over; slot, over = s.queue.take() {
					last = slot.Gap
				}
				at := time.Duration(last.Time)
				if at <= 0 || at > 1100*time.Millisecond || last.Ticks != s.trace.SyncTicks+last.Time {
					t.Errorf("the gap is at %v, %d ticks", at, last.Ticks)
				}
				last.Time, last.Ticks = 0, 0
				if want := (gclog.Gap{Reason: gclog.GapInternal, From: c.from, To: c.to}); last != want {
					t.Errorf("the gap is %+v, want %+v", last, want)
				}
				s.discard()
			})
		})
	}
}

// TestDefectOfOutput: a session whose records cannot be written ends, and the next one continues
// after the gap.
func TestDefectOfOutput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play)
		var out bytes.Buffer
		specs, opener := jsonTo(t, nil)
		opener.Stdout = trappedWriter{&out, &trap{left: 3}}
		l := &Log{Outputs: specs, Opener: opener}
		_, err := l.Write(openOn(t, target, nil), &gclog.Process{ID: 1}, nil)
		if _, ok := errors.AsType[*DefectError](err); !ok || time.Since(p.began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(p.began))
		}
		time.Sleep(time.Second)
		s := openOn(t, target, nil)
		time.AfterFunc(time.Second, s.Ask)
		if _, err := l.Write(s, &gclog.Process{ID: 1}, nil); err != nil {
			t.Error(err)
		}
		if log := summaryOf(t, out.Bytes()); log != "session-start, gap 1-1 internal-error, detached, session-start, gap 2-4 reattached, 5, 6, 7, detached" {
			t.Errorf("logged %s", log)
		}
	})
}

// TestCountUnderWay: what is in progress when enough has been counted is recorded completely, what
// starts later is not. What was in progress at the start does not count.
func TestCountUnderWay(t *testing.T) {
	for name, c := range map[string]struct {
		play func(*stage)
		seen []string
	}{
		"at the end": {
			func(x *stage) {
				x.beginBackground(1)
				time.Sleep(time.Second)
				x.collect(2)
				x.untilStopped()
				time.Sleep(10 * time.Millisecond)
				x.w.Lose(5, 3)
				x.collect(3)
				x.endBackground(1)
			},
			[]string{"pause of 1", "phase of 1", "pause of 2", "gc 2", "phase of 1", "gc 1"},
		},
		"at the start": {
			func(x *stage) {
				x.end(7, 0)
				x.resume()
				time.Sleep(time.Second)
				x.collect(8)
				x.untilStopped()
				time.Sleep(10 * time.Millisecond)
				x.collect(9)
			},
			[]string{"gc 7", "pause of 8", "gc 8"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				var w watcher
				o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, c.play), &out)
				o.Count, o.Observe = 1, observedBy(w.Observe)
				if r, err := Run(t.Context(), o); err != nil || r.Err != nil {
					t.Errorf("%v, %v", err, r.Err)
				}
				if !slices.Equal(w.seen, c.seen) {
					t.Errorf("seen %q, want %q", w.seen, c.seen)
				}
			})
		})
	}
}

// TestGaps: what is missing in the stream is missing in the log, and the log says so.
func TestGaps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			x.collect(1)
			x.collect(5)
			x.w.Lose(5, 3)
			x.collect(6)
			x.untilStopped()
		}), &out)
		o.Count = 3
		if r, err := Run(t.Context(), o); err != nil || r.Err != nil {
			t.Errorf("%v, %v", err, r.Err)
		}
		if log := summaryOf(t, out.Bytes()); log != "session-start, 1, gap 2-4 missed-gcs, 5, gap 0-0 lost-events, 6, detached" {
			t.Errorf("logged %s", log)
		}
	})
}

// TestHandOverToNone: if the next session never starts, the previous one still ends.
func TestHandOverToNone(t *testing.T) {
	for name, next := range map[string]struct {
		head  func(*fakeruntime.Session)
		takes time.Duration
	}{
		"its stream is invalid": {func(s *fakeruntime.Session) { _, _ = s.Conn.Write(make([]byte, 100)) }, 0},
		"it sends nothing":      {func(s *fakeruntime.Session) { <-s.Over }, 900 * time.Millisecond}, // until the first one ends
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := program{began: time.Now()}
				x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1", Trace: func(s *fakeruntime.Session) string {
					if s.ID > 1 {
						next.head(s)
					}
					return ""
				}}, p.play), &gclog.Process{ID: 1})
				first := x.open()
				x.sessions <- first
				time.AfterFunc(2*time.Second, first.Ask) // as when the process exits
				time.Sleep(time.Second + 100*time.Millisecond)
				second := x.open()
				began := time.Now()
				first.HandOver(second)
				if took := time.Since(began); !about(took, next.takes) {
					t.Errorf("it took %v, want %v", took, next.takes)
				}
				if log := x.wait(); !strings.HasPrefix(log, "session-start, 1, 2, 3") || !strings.HasSuffix(log, ", detached") {
					t.Errorf("logged %s", log)
				}
				second.Cut()
				second.discard()
			})
		})
	}
}

// TestInstances: events of another runtime in the same process are left out.
func TestInstances(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			x.collect(1)
			x.instance = 7
			x.collect(20)
			x.instance = 0
			x.collect(2)
			x.untilStopped()
		}), &out)
		o.Count = 2
		if _, err := Run(t.Context(), o); err != nil {
			t.Error(err)
		}
		if log := summaryOf(t, out.Bytes()); log != "session-start, 1, 2, detached" {
			t.Errorf("logged %s", log)
		}
	})
}

// TestTurn: what starts at the moment at which another session takes over is recorded by the new
// session.
func TestTurn(t *testing.T) {
	s := &Session{trace: &parse.Trace{SyncTicks: 1000, TicksPerSecond: 1e9}}
	const until = 1000 + int64(time.Second)
	s.until.Store(until)
	for ticks, late := range map[int64]bool{until - 1: false, until: true, until + 1: true} {
		if s.isLate(ticks) != late {
			t.Errorf("at %d: late %v", ticks, !late)
		}
		const after = int64(time.Second)
		s.open = []gclog.Open{{Ticks: until + 5}, {Ticks: ticks}}
		for wait, reported := range map[time.Duration]bool{500 * time.Millisecond: false, 501 * time.Millisecond: late, time.Minute: late, time.Minute + 1: true} {
			if got := s.allEnded(until, after+int64(wait)); got != reported {
				t.Errorf("what starts at %d ticks, %v later: told %v", ticks, wait, got)
			}
		}
	}
	s.until.Store(0)
	if s.isLate(1 << 40) {
		t.Error("nobody takes over")
	}
}

// TestTicks: the time of a session is reported in the ticks of its clock, whose zero is long ago.
func TestTicks(t *testing.T) {
	for _, perSecond := range []int64{1e7, 1e9, 24e6} {
		s := &Session{trace: &parse.Trace{SyncTicks: 7e15, TicksPerSecond: perSecond}}
		for at, want := range map[time.Duration]int64{0: 0, time.Second: perSecond, 1500 * time.Millisecond: perSecond * 3 / 2, 30 * 24 * time.Hour: perSecond * 30 * 86400} {
			if got := s.ticks(int64(at)); got != 7e15+want {
				t.Errorf("%v at %d a second are %d ticks, want %d", at, perSecond, got-7e15, want)
			}
		}
	}
}

// timing is an Observer that notes when the record of each collection arrives.
type timing struct {
	at map[uint32]time.Time
}

// Observe takes a record.
func (x timing) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		x.at[d.Number] = time.Now()
	}
}

// TestRecordsInTime: a record does not wait for later events.
func TestRecordsInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		ended := map[uint32]time.Time{}
		seen := timing{at: map[uint32]time.Time{}}
		o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			x.collect(1)
			ended[1] = time.Now()
			time.Sleep(time.Minute)
			x.unsorted = true
			x.collect(2)
			ended[2] = time.Now()
			time.Sleep(time.Minute)
			x.unsorted = false
			x.beginBackground(3)
			time.Sleep(time.Minute)
			x.endBackground(3)
			ended[3] = time.Now()
			x.untilStopped()
		}), &out)
		o.Observe = observedBy(seen.Observe)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if _, err := Run(ctx, o); err != nil {
			t.Error(err)
		}
		for n := range uint32(3) {
			if late := seen.at[n+1].Sub(ended[n+1]); late < 0 || late > time.Second {
				t.Errorf("#%d comes after %v", n+1, late)
			}
		}
	})
}
