package daemon

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// doubling is a back-off without randomness.
type doubling time.Duration

func (d *doubling) NextBackOff() time.Duration {
	*d = min(2*max(*d, doubling(time.Second)/2), doubling(time.Minute))
	return time.Duration(*d)
}

func (d *doubling) Reset() { *d = 0 }

// A world carries out what a supervisor decides, on a fake process, and notes what is wrong with
// the decisions.
type world struct {
	t       *testing.T
	sup     supervisor
	events  chan event
	started time.Time

	plan   plan
	delay  func() time.Duration  // until the result of an action
	fail   func(a action) string // why an action fails; "" if it does not
	open   map[int]bool          // sessions that the runtime has
	known  map[int]bool          // those of them that the supervisor knows to be open
	ended  map[int]bool          // those that the supervisor knows to have ended
	asked  map[int]bool          // those that were asked to end
	used   map[int]bool          // session numbers already used
	timers int                   // that are running
	failed int                   // failures in a row
	waits  func() time.Duration  // how long the runtime is suspended before it can be asked
	dead   bool
	kept   bool // sessions do not end with the process
	over   bool
	log    []string
	said   []action // actSay
}

func newWorld(t *testing.T) *world {
	return &world{
		t: t, sup: supervisor{backOff: new(doubling)}, events: make(chan event, 100), started: time.Now(), plan: plan{level: "normal"},
		delay: func() time.Duration { return time.Millisecond }, waits: func() time.Duration { return 0 }, fail: func(action) string { return "" },
		open: map[int]bool{}, known: map[int]bool{}, ended: map[int]bool{}, asked: map[int]bool{}, used: map[int]bool{},
	}
}

// step passes an event to the supervisor, and carries out what it answers.
func (w *world) step(e event) {
	switch e.kind {
	case eventOpened:
		w.known[e.session] = true
	case eventEnded:
		w.ended[e.session] = true
	case eventIdentified:
		e.plan = w.plan // the current configuration
	}
	w.log = append(w.log, fmt.Sprintf("%8.3f %-13v event %d session %d %s", time.Since(w.started).Seconds(), w.sup.state, e.kind, e.session, e.why))
	for _, a := range w.sup.step(time.Now(), e) {
		w.do(a)
	}
	if len(w.open) > 2 {
		w.wrong("%d sessions at a time", len(w.open))
	}
}

// run lets time pass until nothing more happens.
func (w *world) run(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case e := <-w.events:
			if e.kind == handedOver {
				w.end(e.session, "detached")
				continue
			}
			w.step(e)
		case <-end:
			return
		}
	}
}

func (w *world) later(e event) {
	d := w.delay()
	time.AfterFunc(d, func() { w.events <- e })
}

func (w *world) do(a action) {
	w.log = append(w.log, fmt.Sprintf("%22s action %d session %d level %s wait %v %s", "", a.kind, a.session, a.level, a.wait, a.text))
	if w.over {
		w.wrong("something is done when all is over")
	}
	switch a.kind {
	case actIdentify:
		if d := w.waits(); d > 0 {
			w.later(event{kind: eventSuspended, why: "waits for a port"})
			time.AfterFunc(d+time.Second, func() { w.events <- event{kind: eventIdentified} })
			return
		}
		if why := w.fail(a); why != "" || w.dead {
			w.count(why)
			w.later(event{kind: eventFailed, why: why})
			return
		}
		w.failed = 0
		w.later(event{kind: eventIdentified})
	case actOpen:
		if w.used[a.session] {
			w.wrong("session %d for the second time", a.session)
		}
		w.used[a.session] = true
		if a.follows != 0 && w.ended[a.follows] {
			w.wrong("session %d follows one that is not on", a.session)
		}
		if a.follows == 0 && len(w.open) > 0 {
			w.wrong("session %d is opened beside another", a.session)
		}
		if w.plan.excluded != "" {
			w.wrong("a session with a process that is excluded")
		}
		if why := w.fail(a); why != "" || w.dead {
			w.count(why)
			w.later(event{kind: eventFailed, session: a.session, why: why})
			return
		}
		w.failed = 0
		w.open[a.session] = true
		w.later(event{kind: eventOpened, session: a.session})
		if a.follows != 0 { // it takes over, unless it ends first
			time.AfterFunc(w.delay()+time.Second, func() { w.events <- event{kind: handedOver, session: a.follows} })
		}
	case actClose:
		if !w.open[a.session] {
			return // it has already ended
		}
		if w.follows(a.session) {
			w.wrong("session %d is asked to end before the one from which it takes over", a.session)
		}
		w.asked[a.session] = true
		w.end(a.session, "detached")
	case actAbort:
		if !w.dead {
			w.wrong("the session of a process that lives is broken off")
		}
		w.kept = false
		w.end(a.session, "exited")
	case actWait:
		if w.timers++; w.timers > 1 {
			w.wrong("two timers")
		}
		if a.wait > time.Minute {
			w.wrong("a wait of %v", a.wait)
		}
		time.AfterFunc(a.wait, func() {
			w.timers--
			w.events <- event{kind: eventTimer}
		})
	case actSay:
		w.said = append(w.said, a)
	case actFinish:
		w.over = true
		for n := range w.open {
			w.wrong("session %d is left", n)
		}
	}
}

