package attach

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// A served log has sessions given to it one after the other.
type served struct {
	*Log
	t        *testing.T
	target   *session.Target
	out      bytes.Buffer
	sessions chan *Session
	requests chan func(*Log)
	ends     []formats.End
	over     chan struct{}
}

func serve(t *testing.T, target *session.Target, known *gclog.Process) *served {
	t.Helper()
	x := &served{t: t, target: target, sessions: make(chan *Session), requests: make(chan func(*Log)), over: make(chan struct{})}
	specs, opener := jsonTo(t, &x.out)
	x.Log = &Log{Outputs: specs, Opener: opener, Requests: x.requests}
	go func() {
		defer close(x.over)
		x.Serve(x.sessions, known, func(_ *Session, end formats.End, err error) {
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
	s, err := Open(x.t.Context(), x.target, SessionOptions{Config: configOf(x.t, "light"), Tell: func(s string) { x.t.Error(s) }})
	if err != nil {
		x.t.Fatal(err)
	}
	return s
}

// ask has something done between two records, and waits for it.
func (x *served) ask(f func(*Log)) {
	done := make(chan struct{})
	x.requests <- func(l *Log) {
		f(l)
		close(done)
	}
	<-done
}

// wait returns what was told when the last session has ended.
func (x *served) wait() string {
	x.t.Helper()
	close(x.sessions)
	<-x.over
	if err := errors.Join(x.Err(), x.Close()); err != nil {
		x.t.Error(err)
	}
	return toldIn(x.t, x.out.Bytes())
}

// A program collects all the time, whoever listens: a collection of gen0 in each third of a second, and
// of gen2 in the background from one moment to another.
type program struct {
	began         time.Time
	background    uint32
	backgroundFor time.Duration // from its own turn on
}

// play shows a session what happens.
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

// TestHandOver: when one session takes over from another each collection is told once, and none is
// missing; what was under way is told by the one that has seen it begin.
func TestHandOver(t *testing.T) {
	for name, c := range map[string]struct {
		program program
		after   time.Duration // it is handed over so long after the begin
		waits   time.Duration // and that takes so long
	}{
		"between collections":           {program{}, 2 * time.Second, overlap + settled + 100*time.Millisecond},
		"a background one is under way": {program{background: 5, backgroundFor: 5 * time.Second}, 2 * time.Second, 5 * time.Second},
		"one that does not end":         {program{background: 5, backgroundFor: time.Hour}, 2 * time.Second, overlap + overlapMost + idle},
		"a background one begins then":  {program{background: 8, backgroundFor: 5 * time.Second}, 2 * time.Second, 5*time.Second + 2*time.Second/3},
		"one begins behind the moment":  {program{background: 10, backgroundFor: 5 * time.Second}, 2 * time.Second, overlap + settled + 100*time.Millisecond},
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
				told := map[uint32]int{}
				for line := range bytes.Lines(x.out.Bytes()) {
					var r struct {
						Event  struct{ Action string }
						Dotnet struct{ GC struct{ Number uint32 } }
					}
					if err := json.Unmarshal(line, &r); err != nil {
						t.Fatal(err)
					}
					switch r.Event.Action {
					case "gc":
						told[r.Dotnet.GC.Number]++
					case "gc-gap":
						t.Errorf("a gap: %s", line)
					}
				}
				for n := uint32(1); n <= last; n++ {
					if told[n] != 1 {
						t.Errorf("#%d of %d is told %d times: %v", n, last, told[n], told)
					}
				}
				if len(x.ends) != 2 || x.ends[0].Reason != formats.EndDetached || x.ends[1].Reason != formats.EndDetached {
					t.Errorf("they end with %+v", x.ends)
				}
			})
		})
	}
}

// TestReattached: what happened between two sessions is told as a gap, and nothing is told twice.
func TestReattached(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
		for range 2 {
			s := x.open()
			x.sessions <- s
			time.Sleep(1100 * time.Millisecond)
			s.Ask()
			<-s.Done()
			time.Sleep(time.Second)
		}
		if told := x.wait(); told != "session-start, 1, 2, 3, detached, session-start, gap 4-6 reattached, 7, 8, 9, detached" {
			t.Errorf("told %s", told)
		}
	})
}

