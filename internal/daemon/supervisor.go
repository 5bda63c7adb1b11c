package daemon

import (
	"fmt"
	"time"
)

// A supervisor decides what is done about one process: it is told what has happened,
// and answers what is to be done. It does nothing by itself and looks at no clock.
//
//	found ─► identifying ─► opening ─► on ─► (ended) ─► waiting ─► opening ...
//	              │ ▲          │        │
//	              │ └ suspended▼        ├─► switching ─► handing ─► on
//	              ▼         waiting     │
//	           excluded                 ▼
//	                                 closing ─► over
//
// A process whose runtime has not been resumed yet is suspended: until then it is not asked who
// it is, which it does not know, and no session is begun.
//
// Every failure leads to waiting, longer each time, and after maxAttempts in a row to
// givenUp: a process is asked nothing any more until it gets another chance.
type supervisor struct {
	backOff backOff
	state   state
	known   bool // who the process is has been found out
	stop    bool // it shall be over as soon as can be
	gone    bool // the process has ended

	want     plan // what the configuration asks for
	have     plan // of the session that is on
	session  int  // that is on, or being opened
	next     int  // that takes over from it; 0: none does
	newest   int  // number that was given to a session, from 1 on
	nextHave plan
	attempts int       // failures in a row
	since    time.Time // when the session that is on was opened
	why      string    // it is not on, for people
}

// A plan is what is to be done with a process.
type plan struct {
	excluded string // why it is not to be logged; "" if it is
	level    string // of the session
	// What else the session depends on: all suspensions are told, and more is listened to.
	suspensions bool
	providers   string
}

// A backOff is how long to wait before another attempt.
type backOff interface {
	NextBackOff() time.Duration
	Reset()
}

type state uint8

const (
	stateFound       state = iota
	stateIdentifying       // it is being asked who it is
	stateSuspended         // the same, as soon as its runtime has been resumed
	stateExcluded
	stateOpening   // a session is being opened
	stateOn        // there is a session
	stateSwitching // another one is being opened, to take over
	stateHanding   // it takes over
	stateWaiting   // for another attempt
	stateGivenUp
	stateClosing // the sessions are being ended
	stateOver
)

var stateNames = [...]string{
	"found", "identifying", "suspended", "excluded", "opening", "on", "switching", "handing-over", "waiting", "given-up", "closing", "over",
}

func (s state) String() string { return stateNames[s] }

const (
	// maxAttempts is how many attempts in a row may fail.
	maxAttempts = 10
	// goneTime is how long a session may last after its process has ended. It ends by
	// itself, unless a child of the process has kept its end of the connection.
	goneTime = 5 * time.Second
	// lasting is how long a session must have lasted to count as one that worked.
	lasting = time.Minute
)

// An event is something that has happened to a process.
type event struct {
	kind    eventKind
	session int    // eventOpened, eventFailed, eventEnded
	plan    plan   // eventIdentified, eventPlanned
	why     string // eventSuspended, eventFailed, eventEnded
	final   bool   // eventFailed: no attempt will succeed
}

type eventKind uint8

const (
	eventFound      eventKind = iota
	eventSuspended            // it cannot be asked yet: its runtime is suspended in its start
	eventIdentified           // it is known who it is
	eventFailed               // it could not be found out, or no session be opened
	eventOpened               // the session is there
	eventEnded                // the session has ended, and all of it is written
	eventTimer                // the time is over that actWait asked for
	eventPlanned              // the configuration was read again
	eventGone                 // the process has ended
	eventAlive                // it has not, although it seemed so
	eventStop                 // the daemon ends
)

// An action is something to be done about a process. What comes of it is told by an
// event, but for actSay.
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
	actIdentify actionKind = iota
	actOpen
	actClose
	actAbort // end the session without asking the runtime: there is none any more
	actWait
	actFinish // close the outputs and forget the process
	actSay
)

// step takes an event of the time now. Events that come too late to matter, because
// something else has happened meanwhile, change nothing.
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

// begin does the next thing for a process that has no session.
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

// settle makes the session that is on what it should be.
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
		// The session that is on stays. The level that could not be had is not asked for
		// again before the configuration changes.
		s.state, s.next = stateOn, 0
		if s.want == s.nextHave {
			s.want = s.have
		}
		return append([]action{{kind: actSay, warn: true, text: "the level stays " + s.have.level + ": " + e.why}}, s.settle()...)
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
		// It ended before the other one was there: that is an ordinary one then.
		s.session, s.next, s.have, s.state = s.next, 0, s.nextHave, stateOpening
	case s.state == stateHanding && e.session == s.session:
		s.session, s.next, s.have, s.state, s.since = s.next, 0, s.nextHave, stateOn, now
		return s.settle()
	case s.state == stateClosing:
		return s.closed(e.session)
	}
	return nil
}

// closed notes that a session has ended that was asked to.
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
			text = fmt.Sprintf("given up after %d attempts, for an hour or until the configuration is read again (SIGHUP): %s", s.attempts, why)
		}
		return []action{{kind: actSay, warn: true, text: text}}
	}
	s.state = stateWaiting
	return []action{{kind: actSay, warn: s.attempts > 1, text: why}, {kind: actWait, wait: s.backOff.NextBackOff()}}
}

// giveUp ends all that is done about the process, whatever that is. Its sessions have been cut off.
func (s *supervisor) giveUp(why string) []action {
	if s.stop || s.gone {
		return s.finish()
	}
	s.state, s.why, s.next = stateGivenUp, why, 0
	return nil
}

// planned takes what the configuration asks for now. A process that was given up gets
// another chance.
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

// leave ends what there is, because the process has ended or the daemon does.
func (s *supervisor) leave() []action {
	switch s.state {
	case stateOn:
		if s.stop {
			return s.settle()
		}
		return []action{{kind: actWait, wait: goneTime}}
	case stateSwitching, stateHanding:
		if s.stop {
			// The next one comes after it: what the one that is on leaves to it, it must see.
			s.state = stateClosing
			return []action{{kind: actClose, session: s.session}}
		}
		return []action{{kind: actWait, wait: goneTime}}
	case stateOpening:
		s.state = stateClosing
	case stateSuspended, stateExcluded, stateWaiting, stateGivenUp:
		return s.finish()
	}
	return nil // its answer is awaited
}

func (s *supervisor) finish() []action {
	if s.state == stateOver {
		return nil
	}
	s.state = stateOver
	return []action{{kind: actFinish}}
}
