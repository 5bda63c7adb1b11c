package attach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/parse"
	"github.com/gclog/gclog/parse/clr"
	"github.com/gclog/gclog/session"
)

// TestRequestedWith: of the full collections around a walk those count that the same thread has
// requested.
func TestRequestedWith(t *testing.T) {
	gc := func(number uint32, trigger uint64) *gclog.GCDetails {
		d := &gclog.GCDetails{Number: number, Trigger: trigger}
		d.Known.Set(gclog.GroupTrigger, trigger != 0)
		return d
	}
	for name, c := range map[string]struct {
		all  []*gclog.GCDetails
		want []uint32
	}{
		"nothing was recorded":          {all: []*gclog.GCDetails{nil}},
		"the walk's was not recorded":   {all: []*gclog.GCDetails{gc(4, 9), gc(6, 9)}},
		"the walk's":                    {all: []*gclog.GCDetails{gc(5, 9)}, want: []uint32{5}},
		"and that of the end":           {all: []*gclog.GCDetails{gc(5, 9), gc(6, 9)}, want: []uint32{5, 6}},
		"the program's around them":     {all: []*gclog.GCDetails{gc(4, 1), gc(5, 9), gc(6, 1), gc(7, 9), gc(8, 1)}, want: []uint32{5, 7}},
		"of threads that are not known": {all: []*gclog.GCDetails{gc(4, 0), gc(5, 0), gc(6, 0)}, want: []uint32{5}},
	} {
		var got []uint32
		for _, d := range requestedWith(5, c.all) {
			got = append(got, d.Number)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestFrequent: background collections are frequent if they took much time, with little in between.
func TestFrequent(t *testing.T) {
	for name, c := range map[string]struct {
		took, age time.Duration
		most      int
		want      bool
	}{
		"none":                         {age: time.Minute},
		"five in a second":             {took: 100 * time.Millisecond, most: 5, age: time.Second, want: true},
		"short ones":                   {took: 9 * time.Millisecond, most: 5, age: time.Second},
		"at the start, a minute ago":   {took: 3 * time.Second, most: 9, age: time.Minute},
		"two a second, for an hour":    {took: 72 * time.Second, most: 7200, age: time.Hour, want: true},
		"one a second, for an hour":    {took: 72 * time.Second, most: 3600, age: time.Hour},
		"long ones with short gaps":    {took: 50 * time.Second, most: 55, age: time.Minute, want: true},
		"one each minute, for an hour": {took: 2 * time.Minute, most: 300, age: time.Hour},
	} {
		if got := frequent(c.took, c.age, c.most); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestWalkOver: a session for a walk ends with the requested collection, also if the end of that was
// lost, or all of it. Collections before it, which are walked too, do not end it.
func TestWalkOver(t *testing.T) {
	start := func(number, depth uint32, reason clr.Reason) [4]uint32 { // otherwise {number, MaxUint32} is an end
		return [4]uint32{number, depth, uint32(reason), uint32(clr.TypeBlocking)}
	}
	walk, end := [4]uint32{math.MaxUint32}, func(number uint32) [4]uint32 { return [4]uint32{number, math.MaxUint32} }
	unwalked := [][4]uint32{start(6, 0, clr.ReasonAllocSmall), walk, end(6)}
	for i := range uint32(2 * mostUnwalked) {
		unwalked = append(unwalked, start(7+i, 0, clr.ReasonAllocSmall))
	}
	for name, c := range map[string]struct {
		events [][4]uint32
		over   []int // after which events
		walked bool
		lost   bool // events were lost
		number uint32
	}{
		"the requested one":                               {[][4]uint32{start(7, 2, clr.ReasonInduced), walk, walk, end(7), start(8, 0, clr.ReasonAllocSmall), end(8)}, []int{3}, true, false, 7},
		"its end was lost":                                {[][4]uint32{start(7, 2, clr.ReasonInduced), walk, start(9, 0, clr.ReasonAllocSmall), end(9)}, []int{2}, false, true, 7},
		"another comes late":                              {[][4]uint32{start(7, 2, clr.ReasonInduced), walk, start(6, 0, clr.ReasonAllocSmall), end(6), walk, end(7)}, []int{5}, true, false, 7},
		"its start comes late":                            {[][4]uint32{walk, start(7, 2, clr.ReasonInduced), walk, end(7)}, []int{3}, true, false, 7},
		"its start comes last":                            {[][4]uint32{start(6, 0, clr.ReasonAllocSmall), end(6), walk, end(7), start(7, 2, clr.ReasonInduced)}, []int{4}, true, false, 7},
		"all but a lesser one's was lost":                 {[][4]uint32{start(6, 0, clr.ReasonAllocSmall), walk, end(6), start(7, 0, clr.ReasonAllocSmall), end(7), start(8, 0, clr.ReasonAllocSmall), end(8)}, []int{5}, false, true, 0},
		"the same, without a sign of loss":                {unwalked, []int{2 + mostUnwalked + 1}, false, false, 0},
		"others are walked first":                         {[][4]uint32{start(5, 0, clr.ReasonAllocSmall), walk, end(5), start(6, 2, clr.ReasonInduced), end(6), start(7, 2, clr.ReasonInduced), walk, end(7)}, []int{7}, true, false, 7},
		"others are walked first, and something was lost": {[][4]uint32{start(5, 0, clr.ReasonAllocSmall), walk, end(5), start(6, 2, clr.ReasonInduced), end(6), start(7, 2, clr.ReasonInduced), walk, end(7)}, []int{7}, true, true, 7},
	} {
		r, decoder := &walkReader{lost: c.lost}, clr.NewDecoder(8)
		var over []int
		for i, x := range c.events {
			e := &parse.Event{Version: 2, Meta: &parse.Metadata{Provider: clr.RuntimeProvider, EventID: clr.IDGCStart}}
			switch {
			case x == walk:
				e.Meta.EventID = clr.IDGCBulkNode
			case x[1] == math.MaxUint32:
				e.Meta.EventID, e.Version, e.Payload = clr.IDGCEnd, 1, le32(x[0], 2)
			default:
				e.Payload = append(le32(x[:]...), make([]byte, 10)...)
			}
			if r.event(e, decoder) {
				over = append(over, i)
			}
		}
		if !slices.Equal(over, c.over) || r.walked != c.walked || r.number != c.number {
			t.Errorf("%s: over after %v, want %v; walked: %v, by collection %d, want %d", name, over, c.over, r.walked, r.number, c.number)
		}
	}
}

// discarded is a spool that keeps nothing.
type discarded struct{ io.Writer }

func (discarded) CloseWithError(error) error { return nil }

// TestSnapshotSlow: a runtime that answers before it walks, and then sends nothing, is waited for as long
// as the walk may take, which is longer than the answer may. It has not refused to walk its heap.
func TestSnapshotSlow(t *testing.T) {
	for _, answers := range []bool{true, false} {
		t.Run(fmt.Sprint(answers), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := fakeruntime.Config{Version: "11.0.0", Deaf: true}
				if !answers {
					c.Walked = make(chan struct{}) // it walks first
				}
				target := onStage(t, c, func(x *stage) { _, _ = x.Conn.Read(make([]byte, 1)) })
				began := time.Now()
				_, err := TakeSnapshot(t.Context(), target, SnapshotOptions{
					BufferMB: 1, Most: 1 << 20, Answer: 10 * time.Second, Timeout: 5 * time.Minute, Spool: discarded{io.Discard}, Progress: &SnapshotProgress{},
				})
				if !errors.Is(err, session.ErrNoAnswer) || errors.Is(err, ErrNoWalk) || !strings.Contains(err.Error(), "a longer --timeout waits for that") {
					t.Errorf("error %v", err)
				}
				if walks := time.Since(began) > 5*time.Minute; walks != answers {
					t.Errorf("given up after %v", time.Since(began))
				}
			})
		})
	}
}

// TestSnapshotLate: a walk that has begun and is not over in time says so, because it has lost nothing.
func TestSnapshotLate(t *testing.T) {
	for _, ends := range []bool{true, false} {
		t.Run(fmt.Sprint(ends), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				target := onStage(t, fakeruntime.Config{Version: "11.0.0", Deaf: !ends}, func(x *stage) {
					if x.ID == 2 {
						x.suspend(clr.SuspendForGC)
						x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
						x.event(clr.IDGCBulkNode, append(le32(0, 0), x.instance, 0))
					}
					if ends {
						x.untilStopped() // the end of the walk was lost
						return
					}
					_, _ = x.Conn.Read(make([]byte, 1))
				})
				s, err := TakeSnapshot(t.Context(), target, SnapshotOptions{
					BufferMB: 1, Most: 1 << 20, Timeout: 2 * time.Minute, Spool: discarded{io.Discard}, Progress: &SnapshotProgress{},
				})
				if err != nil {
					t.Fatal(err)
				}
				s.Close()
				if s.Late == ends {
					t.Errorf("late: %v", s.Late)
				}
			})
		})
	}
}

