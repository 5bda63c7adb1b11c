package attach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/gclog/gclog/parse/clr"
)

// everySecond collects at each second of the session.
func everySecond(x *stage) {
	for n := uint32(1); !x.isOver(time.Until(x.sync.Add(time.Duration(n) * time.Second))); n++ {
		x.collect(n)
	}
}

// about reports whether two durations differ by at most two polls of a process that is to exit.
func about(a, b time.Duration) bool { return (a - b).Abs() <= 20*time.Millisecond }

// TestRun: a session lasts until its time is up, it is stopped, or the process has exited. The log
// contains what happened until then.
func TestRun(t *testing.T) {
	three := func(x *stage) {
		for n := uint32(1); n <= 3; n++ {
			time.Sleep(time.Second)
			x.collect(n)
		}
	}
	cut := func(x *stage) {
		three(x)
		_ = x.Conn.Close()
	}
	exited := func() (int, int, bool) { return 7, 0, true }
	killed := func() (int, int, bool) { return -1, 15, true }
	unknown := func() (int, int, bool) { return 7, 0, false }
	for name, c := range map[string]struct {
		play    func(*stage)
		options Options
		dead    bool          // the process has exited when its stream ends
		asks    time.Duration // when ctx is canceled; 0: never
		logged  string
		end     gclog.End // without its time; Message "*": any
		lasts   time.Duration
		fails   string
		over    bool // the stream has ended before the session was to end
	}{
		"as many as are wanted": {
			play: everySecond, options: Options{Count: 3},
			logged: "session-start, 1, 2, 3, detached", lasts: 3003 * time.Millisecond,
		},
		"until a moment": {
			// allowed: the clock is that of synctest
			play: everySecond, options: Options{Until: func() time.Time { return time.Now().Add(2500 * time.Millisecond) }},
			logged: "session-start, 1, 2, detached", lasts: 2500 * time.Millisecond,
		},
		"without an end": {
			play: everySecond, options: Options{Until: func() time.Time { return time.Time{} }, Count: 1},
			logged: "session-start, 1, detached", lasts: 1003 * time.Millisecond,
		},
		"until it is stopped": {
			play: everySecond, asks: 1500 * time.Millisecond,
			logged: "session-start, 1, detached", lasts: 1500 * time.Millisecond,
		},
		"the process exits": {
			play: cut, dead: true, options: Options{Exit: exited},
			logged: "session-start, 1, 2, 3, exited", end: gclog.End{Reason: gclog.EndExited, ExitCode: 7, HasCode: true}, lasts: 3009 * time.Millisecond, over: true,
		},
		"the process is killed": {
			play: cut, dead: true, options: Options{Exit: killed},
			logged: "session-start, 1, 2, 3, killed", end: gclog.End{Reason: gclog.EndKilled, Signal: 15}, lasts: 3009 * time.Millisecond, over: true,
		},
		"nobody knows how it ended": {
			play: cut, dead: true, options: Options{Exit: unknown},
			logged: "session-start, 1, 2, 3, exited", end: gclog.End{Reason: gclog.EndExited}, lasts: 3009 * time.Millisecond, over: true,
		},
		"the runtime ends it": {
			play: three, logged: "session-start, 1, 2, 3, stream-error", lasts: 6009 * time.Millisecond, over: true,
			end: gclog.End{Reason: gclog.EndStreamError, Message: "the runtime ended the session"}, fails: "is still running, but its runtime ended the session",
		},
		"the stream breaks off": {
			play: cut, logged: "session-start, 1, 2, 3, stream-error", lasts: 6009 * time.Millisecond, over: true,
			end: gclog.End{Reason: gclog.EndStreamError, Message: "the runtime ended the session"}, fails: "is still running, but its runtime ended the session",
		},
		"the stream is invalid": {
			play: func(x *stage) {
				three(x)
				_, _ = x.Conn.Write(bytes.Repeat([]byte{9}, 100))
				x.untilStopped()
			},
			logged: "session-start, 1, 2, 3, stream-error", lasts: 3009 * time.Millisecond,
			end: gclog.End{Reason: gclog.EndStreamError, Message: "*"}, fails: "the stream of process",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked atomic.Int64 // to end the session
				target := onStage(t, fakeruntime.Config{Version: "8.0.1", Log: func(s string) {
					if s == "request 0x0201 stop session 1" {
						asked.Add(1)
					}
				}}, c.play)
				if c.dead {
					target.StartKey++
				}
				ctx := t.Context()
				if c.asks > 0 {
					limited, cancel := context.WithTimeout(ctx, c.asks)
					defer cancel()
					ctx = limited
				}
				var out bytes.Buffer
				o := c.options
				o.Target, o.Config, o.Process = target, configOf(t, "light"), &gclog.Process{ID: 1, Name: "shop"}
				o.Outputs, o.Opener = jsonTo(t, &out)
				began := time.Now()
				r, err := Run(ctx, o)
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(began); !about(took, c.lasts) {
					t.Errorf("it took %v, want %v", took, c.lasts)
				}
				if n := asked.Load(); (n == 0) != c.over || n > 1 {
					t.Errorf("the runtime was asked %d times to end the session", n)
				}
				if logged := summaryOf(t, out.Bytes()); logged != c.logged {
					t.Errorf("logged %s\nwant %s", logged, c.logged)
				}
				end := r.End
				if c.end.Message == "*" {
					c.end.Message = end.Message
				}
				ended := r.Ended.Sub(began)
				if end.At < int64(time.Second) || ended < time.Second || ended > c.lasts {
					t.Errorf("it ended at %d, the stream after %v", end.At, ended)
				}
				if end.Verdict == nil || end.Verdict.Text != r.Verdict.Text || r.Verdict.Text == "" {
					t.Errorf("the verdict is %+v in the record, and %+v", end.Verdict, r.Verdict)
				}
				end.Verdict = nil
				if end.At, end.Ticks = 0, 0; !end.HasCode {
					end.ExitCode = 0
				}
				if !reflect.DeepEqual(end, c.end) {
					t.Errorf("it ends with %+v, want %+v", end, c.end)
				}
				if c.fails == "" && r.Err != nil || c.fails != "" && (r.Err == nil || !strings.Contains(r.Err.Error(), c.fails)) {
					t.Errorf("%v, want %q", r.Err, c.fails)
				}
				if r.Process.Name != "shop" || !r.Process.Sync.Equal(began) {
					t.Errorf("the process is %+v", r.Process)
				}
			})
		})
	}
}

