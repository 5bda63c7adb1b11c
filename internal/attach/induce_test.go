package attach

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// An inducible is a runtime that a test asks for collections. Its first session is the witness.
type inducible struct {
	target   *host.Target
	asked    []string     // the requests for sessions
	sessions atomic.Int64 // open ones
	began    time.Time
}

// onRequest returns a runtime that has react send the events that follow from what happens:
// "witness" when the first session starts, "ask 1" before another one is answered, "begin 1" when
// it starts, and "end 1" when it was stopped.
func onRequest(t *testing.T, c fakeruntime.Config, react func(x *stage, what string)) *inducible {
	t.Helper()
	r := &inducible{began: time.Now()}
	happens := make(chan string, 9)
	if c.Version == "" {
		c.Version = "10.0.0"
	}
	c.Log = func(s string) {
		if !strings.HasPrefix(s, "request 0x02") || strings.Contains(s, "stop session") {
			return
		}
		if r.asked = append(r.asked, s); len(r.asked) > 1 {
			happens <- fmt.Sprint("ask ", len(r.asked)-1)
		}
	}
	r.target = onStage(t, c, func(x *stage) {
		r.sessions.Add(1)
		defer r.sessions.Add(-1)
		if x.ID > 1 {
			happens <- fmt.Sprint("begin ", x.ID-1)
			x.untilStopped()
			happens <- fmt.Sprint("end ", x.ID-1)
			return
		}
		react(x, "witness")
		for !x.closed {
			select {
			case <-x.Stopped:
				return
			case <-x.Over:
				return
			case what := <-happens:
				react(x, what)
			}
		}
	})
	return r
}

// meet returns a reaction that applies a fault to the nth request for a session, and answers all
// others.
func meet(n int, fault func() fakeruntime.Fault) func(uint16) fakeruntime.Fault {
	return func(command uint16) fakeruntime.Fault {
		if command == 0x0206 {
			if n--; n == 0 {
				return fault()
			}
		}
		return fakeruntime.Fault{}
	}
}

// took checks how long it took.
func (r *inducible) took(t *testing.T, want time.Duration) {
	t.Helper()
	if took := time.Since(r.began); !about(took, want) {
		t.Errorf("it took %v, want %v", took, want)
	}
}

// on returns a reaction to one kind of event.
func on(event string, do func(*stage)) func(*stage, string) {
	return func(x *stage, what string) {
		if what == event {
			do(x)
		}
	}
}

