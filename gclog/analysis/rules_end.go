package analysis

import (
	"fmt"

	"github.com/gclog/gclog/gclog"
)

// An Ending is what is known about the end of a process.
type Ending struct {
	Way Way
	At  int64 // nanoseconds since the sync point
	// Text says what happened, as the rest of a sentence that begins with the process: "crashed
	// (SIGSEGV)". It is "" if the process was still running when the observation ended.
	Text string
}

// endingOf returns what findings need of the end of a process. The Reason must be OfProcess.
func endingOf(e *gclog.End) Ending {
	return Ending{Way: wayOf(e), At: e.At, Text: string(e.AppendTo(nil))}
}

// wayOf returns what the end of a process means.
func wayOf(e *gclog.End) Way {
	const sigkill = 9
	switch {
	case e.Reason == gclog.EndOOMKilled:
		return WayOOMKilled
	case e.Reason == gclog.EndAborted:
		return WayAborted
	case e.Reason == gclog.EndCrashed:
		return WayCrashed
	case e.Reason == gclog.EndKilled && (e.Signal == 0 || e.Signal == sigkill):
		return WayKilled
	}
	return WayPeaceful
}

// exited reports whether the process is known to have ended. A nil Ending is unknown.
func (e *Ending) exited() bool { return e != nil && e.Text != "" }

// A Way is how a process ended, as far as it matters to a finding.
type Way uint8

// The ways.
const (
	WayPeaceful  Way = iota // it is still running, it exited, or it was asked to
	WayKilled               // it was killed at once, or nobody knows the signal
	WayOOMKilled            // the kernel killed it because memory ran out
	WayAborted              // it gave up, as the runtime does after an exception that nobody handles
	WayCrashed              // a fault such as SIGSEGV
)

// advice names the text about what to do.
func (w Way) advice() string {
	return ruleText("process-end",
		[...]string{WayKilled: "killed", WayOOMKilled: "oom-killed", WayAborted: "aborted", WayCrashed: "crashed"}[w])
}

func endRules() []Rule {
	return []Rule{{
		Number: 28, ID: "process-end", Severity: Error,
		Basis: BasisRuntime, need: needNothing, first: true,
		judge: func(limits) judge { return &processEnd{} },
	}}
}

// processEnd keeps what was known last.
type processEnd struct {
	memory            gclog.Memory
	committed         uint64
	hasCommitted      bool
	ended, lastChance int64 // when the latest collection ended, and the latest one before an OutOfMemoryException
	lastChances       uint64
}

func (j *processEnd) gc(x *judgedGC) {
	j.ended = x.End
	j.memory, j.committed, j.hasCommitted = x.Memory, x.CommittedAfter, x.Known.Has(gclog.GroupCommittedAfter)
	if x.conditions&beforeOOM != 0 {
		j.lastChances++
		j.lastChance = x.End
	}
}

func (j *processEnd) verdict(s *stretch) (f Finding, why string) {
	e := s.ending
	switch {
	case e == nil:
		return f, "how the process ended is not recorded: logs of live sessions in json contain it"
	case e.Way == WayPeaceful:
		return f, ""
	case e.Way == WayKilled:
		f.Severity = Warning
	}
	f.Advice = e.Way.advice()
	f.Evidence = []Fact{textFact("process.end", s.time(e.At)), textFact("process.end_reason", e.Text)}
	f.Text = fmt.Sprintf("The process %s, at %s.", e.Text, s.time(e.At))
	before := func(at int64, name string) string {
		ago := max(0, e.At-at)
		f.Evidence = append(f.Evidence, timeFact(name, ago))
		return valueText(float64(ago), "ns")
	}
	if l := &s.latest; l.open {
		f.Text += fmt.Sprintf(" Collection %d, which began %s before, did not end.",
			l.number, before(l.start, "since.open"))
		f.GCs = []uint32{l.number}
		f.Evidence = append(f.Evidence, countFact("collection.open", l.number))
	}
	if j.lastChances > 0 {
		f.Evidence = append(f.Evidence, countFact("collections.before-oom", j.lastChances))
		f.Text += fmt.Sprintf(" %s considered the last attempt before an OutOfMemoryException by the GC, the "+
			"latest %s before.", were(j.lastChances, "collection"), before(j.lastChance, "since.before-oom"))
	}
	if e.Way != WayCrashed {
		f.Text += j.memories(&f, before)
	}
	f.cause, f.says = j.cause(s)
	return f, ""
}