// TestRunReports: the observer, the progress and the recording receive what happens during the
// session.
func TestRunReports(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent int64
		target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			everySecond(x)
			time.Sleep(10 * time.Millisecond)
			x.w.Lose(5, 3)
			x.collect(3)
			sent = x.sent + 1 // the end of the stream
		})
		var progress Progress
		var seen gclog.Tally
		var out, record bytes.Buffer
		specs, opener := jsonTo(t, &out)
		started := 0
		r, err := Run(t.Context(), Options{
			Target: target, Config: configOf(t, "normal"), Process: &gclog.Process{ID: 1, Name: "shop", Started: time.Now().Add(-time.Minute)}, Count: 2,
			Outputs: specs, Opener: opener,
			Observe: observedBy(seen.Observe), Progress: &progress, Record: &record,
			Started: func(p *gclog.Process) {
				started++
				if p.Name != "shop" || p.UptimeAtSync != time.Minute || progress.Outputs.Load() != nil {
					t.Errorf("it begins with %+v", p)
				}
			},
		})
		if err != nil || r.Err != nil || started != 1 || len(r.Wrote) > 0 {
			t.Fatalf("%v, %+v, begun %d times", err, r, started)
		}
		if logged := summaryOf(t, out.Bytes()); logged != "session-start, 1, 2, detached" {
			t.Errorf("logged %s", logged)
		}
		if seen.LostEvents != 0 || seen.GCs() != 2 || seen.Pauses != 2 || seen.PauseTotal != 6e6 {
			t.Errorf("the observer has seen %+v", seen)
		}
		last := time.Unix(0, progress.Last.Load())
		if progress.GCs.Load() != 2 || progress.Lost.Load() != 3 || last.Sub(r.Process.Sync) < 2*time.Second || !slices.Equal(*progress.Outputs.Load(), []string{output.Stdout}) {
			t.Errorf("the progress is %+v", &progress)
		}
		if n := progress.Stream.Load(); n != sent || n >= int64(record.Len()) {
			t.Errorf("%d bytes were read, %d sent, %d recorded", n, sent, record.Len())
		}
		if p := processOf(t, record.Bytes()); p.RuntimeVersion != "8.0.1" || p.Name != "fakeruntime" {
			t.Errorf("the recording tells %+v", p)
		}
	})
}

