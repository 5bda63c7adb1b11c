package attach

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/fakeruntime"
	"github.com/gclog/gclog/session"
)

// TestRunSwitches: sessions with other levels take over from one another, also before the one before
// has taken over. Each collection is recorded once, however Run ends.
func TestRunSwitches(t *testing.T) {
	for name, c := range map[string]struct {
		times []time.Duration // when the level changes
		asks  time.Duration
		count int64
	}{
		"there and back":            {[]time.Duration{2 * time.Second, 8 * time.Second}, 15 * time.Second, 0},
		"many at once":              {[]time.Duration{2 * time.Second, 2 * time.Second, 2 * time.Second, 2100 * time.Millisecond}, 15 * time.Second, 0},
		"stopped in the middle":     {[]time.Duration{2 * time.Second}, 2500 * time.Millisecond, 0},
		"counted over all sessions": {[]time.Duration{2 * time.Second, 5 * time.Second}, time.Minute, 30},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out bytes.Buffer
				p := program{began: time.Now()}
				o := lightOptions(t, onStage(t, fakeruntime.Config{Version: "8.0.1"}, p.play), &out)
				levels := make(chan session.Config, len(c.times))
				o.Switch, o.Process, o.Progress, o.Count = levels, &gclog.Process{ID: 1}, &Progress{}, c.count
				for i, at := range c.times {
					time.AfterFunc(at, func() { levels <- configOf(t, Levels[(i+1)%2]) })
				}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(c.asks, cancel)
				r, err := Run(ctx, o)
				if err != nil || r.Err != nil {
					t.Fatalf("%v, %+v", err, r)
				}
				last := uint32(time.Since(p.began) * 3 / time.Second)
				if c.count > 0 {
					last = uint32(c.count)
				}
				logged := map[uint32]int{}
				starts := 0
				for _, l := range linesOf(t, out.Bytes()) {
					switch l.Event.Action {
					case "gc":
						logged[l.Dotnet.GC.Number]++
					case "gc-gap":
						t.Errorf("unexpected %v", &l)
					case "gc-session-start":
						starts++
					}
				}
				for n := uint32(1); n < last; n++ {
					if logged[n] != 1 {
						t.Errorf("#%d of %d is recorded %d times: %v", n, last, logged[n], logged)
					}
				}
				if starts != len(c.times)+1 {
					t.Errorf("%d sessions have started", starts)
				}
			})
		})
	}
}
