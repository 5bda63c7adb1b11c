package daemon

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

var errMismatch = errors.New("mismatch")

// guarded returns passwords of which a check takes some time.
func guarded(t *testing.T, took time.Duration, users map[string]string) *passwords {
	p := newPasswords()
	p.check = func(hash, password []byte) error {
		time.Sleep(took)
		if string(hash) != "hash of "+string(password) {
			return errMismatch
		}
		return nil
	}
	p.use(users)
	t.Cleanup(func() {
		for isRunning := true; isRunning; time.Sleep(time.Second) {
			p.mu.Lock()
			isRunning = p.running
			p.mu.Unlock()
		}
	})
	return p
}

func from(s string) source { return source{address: netip.MustParsePrefix(s)} }

// flood guesses from n connections until the test ends; each waits for its answer, as long as it is
// not closed.
func flood(ctx context.Context, p *passwords, n int, of source, closed time.Duration) {
	for i := range n {
		go func() {
			for k := 0; ctx.Err() == nil; k++ {
				in, cancel := context.WithTimeout(ctx, closed) // allowed: a client that does not wait, on a fake clock
				p.judge(in, of, "prom", fmt.Sprint("guess ", i, " ", k))
				cancel()
			}
		}()
	}
}

// TestPasswordFlood: right after the start, while 100 connections try passwords, a client elsewhere
// that has the right one waits for two checks, however long they take; then it is not checked again,
// and neither are wrong ones. Behind the same proxy as they are it is let in when it tries again.
func TestPasswordFlood(t *testing.T) {
	users := map[string]string{"prom": "hash of secret"}
	for _, took := range []time.Duration{60 * time.Millisecond, time.Second} { // cost 10, and 12 on a busy machine
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			p := guarded(t, took, users)
			flood(ctx, p, 100, from("192.0.2.1/32"), time.Hour)
			time.Sleep(time.Minute)
			began := time.Now()
			if v := p.judge(ctx, from("192.0.2.2/32"), "prom", "secret"); v != right {
				t.Errorf("the right password: %d", v)
			}
			if waited := time.Since(began); waited > 2*took {
				t.Errorf("it has waited %v", waited)
			}
			synctest.Wait()
			p.check = func(_, _ []byte) error { t.Error("something is checked again"); return nil }
			began = time.Now()
			if v := p.judge(ctx, from("192.0.2.1/32"), "prom", "secret"); v != right || time.Since(began) > 0 {
				t.Errorf("the right password again: %d after %v", v, time.Since(began))
			}
			if v := p.judge(ctx, from("192.0.2.3/32"), "prom", "other"); v != wrong || time.Since(began) != wrongDelay {
				t.Errorf("a wrong password: %d after %v", v, time.Since(began))
			}
		})
		synctest.Test(t, func(t *testing.T) {
			ctx := t.Context()
			p := guarded(t, took, users)
			proxy := from("192.0.2.1/32")
			const closed = 50 * time.Millisecond
			flood(ctx, p, 10, proxy, closed)
			time.Sleep(10 * time.Second)
			for range 3 {
				in, cancel := context.WithTimeout(ctx, closed) // its connections are closed, too
				p.judge(in, proxy, "prom", "secret")
				cancel()
				time.Sleep(15 * time.Second)
			}
			if v := p.judge(ctx, proxy, "prom", "secret"); v != right {
				t.Errorf("the right password: %d", v)
			}
		})
	}
}

// TestPasswordShare: wrong passwords take a quarter of a processor, from however many clients they
// come, and one at a time.
func TestPasswordShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx := t.Context()
		const took = 100 * time.Millisecond
		p := guarded(t, took, map[string]string{"prom": "hash of secret"})
		var checked atomic.Int64
		check := p.check
		p.check = func(hash, password []byte) error { checked.Add(1); return check(hash, password) }
		for i := range 10 {
			flood(ctx, p, 10, from(fmt.Sprintf("192.0.2.%d/32", i)), time.Hour)
		}
		time.Sleep(time.Minute)
		checks := int(checked.Load())
		if most := int(time.Minute/took)/passwordShare + 10; checks < most-20 || checks > most { // the first of each is for free
			t.Errorf("%d were checked, at most %d are allowed", checks, most)
		}
	})
}