// handedOver is an event of the world: a session has reported everything it had to.
const handedOver eventKind = 99

func (w *world) count(why string) {
	if w.failed++; w.failed > maxAttempts && why != "" {
		w.wrong("attempt %d", w.failed)
	}
}

// end ends a session, after a while.
//
// A session that is being opened ends after its opening was reported; one that takes over from
// another ends after that one, because one writer writes both.
func (w *world) end(session int, why string) {
	if !w.open[session] {
		return
	}
	if !w.known[session] || w.follows(session) {
		time.AfterFunc(10*time.Millisecond, func() { w.events <- event{kind: handedOver, session: session} })
		return
	}
	delete(w.open, session)
	w.later(event{kind: eventEnded, session: session, why: why})
}

// follows reports whether a session takes over from one that has not ended.
func (w *world) follows(session int) bool {
	for n := range w.used {
		if n < session && w.known[n] && !w.ended[n] {
			return true
		}
	}
	return false
}

// die ends the process.
func (w *world) die() {
	w.dead = true
	w.step(event{kind: eventGone})
	if w.kept {
		return
	}
	for n := range w.open {
		w.end(n, "exited")
	}
}

// TestSupervisorKeptOpen: a process has exited, but a child of it keeps its end of the connection
// open.
func TestSupervisorKeptOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.step(event{kind: eventFound})
		w.run(time.Minute)
		w.kept = true
		w.die()
		w.run(time.Minute)
		if !w.over {
			w.wrong("it is not over")
		}
	})
}

// TestSupervisorAlive: a process seemed to have exited, and has not.
func TestSupervisorAlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.step(event{kind: eventFound})
		w.run(time.Minute)
		w.step(event{kind: eventGone})
		w.step(event{kind: eventAlive})
		w.run(time.Minute)
		w.want(stateOn)
		w.plan.level = "full"
		w.replan()
		w.end(1, "detached")
		w.run(time.Minute)
		w.want(stateOn)
	})
}

func (w *world) wrong(format string, args ...any) {
	w.t.Helper()
	w.t.Errorf(format, args...)
	w.t.Logf("history:\n%s", strings.Join(w.log, "\n"))
	w.t.FailNow()
}

func (w *world) want(s state) {
	w.t.Helper()
	if w.sup.state != s {
		w.wrong("the state is %v, want %v", w.sup.state, s)
	}
}

func TestSupervisorOrdinary(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.step(event{kind: eventFound})
		w.run(time.Minute)
		w.want(stateOn)
		w.die()
		w.run(time.Minute)
		if !w.over {
			w.wrong("it is not over")
		}
	})
}