// TestInduce: the requested collection is found among others, whenever it happens.
func TestInduce(t *testing.T) {
	const ends = holdAfter // of the request, and of its announcement; ending the witness takes no time
	const lasts = 20 * time.Second
	var collected chan struct{}
	for name, c := range map[string]struct {
		react   func(*stage, string)
		options InduceOptions
		late    bool // it answers after it has collected
		deaf    bool
		number  uint32
		again   []uint32
		takes   time.Duration
	}{
		"at once": {
			react: on("begin 1", func(x *stage) { x.induce(1) }), options: InduceOptions{Wait: true, Timeout: time.Minute},
			number: 1, takes: 3*time.Millisecond + ends,
		},
		"among others": {
			react: func(x *stage, what string) {
				switch what {
				case "begin 1":
					x.collect(2)
					x.induceAs(3, 1, clr.TypeBlocking, clr.ReasonInduced)
					x.induceAs(4, 2, clr.TypeBlocking, clr.ReasonInducedNotForced)
					x.induce(5)
				case "end 1":
					x.collect(6)
					x.induceAs(7, 1, clr.TypeBlocking, clr.ReasonInduced)
					x.induceAs(8, 2, clr.TypeBlocking, clr.ReasonAllocLarge)
					x.suspend(clr.SuspendForGC)
					x.beginFor(clr.ReasonInduced, 9, 2, clr.TypeBackground, 0)
					x.resume()
					x.endBackground(9)
					x.induce(10)
				}
			},
			options: InduceOptions{Wait: true, Timeout: time.Minute}, number: 5, again: []uint32{10}, takes: 12*time.Millisecond + ends,
		},
		"it is resumed after the answer": {
			react: on("end 1", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				x.end(1, 2)
				time.Sleep(40 * time.Millisecond)
				x.resume()
				x.induce(2)
			}),
			options: InduceOptions{Repeat: true, Wait: true, Timeout: time.Minute}, number: 1, again: []uint32{2},
			takes: 2*time.Second + idle + ends,
		},
		"in a buffer": {
			react: on("begin 1", func(x *stage) {
				x.unsorted = true
				x.induce(1)
			}),
			options: InduceOptions{Wait: true, Timeout: time.Minute}, number: 1, takes: idle + 50*time.Millisecond + ends,
		},
		"many more come": {
			react: func(x *stage, what string) {
				switch what {
				case "begin 1":
					x.induce(1)
				case "end 1":
					for n := range uint32(20) {
						x.event(clr.IDGCSuspendEEBegin, le32(uint32(clr.SuspendForGC), 0))
						x.event(clr.IDGCSuspendEEEnd, nil)
						x.beginFor(clr.ReasonInduced, 2+n, 2, clr.TypeBlocking, 0)
						x.end(2+n, 2)
						x.resume()
					}
				}
			},
			options: InduceOptions{Wait: true, Timeout: time.Minute}, number: 1, again: []uint32{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17},
			takes: 3*time.Millisecond + ends,
		},
		"its start is enough": {
			react: on("begin 1", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				x.isOver(time.Hour)
			}),
			options: InduceOptions{Timeout: time.Minute}, number: 1, takes: time.Millisecond + ends,
		},
		"it lasts longer than the timeout": {
			react: on("begin 1", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				time.Sleep(lasts)
				x.end(1, 2)
				x.resume()
			}),
			options: InduceOptions{Wait: true, Timeout: time.Second}, number: 1, takes: lasts + ends,
		},
		"it is answered after it": {
			late: true,
			react: on("ask 1", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				time.Sleep(lasts)
				x.end(1, 2)
				x.resume()
				close(collected)
			}),
			options: InduceOptions{Wait: true, Timeout: time.Second}, number: 1, takes: lasts + ends,
		},
		"after one that is under way": {
			react: func(x *stage, what string) {
				switch what {
				case "witness":
					x.beginBackground(1)
				case "begin 1":
					time.Sleep(lasts)
					x.endBackground(1)
					x.induce(2)
				}
			},
			options: InduceOptions{Wait: true, Timeout: time.Second}, number: 2, takes: lasts + ends,
		},
		"another one is recorded meanwhile": {
			react: func(x *stage, what string) {
				switch what {
				case "witness":
					x.beginBackground(1)
				case "begin 1":
					x.endBackground(1)
					x.suspend(clr.SuspendForGC)
					x.beginFor(clr.ReasonInduced, 2, 2, clr.TypeBlocking, 0)
					time.Sleep(time.Second)
					x.end(2, 2)
					x.resume()
				}
			},
			options: InduceOptions{Wait: true, Timeout: time.Minute}, number: 2, takes: time.Second + ends,
		},
		"after one that is under way in a busy program": {
			react: func(x *stage, what string) {
				switch what {
				case "witness":
					x.beginBackground(1)
				case "begin 1":
					for n := range uint32(lasts / (20 * time.Millisecond)) {
						x.collect(2 + n)
						time.Sleep(17 * time.Millisecond)
					}
					x.endBackground(1)
					x.induce(9999)
				}
			},
			options: InduceOptions{Wait: true, Timeout: time.Second}, number: 9999, takes: lasts + ends,
		},
		"by its number": {
			react: on("begin 1", func(x *stage) {
				x.induce(1)
				x.beginFor(clr.ReasonInduced, 2, 2, clr.TypeBlocking, 7)
				x.end(2, 2)
				x.collect(3)
			}),
			options: InduceOptions{Wait: true, Sequence: 7, Timeout: time.Minute}, number: 2, takes: 6*time.Millisecond + ends,
		},
		"its sessions do not end": {
			react: on("begin 1", func(x *stage) { x.induce(1) }), deaf: true, options: InduceOptions{Wait: true, Timeout: time.Minute},
			number: 1, takes: 5*time.Second + idle + resumeTime + 5*time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				config := fakeruntime.Config{Deaf: c.deaf}
				if c.late {
					collected = make(chan struct{})
					config.Meet = meet(2, func() fakeruntime.Fault { return fakeruntime.Fault{Wait: collected} })
				}
				r := onRequest(t, config, c.react)
				got, err := Induce(t.Context(), r.target, c.options)
				if err != nil {
					t.Fatal(err)
				}
				r.took(t, c.takes)
				var again []uint32
				for _, d := range got.Again {
					again = append(again, d.Number)
				}
				if got.Number != c.number || !slices.Equal(again, c.again) || !got.Sync.Equal(r.began) {
					t.Errorf("it is #%d, and then %v, by the clock of %v; want %d and %v", got.Number, again, got.Sync, c.number, c.again)
				}
				if d := got.GC; c.options.Wait && (d == nil || d.Number != c.number || d.Reason != clr.ReasonInduced || !d.Known.Has(gclog.GroupEnd)) {
					t.Errorf("its record is %+v", d)
				}
			})
		})
	}
}

