package attach

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/parse/clr"
)

// A served is a log that gets one session after the other.
type served struct {
	*Log
	t        *testing.T
	target   *host.Target
	out      bytes.Buffer
	sessions chan *Session
	requests chan func(*Log)
	ends     []gclog.End
	over     chan struct{}
}

func serve(t *testing.T, target *host.Target, known *gclog.Process) *served {
	t.Helper()
	x := &served{t: t, target: target, sessions: make(chan *Session), requests: make(chan func(*Log)), over: make(chan struct{})}
	specs, opener := jsonTo(t, &x.out)
	x.Log = &Log{Outputs: specs, Opener: opener, Requests: x.requests}
	go func() {
		defer close(x.over)
		x.Serve(x.sessions, known, func(_ *Session, end gclog.End, err error) {
			if err != nil {
				t.Error(err)
			}
			x.ends = append(x.ends, end)
		})
	}()
	return x
}

func (x *served) open() *Session {
	x.t.Helper()
	s, err := Open(x.t.Context(), x.target, SessionOptions{Config: configOf(x.t, "light"), Warn: func(s string) { x.t.Error(s) }})
	if err != nil {
		x.t.Fatal(err)
	}
	return s
}

// ask has f called between two records, and waits for it.
func (x *served) ask(f func(*Log)) {
	done := make(chan struct{})
	x.requests <- func(l *Log) {
		f(l)
		close(done)
	}
	<-done
}

// wait waits for the last session and returns what was written, in a few words.
func (x *served) wait() string {
	x.t.Helper()
	close(x.sessions)
	<-x.over
	if err := errors.Join(x.Err(), x.Close()); err != nil {
		x.t.Error(err)
	}
	return summaryOf(x.t, x.out.Bytes())
}

// A program collects whether or not a session listens: gen0 every third of a second, and gen2 once
// in the background.
type program struct {
	began         time.Time
	background    uint32        // number of the background collection; 0: none
	backgroundFor time.Duration // how long that takes
	busy          bool          // other events arrive all the time
}

// play sends the collections from now on to a session.
func (p *program) play(x *stage) {
	turn := func(n uint32) time.Time { return p.began.Add(time.Duration(n) * time.Second / 3) }
	var ends time.Time
	if p.background > 0 {
		ends = turn(p.background).Add(p.backgroundFor)
	}
	if turn(p.background).Before(x.sync) && x.sync.Before(ends) {
		x.kind = clr.TypeForeground
	}
	n := uint32(time.Since(p.began)*3/time.Second) + 1
	for ; ; n++ {
		for p.busy && time.Until(turn(n)) > 20*time.Millisecond {
			if x.isOver(20 * time.Millisecond) {
				return
			}
			x.event(clr.IDGCTriggered, le32(0))
		}
		if x.isOver(time.Until(turn(n))) {
			return
		}
		switch {
		case n == p.background:
			x.beginBackground(n)
		case !ends.IsZero() && n > p.background && time.Now().After(ends):
			ends = time.Time{}
			x.endBackground(p.background)
			fallthrough
		default:
			x.collect(n)
		}
	}
}

