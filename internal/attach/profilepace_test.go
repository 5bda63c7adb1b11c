package attach

import (
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
)

// TestPace: whatever a process does, its profile takes no more than the budget, and what it may take is used.
func TestPace(t *testing.T) {
	const duration = 30 * time.Second
	for _, tc := range []struct {
		name       string
		version    string
		events     func(at time.Duration) float64 // per second
		processors float64                        // that it uses
		most       float64                        // of its CPU time
		least      time.Duration                  // watched
	}{
		{"idle", "10.0.1", func(time.Duration) float64 { return 0.1 }, 0.001, 1, 29 * time.Second},
		{"1 MB/s", "10.0.1", func(time.Duration) float64 { return 10 }, 0.01, 1, 29 * time.Second},
		{"3 MB/s", "10.0.1", func(time.Duration) float64 { return 30 }, 0.04, 1, 29 * time.Second},
		{"1 GB/s on 8", "8.0.1", func(time.Duration) float64 { return 9800 }, 1, 0.0225, 4 * time.Second},
		{"1 GB/s on 11", "11.0.0", func(time.Duration) float64 { return 9800 }, 1, 0.0225, time.Second},
		{"4 GB/s on 11", "11.0.0", func(time.Duration) float64 { return 39200 }, 2, 0.025, 500 * time.Millisecond},
		{"more and more", "10.0.1", func(at time.Duration) float64 { return 200 * at.Seconds() }, 1, 0.026, 5 * time.Second},
		{"less and less", "10.0.1", func(at time.Duration) float64 { return 10000 / (1 + at.Seconds()) }, 1, 0.0225, 10 * time.Second},
		{"suddenly", "10.0.1", func(at time.Duration) float64 {
			if at < 10*time.Second {
				return 10
			}
			return 10000
		}, 1, 0.03, 10 * time.Second},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newPace(&ProfileOptions{Duration: duration, Allocations: true, Budget: ProfileBudget},
				&gclog.Process{RuntimeVersion: tc.version})
			now, events, watched := time.Duration(0), 0.0, time.Duration(0)
			began := time.Now()
			state := func() usage {
				return usage{
					at: began.Add(now), cpu: time.Duration(float64(now) * tc.processors), knowsCPU: true,
					events: int64(events), watched: watched, methods: 3000,
				}
			}
			length := p.begin(state())
			for windows := 0; ; windows++ {
				const step = 10 * time.Millisecond
				for end := min(now+length, duration); now < end; now += step {
					events += tc.events(now) * step.Seconds()
					if watched += step; p.tooMuch(state()) {
						break
					}
				}
				if now >= duration {
					break
				}
				next := p.next(state())
				if now += next.wait; now >= duration {
					break
				}
				if length = next.length; windows > 100 {
					t.Fatal("there are too many windows")
				}
			}
			cost := p.spent(state())
			if share := cost.Seconds() / (duration.Seconds() * tc.processors); share > tc.most {
				t.Errorf("it takes %.2f %% of the CPU time", 100*share)
			}
			if watched < tc.least {
				t.Errorf("it is watched for %v", watched)
			}
			t.Logf("%v in %d windows, %v", watched, p.windows, cost)
		})
	}
}