// TestRunIdentifies: Run finds out about the process if nobody has before.
func TestRunIdentifies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options{Target: onStage(t, fakeruntime.Config{Version: "8.0.1", Name: "shop"}, everySecond), Config: configOf(t, "light"), Count: 1}
		var out bytes.Buffer
		o.Outputs, o.Opener = jsonTo(t, &out)
		r, err := Run(t.Context(), o)
		if err != nil || r.Process.Name != "shop" || r.Process.RuntimeVersion != "8.0.1" {
			t.Errorf("%v, %+v", err, r)
		}
		if lines := linesOf(t, out.Bytes()); lines[len(lines)-1].Process.Name != "shop" {
			t.Errorf("logged %+v", lines)
		}
	})
}

// TestProvidersText: providers are formatted in dotnet-trace's syntax.
func TestProvidersText(t *testing.T) {
	const text = "Microsoft-Windows-DotNETRuntime:0x1:4,Mine:0x20:5:a=b;c:d"
	cfg, err := SessionConfig("light", []string{"Mine:0x20:5:a=b;c:d"}, true)
	if got := providersText(cfg.Providers); err != nil || got != text {
		t.Errorf("%v, %s, want %s", err, got, text)
	}
}

// TestRunNone: if the session or an output cannot be opened there is no session, and the runtime
// has none left.
func TestRunNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sessions := make(chan string, 9)
		target := onStage(t, fakeruntime.Config{Version: "8.0.1", Log: func(s string) {
			if strings.HasPrefix(s, "session ") {
				sessions <- s
			}
		}}, everySecond)
		o := Options{Target: target, Config: configOf(t, "light"), Process: &gclog.Process{ID: 1}, Started: func(*gclog.Process) { t.Error("it has begun") }}
		path := filepath.Join(t.TempDir(), "none", "gc.json")
		o.Outputs, o.Opener = []output.Spec{{Path: path, Format: formats.ForFile(path)}}, &output.Opener{Warn: func(s string) { t.Error(s) }}
		r, err := Run(t.Context(), o)
		if _, ok := errors.AsType[*output.PathError](err); r != nil || !ok {
			t.Errorf("%+v, %v", r, err)
		}
		if said := <-sessions; said != "session 1 is over" {
			t.Error(said)
		}
		o.Record = io.Discard // the recording ends too
		if r, err := Run(t.Context(), o); r != nil || err == nil {
			t.Errorf("%+v, %v", r, err)
		}
		o.Config.BufferMB = 0
		if r, err := Run(t.Context(), o); r != nil || err == nil || !strings.Contains(err.Error(), "a buffer of 0 MB") {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// TestRunReopens: a file that was moved away is created again on request, even while there is
// nothing to write.
func TestRunReopens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gc.json")
	done, moved := make(chan struct{}), make(chan struct{})
	target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
		x.collect(1)
		<-moved
		x.collect(2)
		x.untilStopped()
	})
	reopen := make(chan struct{})
	go func() {
		defer close(moved)
		<-done
		if err := os.Rename(path, path+".old"); err != nil {
			t.Error(err)
		}
		reopen <- struct{}{}
		reopen <- struct{}{} // it is taken when the log has the first request, which it carries out before the next record
	}()
	var progress Progress
	r, err := Run(t.Context(), Options{
		Target: target, Config: configOf(t, "light"), Process: &gclog.Process{ID: 1}, Count: 2, Reopen: reopen, Progress: &progress,
		Outputs: []output.Spec{{Path: path, Format: formats.ForFile(path)}}, Opener: &output.Opener{Warn: func(s string) { t.Error(s) }},
		Observe: observedBy(closing{first: done}.Observe),
	})
	if err != nil || !slices.Equal(r.Wrote, []string{path}) {
		t.Fatalf("%v, %+v", err, r)
	}
	var all int64
	for file, want := range map[string]string{path + ".old": "session-start, 1", path: "2, detached"} {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if logged := summaryOf(t, b); logged != want {
			t.Errorf("%s has %s, want %s", filepath.Base(file), logged, want)
		}
		all += int64(len(b))
	}
	if n := progress.Output.Load(); n != all {
		t.Errorf("the progress says %d bytes, the files have %d", n, all)
	}
}

