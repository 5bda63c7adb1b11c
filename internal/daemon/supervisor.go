package daemon

import (
	"fmt"
	"time"
)

// A supervisor decides what is done about one process: it receives events and returns actions. It
// does nothing else and reads no clock. Its fields may only be changed in the daemon's loop;
// outside its own methods only process.replan does so, which sets known to false to have the
// process identified again.
//
//	found ─► identifying ─► opening ─► on ─► (ended) ─► waiting ─► opening ...
//	              │ ▲          │        │
//	              │ └ suspended▼        ├─► switching ─► handing ─► on
//	              ▼         waiting     │
//	           excluded                 ▼
//	                                 closing ─► over
//
// A process whose runtime has not been resumed yet is suspended: until then it is not asked who it
// is, which it does not know, and no session is started.
//
// Every failure leads to waiting, longer each time, and after maxAttempts in a row to givenUp: the
// process is sent no more requests until it gets another chance.
type supervisor struct {
	backOff backOff
	state   state
	known   bool // it was found out who the process is
	stop    bool // the daemon is ending: everything about the process must end as soon as possible
	gone    bool // the process has exited, or seems to have: eventAlive resets it

	want     plan      // what the configuration asks for
	have     plan      // what the current session, or the one being opened, was opened with
	session  int       // number of the session that is on, or being opened
	next     int       // number of the session that takes over from it; 0: none does
	newest   int       // the highest number given to a session; the first is 1
	nextHave plan      // what the next session is opened with
	attempts int       // failures in a row
	since    time.Time // when the session that is on was opened
	why      string    // why it is not on, for people
}

// A plan is what is to be done with a process.
type plan struct {
	excluded string // why it is not to be logged; "" if it is
	level    string // of the session
	// Other properties of the session: whether all suspensions are reported, whether a flight recorder
	// keeps what it sends, and which additional events and counters it listens to.
	suspensions bool
	recorded    bool
	providers   string
	counters    time.Duration
}

// A backOff determines how long to wait before another attempt.
type backOff interface {
	NextBackOff() time.Duration
	Reset()
}

type state uint8

const (
	stateFound       state = iota // before the first event
	stateIdentifying              // it is being asked who it is
	stateSuspended                // it will be asked as soon as its runtime has been resumed
	stateExcluded                 // it is not logged, because of the configuration
	stateOpening                  // a session is being opened
	stateOn                       // a session is open
	stateSwitching                // a session is open, and another is being opened to take over
	stateHanding                  // the other session is taking over
	stateWaiting                  // for the timer of the next attempt
	stateGivenUp                  // no more attempts until it gets another chance: see process.replan
	stateClosing                  // its sessions are being ended
	stateOver                     // finished: the process is being forgotten
)

var stateNames = [...]string{
	"found", "identifying", "suspended", "excluded", "opening", "on", "switching", "handing-over", "waiting",
	"given-up", "closing", "over",
}

func (s state) String() string { return stateNames[s] }

const (
	// maxAttempts is how many attempts in a row may fail.
	maxAttempts = 10
	// goneTime is how long a session may last after its process has exited. It ends on its own,
	// unless a child of the process has kept its end of the connection open.
	goneTime = 5 * time.Second
	// lasting is how long a session must have lasted to count as successful.
	lasting = time.Minute
)

// An event is something that has happened to a process.
type event struct {
	kind    eventKind
	session int    // eventOpened, eventFailed, eventEnded
	plan    plan   // eventIdentified, eventPlanned
	why     string // eventSuspended, eventFailed, eventEnded
	final   bool   // eventFailed: no attempt can succeed
}

type eventKind uint8

const (
	eventFound      eventKind = iota // the sweeper or a port has found the process
	eventSuspended                   // it cannot be asked yet: its runtime is suspended at startup
	eventIdentified                  // it was found out who it is
	eventFailed                      // that could not be found out, or a session could not be opened
	eventOpened                      // the session is open
	eventEnded                       // the session has ended, and all of it is written
	eventTimer                       // the time that actWait asked for is over
	eventPlanned                     // the configuration was read again
	eventGone                        // the process has exited
	eventAlive                       // it has not exited, although it seemed so
	eventStop                        // the daemon is ending
)