// TestHandOver: when one session takes over from another, each collection is recorded exactly once.
// One that was in progress is recorded by the session that has seen it start.
func TestHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		program program
		after   time.Duration // from the start to the hand-over
		waits   time.Duration // how long the hand-over takes
	}{
		"between collections":           {program{}, 2 * time.Second, overlap + settled + 100*time.Millisecond},
		"a busy program":                {program{busy: true}, 2 * time.Second, overlap + settled + 100*time.Millisecond},
		"a background one is under way": {program{background: 5, backgroundFor: 5 * time.Second}, 2 * time.Second, 5 * time.Second},
		"one that does not end":         {program{background: 5, backgroundFor: time.Hour}, 2 * time.Second, overlap + overlapMost + idle},
		"a background one begins then":  {program{background: 8, backgroundFor: 5 * time.Second}, 2 * time.Second, 5*time.Second + 2*time.Second/3},
		"one begins after the moment":   {program{background: 10, backgroundFor: 5 * time.Second}, 2 * time.Second, overlap + settled + 100*time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := c.program
				p.began = time.Now()
				x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
				first := x.open()
				x.sessions <- first
				time.Sleep(c.after)
				began := time.Now()
				second := x.open()
				first.HandOver(second)
				if took := time.Since(began); took < c.waits-500*time.Millisecond || took > c.waits+500*time.Millisecond {
					t.Errorf("it took %v, want %v", took, c.waits)
				}
				x.sessions <- second
				time.Sleep(6 * time.Second)
				second.Ask()
				last := uint32(time.Since(p.began) * 3 / time.Second)
				x.wait()
				logged := map[uint32]int{}
				for _, l := range linesOf(t, x.out.Bytes()) {
					switch l.Event.Action {
					case "gc":
						logged[l.Dotnet.GC.Number]++
					case "gc-gap":
						t.Errorf("unexpected %v", &l)
					}
				}
				for n := uint32(1); n <= last; n++ {
					if logged[n] != 1 {
						t.Errorf("#%d of %d is recorded %d times: %v", n, last, logged[n], logged)
					}
				}
				if len(x.ends) != 2 || x.ends[0].Reason != gclog.EndDetached || x.ends[1].Reason != gclog.EndDetached {
					t.Errorf("they end with %+v", x.ends)
				}
			})
		})
	}
}

// TestReattached: what happened between two sessions is reported as a gap, and nothing is
// recorded twice.
func TestReattached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1, Name: "shop"})
		for range 2 {
			s := x.open()
			x.sessions <- s
			time.Sleep(1100 * time.Millisecond)
			s.Ask()
			<-s.Done()
			time.Sleep(time.Second)
		}
		if logged := x.wait(); logged != "session-start, 1, 2, 3, detached, session-start, gap 4-6 reattached, 7, 8, 9, detached" {
			t.Errorf("logged %s", logged)
		}
		for _, l := range linesOf(t, x.out.Bytes()) {
			if l.Process.Name != "shop" {
				t.Errorf("%v is of %q", &l, l.Process.Name)
			}
		}
	})
}

// TestReattachedInside: the first collection of a session may be recorded after one that ran inside
// its first pause.
func TestReattachedInside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			if x.ID == 1 {
				x.collect(1)
			} else {
				x.suspend(clr.SuspendForGC)
				x.begin(5, 2, clr.TypeBackground)
				x.begin(6, 0, clr.TypeForeground)
				x.end(6, 0)
				x.resume()
				time.Sleep(100 * time.Millisecond)
				x.endBackground(5)
			}
			x.untilStopped()
		}), &gclog.Process{ID: 1})
		for range 2 {
			s := x.open()
			x.sessions <- s
			time.Sleep(time.Second)
			s.Ask()
			<-s.Done()
		}
		if logged := x.wait(); logged != "session-start, 1, detached, session-start, gap 2-4 reattached, 6, 5, detached" {
			t.Errorf("logged %s", logged)
		}
	})
}

// TestServeSlow: a request between two records does not wait until an output that is too slow has
// received all of them.
func TestServeSlow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
		slow := newGate()
		x.Opener.Stdout = &gatedWriter{&x.out, slow, 2}
		s := x.open()
		x.sessions <- s
		time.Sleep(3100 * time.Millisecond)
		go func() {
			time.Sleep(time.Millisecond) // until it has been asked
			slow.open()
		}()
		x.ask((*Log).Summarize)
		s.Ask()
		if logged := x.wait(); logged != "session-start, 1, summary, 2, 3, 4, 5, 6, 7, 8, 9, detached" {
			t.Errorf("logged %s", logged)
		}
	})
}

