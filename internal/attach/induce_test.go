package attach

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/internal/nettracetest"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestInduceNothing: what was not seen to begin, or may have ended where events were lost, is
// not under way: where nothing is collected, that is not waited for.
func TestInduceNothing(t *testing.T) {
	for name, rows := range map[string][]nettracetest.Row{
		"behind the end of a collection": {{Kind: clr.IDGCEnd, Payload: le32(7, 2)}, {Kind: clr.IDGCHeapStats, Payload: make([]byte, 110)}},
		"in its histories":               {{Kind: clr.IDGCGlobalHeapHistory, Payload: append(make([]byte, 24), append(le32(uint32(clr.MechanismConcurrent)), make([]byte, 34)...)...)}},
		"the end of a suspension is lost": {
			{Kind: clr.IDGCSuspendEEBegin, Seq: 1, Payload: le32(uint32(clr.SuspendForGC), 0)},
			{Kind: clr.IDGCTriggered, Seq: 9, Payload: le32(0)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := silentTarget(t, "9.0.0", func(s *fakeruntime.Session, w *nettracetest.V4) {
					_, _ = s.Conn.Write(w.Take())
					<-s.Stopped
				}, rows...)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				_, err := Induce(ctx, target, InduceOptions{Wait: true, NativeAOT: true, Timeout: time.Minute})
				if not, ok := errors.AsType[*NotInducedError](err); !ok || not.After != nativeTime {
					t.Errorf("it says %v", err)
				}
			})
		})
	}
}

// TestInduceInterrupted: a process that stands in its collection for ever, as in a debugger,
// is waited for as long as nobody has enough of it.
func TestInduceInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := silentTarget(t, "7.0.0", func(s *fakeruntime.Session, w *nettracetest.V4) {
			_, _ = s.Conn.Write(w.Take())
			<-s.Over
		}, nettracetest.Row{Kind: clr.IDGCSuspendEEBegin, Payload: le32(uint32(clr.SuspendForGC), 0)})
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := Induce(ctx, target, InduceOptions{Timeout: time.Second})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took < time.Hour || took > time.Hour+time.Minute {
			t.Errorf("it says %v after %v", err, took)
		}
	})
}

// TestInduceBusy: a program in which one background collection follows another is not waited for
// for ever.
func TestInduceBusy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := func(number uint32, at time.Duration) nettracetest.Row {
			return nettracetest.Row{Kind: clr.IDGCStart, Ticks: int64(at), Payload: le32(number, 2, uint32(clr.ReasonAllocLarge), uint32(clr.TypeBackground))}
		}
		target := silentTarget(t, "9.0.0", func(s *fakeruntime.Session, w *nettracetest.V4) {
			clock := nettracetest.DefaultClock()
			for number, each := uint32(1), 700*time.Millisecond; ; number++ {
				_, _ = s.Conn.Write(w.Take())
				select {
				case <-s.Stopped:
					return
				case <-time.After(each):
				}
				w.Open()
				at := time.Duration(number) * each
				for _, row := range []nettracetest.Row{{Kind: clr.IDGCEnd, Ticks: int64(at), Payload: le32(number, 2)}, start(number+1, at+time.Millisecond)} {
					row.Thread, row.Ticks, row.Sorted = 5, clock.Ticks+row.Ticks, true
					row.Payload = append(row.Payload, 0, 0)
					w.Add(row)
				}
				w.Close()
			}
		}, start(1, 0))
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		_, err := Induce(ctx, target, InduceOptions{NativeAOT: true, Timeout: time.Minute})
		if _, ok := errors.AsType[*NotInducedError](err); !ok || time.Since(began) > 2*nativeTime {
			t.Errorf("it says %v after %v", err, time.Since(began))
		}
	})
}