// An action is something to be done about a process. Its result is reported by an event, except for
// actSay.
type action struct {
	kind    actionKind
	session int           // actOpen, actClose, actAbort
	level   string        // actOpen
	follows int           // actOpen: the session that this one takes over from; 0: none
	wait    time.Duration // actWait
	warn    bool          // actSay
	text    string        // actSay
}

type actionKind uint8

const (
	actIdentify actionKind = iota // find out who the process is
	actOpen                       // open a session
	actClose                      // end a session by asking the runtime
	actAbort                      // end a session without asking the runtime, because the process has exited
	actWait                       // send eventTimer after a time
	actFinish                     // close the outputs and forget the process
	actSay                        // log a text
)

// step handles an event that happens at the time now. Events that arrive too late to matter,
// because something else has happened in the meantime, change nothing.
func (s *supervisor) step(now time.Time, e event) []action {
	switch e.kind {
	case eventFound:
		s.state = stateIdentifying
		return []action{{kind: actIdentify}}
	case eventSuspended:
		return s.suspended(e)
	case eventIdentified:
		return s.identified(e)
	case eventOpened:
		return s.opened(now, e)
	case eventFailed:
		return s.failed(e)
	case eventEnded:
		return s.ended(now, e)
	case eventTimer:
		return s.timer()
	case eventPlanned:
		return s.planned(e.plan)
	case eventGone:
		s.gone = true
		return s.leave()
	case eventAlive:
		s.gone = false
	case eventStop:
		s.stop = true
		return s.leave()
	}
	return nil
}

func (s *supervisor) timer() []action {
	switch {
	case s.state == stateWaiting:
		return s.begin()
	case s.state == stateOn && s.gone:
		return []action{{kind: actAbort, session: s.session}}
	case (s.state == stateSwitching || s.state == stateHanding) && s.gone:
		return []action{{kind: actAbort, session: s.session}, {kind: actAbort, session: s.next}}
	}
	return nil
}

func (s *supervisor) suspended(e event) []action {
	if s.state != stateIdentifying {
		return nil
	}
	if s.stop || s.gone {
		return s.finish()
	}
	s.state, s.why = stateSuspended, e.why
	return []action{{kind: actSay, text: e.why}}
}

func (s *supervisor) identified(e event) []action {
	if s.state != stateIdentifying && s.state != stateSuspended {
		return nil
	}
	s.known, s.why = true, ""
	s.want = e.plan
	if s.stop || s.gone {
		return s.finish()
	}
	return s.begin()
}

// begin takes the next step for a process that has no session.
func (s *supervisor) begin() []action {
	switch {
	case !s.known:
		s.state = stateIdentifying
		return []action{{kind: actIdentify}}
	case s.want.excluded != "":
		s.state, s.why = stateExcluded, s.want.excluded
		return nil
	}
	s.newest++
	s.session = s.newest
	s.state, s.have = stateOpening, s.want
	return []action{{kind: actOpen, session: s.session, level: s.have.level}}
}

func (s *supervisor) opened(now time.Time, e event) []action {
	switch {
	case s.state == stateOpening && e.session == s.session:
		s.state, s.since, s.why = stateOn, now, ""
		return s.settle()
	case s.state == stateSwitching && e.session == s.next:
		s.state = stateHanding
	case s.state == stateClosing && e.session == s.session:
		return []action{{kind: actClose, session: e.session}}
	}
	return nil
}

// settle adapts the session that is on to what is wanted now.
func (s *supervisor) settle() []action {
	switch {
	case s.stop || s.gone || s.want.excluded != "":
		s.state = stateClosing
		return []action{{kind: actClose, session: s.session}}
	case s.want != s.have:
		s.newest++
		s.state, s.next, s.nextHave = stateSwitching, s.newest, s.want
		return []action{{kind: actOpen, session: s.next, level: s.want.level, follows: s.session}}
	}
	return nil
}