// TestSupervisorBacksOff: attempts become less and less frequent, and stop; a new configuration
// gives another chance, and so does a session that lasted.
func TestSupervisorBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		var at []time.Duration
		broken := true
		w.fail = func(a action) string {
			if a.kind != actOpen {
				return ""
			}
			at = append(at, time.Since(w.started).Round(time.Second))
			if broken {
				return "it refuses"
			}
			return ""
		}
		w.step(event{kind: eventFound})
		w.run(time.Hour)
		w.want(stateGivenUp)
		want := []time.Duration{0, 1, 3, 7, 15, 31, 63, 123, 183, 243}
		for i := range want {
			want[i] *= time.Second
		}
		if !slices.Equal(at, want) {
			t.Errorf("attempts at %v, want %v", at, want)
		}
		if w.sup.why != "it refuses" {
			t.Errorf("why: %s", w.sup.why)
		}
		for i, a := range w.said { // the first failure may be accidental
			text := "it refuses"
			if i == maxAttempts-1 {
				text = "gave up after 10 attempts, for an hour or until the configuration is reloaded (SIGHUP): it refuses"
			}
			if a.warn != (i > 0) || a.text != text {
				t.Errorf("said %d: %+v", i, a)
			}
		}
		broken, w.failed = false, 0
		w.step(event{kind: eventPlanned, plan: w.plan})
		w.run(2 * time.Minute)
		w.want(stateOn)
		for range 3 * maxAttempts { // each session lasts long enough
			w.end(w.sup.session, "stream-error")
			w.run(2 * time.Minute)
			w.want(stateOn)
		}
	})
}

// TestSupervisorShortSessions: sessions that end at once count as failures.
func TestSupervisorShortSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.step(event{kind: eventFound})
		for range maxAttempts {
			w.run(70 * time.Second)
			if w.sup.state == stateOn {
				w.sup.since = time.Now() // as if it had just started
				w.end(w.sup.session, "stream-error")
			}
		}
		w.run(time.Hour)
		w.want(stateGivenUp)
	})
}

// TestSupervisorLevel: the session with the new level is open before the old one ends; if it cannot
// be opened the old one stays.
func TestSupervisorLevel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.step(event{kind: eventFound})
		w.run(time.Minute)
		w.plan.level = "full"
		w.step(event{kind: eventPlanned, plan: w.plan})
		w.run(time.Millisecond / 2)
		if !w.open[1] || !w.open[2] || w.asked[1] {
			w.wrong("the sessions are %v, asked to end %v", w.open, w.asked)
		}
		w.run(time.Millisecond)
		w.want(stateHanding)
		w.end(1, "detached")
		w.run(time.Minute)
		w.want(stateOn)
		if w.sup.session != 2 || w.sup.have.level != "full" {
			w.wrong("session %d with level %s", w.sup.session, w.sup.have.level)
		}
		w.fail = func(action) string { return "it refuses" }
		w.plan.level = "light"
		w.step(event{kind: eventPlanned, plan: w.plan})
		w.run(time.Hour)
		w.want(stateOn)
		if w.sup.session != 2 || !w.open[2] || w.sup.have.level != "full" {
			w.wrong("session %d with level %s", w.sup.session, w.sup.have.level)
		}
	})
}

// TestSupervisorExclude: a process that becomes excluded loses its session, one that is no longer
// excluded gets one.
func TestSupervisorExclude(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.plan = plan{excluded: "by a rule"}
		w.step(event{kind: eventFound})
		w.run(time.Minute)
		w.want(stateExcluded)
		for range 3 {
			w.plan = plan{level: "normal"}
			w.step(event{kind: eventPlanned, plan: w.plan})
			w.run(time.Minute)
			w.want(stateOn)
			w.plan = plan{excluded: "by a rule"}
			w.step(event{kind: eventPlanned, plan: w.plan})
			w.run(time.Minute)
			w.want(stateExcluded)
		}
		w.step(event{kind: eventStop})
		if !w.over {
			w.wrong("it is not over")
		}
	})
}

// TestSupervisorSuspended: a process whose runtime is suspended gets no session before it is
// resumed; the daemon and the process may end in the meantime, which takes no time.
func TestSupervisorSuspended(t *testing.T) {
	for name, c := range map[string]struct {
		then func(*world)
		want state
	}{
		"resumed": {func(w *world) { w.run(time.Hour) }, stateOn},
		"stop":    {func(w *world) { w.step(event{kind: eventStop}) }, stateOver},
		"gone":    {func(w *world) { w.die() }, stateOver},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.waits = func() time.Duration { return 30 * time.Minute }
				w.step(event{kind: eventFound})
				w.run(time.Minute)
				if w.sup.state != stateSuspended || w.sup.why == "" || len(w.used) > 0 {
					t.Errorf("state %v, why %q, sessions %v", w.sup.state, w.sup.why, w.used)
				}
				c.then(w)
				synctest.Wait()
				if w.sup.state != c.want || c.want == stateOn && w.sup.why != "" {
					t.Errorf("state %v, want %v", w.sup.state, c.want)
				}
				w.run(time.Hour)
			})
		})
	}
}

