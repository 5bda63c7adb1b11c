package analysis

import (
	_ "embed"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"

	"github.com/gclog/gclog/gclog"
	"golang.org/x/tools/txtar"
)

// A Verdict says in a sentence whether the garbage collector is the reason for a problem, why, and what
// to do first. It is plain data and belongs to the caller.
type Verdict struct {
	GC    Answer
	Cause Cause
	Text  string // a sentence or two
	First string // a command or a setting; "": there is nothing to do
	// PauseShare is the percentage of the time that the program was paused.
	PauseShare Number
	Explains   Explained // what the Cause accounts for

	purpose string // what First is for: "find the caller"
}

// Record returns the verdict for the end of a session in a log.
func (v *Verdict) Record() *gclog.Verdict {
	return &gclog.Verdict{
		GC: string(v.GC), Cause: string(v.Cause), Text: v.Text, First: v.First,
		Paused: v.PauseShare.Value, HasPaused: v.PauseShare.Known(),
		ExplainsPaused: 100 * v.Explains.Paused, ExplainsBytes: v.Explains.Bytes,
	}
}

// Sentence returns the Text with what to do first.
func (v *Verdict) Sentence() string {
	if v.First == "" {
		return v.Text
	}
	return fmt.Sprintf("%s First: %s: `%s`.", v.Text, v.purpose, v.First)
}

// An Answer is whether the garbage collector is the reason.
type Answer string

// The answers.
const (
	AnswerYes     Answer = "yes"
	AnswerNo      Answer = "no"
	AnswerUnknown Answer = "unknown"
)

// A Cause is what a Verdict names. The texts are stable.
type Cause string

// The causes. What locks and a short thread pool do is not in the records of collections.
const (
	CauseNone             Cause = "none" // nothing is wrong with the memory, or it costs next to nothing
	CauseKilled           Cause = "killed"
	CauseOutOfMemory      Cause = "out-of-memory"
	CauseCrash            Cause = "crash"
	CauseManagedLeak      Cause = "managed-leak"
	CauseNativeMemory     Cause = "native-memory"
	CauseHandleLeak       Cause = "handle-leak"
	CauseInduced          Cause = "induced"
	CauseLargeObjects     Cause = "large-objects"
	CauseLOHFragmentation Cause = "loh-fragmentation"
	CausePinning          Cause = "pinning"
	CauseMidLife          Cause = "mid-life"
	CauseSurvival         Cause = "survival"
	CauseFinalizers       Cause = "finalizers"
	CauseDependentHandles Cause = "dependent-handles"
	CauseHeapLimit        Cause = "heap-limit"
	CauseContainerLimit   Cause = "container-limit"
	CauseSmallBudget      Cause = "small-budget"
	CauseCPU              Cause = "cpu"
	CauseLocks            Cause = "locks"
	CauseThreadPool       Cause = "thread-pool"
	CauseUnknown          Cause = "unknown" // too little to say
)

// Explained is what a problem accounts for.
type Explained struct {
	Paused float64 // share of the time paused, 0 to 1; 0: none, or unknown
	Bytes  uint64  // memory; 0: none, or unknown

	memory float64 // Bytes as a share of the memory, 0 to 1
}

//go:embed verdict.txtar
var verdictArchive []byte

// verdictTexts returns the English of the causes, by cause and name: induced/first.
var verdictTexts = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, f := range txtar.Parse(verdictArchive).Files {
		texts[f.Name] = strings.Join(strings.Fields(string(f.Data)), " ")
	}
	return texts
})

// text returns what is known about the cause: "shows", what shows it, "purpose" and "first", what to do
// first, and "head", how its sentence begins.
func (c Cause) text(name string) string { return verdictTexts()[string(c)+"/"+name] }

const (
	// pausesMatter is the percentage of the time below which pauses are not the reason for anything, and
	// pausesAreMuch the one from which they are, whatever their cause.
	pausesMatter  = 1
	pausesAreMuch = 5
	// leastWatched is how long a process must have been watched if there are few collections.
	leastWatched = 10e9
)

// Verdict returns what the findings so far come to.
func (f *Findings) Verdict() Verdict {
	list := f.List()
	s := f.elder
	c := candidate(list, s)
	waits, says := s.waiting.cause(s.pausedText())
	v := Verdict{Cause: CauseNone, GC: AnswerNo, PauseShare: s.share()}
	switch {
	case c != nil:
		v.Cause, v.Explains = c.cause, c.Explains
		v.GC = c.blame(s)
		v.Text = c.sentence(list, s)
	case s.pausedPercent() >= pausesAreMuch && s.collections >= leastCollections:
		v.GC, v.Cause = AnswerYes, CauseUnknown
		v.Text = fmt.Sprintf("The GC is the reason: %s, longest %s; nothing in the data explains most of that.",
			s.pausedText(), timeText(s.longest))
	case waits != CauseNone:
		v.Cause, v.Text = waits, says
	case float64(s.duration()) < leastWatched && s.collections < leastCollections:
		v.GC, v.Cause = AnswerUnknown, CauseUnknown
		v.Text = fmt.Sprintf("Too little to say: %s in %s.",
			plural(s.collections, "collection"), timeText(s.duration()))
	case s.collections == 0 && s.paused == 0:
		v.Text = fmt.Sprintf("The GC is not the reason: no collection in %s.", timeText(s.duration()))
	default:
		v.Text = fmt.Sprintf("The GC is not the reason: %s, longest %s.", s.pausedText(), timeText(s.longest))
	}
	if lacks := s.shown.lacks(f.recent > 0 || s.ending != nil); c == nil && s.collections > 0 && lacks != "" {
		v.Text += " " + lacks
	}
	v.First = v.Cause.text("first")
	if who := s.who(v.First); who != "" {
		v.First = strings.ReplaceAll(v.First, "PID", who)
	}
	v.purpose = v.Cause.text("purpose")
	if v.Cause == CauseInduced && f.listCallers != "" {
		v.First, v.purpose = f.listCallers, "see who calls"
	}
	return v
}

