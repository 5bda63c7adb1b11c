package rules

import (
	"fmt"
	"time"

	"github.com/gclog/gclog/internal/condition"
)

// A Rule is when to act.
type Rule struct {
	Name string
	On   Kind
	// When is the condition; nil: it is always true.
	When *condition.Condition
	// For is how long the condition must have been true, at each event in that time, before the rule
	// fires. It then fires once until the condition has been false; with Every, again after each such
	// time for which it is still true.
	For, Every time.Duration
	// Cooldown is how long the rule does not fire again after it has, whatever happens.
	Cooldown time.Duration
}

// New returns a rule. The error is about its condition, or about values that do not fit together.
func New(name string, on Kind, when string, forTime, every, cooldown time.Duration) (*Rule, error) {
	r := &Rule{Name: name, On: on, For: forTime, Every: every, Cooldown: cooldown}
	lasts := on == OnGC || on == OnPause
	switch {
	case !lasts && forTime > 0:
		return nil, fmt.Errorf("for needs a condition that stays true: that of a gc or a pause, not of a %s", on)
	case !lasts && every > 0:
		return nil, fmt.Errorf("every needs a condition that stays true: that of a gc or a pause, not of a %s; "+
			"cooldown limits how often the rule fires", on)
	case when == "" && lasts:
		return nil, fmt.Errorf("it would fire at every %s: give it a condition", on)
	case when == "":
		return r, nil
	}
	var err error
	r.When, err = on.Scope().Parse(when)
	return r, err
}

// A state is what is known of a rule about one process. Times are nanoseconds of Unix time.
//
//	             true for For
//	false ─► pending ────────► firing
//	  ▲         │                 │
//	  └─────────┴─────────────────┘
//	          false
//
// What is unknown changes nothing: the survival of gen2 is only known of some collections.
type state struct {
	*Rule
	since  int64 // when the condition became true; 0: it is false
	firing bool  // it has fired since then
	last   int64 // when it fired last; 0: never

	lastReal time.Time // the same by gclog's clock, if it is live
}

// step evaluates the rule at a time, and reports whether it fires. If it is live, half of Cooldown must
// have passed by gclog's clock too: records may be late, but not all of them.
func (s *state) step(at int64, t condition.Truth, live bool) bool {
	switch t {
	case condition.Unknown:
		return false
	case condition.False:
		s.since, s.firing = 0, false
		return false
	}
	if s.since == 0 {
		s.since = at
	}
	s.since, s.last = min(s.since, at), min(s.last, at) // the clock may have been set back
	switch {
	case at-s.since < s.For.Nanoseconds():
		return false
	case s.firing && s.For > 0 && s.Every == 0:
		return false
	case s.firing && at-s.last < s.Every.Nanoseconds():
		return false
	case s.last != 0 && at-s.last < s.Cooldown.Nanoseconds():
		return false
	case live && !s.lastReal.IsZero() && time.Since(s.lastReal) < s.Cooldown/2:
		return false
	}
	if live {
		s.lastReal = time.Now()
	}
	s.firing, s.last = true, at
	return true
}