// A closing is an Observer that closes a channel at the first collection.
type closing struct {
	first chan struct{}
}

// Observe takes a record.
func (c closing) Observe(r gclog.Record) {
	if d, ok := r.(*gclog.GCDetails); ok {
		if d.Number == 1 {
			close(c.first)
		}
	}
}

// TestRunStuck: after a request to stop, an output that accepts nothing does not block forever.
func TestRunStuck(t *testing.T) {
	for name, c := range map[string]struct {
		opens  time.Duration // when the output accepts again, after the request to stop; 0: never
		lasts  time.Duration
		logged string
		fails  string
	}{
		"forever":          {0, 5 * time.Second, "", "the outputs no longer accept data"},
		"for a moment":     {2 * time.Second, 2 * time.Second, "session-start, 1, 2, 3, detached", ""},
		"until it is late": {4500 * time.Millisecond, 4500 * time.Millisecond, "session-start, 1, gap 2-3 stopped, detached", ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, everySecond)
				var out bytes.Buffer
				o := lightOptions(t, target, nil)
				slow := newGate()
				o.Opener.Stdout = &gatedWriter{&out, slow, 2}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(3500*time.Millisecond, cancel)
				if c.opens > 0 {
					time.AfterFunc(3500*time.Millisecond+c.opens, slow.open)
				}
				began := time.Now()
				r, err := Run(ctx, o)
				if took := time.Since(began) - 3500*time.Millisecond; err != nil || !about(took, c.lasts) {
					t.Errorf("%v, and it took %v, want %v", err, took, c.lasts)
				}
				if c.fails == "" {
					if logged := summaryOf(t, out.Bytes()); logged != c.logged || r.Err != nil {
						t.Errorf("logged %s, %v\nwant %s", logged, r.Err, c.logged)
					}
				} else if r.Err == nil || !strings.Contains(r.Err.Error(), c.fails) || r.Process.ID != int64(os.Getpid()) {
					t.Errorf("%v, want %s", r.Err, c.fails)
				}
				slow.open()
			})
		})
	}
}

// TestRunLost: records that cannot be written are an error.
func TestRunLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, everySecond)
		o := lightOptions(t, target, nil)
		logged := 0
		o.Count, o.Opener.Stdout, o.Opener.Warn = 2, broken{}, func(string) { logged++ }
		r, err := Run(t.Context(), o)
		if err != nil || !errors.Is(r.Err, errBroken) || logged != 1 || len(r.Wrote) > 0 {
			t.Errorf("%v, %+v, %d messages", err, r, logged)
		}
	})
}

// TestRunClosedPipe: the session ends when the reader of a pipe has closed it.
func TestRunClosedPipe(t *testing.T) {
	reads, writes, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_ = reads.Close()
	defer writes.Close()
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, everySecond)
		o := lightOptions(t, target, nil)
		o.Opener.Stdout = writes
		began := time.Now()
		if r, err := Run(t.Context(), o); err != nil || r.Err != nil || time.Since(began) > 2*time.Second {
			t.Errorf("%v, %+v after %v", err, r, time.Since(began))
		}
	})
}