// Judged returns an Observer that passes the records of a process on to another one: the end of a session
// with the Verdict about it. p may be filled in while records arrive.
func Judged(p *gclog.Process, to gclog.Observer) gclog.Observer {
	var f *Findings
	return func(r gclog.Record) {
		if _, starts := r.(*gclog.Start); starts || f == nil {
			f = NewFindings(p, Thresholds{}, Always())
		}
		if end, ends := r.(*gclog.End); ends && end.Verdict == nil {
			v := f.Conclude(end)
			judged := *end
			judged.Verdict = v.Record()
			to(&judged)
			return
		}
		f.Observe(r)
		to(r)
	}
}

// candidate returns the finding that the verdict is about, nil if there is none: how the process ended,
// or what matters most.
func candidate(list []Finding, s *stretch) (best *Finding) {
	share, most, waiting := s.pausedPercent(), 0.0, 0.0
	for i := range list {
		if meaningOf(list[i].Rule.ID).cause == CauseCPU {
			waiting += list[i].Explains.Paused
		}
	}
	for i := range list {
		x := &list[i]
		m := meaningOf(x.Rule.ID)
		if x.cause == "" {
			x.cause = m.cause
		}
		if x.cause == "" || x.SymptomOf != nil || x.Severity < Warning {
			continue
		}
		if x.Rule.first {
			return x
		}
		weight := x.Explains.Paused * share
		switch {
		case m.trend: // it will be the reason
			weight += pausesAreMuch
		case share < pausesMatter, x.cause == CauseCPU && waiting < explainsPauses:
			continue
		}
		if weight > most {
			best, most = x, weight
		}
	}
	return best
}

// blame returns whether the GC is the reason for a problem.
func (f *Finding) blame(s *stretch) Answer {
	switch f.cause {
	case CauseNativeMemory, CauseCPU, CauseCrash:
		return AnswerNo
	case CauseKilled:
		return s.ofMemory()
	}
	return AnswerYes
}

// sentence returns the Text of a Verdict about a finding.
func (f *Finding) sentence(list []Finding, s *stretch) string {
	head := f.cause.text("head")
	switch {
	case f.Rule.first:
		says := []string{f.says}
		for i := range list {
			if list[i].Explains.Bytes > 0 && meaningOf(list[i].Rule.ID).grows && f.cause != CauseCrash {
				says = append(says, list[i].says)
			}
		}
		return upperFirst(strings.Join(says, "; ")) + "."
	case head == "":
		return fmt.Sprintf("The GC is the reason: %s; %s.", s.pausedText(), f.says)
	}
	return fmt.Sprintf("%s: %s; %s.", head, f.says, s.pausedText())
}

// pausedPercent returns how much of the time the program was paused.
func (s *stretch) pausedPercent() float64 { return percent(s.paused, max(1, s.duration())) }

// share returns the same, if it is known.
func (s *stretch) share() Number {
	switch {
	case s.unbounded:
		return unknown(noBounds).in("%")
	case s.duration() == 0:
		return unknown("nothing was observed").in("%")
	}
	return known(s.pausedPercent()).in("%")
}

// pausedText says how much that is: "paused 0.3 % of 2 h".
func (s *stretch) pausedText() string {
	if s.unbounded {
		return fmt.Sprintf("paused for %s in all", timeText(s.paused))
	}
	return fmt.Sprintf("paused %s of %s", valueText(s.pausedPercent(), "%"), timeText(s.duration()))
}

// who returns the process for a command, "" if it is unknown. One that has ended may run again, under its
// name, by which commands of gclog find it.
func (s *stretch) who(command string) string {
	p := s.process
	switch {
	case !s.ending.exited() && p.ID > 0:
		return strconv.FormatInt(p.ID, 10)
	case s.ending.exited() && strings.HasPrefix(command, "gclog ") && plainName.MatchString(p.Name):
		return p.Name
	}
	return ""
}

// plainName matches names that need no quotes in a shell, and are neither options nor another process's number.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)

// A CauseHelp is what docs/verdict.md says of a Cause.
type CauseHelp struct {
	Cause          Cause
	Shows          string // what shows it
	Purpose, First string // what comes first, and what for; "": nothing
}

// Causes returns all causes. The list belongs to the caller.
func Causes() (list []CauseHelp) {
	for _, c := range [...]Cause{
		CauseNone, CauseKilled, CauseOutOfMemory, CauseCrash, CauseManagedLeak, CauseNativeMemory, CauseHandleLeak,
		CauseInduced, CauseLargeObjects, CauseLOHFragmentation, CausePinning, CauseMidLife, CauseSurvival,
		CauseFinalizers, CauseDependentHandles, CauseHeapLimit, CauseContainerLimit, CauseSmallBudget, CauseCPU,
		CauseLocks, CauseThreadPool, CauseUnknown,
	} {
		list = append(list, CauseHelp{c, c.text("shows"), c.text("purpose"), c.text("first")})
	}
	return list
}
