package doctor

import (
	"errors"
	"fmt"
	"testing"

	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/session"
)

// TestPatiently: a process whose threads wait for a processor gets more time, one that hangs does not.
func TestPatiently(t *testing.T) {
	late := fmt.Errorf("late: %w", session.ErrNoAnswer)
	other := errors.New("refused")
	for _, c := range []struct {
		name    string
		waits   int64 // nanoseconds that its threads wait for a processor during the first request
		known   bool
		answers []error
		want    error
		asked   int
		warned  bool
	}{
		{"answers", 1 << 40, true, []error{nil}, nil, 1, false},
		{"refuses", 1 << 40, true, []error{other}, other, 1, false},
		{"hangs", 0, true, []error{late, nil}, late, 1, false},
		{"nobody knows", 1 << 40, false, []error{late, nil}, late, 1, false},
		{"has no processor", 1 << 40, true, []error{late, nil}, nil, 2, true},
		{"has no processor and refuses", 1 << 40, true, []error{late, other}, other, 2, true},
		{"has no processor for long", 1 << 40, true, []error{late, late}, late, 2, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, target := &Report{}, &host.Target{Process: host.Process{PID: 7}}
			asked, delay := 0, int64(1000)
			err := r.patiently(t.Context(), target, func() (int64, bool) { return delay, c.known }, func() error {
				delay += c.waits
				asked++
				return c.answers[asked-1]
			})
			if !errors.Is(err, c.want) || asked != c.asked {
				t.Errorf("error %v after %d requests", err, asked)
			}
			if c.warned {
				wants(t, r, "no-cpu", "process 7 has answered only after")
			} else if len(r.Findings) > 0 {
				t.Errorf("findings: %+v", r.Findings)
			}
			if patient := target.Timeout == starvedTime; patient != (asked == 2) {
				t.Errorf("it has %v for what follows", target.Timeout)
			}
		})
	}
	target := &host.Target{}
	target.Timeout = starvedTime
	asked := 0
	_ = (&Report{}).patiently(t.Context(), target, func() (int64, bool) { asked++; return 1 << 50, true }, func() error { return late })
	if asked != 1 {
		t.Error("a process that has had its time is looked at once more")
	}
}