// cause returns what the end is for a Verdict, and what it says of it.
func (j *processEnd) cause(s *stretch) (Cause, string) {
	e, m := s.ending, &j.memory
	switch {
	case e.Way == WayCrashed:
		return CauseCrash, fmt.Sprintf("the process %s", e.Text)
	case e.Way == WayAborted && (j.lastChances > 0 || s.nearLimit()):
		text := fmt.Sprintf("out of memory: the process %s", e.Text)
		if j.lastChances > 0 {
			text += fmt.Sprintf(" after %s that the GC considered the last attempt",
				plural(j.lastChances, "collection"))
		}
		if j.hasCommitted {
			text += fmt.Sprintf("; GC heap at %s", bytesText(j.committed))
		}
		return CauseOutOfMemory, text
	case e.Way == WayAborted:
		return CauseCrash, fmt.Sprintf("the process %s; nothing shows that memory ran out", e.Text)
	}
	text := "killed by SIGKILL, of which nobody knows the reason"
	if e.Way == WayOOMKilled {
		text = "killed by the kernel because memory ran out"
	}
	switch {
	case m.CgroupLimit > 0 && m.Cgroup > 0:
		text += fmt.Sprintf(": control group at %s of %s", bytesText(m.Cgroup), bytesText(m.CgroupLimit))
	case m.Resident > 0:
		text += fmt.Sprintf(": %s resident", bytesText(m.Resident))
	default:
		return CauseKilled, text
	}
	if j.hasCommitted {
		text += fmt.Sprintf(", of which GC heap %s", bytesText(j.committed))
	}
	return CauseKilled, text
}

// memories returns what was known of the memory at the latest collection.
func (j *processEnd) memories(f *Finding, before func(int64, string) string) (text string) {
	m := &j.memory
	if m.Resident == 0 {
		return ""
	}
	f.Evidence = append(f.Evidence, bytesFact("memory.resident", m.Resident))
	text = fmt.Sprintf(" At the latest complete collection, which ended %s before, it had %s resident",
		before(j.ended, "since.collection"), sizeText(float64(m.Resident)))
	if j.hasCommitted {
		f.Evidence = append(f.Evidence, bytesFact("heap.committed", j.committed))
		text += fmt.Sprintf(", the GC had committed %s", sizeText(float64(j.committed)))
	}
	if m.Cgroup > 0 && m.CgroupLimit > 0 {
		f.Evidence = append(f.Evidence, bytesFact("memory.cgroup", m.Cgroup),
			bytesFact("memory.cgroup.limit", m.CgroupLimit))
		text += fmt.Sprintf(", and its control group used %s of %s",
			sizeText(float64(m.Cgroup)), sizeText(float64(m.CgroupLimit)))
	}
	return text + "."
}

// A latestGC is the collection that began last.
type latestGC struct {
	seen, open bool // open: its end was not seen
	number     uint32
	start      int64
}

// see records a collection, complete or not.
func (l *latestGC) see(d *gclog.GCDetails) {
	if d.Flaws&gclog.FlawNoStart != 0 || !d.Known.Has(gclog.GroupNumber) || l.seen && d.Start < l.start {
		return
	}
	*l = latestGC{true, d.Flaws&gclog.FlawNoEnd != 0, d.Number, d.Start}
}

// nearLimit reports whether the heap was near a limit.
func (s *stretch) nearLimit() bool {
	for _, j := range s.judges {
		if j, ok := j.(*hardLimit); ok {
			f, _ := j.verdict(s)
			return f.Text != ""
		}
	}
	return false
}

// ofMemory returns whether the GC heap is most of the memory that a process had when it ended.
func (s *stretch) ofMemory() Answer {
	for _, j := range s.judges {
		j, ok := j.(*processEnd)
		switch {
		case !ok:
			continue
		case !j.hasCommitted || j.memory.Resident == 0:
			return AnswerUnknown
		case 2*j.committed >= j.memory.Resident:
			return AnswerYes
		}
		return AnswerNo
	}
	return AnswerUnknown
}