// TestSnapshotPatience: a snapshot that is interrupted waits for the end of the walk only as long as it
// may; then the connection of the walk is closed before that of the witness.
func TestSnapshotPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var closed []time.Time // connections
		walks := make(chan struct{})
		target := onStage(t, fakeruntime.Config{Version: "11.0.0", Deaf: true}, func(x *stage) {
			if x.ID == 2 {
				x.beginFor(clr.ReasonInduced, 1, 2, clr.TypeBlocking, 0)
				close(walks)
			}
			_, _ = x.Conn.Read(make([]byte, 1)) // nothing is sent to it
			mu.Lock()
			defer mu.Unlock()
			closed = append(closed, time.Now())
		})
		ctx, cancel := context.WithCancel(t.Context())
		go func() {
			<-walks
			time.Sleep(time.Minute)
			cancel()
		}()
		began := time.Now()
		_, err := TakeSnapshot(ctx, target, SnapshotOptions{
			BufferMB: 1, Most: 1 << 20, Timeout: time.Hour, Patience: 2 * time.Second, Spool: discarded{io.Discard}, Progress: &SnapshotProgress{},
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		if len(closed) != 2 || closed[0].Sub(began).Round(time.Second) != time.Minute+2*time.Second || closed[1].Sub(closed[0]) < time.Second {
			t.Errorf("closed at %v, %v after the start", closed, time.Since(began))
		}
	})
}