// TestInducePatient: a program that gets no processor for a while has as long as the caller says.
func TestInducePatient(t *testing.T) {
	const slow = 4 * session.DefaultTimeout
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan struct{})
		time.AfterFunc(slow, func() { close(answers) })
		r := onRequest(t, fakeruntime.Config{Meet: meet(1, func() fakeruntime.Fault { return fakeruntime.Fault{Wait: answers} })}, on("begin 1", func(x *stage) { x.induce(1) }))
		if got, err := Induce(t.Context(), r.target, InduceOptions{Timeout: 2 * slow}); err != nil || got.Number != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	})
}

// TestInduceFails: if a runtime does not do what it is asked for, Induce gives up in time and
// reports the reason.
func TestInduceFails(t *testing.T) {
	const patience = 5*time.Second + idle // of the caller that waits for an answer
	nothing := func(*stage, string) {}
	never := func() fakeruntime.Fault { return fakeruntime.Fault{Silent: true} }
	hangup := func() fakeruntime.Fault { return fakeruntime.Fault{Hangup: true} }
	refuse := func() fakeruntime.Fault { return fakeruntime.Fault{Refuse: 0x80131384} }
	refused := func(err error) bool { _, ok := errors.AsType[*session.ServerError](err); return ok }
	exited := func(err error) bool {
		target, ok := errors.AsType[*host.TargetError](err)
		return ok && target.Cause == host.CauseNoSuchProcess && target.Kind == "ended" && strings.Contains(err.Error(), "exited before its collection ended")
	}
	says := func(text string) func(error) bool {
		return func(err error) bool { return strings.Contains(err.Error(), text) }
	}
	unanswered := func(text string) func(error) bool {
		return func(err error) bool {
			return errors.Is(err, session.ErrNoAnswer) && strings.Contains(err.Error(), text)
		}
	}
	idleSince := func(after time.Duration, text string) func(error) bool {
		return func(err error) bool {
			not, ok := errors.AsType[*NotInducedError](err)
			return ok && not.After == after && strings.Contains(err.Error(), text)
		}
	}
	for name, c := range map[string]struct {
		meet    func(uint16) fakeruntime.Fault
		react   func(*stage, string)
		options InduceOptions
		dead    bool
		stops   time.Duration // when ctx is canceled; 0: never
		fails   func(error) bool
		takes   time.Duration
	}{
		"the first session is refused": {meet: meet(1, refuse), fails: refused},
		"the request is refused":       {meet: meet(2, refuse), fails: refused},
		"the request is not answered": {
			meet: meet(2, never), fails: unanswered("in time (5s)"), takes: patience + time.Second, // it might still be answered
		},
		"the request is not answered in a long time": {
			meet: meet(2, never), options: InduceOptions{Timeout: 8 * time.Second}, fails: unanswered("in time (8s)"), takes: 8*time.Second + idle + time.Second,
		},
		"it hangs up":            {meet: meet(2, hangup), fails: says("closed the connection"), takes: 3*time.Second + 10*time.Millisecond},
		"it hangs up, and exits": {meet: meet(2, hangup), dead: true, fails: exited},
		"it ends the session": {
			react: on("begin 1", func(x *stage) { x.w.End(); x.send(); x.close() }),
			fails: unanswered("the runtime ended the session before the collection"), takes: 3*time.Second + 10*time.Millisecond + resumeTime,
		},
		"it breaks off the session": {
			react: on("begin 1", (*stage).close),
			fails: unanswered("the runtime ended the session before the collection"), takes: 3*time.Second + 10*time.Millisecond + resumeTime,
		},
		"it exits": {react: on("begin 1", (*stage).close), dead: true, fails: exited, takes: resumeTime},
		"its stream is invalid": {
			react: on("begin 1", func(x *stage) { _, _ = x.Conn.Write(make([]byte, 100)) }),
			fails: says("tag"), takes: 3*time.Second + 10*time.Millisecond + resumeTime,
		},
		"nothing comes": {options: InduceOptions{Timeout: 3 * time.Second}, fails: idleSince(3*time.Second, "accepted the request for a collection, but none started within 3s"), takes: 3*time.Second + idle + resumeTime},
		"one background collection follows another": {
			react: func(x *stage, what string) {
				switch what {
				case "witness":
					x.begin(1, 2, clr.TypeBackground)
				case "begin 1":
					for n := uint32(1); !x.isOver(730 * time.Millisecond); n++ {
						x.end(n, 2)
						x.begin(n+1, 2, clr.TypeBackground)
					}
				}
			},
			options: InduceOptions{Timeout: 2 * time.Second}, fails: idleSince(2*time.Second, "none started"), takes: 2200*time.Millisecond + resumeTime,
		},
		"after the end of another collection": {
			react: on("witness", func(x *stage) { x.end(7, 2) }), fails: idleSince(time.Second, "none started"), takes: time.Second + idle + resumeTime,
		},
		"in the histories of another collection": {
			react: on("witness", func(x *stage) {
				history := append(make([]byte, 24), le32(uint32(clr.MechanismConcurrent))...)
				x.event(clr.IDGCGlobalHeapHistory, append(history, make([]byte, 34)...))
			}),
			fails: idleSince(time.Second, "none started"), takes: time.Second + idle + resumeTime,
		},
		"an event of another one is invalid": {
			react: on("witness", func(x *stage) {
				x.beginBackground(1)
				x.event(clr.IDGCStart, nil)
			}),
			fails: idleSince(time.Second, "none started"), takes: time.Second + idle + resumeTime + time.Millisecond,
		},
		"the end of a suspension is lost": {
			react: on("witness", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.w.Lose(5, 8)
				x.event(clr.IDGCTriggered, le32(0))
			}),
			fails: idleSince(time.Second, "none started"), takes: time.Second + idle + resumeTime + time.Millisecond,
		},
		"it exits in its collection": {
			react: on("begin 1", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				x.close()
			}),
			options: InduceOptions{Wait: true}, dead: true, fails: exited, takes: time.Millisecond + resumeTime,
		},
		"it does not end": {
			react: on("begin 1", func(x *stage) {
				x.suspend(clr.SuspendForGC)
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				x.untilStopped()
			}),
			options: InduceOptions{Wait: true}, stops: time.Hour, fails: says("canceled"), takes: time.Hour + resumeTime,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				react := c.react
				if react == nil {
					react = nothing
				}
				r := onRequest(t, fakeruntime.Config{Meet: c.meet}, react)
				if c.dead {
					r.target.StartKey++
				}
				if c.options.Timeout == 0 {
					c.options.Timeout = time.Second
				}
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.stops > 0 {
					time.AfterFunc(c.stops, cancel)
				}
				got, err := Induce(ctx, r.target, c.options)
				if got != nil || err == nil || !c.fails(err) {
					t.Errorf("%+v, %v", got, err)
				}
				r.took(t, c.takes)
				synctest.Wait()
				if n := r.sessions.Load(); n > 0 {
					t.Errorf("%d sessions are left", n)
				}
			})
		})
	}
}

