package daemon

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

// newLimiter returns a limiter, and a function that returns what it has written since the last
// call.
func newLimiter() (l *limiter, logged func() []string) {
	var b bytes.Buffer
	log := zerolog.New(&b)
	return &limiter{log: &log}, func() (list []string) {
		for line := range strings.Lines(b.String()) {
			list = append(list, line)
		}
		b.Reset()
		return list
	}
}

// TestLimiterSame: repeated warnings about the same thing are suppressed until the hour is over;
// then their number is reported.
func TestLimiterSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, logged := newLimiter()
		for range 5 {
			l.warn("a", "it is broken", nil)
			l.warn("b", "it is broken", nil)
		}
		if got := logged(); len(got) != 2 {
			t.Errorf("told %q, want it once of each", got)
		}
		l.warn("a", "it is broken otherwise", nil)
		if got := logged(); len(got) != 1 || !strings.Contains(got[0], `"left_out":4,"message":"it is broken otherwise"`) {
			t.Errorf("told %q", got)
		}
		l.warn("a", "it is broken otherwise", nil)
		l.warn("a", "it is broken in a third way", nil)
		l.warn("a", "it is broken in a fourth way", nil)
		if got := logged(); len(got) != 2 || !strings.Contains(got[0], `"left_out":1,"message":"it is broken in a third way"`) || strings.Contains(got[1], "left_out") {
			t.Errorf("told %q", got)
		}
		time.Sleep(limitPeriod - time.Second)
		l.tick(time.Now())
		if got := logged(); got != nil {
			t.Errorf("before the hour is over: %q", got)
		}
		time.Sleep(time.Second)
		l.tick(time.Now())
		if got := logged(); len(got) != 1 || !strings.Contains(got[0], `"left_out":4,"message":"it is broken"`) {
			t.Errorf("after the hour: %q", got)
		}
		l.warn("b", "it is broken", nil)
		if got := logged(); got != nil {
			t.Errorf("what is still said is told again: %q", got)
		}
		time.Sleep(limitPeriod)
		l.tick(time.Now())
		time.Sleep(limitPeriod)
		l.tick(time.Now())
		if len(l.things) != 0 {
			t.Errorf("%d things are kept", len(l.things))
		}
		logged()
		for range 2 {
			l.warn("once", "it is broken", nil)
		}
		time.Sleep(limitPeriod)
		l.tick(time.Now())
		if got := logged(); len(got) != 2 || !strings.Contains(got[1], `"left_out":1`) {
			t.Errorf("what was left out once is told as %q", got)
		}
		l.warn("a", "it is broken", nil)
		if got := logged(); len(got) != 1 {
			t.Errorf("in the next hour: %q", got)
		}
	})
}

// TestLimiterFlood: of different warnings about one thing the first of each hour are logged.
func TestLimiterFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, about := range []string{"a", ""} {
			l, logged := newLimiter()
			for i := range 1000 {
				l.warn(about, fmt.Sprint(i), nil)
			}
			if got := logged(); len(got) != 20 {
				t.Errorf("about %q: told %d of 1000, want 20", about, len(got))
			}
			l.warn("another", "x", nil)
			if got := logged(); len(got) != 1 {
				t.Errorf("about %q: another thing is told %d times", about, len(got))
			}
			time.Sleep(limitPeriod)
			l.tick(time.Now())
			if got := logged(); len(got) != 1 || !strings.Contains(got[0], `"left_out":980`) {
				t.Errorf("about %q: after the hour %q", about, got)
			}
			for i := range 1000 {
				l.warn(about, fmt.Sprint("more ", i), nil)
			}
			if got := logged(); len(got) != 20 || strings.Contains(got[0], "left_out") {
				t.Errorf("about %q: in the next hour %q", about, got)
			}
		}
	})
}

// TestLimiterMany: a source of warnings about ever new things fills neither the log nor the memory.
func TestLimiterMany(t *testing.T) {
	l, logged := newLimiter()
	for i := range 100_000 {
		l.warn(fmt.Sprint("process ", i), fmt.Sprint("it is broken ", i), nil)
	}
	if n := len(logged()); n != 4096+20 || len(l.things) != 4096+1 {
		t.Errorf("%d lines, %d things", n, len(l.things))
	}
}

// TestLimiterUsers: processes of a user that come and go, each with other warnings, hide no warning
// about processes of others, or about the daemon, however many of these users there are.
func TestLimiterUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, logged := newLimiter()
		flood := func(user int) {
			for pid := range 10_000 {
				l.warnOf(user, fmt.Sprintf("%d/%d", user, pid), fmt.Sprint("it is broken ", pid))
			}
		}
		flood(1001)
		if n := len(logged()); n != limitUser+limitCount {
			t.Errorf("%d lines about one user", n)
		}
		heard := func(user int) {
			t.Helper()
			for i := range limitCount / 2 {
				l.warnOf(user, fmt.Sprint("another ", user), fmt.Sprint(user, i))
			}
			if n := len(logged()); n != limitCount/2 {
				t.Errorf("%d warnings about a process of user %d are heard", n, user)
			}
		}
		heard(1002)
		heard(0)
		for user := 2000; user < 2100; user++ {
			flood(user)
		}
		logged()
		heard(1002) // about what was known before
		heard(noUserID)
		if len(l.things) > limitThings+limitUsers {
			t.Errorf("%d things", len(l.things))
		}
		for range 2 {
			time.Sleep(limitPeriod)
			l.tick(time.Now())
		}
		if len(l.things) != 0 || len(l.count) != 0 || l.users != 0 {
			t.Errorf("left: %d things, %v, %d", len(l.things), l.count, l.users)
		}
	})
}