// TestPasswordUsers: other users are known with their own passwords only, and a reload keeps what was
// right for those that stay as they are.
func TestPasswordUsers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := guarded(t, time.Millisecond, map[string]string{"a": "hash of 1", "b": "hash of 2", "c": "hash of 1"})
		judge := func(user, password string, want verdict) {
			t.Helper()
			if v := p.judge(t.Context(), source{}, user, password); v != want {
				t.Errorf("%s with %s: %d", user, password, v)
			}
		}
		for range 2 {
			judge("a", "1", right)
			judge("b", "2", right)
			judge("c", "1", right)
			judge("a", "2", wrong)
			judge("d", "1", wrong)
			judge("", "", wrong)
		}
		p.use(map[string]string{"a": "hash of 1", "b": "hash of 3", "d": "hash of 1"})
		judge("c", "1", wrong)
		judge("b", "2", wrong)
		judge("b", "3", right)
		judge("d", "1", right)
		p.check = func(_, _ []byte) error { t.Error("a password is checked again"); return nil }
		judge("a", "1", right)
	})
}

// TestPasswordMemory: sources and guesses that wait are bounded, and nothing runs when none waits.
func TestPasswordMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		p := guarded(t, time.Hour, map[string]string{"prom": "hash of secret"})
		var all sync.WaitGroup
		for i := range 3 * guessersMost {
			all.Go(func() {
				p.judge(ctx, source{address: netip.MustParsePrefix("192.0.2.0/24"), user: int64(i / 100 * 100)}, "prom", fmt.Sprint(i))
				p.judge(ctx, source{user: int64(i)}, "prom", fmt.Sprint(i))
			})
		}
		synctest.Wait()
		p.mu.Lock()
		if most := (guessersMost + 1) * guessesMost; len(p.sources) > guessersMost+1 || len(p.waiting) > most || len(p.waiting) < 100 {
			t.Errorf("%d sources, %d guesses", len(p.sources), len(p.waiting))
		}
		for of, g := range p.sources {
			if len(g.first) > guessesMost || len(g.again) > guessesMost {
				t.Errorf("%v: %d and %d guesses", of, len(g.first), len(g.again))
			}
		}
		p.check = func(_, _ []byte) error { return errMismatch }
		p.mu.Unlock()
		cancel()
		all.Wait()
		time.Sleep(24 * time.Hour)
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.running || len(p.waiting) > 0 || len(p.order) > 0 {
			t.Errorf("running %v, %d guesses, %d in order", p.running, len(p.waiting), len(p.order))
		}
	})
}

// TestSource: clients are distinguished by address, on this host also by user; those of an IPv6
// network of their own are one.
func TestSource(t *testing.T) {
	at := func(s string) net.Addr { return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(s)) }
	here := at("[2001:db8:ffff::1]:9799")
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"192.0.2.1:1", "192.0.2.1:2", true},
		{"192.0.2.1:1", "[::ffff:192.0.2.1]:2", true},
		{"192.0.2.1:1", "192.0.2.2:1", false},
		{"[2001:db8::1]:1", "[2001:db8::ffff:2]:1", true},
		{"[2001:db8::1]:1", "[2001:db8:0:1::1]:1", false},
		{"[fe80::1%lo]:1", "[fe80::2]:1", true},
	} {
		if x, y := sourceOf(at(c.a), here), sourceOf(at(c.b), here); x == y != c.same {
			t.Errorf("%s and %s: %v and %v", c.a, c.b, x, y)
		}
	}
	if s := sourceOf(&net.UnixAddr{Name: "x"}, here); s != (source{}) {
		t.Errorf("a socket: %v", s)
	}
}