// TestInduceRepeats: a request that is answered and lost is repeated, once, if the runtime answers
// after collecting, and if the end of the first request did not make it collect.
func TestInduceRepeats(t *testing.T) {
	repeat := InduceOptions{Repeat: true, Timeout: time.Minute}
	for name, c := range map[string]struct {
		collects string // what makes it collect
		options  InduceOptions
		requests int
		induced  bool
		takes    time.Duration
	}{
		"the request":    {"begin 1", repeat, 1, true, holdAfter},
		"the end of it":  {"end 1", repeat, 1, true, 2*time.Second + idle + holdAfter},
		"the second one": {"begin 2", repeat, 2, true, 2*(2*time.Second+idle) + resumeTime + holdAfter},
		"nothing":        {"", repeat, 2, false, 2*(2*time.Second+idle) + time.Minute + idle + 2*resumeTime},
		"no time for it": {"begin 2", InduceOptions{Repeat: true, Timeout: time.Second}, 1, false, time.Second + idle + resumeTime},
		"an old runtime": {"begin 2", InduceOptions{Timeout: time.Minute}, 1, false, time.Minute + idle + resumeTime},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := onRequest(t, fakeruntime.Config{}, on(c.collects, func(x *stage) { x.induce(1) }))
				induced, err := Induce(t.Context(), r.target, c.options)
				if n := len(r.asked) - 1; n != c.requests {
					t.Errorf("%d requests, want %d", n, c.requests)
				}
				switch not, ok := errors.AsType[*NotInducedError](err); {
				case c.induced && err != nil:
					t.Error(err)
				case c.induced && (induced.Number != 1 || len(induced.Again) > 0):
					t.Errorf("induced %+v", induced)
				case !c.induced && (!ok || not.After > c.options.Timeout):
					t.Errorf("it says %v", err)
				}
				r.took(t, c.takes)
			})
		})
	}
}

