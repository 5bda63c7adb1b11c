package attach

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/parse/clr"
)

// A limitedWriter fails after a number of bytes.
type limitedWriter struct {
	io.Writer
	left int
}

func (w *limitedWriter) Write(p []byte) (int, error) {
	if w.left -= len(p); w.left < 0 {
		return 0, errBroken
	}
	return w.Writer.Write(p)
}

// TestRecord: a recording contains the whole stream, until its time is up, it is stopped, the
// stream ends, or it cannot be written.
func TestRecord(t *testing.T) {
	for name, c := range map[string]struct {
		play      func(*stage)
		duration  time.Duration
		asks      time.Duration // when ctx is canceled; 0: never
		room      int           // of the disk, in bytes; 0: enough
		lasts     time.Duration
		collected int
		is        func(error) bool // the error that is expected; nil: none
		waits     bool
	}{
		"for a time":          {play: everySecond, duration: 2500 * time.Millisecond, lasts: 2500 * time.Millisecond, collected: 2},
		"until it is stopped": {play: everySecond, asks: 1500 * time.Millisecond, lasts: 1500 * time.Millisecond, collected: 1},
		"until the end":       {play: func(x *stage) { time.Sleep(time.Second); x.collect(1) }, lasts: time.Second, collected: 1},
		"the disk is full": {
			play: everySecond, room: 2600, lasts: time.Second,
			is: func(err error) bool {
				_, ok := errors.AsType[*WriteError](err)
				return ok && errors.Is(err, errBroken) && strings.Contains(err.Error(), "the recording is incomplete: broken")
			},
		},
		"the runtime takes long": {
			play: func(x *stage) { everySecond(x); <-x.Over }, duration: 1500 * time.Millisecond, lasts: 1500*time.Millisecond + 5*time.Second, collected: 1, waits: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				var w io.Writer = &out
				if c.room > 0 {
					w = &limitedWriter{w, c.room}
				}
				ctx := t.Context()
				if c.asks > 0 {
					limited, cancel := context.WithTimeout(ctx, c.asks)
					defer cancel()
					ctx = limited
				}
				target := onStage(t, fakeruntime.Config{Version: "8.0.1", Name: "shop"}, c.play)
				began, waited := time.Now(), atomic.Int64{}
				err := Record(ctx, target, configOf(t, "light"), c.duration, w, func() { waited.Store(int64(time.Since(began))) })
				if c.is == nil && err != nil || c.is != nil && !c.is(err) {
					t.Error(err)
				}
				if took := time.Since(began); took < c.lasts || took > c.lasts+50*time.Millisecond {
					t.Errorf("it took %v, want %v", took, c.lasts)
				}
				if after := time.Duration(waited.Load()); c.waits != (after > 0) || c.waits && !about(after, c.lasts-5*time.Second+time.Second) {
					t.Errorf("Waiting was called after %v", after)
				}
				if c.is != nil {
					return
				}
				if !c.waits { // else the end of the stream is missing
					if p := processOf(t, out.Bytes()); p.Name != "shop" || p.RuntimeVersion != "8.0.1" {
						t.Errorf("it tells of %+v", p)
					}
				}
				if n := bytes.Count(out.Bytes(), []byte("EventBlock")); n != 1+7*c.collected {
					t.Errorf("it has %d blocks, want those of %d collections, and ours", n, c.collected)
				}
			})
		})
	}
}

// TestRecordNone: without a session nothing is recorded.
func TestRecordNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		target := onStage(t, fakeruntime.Config{Version: "8.0.1", Refuse: 0x80131384}, everySecond)
		if err := Record(t.Context(), target, configOf(t, "light"), 0, &out, nil); err == nil || out.Len() > 0 {
			t.Errorf("%v, %d bytes", err, out.Len())
		}
	})
}

// A failingReader ends with an error.
type failingReader struct {
	r   io.Reader
	err error
}

func (r failingReader) Read(p []byte) (int, error) {
	n, err := r.r.Read(p)
	if errors.Is(err, io.EOF) {
		err = r.err
	}
	return n, err
}

// TestCopyAll: when writing fails the session is asked to end, and the rest of it is still read.
// The error is the first that occurred.
func TestCopyAll(t *testing.T) {
	const size = 3 << 20
	for name, c := range map[string]struct {
		room  int
		read  error
		asked bool
		want  string
	}{
		"all is well":          {size, io.EOF, false, ""},
		"it cannot be written": {size / 2, io.EOF, true, "the recording is incomplete: broken"},
		"it cannot be read":    {size, io.ErrUnexpectedEOF, false, "reading the stream: unexpected EOF"},
		"neither works":        {size / 2, io.ErrUnexpectedEOF, true, "the recording is incomplete: broken"},
	} {
		var out bytes.Buffer
		r := bytes.NewReader(make([]byte, size))
		asked := 0
		err := copyAll(&limitedWriter{&out, c.room}, failingReader{r, c.read}, func() { asked++ })
		if err == nil && c.want != "" || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
		if asked > 1 || (asked == 1) != c.asked || r.Len() > 0 {
			t.Errorf("%s: asked %d times, %d bytes are unread", name, asked, r.Len())
		}
		if c.room == size && out.Len() != size {
			t.Errorf("%s: %d bytes", name, out.Len())
		}
	}
}