func (s *supervisor) failed(e event) []action {
	switch {
	case s.state == stateSwitching && e.session == s.next:
		// The session that is on stays. The level that could not be had is not requested again
		// before the configuration changes.
		s.state, s.next = stateOn, 0
		if s.want == s.nextHave {
			s.want = s.have
		}
		return append([]action{{kind: actSay, warn: true, text: "the level remains " + s.have.level + ": " + e.why}},
			s.settle()...)
	case s.state == stateIdentifying, s.state == stateSuspended, s.state == stateOpening && e.session == s.session:
		return s.retry(e.why, e.final)
	case s.state == stateClosing && (e.session == s.session || e.session == s.next):
		return s.closed(e.session)
	}
	return nil
}

func (s *supervisor) ended(now time.Time, e event) []action {
	switch {
	case s.state == stateOn && e.session == s.session:
		if now.Sub(s.since) >= lasting {
			s.attempts = 0
			s.backOff.Reset()
		}
		return s.retry(e.why, false)
	case s.state == stateSwitching && e.session == s.session:
		// It ended before the other one was open: that is an ordinary session now.
		s.session, s.next, s.have, s.state = s.next, 0, s.nextHave, stateOpening
	case s.state == stateHanding && e.session == s.session:
		s.session, s.next, s.have, s.state, s.since = s.next, 0, s.nextHave, stateOn, now
		return s.settle()
	case s.state == stateClosing:
		return s.closed(e.session)
	}
	return nil
}

// closed handles the end of a session that was asked to end.
func (s *supervisor) closed(session int) []action {
	switch {
	case session == s.session && s.next != 0:
		s.session, s.next = s.next, 0
		return []action{{kind: actClose, session: s.session}}
	case session == s.next:
		s.next = 0
		return nil
	case s.stop || s.gone:
		return s.finish()
	}
	s.attempts = 0
	s.backOff.Reset()
	return s.begin()
}

// retry waits for another attempt, if there is to be one.
func (s *supervisor) retry(why string, final bool) []action {
	s.why = why
	if s.stop || s.gone {
		return s.finish()
	}
	s.attempts++
	if final || s.attempts >= maxAttempts {
		s.state = stateGivenUp
		text := why
		if !final {
			text = fmt.Sprintf(
				"gave up after %d attempts, for an hour or until the configuration is reloaded (SIGHUP): %s",
				s.attempts, why)
		}
		return []action{{kind: actSay, warn: true, text: text}}
	}
	s.state = stateWaiting
	return []action{{kind: actSay, warn: s.attempts > 1, text: why}, {kind: actWait, wait: s.backOff.NextBackOff()}}
}

// giveUp ends everything that is done about the process, whatever that is. Its sessions have been
// cut off.
func (s *supervisor) giveUp(why string) []action {
	if s.stop || s.gone {
		return s.finish()
	}
	s.state, s.why, s.next = stateGivenUp, why, 0
	return nil
}

// planned takes what the configuration asks for now. A process that was given up gets another
// chance.
func (s *supervisor) planned(p plan) []action {
	s.want = p
	switch s.state {
	case stateOn:
		return s.settle()
	case stateExcluded, stateGivenUp:
		s.attempts = 0
		s.backOff.Reset()
		return s.begin()
	}
	return nil
}

// leave ends what there is, because the process has exited or the daemon is ending.
func (s *supervisor) leave() []action {
	switch s.state {
	case stateOn:
		if s.stop {
			return s.settle()
		}
		return []action{{kind: actWait, wait: goneTime}}
	case stateSwitching, stateHanding:
		if s.stop {
			// The next session ends after it: it must see everything that the current one leaves to
			// it.
			s.state = stateClosing
			return []action{{kind: actClose, session: s.session}}
		}
		return []action{{kind: actWait, wait: goneTime}}
	case stateOpening:
		s.state = stateClosing
	case stateSuspended, stateExcluded, stateWaiting, stateGivenUp:
		return s.finish()
	}
	return nil // wait for the answer
}

func (s *supervisor) finish() []action {
	if s.state == stateOver {
		return nil
	}
	s.state = stateOver
	return []action{{kind: actFinish}}
}
