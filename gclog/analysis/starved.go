package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
)

const (
	// pressed is the percentage of the time from which waiting for a processor is a shortage: PSI is
	// below a tenth on a host with room.
	pressed = 25
	// waitedMuch is the percentage of the processors' time from which the threads of a process that wait
	// for them show a shortage.
	waitedMuch = 20
	// soon is how long the time around a pause may be for throttling in it to be about the pause.
	soon = 10e9
)

// A shortage is which of what the kernel showed around a pause says that processors were short.
type shortage struct{ throttled, pressed, waited bool }

func shortageOf(c *gclog.CPUShortage) shortage {
	return shortage{
		throttled: c.Throttled > 0 && c.Interval <= soon,
		pressed:   max(c.Pressure, c.GroupPressure) >= pressed,
		waited: c.WaitedInterval > 0 &&
			percent(c.Waited, c.WaitedInterval) >= waitedMuch*float64(max(1, c.Processors)),
	}
}

func (x shortage) any() bool { return x != shortage{} }

// processors says what the kernel showed of a shortage of processors around the pause.
func (x *explainer) processors() {
	c := &x.d.CPU
	is := shortageOf(c)
	var parts, causes []string
	facts := []Fact{timeFact("dotnet.gc.cpu.interval", c.Interval)}
	say := func(cause string, shown bool, text string, args ...any) {
		if shown {
			parts, causes = append(parts, fmt.Sprintf(text, args...)), append(causes, cause)
		}
	}
	interval := timeText(c.Interval)
	say("throttled", is.throttled, "its control group was throttled for %s in %s", timeText(c.Throttled), interval)
	say("pressure", is.pressed, "processors were waited for %s of %s (PSI)",
		valueText(max(c.Pressure, c.GroupPressure), "%"), interval)
	say("waited", is.waited, "its threads waited %s for one in %s", timeText(c.Waited), timeText(c.WaitedInterval))
	if len(parts) == 0 {
		return
	}
	if is.throttled {
		facts = append(facts, timeFact("dotnet.gc.cpu.throttled", c.Throttled))
	}
	if c.Pressure >= pressed {
		facts = append(facts, percentFact("dotnet.gc.cpu.pressure", c.Pressure))
	}
	if c.GroupPressure >= pressed {
		facts = append(facts, percentFact("dotnet.gc.cpu.cgroup_pressure", c.GroupPressure))
	}
	if is.waited {
		facts = append(facts, timeFact("dotnet.gc.cpu.waited", c.Waited),
			timeFact("dotnet.gc.cpu.waited_interval", c.WaitedInterval))
	}
	what, took := "The pause", x.d.Pause()
	for i := range x.d.Pauses {
		p := &x.d.Pauses[i]
		switch {
		case 2*p.Suspend > p.Duration && p.HasSuspend:
			what, took = "Suspending the threads", p.Suspend
		case 2*p.Resume > p.Duration && p.HasResume:
			what, took = "Resuming the threads", p.Resume
		}
	}
	x.because(&x.e.Pause, "processors", fmt.Sprintf("%s took %s while processors were short: %s.",
		what, timeText(took), andList(parts)), causes, facts...)
}

// cpuOf returns what there was around a pause.
func cpuOf(p *gclog.Pause) *gclog.CPUShortage {
	if p.GC != nil {
		return &p.GC.CPU
	}
	return &p.CPU
}

// A starvation is what the kernel showed around pauses.
type starvation struct {
	known, confirmed               uint64 // pauses: those with a reading, and those whose reading confirms it
	throttled, pressedOf, waitedOf uint64 // of the latter
	throttledFor                   int64
	pressure                       float64 // sum over pressedOf
	waitedFor, waitedIn            int64
	number                         uint32 // of the latest collection: a background one has several pauses
}

// add adds what there was around a pause.
func (x *starvation) add(p *gclog.Pause) {
	c := cpuOf(p)
	if c.Interval == 0 || p.GC != nil && p.GC.Number == x.number && x.known > 0 {
		return
	}
	if p.GC != nil {
		x.number = p.GC.Number
	}
	x.known++
	s := shortageOf(c)
	if s.any() {
		x.confirmed++
	}
	if s.throttled {
		x.throttled++
		x.throttledFor += c.Throttled
	}
	if s.pressed {
		x.pressedOf++
		x.pressure += max(c.Pressure, c.GroupPressure)
	}
	if s.waited {
		x.waitedOf++
		x.waitedFor, x.waitedIn = x.waitedFor+c.Waited, x.waitedIn+c.WaitedInterval
	}
}

// sure reports whether a shortage is confirmed for most of the pauses with a reading.
func (x *starvation) sure() bool { return 2*x.confirmed > x.known }

// says says what confirms it.
func (x *starvation) says() string {
	var list []string
	if x.throttled > 0 {
		list = append(list, "its control group was throttled for "+timeText(x.throttledFor))
	}
	if x.pressedOf > 0 {
		list = append(list, fmt.Sprintf("processors were waited for %s of the time (PSI)",
			valueText(x.pressure/float64(x.pressedOf), "%")))
	}
	if x.waitedOf > 0 {
		list = append(list, fmt.Sprintf("its threads waited %s for one in %s",
			timeText(x.waitedFor), timeText(x.waitedIn)))
	}
	return andList(list)
}

// confirm adds to a finding about waiting for processors what the kernel showed.
func (x *starvation) confirm(f *Finding) {
	if x.known == 0 {
		return
	}
	f.Evidence = append(f.Evidence, countFact("cpu.known", x.known), countFact("cpu.short", x.confirmed))
	if !x.sure() {
		f.Text += fmt.Sprintf(" The kernel showed no shortage of processors in %d of the %d with a reading.",
			x.known-x.confirmed, x.known)
		return
	}
	f.starved = true
	f.Text += " The kernel confirms a shortage of processors: " + x.says() + "."
	f.says += " while " + x.says()
	if x.throttled > 0 {
		f.Evidence = append(f.Evidence, timeFact("cpu.throttled", x.throttledFor))
	}
	if x.pressedOf > 0 {
		f.Evidence = append(f.Evidence, percentFact("cpu.pressure", x.pressure/float64(x.pressedOf)))
	}
	if x.waitedOf > 0 {
		f.Evidence = append(f.Evidence, timeFact("cpu.waited", x.waitedFor),
			timeFact("cpu.waited_interval", x.waitedIn))
	}
}