// TestObserve: the records are passed to an observer. At the end the process contains what events
// have shown.
func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		play       func(*stage)
		seen       []string
		end        gclog.EndReason
		fails      string
		concurrent gclog.Known
	}{
		"to its end": {
			func(x *stage) {
				x.collect(1)
				x.untilStopped()
				x.runtimeInfo()
			},
			[]string{"pause of 1", "gc 1"},
			gclog.EndDetached, "", gclog.No,
		},
		"the runtime ends it": {
			func(x *stage) { x.collect(1) },
			[]string{"pause of 1", "gc 1"},
			gclog.EndStreamError, "its runtime ended the session", gclog.Unknown,
		},
		"nothing happens": {(*stage).untilStopped, nil, gclog.EndDetached, "", gclog.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, c.play)
				s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Warn: func(s string) { t.Error(s) }})
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Second, s.Ask)
				var w watcher
				var p *gclog.Process
				end, err := s.Observe(&gclog.Process{ID: 7, Name: "shop"}, func(known *gclog.Process) gclog.Observer {
					p = known
					if p.Name != "shop" || !p.Sync.Equal(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)) {
						t.Errorf("it begins with %+v", p)
					}
					return w.Observe
				})
				if c.fails == "" && err != nil || c.fails != "" && (err == nil || !strings.Contains(err.Error(), c.fails)) {
					t.Errorf("%v, want %q", err, c.fails)
				}
				if end.Reason != c.end || !reflect.DeepEqual(w.seen, c.seen) {
					t.Errorf("seen %q, and it ends with %v; want %q and %v", w.seen, end.Reason, c.seen, c.end)
				}
				if p.Concurrent != c.concurrent {
					t.Errorf("the process is %+v", p)
				}
			})
		})
	}
}

// TestLearn: what is known takes precedence over what events have shown.
func TestLearn(t *testing.T) {
	shown := gclog.Process{Server: gclog.Yes, ServerFrom: gclog.EvidenceReported, Concurrent: gclog.No, HeapCount: 4}
	for _, c := range []struct{ known, want gclog.Process }{
		{gclog.Process{}, shown},
		{
			gclog.Process{Server: gclog.No, ServerFrom: gclog.EvidenceThreads, Concurrent: gclog.Yes, HeapCount: 2},
			gclog.Process{Server: gclog.No, ServerFrom: gclog.EvidenceThreads, Concurrent: gclog.Yes, HeapCount: 2},
		},
	} {
		p := c.known
		if learn(&p, &shown); !reflect.DeepEqual(p, c.want) {
			t.Errorf("%+v becomes %+v, want %+v", c.known, p, c.want)
		}
	}
}

// TestSilence: an idle process costs hardly anything. While something is in progress the session
// checks whether it stalls.
func TestSilence(t *testing.T) {
	for name, c := range map[string]struct {
		play   func(*stage)
		looks  [2]int // reads that time out in an hour: at least, at most
		stalls bool
	}{
		"nothing is under way": {func(x *stage) { x.collect(1); x.untilStopped() }, [2]int{1, 10}, false},
		"a collection hangs": {func(x *stage) {
			x.collect(1)
			x.suspend(clr.SuspendForGC)
			x.begin(2, 2, clr.TypeBlocking)
			x.untilStopped()
		}, [2]int{145, 180}, true},
		"what comes is not whole yet": {(*stage).untilStopped, [2]int{200, 202}, false}, // metadata without an event
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "8.0.1"}, c.play)
				var silences atomic.Int64
				dial := target.Dial
				target.Dial = func(ctx context.Context) (net.Conn, error) {
					conn, err := dial(ctx)
					return countingConn{conn, &silences}, err
				}
				var out bytes.Buffer
				specs, opener := jsonTo(t, &out)
				s, err := Open(t.Context(), target, SessionOptions{Config: configOf(t, "light"), Warn: func(string) {}})
				if err != nil {
					t.Fatal(err)
				}
				time.AfterFunc(time.Hour, s.Abort)
				l := &Log{Outputs: specs, Opener: opener}
				_, _ = l.Write(s, &gclog.Process{ID: 1}, nil)
				// Each time the reader retries at once.
				if n := int(silences.Load()) / 2; n < c.looks[0] || n > c.looks[1] {
					t.Errorf("looked %d times, want %v", n, c.looks)
				}
				if seen := strings.Contains(summaryOf(t, out.Bytes()), "stall"); seen != c.stalls {
					t.Errorf("seen %s", summaryOf(t, out.Bytes()))
				}
			})
		})
	}
}