// TestChange: outputs are added and removed during a session and between sessions. An added one
// starts with the start of the session, a removed one ends with its end, the others are not
// interrupted. All lines have the new facts of the process.
func TestChange(t *testing.T) {
	var first, second bytes.Buffer
	f, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	to := func(paths ...string) (specs []output.Spec) {
		for _, path := range paths {
			specs = append(specs, output.Spec{Path: path, Format: f})
		}
		return specs
	}
	var began time.Time
	synctest.Test(t, func(t *testing.T) {
		began = time.Now()
		p := program{began: began}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1, Name: "old"})
		x.Outputs, x.Opener.Stdout, x.Opener.Stderr = to(output.Stdout), &first, &second
		change := func(name string, paths ...string) {
			t.Helper()
			x.ask(func(l *Log) {
				format := l.Format
				format.Host = "host-" + name
				if err := l.Change(to(paths...), format, &gclog.Process{ID: 1, Name: name}); err != nil {
					t.Error(err)
				}
			})
		}
		change("early", output.Stdout) // nothing is open yet
		s := x.open()
		x.sessions <- s
		time.Sleep(1100 * time.Millisecond)
		change("both", output.Stdout, output.Stderr)
		if paths := *s.o.Progress.Outputs.Load(); len(paths) != 2 {
			t.Errorf("it writes to %v", paths)
		}
		time.Sleep(time.Second)
		change("second", output.Stderr)
		time.Sleep(time.Second)
		s.Ask()
		<-s.Done()
		time.Sleep(time.Second)
		change("late", output.Stdout)
		s = x.open()
		x.sessions <- s
		time.Sleep(700 * time.Millisecond)
		s.Ask()
		x.wait()
	})
	for _, c := range []struct {
		out    *bytes.Buffer
		logged string
		names  string // names of the process, each with its lines
		ends   []time.Duration
	}{
		{
			&first, "session-start, 1, 2, 3, 4, 5, 6, detached, session-start, gap 10-12 reattached, 13, 14, detached",
			"early: session-start, 1, 2, 3; both: 4, 5, 6, detached; late: session-start, gap 10-12 reattached, 13, 14, detached",
			[]time.Duration{2100 * time.Millisecond, 4800 * time.Millisecond},
		},
		{
			&second, "session-start, 4, 5, 6, 7, 8, 9, detached",
			"both: session-start, 4, 5, 6; second: 7, 8, 9, detached",
			[]time.Duration{3100 * time.Millisecond},
		},
	} {
		if logged := summaryOf(t, c.out.Bytes()); logged != c.logged {
			t.Errorf("logged %s\nwant %s", logged, c.logged)
		}
		var names []string
		var ends []time.Duration
		for _, l := range linesOf(t, c.out.Bytes()) {
			name, logged := l.Process.Name, l.String()
			if logged == "detached" {
				ends = append(ends, l.At.Sub(began).Round(100*time.Millisecond))
			}
			if logged == "" {
				continue
			}
			if l.Host.Name != "host-"+name {
				t.Errorf("%s of %s names %s", logged, name, l.Host.Name)
			}
			if n := len(names); n > 0 && strings.HasPrefix(names[n-1], name+": ") {
				names[n-1] += ", " + logged
			} else {
				names = append(names, name+": "+logged)
			}
		}
		if !slices.Equal(ends, c.ends) {
			t.Errorf("the sessions end after %v, want %v", ends, c.ends)
		}
		if got := strings.Join(names, "; "); got != c.names {
			t.Errorf("logged %s\nwant %s", got, c.names)
		}
	}
	if !strings.Contains(first.String(), "the output is no longer configured") || strings.Contains(second.String(), "the output is no longer configured") {
		t.Error("only the removed output must name the reason")
	}
}

// TestChangeFails: an output that cannot be opened does not interrupt the others.
func TestChangeFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "gc.json")
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
		s := x.open()
		x.sessions <- s
		time.Sleep(1100 * time.Millisecond)
		x.ask(func(l *Log) {
			err := l.Change(append(l.Outputs, output.Spec{Path: path, Format: formats.ForFile(path)}), l.Format, &gclog.Process{ID: 1})
			if _, ok := errors.AsType[*output.PathError](err); !ok {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		s.Ask()
		if logged := x.wait(); logged != "session-start, 1, 2, 3, 4, 5, 6, detached" {
			t.Errorf("logged %s", logged)
		}
	})
}