// TestSupervisorRandom: whatever happens in whatever order, and whatever arrives late, the world
// finds nothing wrong, and in the end everything is over and no session is left.
func TestSupervisorRandom(t *testing.T) {
	const histories = 3000
	for seed := range uint64(histories) {
		synctest.Test(t, func(t *testing.T) { randomHistory(t, seed) })
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func randomHistory(t *testing.T, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 1))
	w := newWorld(t)
	w.delay = func() time.Duration { return time.Duration(r.ExpFloat64() * float64(300*time.Millisecond)) }
	faulty := r.Float64() * 0.7
	w.fail = func(action) string {
		if r.Float64() < faulty {
			return "it refuses"
		}
		return ""
	}
	w.waits = func() time.Duration {
		if r.IntN(3) > 0 {
			return 0
		}
		return time.Duration(r.ExpFloat64() * float64(3*time.Second))
	}
	w.step(event{kind: eventFound})
	for range r.IntN(60) {
		w.run(time.Duration(r.ExpFloat64() * float64(2*time.Second)))
		switch x := r.IntN(10); {
		case w.over:
			return
		case x < 3:
			w.end(r.IntN(w.sup.session+2), "stream-error")
		case x < 6:
			w.plan = plan{level: [...]string{"light", "normal", "full"}[r.IntN(3)]}
			w.replan()
		case x < 7:
			w.plan = plan{excluded: "by a rule"}
			w.replan()
		}
	}
	if r.IntN(2) == 0 {
		w.die()
	} else {
		w.step(event{kind: eventStop})
	}
	w.run(5 * time.Minute)
	if !w.over {
		w.wrong("it is not over: %v", w.sup.state)
	}
}

// replan has the configuration read again.
func (w *world) replan() {
	w.failed = 0
	w.step(event{kind: eventPlanned, plan: w.plan})
}

// TestSupervisorLate: events that arrive when they no longer matter change nothing.
func TestSupervisorLate(t *testing.T) {
	// Session 1 is on or being opened, 2 takes over from it if any does; 9 is neither.
	all := []event{{kind: eventSuspended, why: "late"}, {kind: eventIdentified, plan: plan{level: "late"}}, {kind: eventTimer}}
	for _, session := range []int{1, 2, 9} {
		for _, kind := range []eventKind{eventOpened, eventFailed, eventEnded} {
			all = append(all, event{kind: kind, session: session, why: "late"})
		}
	}
	matters := map[state][]eventKind{
		stateIdentifying: {eventSuspended, eventIdentified, eventFailed},
		stateSuspended:   {eventIdentified, eventFailed},
		stateWaiting:     {eventTimer},
		stateClosing:     {eventEnded},
	}
	session := map[state]map[eventKind][]int{
		stateOpening:   {eventOpened: {1}, eventFailed: {1}},
		stateOn:        {eventEnded: {1}},
		stateSwitching: {eventOpened: {2}, eventFailed: {2}, eventEnded: {1}},
		stateHanding:   {eventEnded: {1}},
		stateClosing:   {eventOpened: {1}, eventFailed: {1, 2}},
	}
	for st := range stateOver + 1 {
		for _, e := range all {
			if slices.Contains(matters[st], e.kind) || slices.Contains(session[st][e.kind], e.session) {
				continue
			}
			s := supervisor{backOff: new(doubling), state: st, known: true, session: 1, newest: 1, want: plan{level: "a"}, have: plan{level: "a"}}
			if st == stateSwitching || st == stateHanding || st == stateClosing {
				s.next, s.newest, s.nextHave = 2, 2, plan{level: "a"}
			}
			before := s
			if actions := s.step(time.Now(), e); actions != nil || s != before {
				t.Errorf("%v, event %d of session %d: it does %+v and is %+v, before %+v", st, e.kind, e.session, actions, s, before)
			}
		}
	}
}

// TestSupervisorChanges: a change of the configuration while one session takes over from another is
// carried out after that; a change while a session is being opened, when it is open.
func TestSupervisorChanges(t *testing.T) {
	for name, wait := range map[string]time.Duration{"opening": time.Millisecond / 2, "taking over": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.step(event{kind: eventFound})
				w.run(time.Minute)
				for _, level := range []string{"full", "light", "normal", "full"} {
					w.plan.level = level
					w.replan()
					w.run(wait)
				}
				w.run(time.Minute)
				w.want(stateOn)
				if w.sup.have.level != "full" || len(w.open) != 1 {
					w.wrong("the level is %s, sessions %v", w.sup.have.level, w.open)
				}
				w.plan.level = "light"
				w.replan()
				w.run(wait)
				w.plan.excluded = "by a rule"
				w.replan()
				w.run(time.Minute)
				w.want(stateExcluded)
			})
		})
	}
}