// TestRunWaits: Run waits for a runtime that does not end the session, and says so, but not
// forever.
func TestRunWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := onStage(t, fakeruntime.Config{Version: "8.0.1", Deaf: true}, func(x *stage) {
			for n := uint32(1); ; n++ {
				select {
				case <-x.Over:
					return
				case <-time.After(time.Second):
				}
				x.collect(n)
				if x.w.Bytes == nil {
					return
				}
			}
		})
		var out bytes.Buffer
		var waited atomic.Int64
		o := lightOptions(t, target, &out)
		o.Count, o.Waiting = 2, func() { waited.Store(time.Now().UnixNano()) }
		said := ""
		o.Opener.Warn = func(s string) { said = s }
		began := time.Now()
		r, err := Run(t.Context(), o)
		if err != nil || r.Err != nil || r.End.Reason != gclog.EndDetached || r.End.Message == "" || r.End.Message != said {
			t.Errorf("%v, %+v; said %s", err, r, said)
		}
		asked := began.Add(2003 * time.Millisecond)
		if d := time.Unix(0, waited.Load()).Sub(asked); !about(d, time.Second) {
			t.Errorf("Waiting was called after %v", d)
		}
		if d := time.Since(asked); !about(d, 8*time.Second) { // the process is given time to exit too
			t.Errorf("waited for %v", d)
		}
		if logged := summaryOf(t, out.Bytes()); logged != "session-start, 1, 2, gap 0-0 stopped, detached" {
			t.Errorf("logged %s", logged)
		}
	})
}

// TestRunResumes: a runtime that a diagnostic port suspends is resumed after its session has
// started, and also if starting it fails.
func TestRunResumes(t *testing.T) {
	for name, early := range map[string]bool{"with a session": true, "without one": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests []string
				target := onStage(t, fakeruntime.Config{Version: "8.0.1", Log: func(s string) {
					if strings.HasPrefix(s, "request ") {
						requests = append(requests, strings.Fields(s)[1])
					}
				}}, everySecond)
				var out bytes.Buffer
				o := lightOptions(t, target, &out)
				o.Count, o.Early, o.Resume = 1, early, true
				if !early {
					o.Config.BufferMB = 0 // rejected before a request is sent
				}
				_, err := Run(t.Context(), o)
				if (err == nil) != early {
					t.Error(err)
				}
				if want := "0x0401"; !slices.Contains(requests, want) || early && slices.Index(requests, want) < slices.IndexFunc(requests, func(s string) bool { return strings.HasPrefix(s, "0x02") }) {
					t.Errorf("the requests were %v", requests)
				}
			})
		})
	}
}

// TestRunPhases: an output that selects the phases of collections gets them.
func TestRunPhases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
			x.beginBackground(1)
			time.Sleep(time.Second)
			x.endBackground(1)
			x.untilStopped()
		}), &out)
		o.Count = 1
		var err error
		if o.Outputs, _, err = xlog.Specs([]string{"-Xlog:gc*"}, rotate.Options{}, false); err != nil {
			t.Fatal(err)
		}
		if _, err := Run(t.Context(), o); err != nil {
			t.Error(err)
		}
		if !strings.Contains(out.String(), "GC(1) Concurrent Mark") {
			t.Errorf("logged\n%s", &out)
		}
	})
}

// TestRunSuspensions: suspensions without a collection are reported if an output selects them.
func TestRunSuspensions(t *testing.T) {
	for selection, want := range map[string]int{"gc": 0, "gc,safepoint": 1} {
		synctest.Test(t, func(t *testing.T) {
			target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, func(x *stage) {
				x.collect(1)
				time.Sleep(time.Second)
				x.suspend(clr.SuspendOther)
				time.Sleep(time.Second)
				x.resume()
				x.collect(2)
				x.untilStopped()
			})
			var out bytes.Buffer
			o := lightOptions(t, target, &out)
			o.Count = 2
			var err error
			if o.Outputs, _, err = xlog.Specs([]string{"-Xlog:" + selection}, rotate.Options{}, false); err != nil {
				t.Fatal(err)
			}
			if _, err := Run(t.Context(), o); err != nil {
				t.Error(err)
			}
			if n := strings.Count(out.String(), "1.0010000 seconds"); n != want {
				t.Errorf("%s: %d pauses of a second\n%s", selection, n, out.String())
			}
		})
	}
}