// TestInduceRepeats: a request that is answered and lost is repeated, once, where the runtime answers
// when it has collected, and where the end of the first request did not make it collect.
func TestInduceRepeats(t *testing.T) {
	for name, test := range map[string]struct {
		collects string // what makes it collect
		options  InduceOptions
		requests int64
		induced  bool
	}{
		"the request":         {"begin 1", InduceOptions{Repeat: true, Timeout: time.Minute}, 1, true},
		"the end of it":       {"end 1", InduceOptions{Repeat: true, Timeout: time.Minute}, 1, true},
		"the second one":      {"begin 2", InduceOptions{Repeat: true, Timeout: time.Minute}, 2, true},
		"nothing":             {"", InduceOptions{Repeat: true, Timeout: time.Minute}, 2, false},
		"no time for it":      {"begin 2", InduceOptions{Repeat: true, Timeout: time.Second}, 1, false},
		"an old runtime":      {"begin 2", InduceOptions{Timeout: time.Minute}, 1, false},
		"a NativeAOT program": {"begin 2", InduceOptions{NativeAOT: true, Timeout: time.Minute}, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var requests atomic.Int64
				collect := make(chan struct{}, 9)
				happens := func(what string, n int64) {
					if test.collects == fmt.Sprintf("%s %d", what, n) {
						collect <- struct{}{}
					}
				}
				target := silentTarget(t, "10.0.0", func(s *fakeruntime.Session, w *nettracetest.V4) {
					_, _ = s.Conn.Write(w.Take())
					if s.ID > 1 { // not the witness
						n := requests.Add(1)
						happens("begin", n)
						<-s.Stopped
						happens("end", n)
						return
					}
					for number := uint32(1); ; number++ {
						select {
						case <-s.Stopped:
							return
						case <-collect:
						}
						w.Open()
						for i, row := range []nettracetest.Row{
							{Kind: clr.IDGCStart, Payload: le32(number, 2, uint32(clr.ReasonInduced), uint32(clr.TypeBlocking))},
							{Kind: clr.IDGCEnd, Payload: le32(number, 2)},
							{Kind: clr.IDGCHeapStats, Payload: make([]byte, 110)},
						} {
							row.Thread, row.Ticks, row.Sorted = 5, nettracetest.DefaultClock().Ticks+int64(number)*10+int64(i), true
							row.Payload = append(row.Payload, 0, 0)
							w.Add(row)
						}
						w.Close()
						_, _ = s.Conn.Write(w.Take())
					}
				})
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				induced, err := Induce(ctx, target, test.options)
				if requests.Load() != test.requests {
					t.Errorf("%d requests, want %d", requests.Load(), test.requests)
				}
				switch not, ok := errors.AsType[*NotInducedError](err); {
				case test.induced && err != nil:
					t.Error(err)
				case test.induced && (induced.Number != 1 || len(induced.Again) > 0):
					t.Errorf("induced %+v", induced)
				case !test.induced && (!ok || not.After > test.options.Timeout):
					t.Errorf("it says %v", err)
				}
			})
		})
	}
}

// silentTarget is a runtime that sends these events in each session, and says no more.
func silentTarget(t *testing.T, version string, trace func(*fakeruntime.Session, *nettracetest.V4), rows ...nettracetest.Row) *session.Target {
	t.Helper()
	l := pipes()
	runtime, err := fakeruntime.Start(fakeruntime.Config{Listener: l, PID: 1, Version: version, Trace: func(s *fakeruntime.Session) string {
		w := &nettracetest.V4{}
		clock := nettracetest.DefaultClock()
		w.Begin(clock)
		for id, version := range map[uint32]uint32{clr.IDGCStart: 1, clr.IDGCEnd: 1, clr.IDGCHeapStats: 2, clr.IDGCGlobalHeapHistory: 4, clr.IDGCSuspendEEBegin: 1, clr.IDGCTriggered: 1} {
			w.Metadata(nettracetest.Kind{ID: id, Provider: clr.RuntimeProvider, EventID: id, Version: version, Level: clr.LevelInformational, Keywords: clr.KeywordGC})
		}
		w.Open()
		for i, row := range rows {
			row.Thread, row.Ticks, row.Sorted = 5, clock.Ticks+int64(i), true
			row.Payload = append(row.Payload, 0, 0) // the runtime's instance
			w.Add(row)
		}
		w.Close()
		trace(s, w)
		w.End()
		_, _ = s.Conn.Write(w.Take())
		return "is over"
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = runtime.Close() })
	return &session.Target{Client: session.Client{Dial: l.dial}, Process: session.Process{PID: 1}}
}

func le32(values ...uint32) (b []byte) {
	for _, v := range values {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}

// TestWitnessRecognizes: a collection is known by its number where it has one, else by
// what it is.
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