// TestSupervisorChild: a process has exited while one session takes over from another, and a child
// of it keeps both connections open: both sessions are ended.
func TestSupervisorChild(t *testing.T) {
	for name, wait := range map[string]time.Duration{"opening": time.Millisecond / 2, "taking over": 10 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.step(event{kind: eventFound})
				w.run(time.Minute)
				w.plan.level = "full"
				w.replan()
				w.run(wait)
				w.kept = true
				w.die()
				w.run(time.Minute)
				if !w.over {
					w.wrong("it is not over: %v", w.sup.state)
				}
			})
		})
	}
}

// TestSupervisorGiveUp: a process that is given up because of a defect is sent no more requests,
// and is over if that is what was awaited.
func TestSupervisorGiveUp(t *testing.T) {
	for st := range stateOver + 1 {
		for _, c := range []struct{ stop, gone bool }{{false, false}, {true, false}, {false, true}} {
			s := supervisor{backOff: new(doubling), state: st, session: 1, next: 2, newest: 2, stop: c.stop, gone: c.gone}
			actions := s.giveUp("a defect")
			switch {
			case !c.stop && !c.gone:
				if actions != nil || s.state != stateGivenUp || s.why != "a defect" || s.next != 0 {
					t.Errorf("%v: %+v, %+v", st, actions, s)
				}
			case st == stateOver:
				if actions != nil {
					t.Errorf("%v: %+v", st, actions)
				}
			case s.state != stateOver || len(actions) != 1 || actions[0].kind != actFinish:
				t.Errorf("%v: %+v, %+v", st, actions, s)
			}
		}
	}
}

// TestSupervisorForgets: earlier failures do not count after a session that lasted, or was ended
// because the process is excluded, or when another configuration gives another chance.
func TestSupervisorForgets(t *testing.T) {
	for name, c := range map[string]struct {
		then  func(*world)
		count int
	}{
		"short": {func(w *world) { w.end(w.sup.session, "stream-error"); w.run(100 * time.Millisecond) }, 4},
		"lasting": {func(w *world) {
			w.run(time.Minute)
			w.end(w.sup.session, "stream-error")
			w.run(100 * time.Millisecond)
		}, 1},
		"excluded": {func(w *world) { w.plan.excluded = "by a rule"; w.replan(); w.run(100 * time.Millisecond) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				fails := 3
				w.fail = func(action) string {
					if fails--; fails >= 0 {
						return "it refuses"
					}
					return ""
				}
				w.step(event{kind: eventFound})
				for w.sup.state != stateOn {
					w.run(100 * time.Millisecond)
				}
				c.then(w)
				if w.sup.attempts != c.count {
					w.wrong("%d attempts count, want %d", w.sup.attempts, c.count)
				}
				if wait, want := *w.sup.backOff.(*doubling), []time.Duration{0, time.Second, 0, 0, 8 * time.Second}[c.count]; time.Duration(wait) != want {
					w.wrong("the last wait is %v, want %v", time.Duration(wait), want)
				}
				w.run(time.Hour)
			})
		})
	}
}

// TestSupervisorStop: the shutdown of the daemon ends sessions at once, even while one takes over
// from another; the end of a process's session is waited for.
func TestSupervisorStop(t *testing.T) {
	for _, st := range []state{stateOn, stateSwitching, stateHanding} {
		for kind, want := range map[eventKind][]action{
			eventStop: {{kind: actClose, session: 1}},
			eventGone: {{kind: actWait, wait: 5 * time.Second}},
		} {
			s := supervisor{backOff: new(doubling), state: st, known: true, session: 1, newest: 1}
			if st != stateOn {
				s.next, s.newest = 2, 2
			}
			if got := s.step(time.Now(), event{kind: kind}); !slices.Equal(got, want) || (s.state == stateClosing) != (kind == eventStop) {
				t.Errorf("%v, event %d: %+v, and it is %v", st, kind, got, s.state)
			}
		}
	}
}