// TestChange: outputs come and go while a session is written, and while none is. One that comes has
// the begin of the session, one that goes its end, one that stays knows of nothing; all tell what is
// known of the process now.
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
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
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
		out   *bytes.Buffer
		told  string
		names string // of the process, and what runs it, in its lines
	}{
		{
			&first, "session-start, 1, 2, 3, 4, 5, 6, detached, session-start, gap 10-12 reattached, 13, 14, detached",
			"early: session-start, 1, 2, 3; both: 4, 5, 6, detached; late: session-start, gap 10-12 reattached, 13, 14, detached",
		},
		{
			&second, "session-start, 4, 5, 6, 7, 8, 9, detached",
			"both: session-start, 4, 5, 6; second: 7, 8, 9, detached",
		},
	} {
		if told := toldIn(t, c.out.Bytes()); told != c.told {
			t.Errorf("told %s\nwant %s", told, c.told)
		}
		var names []string
		for line := range bytes.Lines(c.out.Bytes()) {
			var r struct {
				Process struct{ Name string }
				Host    struct{ Name string }
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			told := toldIn(t, line)
			if told == "" {
				continue
			}
			if r.Host.Name != "host-"+r.Process.Name {
				t.Errorf("%s on %s tells %s", r.Process.Name, r.Host.Name, told)
			}
			if n := len(names); n > 0 && strings.HasPrefix(names[n-1], r.Process.Name+": ") {
				names[n-1] += ", " + told
			} else {
				names = append(names, r.Process.Name+": "+told)
			}
		}
		if got := strings.Join(names, "; "); got != c.names {
			t.Errorf("told %s\nwant %s", got, c.names)
		}
	}
	if !strings.Contains(first.String(), "the output is no longer asked for") || strings.Contains(second.String(), "the output is no longer asked for") {
		t.Error("only who goes is told why")
	}
}

// TestChangeFails: an output that cannot be opened is missing, and the others go on.
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
		if told := x.wait(); told != "session-start, 1, 2, 3, 4, 5, 6, detached" {
			t.Errorf("told %s", told)
		}
	})
}

// TestSettingsStay: what a runtime was asked for once is not forgotten when others find out about the
// process again, unless that is another runtime.
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

// TestSummaries: a summary has what happened since the last one, or since the session began, and says
// which of both.
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
		var told []string
		for line := range bytes.Lines(x.out.Bytes()) {
			var r struct {
				Event struct {
					Action   string
					Duration time.Duration
				}
				Dotnet struct {
					GC struct {
						Summary struct {
							Partial     bool
							Collections struct{ Gen0 struct{ Count int } }
							Pause       struct{ Count int }
						}
					}
				}
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if s := r.Dotnet.GC.Summary; r.Event.Action == "gc-summary" {
				told = append(told, fmt.Sprint(r.Event.Duration, s.Collections.Gen0.Count, s.Pause.Count, s.Partial))
			}
		}
		if want := "[1.1s 3 3 true 1.1s 3 3 false 1s 3 3 true 1.1s 3 3 true 1.1s 4 4 false 1s 3 3 true]"; fmt.Sprint(told) != want {
			t.Errorf("told %v, want %s", told, want)
		}
	})
}

// TestShift: when the clock was set the lines tell the new time.
func TestShift(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := program{began: time.Now()}
		x := serve(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &gclog.Process{ID: 1})
		shift := func(l *Log) { l.Shift(time.Hour) }
		x.ask(shift) // the session tells the time that it is
		s := x.open()
		x.sessions <- s
		time.Sleep(1100 * time.Millisecond)
		x.ask(shift)
		time.Sleep(time.Second)
		s.Ask()
		x.wait()
		for line := range bytes.Lines(x.out.Bytes()) {
			var r struct {
				At     time.Time `json:"@timestamp"`
				Event  struct{ Action string }
				Dotnet struct{ GC struct{ Number uint32 } }
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			if r.Event.Action != "gc" {
				continue
			}
			want := p.began.Add(time.Duration(r.Dotnet.GC.Number) * time.Second / 3)
			if r.Dotnet.GC.Number > 3 {
				want = want.Add(time.Hour)
			}
			if d := r.At.Sub(want).Abs(); d > 5*time.Millisecond {
				t.Errorf("#%d is at %v, want %v", r.Dotnet.GC.Number, r.At, want)
			}
		}
	})
}

// TestClosedLog: a log that was never written has nothing to say.
func TestClosedLog(t *testing.T) {
	l := &Log{}
	l.Reopen()
	l.Shift(time.Hour)
	l.Summarize()
	if err := errors.Join(l.Err(), l.Close()); err != nil {
		t.Error(err)
	}
}
