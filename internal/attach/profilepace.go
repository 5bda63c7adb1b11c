package attach

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/gclog/gclog/gclog"
)

// ProfileBudget is the share of its CPU time that an allocation profile may cost a process by default.
const ProfileBudget = 0.02

// EventPrice returns how much CPU time an event with its call stack takes a process, by its runtime: see
// docs/alloc.md.
func EventPrice(facts *gclog.Process) time.Duration {
	switch major := gclog.Major(facts.RuntimeVersion); {
	case facts.Flavor == gclog.FlavorNativeAOT: // which has no stacks
		return 10 * time.Microsecond
	case major >= 11 || major == 0:
		return 25 * time.Microsecond
	case major >= 9:
		return 18 * time.Microsecond
	case major >= 5:
		return 8 * time.Microsecond
	}
	return 10 * time.Microsecond
}

const (
	methodPrice  = 5 * time.Microsecond // of the name of a method
	sessionPrice = 3 * time.Millisecond // of a session that begins and ends
	// freeShare is the part of a processor that a profile may take in any case: the budget of a process that does
	// little would not even pay for the names.
	freeShare = 0.005
	// cycleTime is how long it takes from one window to the next; windowTime is the least that is aimed at for one.
	cycleTime  = 3 * time.Second
	windowTime = 250 * time.Millisecond
	// leastShare is the smallest part of the time that windows have.
	leastShare = 0.01
)

// A usage is what a process has used, and what it has reported.
type usage struct {
	at       time.Time
	cpu      time.Duration
	knowsCPU bool
	events   int64
	watched  time.Duration
	methods  int
}

// A pace decides when the session of a profile is open, so that it takes no more than its budget of the CPU time
// of the process. It begins with a short window, which shows how many events there are. If all of them are within
// the budget, the next window lasts until the end. Otherwise time is divided into cycles of some seconds, each with
// a window at a random place. If there are more events than expected the windows become shorter, and longer if there
// are far fewer; what was before is estimated on its own then, because it stands for another time.
type pace struct {
	budget   float64 // 0: no limit
	price    time.Duration
	duration time.Duration

	start, last usage
	windows     int
	rate        float64   // events per second in the last window
	share       float64   // of the time that windows have; 0: not known yet
	cycle       time.Time // when the next cycle begins
	spanned     time.Time // when the present span began
}

// A turn is the next window.
type turn struct {
	wait, length time.Duration
	other        bool // it stands for another time than those before it
}

func newPace(o *ProfileOptions, facts *gclog.Process) *pace {
	p := &pace{price: EventPrice(facts), duration: o.Duration}
	if o.Allocations {
		p.budget = o.Budget
	}
	return p
}

// begin returns how long the first window lasts, which begins now.
func (p *pace) begin(u usage) time.Duration {
	p.start, p.last, p.spanned, p.windows = u, u, u.at, 1
	if p.budget == 0 {
		return p.duration
	}
	return min(max(p.duration/60, windowTime/2), time.Second)
}

// next returns the next window. The last one has just ended.
func (p *pace) next(u usage) turn {
	rest := max(0, p.duration-u.at.Sub(p.start.at))
	if p.budget == 0 {
		return turn{length: rest}
	}
	if watched := (u.watched - p.last.watched).Seconds(); watched > 0 {
		p.rate = float64(u.events-p.last.events) / watched
	}
	p.last = u
	p.windows++
	want := p.affordable(u, rest)
	other := p.share == 0 || want > 2*p.share || want < 0.8*p.share && p.exceeded(u)
	if other {
		p.share, p.cycle = want, u.at
	}
	if p.share >= 1 {
		return turn{length: rest, other: other}
	}
	every := max(cycleTime, time.Duration(float64(windowTime)/p.share))
	left := max(0, p.start.at.Add(p.duration).Sub(p.cycle))
	every = left / time.Duration(max(1, math.Round(left.Seconds()/every.Seconds())))
	length := time.Duration(p.share * float64(every))
	at := p.cycle.Add(time.Duration(rand.Float64() * float64(every-length)))
	p.cycle = p.cycle.Add(every)
	return turn{wait: max(0, at.Sub(u.at)), length: length, other: other}
}

// affordable returns in which share of the rest of the time there may be windows.
func (p *pace) affordable(u usage, rest time.Duration) float64 {
	whole := p.allowedInAll(u)
	left := whole*9/10 - p.spent(u) - min(p.names(u), whole/2)
	cost := p.rate * float64(p.price) * rest.Seconds()
	if float64(left) >= cost {
		return 1
	}
	return max(leastShare, float64(left-sessionPrice*rest/cycleTime)/cost)
}

// exceeded reports whether more has been spent than was to be by now.
func (p *pace) exceeded(u usage) bool {
	whole := p.allowedInAll(u)
	names := float64(min(p.names(u), whole/2)) * u.at.Sub(p.start.at).Seconds() / p.duration.Seconds()
	return p.budget > 0 && p.ofEvents(u) > p.allowed(u)-time.Duration(names)+whole/10
}

// tooMuch reports whether a window that was to last until the end must end now.
func (p *pace) tooMuch(u usage) bool { return p.share >= 1 && p.exceeded(u) }

// allowed returns how much the profile may have cost by now.
func (p *pace) allowed(u usage) time.Duration {
	elapsed := u.at.Sub(p.start.at)
	cpu := elapsed // of one processor
	if u.knowsCPU && p.start.knowsCPU {
		cpu = u.cpu - p.start.cpu
	}
	return time.Duration(max(p.budget*float64(cpu), freeShare*float64(elapsed)))
}

// allowedInAll returns how much it may cost in all, if the process goes on as it has.
func (p *pace) allowedInAll(u usage) time.Duration {
	elapsed := max(u.at.Sub(p.start.at), time.Millisecond)
	return time.Duration(float64(p.allowed(u)) * max(1, float64(p.duration)/float64(elapsed)))
}

// spent returns how much it has cost, without the names.
func (p *pace) spent(u usage) time.Duration {
	return p.ofEvents(u) + time.Duration(p.windows)*sessionPrice
}

// ofEvents returns how much the events have cost.
func (p *pace) ofEvents(u usage) time.Duration {
	return time.Duration(u.events-p.start.events) * p.price
}

func (p *pace) names(u usage) time.Duration { return time.Duration(u.methods) * methodPrice }

// span returns how long the present span has lasted, and begins the next one.
func (p *pace) span() time.Duration {
	began := p.spanned
	p.spanned = time.Now()
	return p.spanned.Sub(began)
}

// total returns what all of it has cost, and how much CPU time the process has used meanwhile; 0: unknown.
func (p *pace) total(u usage) (cost, cpu time.Duration) {
	if u.knowsCPU && p.start.knowsCPU {
		cpu = u.cpu - p.start.cpu
	}
	return p.spent(u) + p.names(u), cpu
}