// TestSettingsStay: settings that a runtime has reported are kept when the facts of its process are
// found out again, unless it is another runtime.
func TestSettingsStay(t *testing.T) {
	limits := clr.GCSettings{HardLimit: 300 << 20}
	asked := gclog.Process{Cookie: "c", Server: gclog.Yes, Concurrent: gclog.No, Limits: limits, HasLimits: true}
	newer := gclog.Process{Cookie: "c", Limits: clr.GCSettings{HardLimit: 1}, HasLimits: true}
	for name, c := range map[string]struct{ before, known, want *gclog.Process }{
		"nothing is known":         {&asked, nil, nil},
		"less is known":            {&asked, &gclog.Process{Name: "new", Cookie: "c"}, &gclog.Process{Name: "new", Cookie: "c", Server: gclog.Yes, Concurrent: gclog.No, Limits: limits, HasLimits: true}},
		"it is another runtime":    {&asked, &gclog.Process{Cookie: "d"}, &gclog.Process{Cookie: "d"}},
		"it was asked again":       {&asked, &newer, &newer},
		"it was never asked":       {&gclog.Process{Cookie: "c"}, &gclog.Process{Cookie: "c"}, &gclog.Process{Cookie: "c"}},
		"it was not asked so long": {&gclog.Process{Cookie: "c", Server: gclog.Yes}, &gclog.Process{Cookie: "c"}, &gclog.Process{Cookie: "c"}},
	} {
		l := &Log{process: *c.before}
		var known *gclog.Process
		if c.known != nil {
			copied := *c.known
			known = &copied
		}
		got := l.withSettings(known)
		if (got == nil) != (c.want == nil) || got != nil && !reflect.DeepEqual(*got, *c.want) {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
		if known != nil && !reflect.DeepEqual(*known, *c.known) {
			t.Errorf("%s: what was given is now %+v", name, known)
		}
	}
}

// TestSummaries: a summary contains what happened since the last one, or since the start of the
// session, and says which.
func TestSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
		x.Summaries = true
		x.ask((*Log).Summarize) // of nothing
		for range 2 {
			s := x.open()
			x.sessions <- s
			for range 2 {
				time.Sleep(time.Second + 100*time.Millisecond)
				x.ask((*Log).Summarize)
			}
			time.Sleep(time.Second)
			s.Ask()
			<-s.Done()
			time.Sleep(time.Second)
			x.ask((*Log).Summarize) // between sessions: of nothing
		}
		x.wait()
		var logged []string
		for _, l := range linesOf(t, x.out.Bytes()) {
			if s := l.Dotnet.GC.Summary; l.Event.Action == "gc-summary" {
				logged = append(logged, fmt.Sprint(l.Event.Duration, s.Collections.Gen0.Count, s.Pause.Count, s.Partial))
			}
		}
		if want := "[1.1s 3 3 true 1.1s 3 3 false 1s 3 3 true 1.1s 3 3 true 1.1s 4 4 false 1s 3 3 true]"; fmt.Sprint(logged) != want {
			t.Errorf("logged %v, want %s", logged, want)
		}
	})
}

// TestShift: after the clock was set, the lines have the new time.
func TestShift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
		shift := func(l *Log) { l.Shift(time.Hour) }
		x.ask(shift) // without effect: the session brings its own time
		s := x.open()
		x.sessions <- s
		time.Sleep(1100 * time.Millisecond)
		x.ask(shift)
		time.Sleep(time.Second)
		s.Ask()
		x.wait()
		for _, l := range linesOf(t, x.out.Bytes()) {
			if l.Event.Action != "gc" {
				continue
			}
			number := l.Dotnet.GC.Number
			want := p.began.Add(time.Duration(number) * time.Second / 3)
			if number > 3 {
				want = want.Add(time.Hour)
			}
			if d := l.At.Sub(want).Abs(); d > 5*time.Millisecond {
				t.Errorf("#%d is at %v, want %v", number, l.At, want)
			}
		}
	})
}

// TestClosedLog: the methods of a log without outputs do nothing.
func TestClosedLog(t *testing.T) {
	l := &Log{}
	l.Reopen()
	l.Shift(time.Hour)
	l.Summarize()
	if err := errors.Join(l.Err(), l.Close()); err != nil {
		t.Error(err)
	}
}
