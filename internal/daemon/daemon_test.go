package daemon

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/host"
)

// TestSweepDone: processes that cannot be reached are reported once each, except for those that
// would not be logged anyway. After the first sweep the daemon is ready.
func TestSweepDone(t *testing.T) {
	e := newEntrance(10)
	var said lines
	e.log = e.log.Output(&said)
	e.config.Discovery.Exclude = []config.Match{{Process: "other"}}
	list := []*unreachable{
		{start: 1, seen: config.Subject{Processes: []string{"shop"}, PID: 7}, status: Status{PID: 7, Why: "it has no socket"}},
		{start: 1, seen: config.Subject{Processes: []string{"shop"}, PID: 8}, status: Status{PID: 8, Why: "it has no socket"}},
		{start: 1, seen: config.Subject{Processes: []string{"other"}, PID: 9}, status: Status{PID: 9, Why: "it has no socket"}},
	}
	e.find(1, 0)
	if e.ready.Load() {
		t.Error("it is ready before the first sweep")
	}
	for i := range 3 {
		e.sweepDone(list)
		if len(e.discovery.unreachable) != 2 || e.discovery.unreachable[0].PID != 7 || !e.ready.Load() {
			t.Errorf("unreachable are %+v, ready %v", e.discovery.unreachable, e.ready.Load())
		}
		text := said.take()
		if reported, ready := strings.Count(text, "cannot reach a .NET process: it has no socket"), strings.Count(text, `"processes":1,"unreachable":2,"message":"ready"`); i == 0 && (reported != 2 || ready != 1) || i > 0 && text != "" {
			t.Errorf("sweep %d: it says %s", i, text)
		}
	}
	e.sweepDone(nil)
	if len(e.discovery.unreachable) != 0 {
		t.Errorf("unreachable are %+v", e.discovery.unreachable)
	}
}

// TestSayFailed: what keeps the sweeper from finding processes is reported once, and stuck looks
// are reported together after the next sweep.
func TestSayFailed(t *testing.T) {
	e := newEntrance(10)
	var said lines
	e.log = e.log.Output(&said)
	for range 3 {
		e.sayFailed(errors.New("no more files"))
	}
	if text := said.take(); text != `{"level":"warn","message":"no more files"}`+"\n" {
		t.Errorf("it says %s", text)
	}
	stuck := &host.TargetError{PID: 7, Cause: host.CauseStuck, Detail: "hangs"}
	e.sayStuck(2) // the reason is still unknown
	e.sayStuck(0)
	said.take()
	e.sayFailed(stuck)
	for _, c := range []struct {
		stuck int
		says  string
	}{
		{0, ""},
		{1, `{"level":"warn","message":"inspecting 1 processes timed out; they are not logged: process 7 hangs"}`},
		{1, ""},
		{3, `{"level":"warn","message":"inspecting 3 processes timed out; they are not logged: process 7 hangs"}`},
		{2, ""},
		{3, ""},
		{0, `{"level":"info","message":"no process inspection is stuck any longer"}`},
		{0, ""},
	} {
		e.sayStuck(c.stuck)
		if text := strings.TrimSpace(said.take()); text != c.says {
			t.Errorf("%d are stuck: it says %q, want %q", c.stuck, text, c.says)
		}
	}
	e.discovery.stuck = 3
	e.sweepDone(nil)
	if text := said.take(); !strings.Contains(text, "no process inspection is stuck any longer") {
		t.Errorf("it says %s", text)
	}
	e.sayFailed(&attach.DefectError{Value: "a trap", Stack: []byte("here")})
	if text := said.take(); text != `{"level":"error","stack":"here","message":"a defect of gclog, please report it: a trap"}`+"\n" || e.defects != 1 {
		t.Errorf("it says %s", text)
	}
}

// TestLimiterProcess: a warning about a process names it.
func TestLimiterProcess(t *testing.T) {
	e := newEntrance(10)
	var said lines
	e.log = e.log.Output(&said)
	for pid := 1; pid <= 2; pid++ {
		e.find(pid, 0)
	}
	for range 2 {
		for pid := 1; pid <= 2; pid++ {
			e.say(e.processes[key{pid: pid, start: 1}], true, "it is broken")
		}
	}
	e.say(e.processes[key{pid: 1, start: 1}], false, "it is well")
	e.say(e.processes[key{pid: 1, start: 1}], false, "it is well")
	if got, want := said.take(), `{"level":"warn","pid":1,"process":"x","message":"it is broken"}
{"level":"warn","pid":2,"process":"x","message":"it is broken"}
{"level":"info","pid":1,"process":"x","message":"it is well"}
{"level":"info","pid":1,"process":"x","message":"it is well"}
`; got != want {
		t.Errorf("it says\n%s, want\n%s", got, want)
	}
}

// TestAsk: a caller that asks the loop to do something learns whether that was done in time, and
// waits no longer than that.
func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := New(Options{Config: &config.Loaded{Config: *config.Default()}})
		ctx := t.Context()
		done := false
		go func() {
			time.Sleep(time.Second)
			(<-d.events)()
		}()
		if !d.ask(ctx, func() { done = true }) || !done {
			t.Error("what was done in time is told not to be")
		}
		for name, end := range map[string]func(*Daemon, func()){
			"the context":          func(_ *Daemon, cancel func()) { cancel() },
			"the loop":             func(d *Daemon, _ func()) { close(d.stopped) },
			"the loop, when busy":  func(d *Daemon, _ func()) { <-d.events; close(d.stopped) },
			"the context, if busy": func(d *Daemon, cancel func()) { <-d.events; cancel() },
		} {
			d := New(Options{Config: &config.Loaded{Config: *config.Default()}})
			ctx, cancel := context.WithCancel(t.Context())
			time.AfterFunc(time.Second, func() { end(d, cancel) })
			began := time.Now()
			if d.ask(ctx, func() { t.Error("it is done") }) || time.Since(began) != time.Second {
				t.Errorf("%s ends: it took %v", name, time.Since(began))
			}
			cancel()
		}
	})
}

// TestFormat: the configuration determines the format of records.
func TestFormat(t *testing.T) {
	e := newEntrance(1)
	e.o.Version, e.o.Session, e.o.Host = "1", "s", "h"
	for _, causes := range []string{"java", "dotnet"} {
		e.config.Causes, e.config.LongPause = causes, time.Second
		if got, want := e.format(), (formats.Options{DotnetCauses: causes == "dotnet", Version: "1", Session: "s", Host: "h", LongPause: 1e9}); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", causes, got)
		}
	}
}

// TestBackOff: a process is asked again after one second, then after twice as long each time, up to
// a minute, with a random deviation of up to half of that.
func TestBackOff(t *testing.T) {
	b := newEntrance(1).newProcess(key{pid: 1}, &host.Target{Process: host.Process{Name: "x"}}, nil).sup.backOff
	for range 2 {
		for i := range 10 {
			about := min(time.Second<<i, time.Minute)
			if wait := b.NextBackOff(); wait < about/2 || wait > about*3/2 {
				t.Errorf("wait %d is %v, want about %v", i, wait, about)
			}
		}
		b.Reset()
	}
}