// TestInduceAsks: the request asks for a collection with the given sequence number.
func TestInduceAsks(t *testing.T) {
	for sequence, want := range map[uint64]string{
		0:  " buffer=1 format=1 rundown=0 stacks=false Microsoft-Windows-DotNETRuntime:0x800001:4",
		77: " buffer=1 format=1 rundown=0 stacks=false Microsoft-Windows-DotNETRuntime:0x800001:4:GCSeqNumber=77",
	} {
		synctest.Test(t, func(t *testing.T) {
			r := onRequest(t, fakeruntime.Config{}, on("begin 1", func(x *stage) {
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, sequence)
			}))
			if _, err := Induce(t.Context(), r.target, InduceOptions{Sequence: sequence, Timeout: time.Minute}); err != nil {
				t.Error(err)
			}
			if len(r.asked) != 2 || !strings.HasSuffix(r.asked[1], want) || strings.Contains(r.asked[0], "0x800001") {
				t.Errorf("asked %q, want %q", r.asked, want)
			}
		})
	}
}

// TestAwaitAtOnce: if what is awaited, the time limit and the end of the session come at the same
// moment, it is neither late nor is the session over.
func TestAwaitAtOnce(t *testing.T) {
	for range 50 { // which one is seen first is random
		synctest.Test(t, func(t *testing.T) {
			w := &witness{over: make(chan struct{}), headed: time.Now()}
			ready := make(chan struct{})
			time.AfterFunc(time.Second, func() {
				close(ready)
				w.under.Store(nothing)
			})
			if err := w.await(t.Context(), ready, time.Second/2); err != nil {
				t.Error(err)
			}
			close(w.over)
			if err := w.await(t.Context(), ready, time.Hour); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestWitnessRecognizes: a collection is recognized by its sequence number if it has one, otherwise
// by its kind and reason.
func TestWitnessRecognizes(t *testing.T) {
	start := func(depth uint32, kind clr.GCType, reason clr.Reason, sequence uint64) *clr.GCStart {
		return &clr.GCStart{Depth: depth, Type: kind, Reason: reason, ClientSequence: sequence, HasDepth: true}
	}
	for _, test := range []struct {
		name     string
		sequence uint64
		start    *clr.GCStart
		want     bool
	}{
		{"as asked for", 0, start(2, clr.TypeBlocking, clr.ReasonInduced, 0), true},
		{"as asked for, with somebody's number", 0, start(2, clr.TypeBlocking, clr.ReasonInduced, 9), true},
		{"gen1", 0, start(1, clr.TypeBlocking, clr.ReasonInduced, 0), false},
		{"in the background", 0, start(2, clr.TypeBackground, clr.ReasonInduced, 0), false},
		{"by allocations", 0, start(2, clr.TypeBlocking, clr.ReasonAllocSmall, 0), false},
		{"not forced", 0, start(2, clr.TypeBlocking, clr.ReasonInducedNotForced, 0), false},
		{"its number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 7), true},
		{"another number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 8), false},
		{"no number", 7, start(2, clr.TypeBlocking, clr.ReasonInduced, 0), false},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &witness{sequence: test.sequence}
			if got := w.isIt(test.start); got != test.want {
				t.Errorf("got %v, want %v", got, test.want)
			}
		})
	}
}

func le32(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
