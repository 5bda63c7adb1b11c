package analysis_test

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/recordings"
	"github.com/gclog/gclog/parse/clr"
)

// TestExplainJudged holds every statement of every explanation of every recording against
// what the events say by themselves, and against the other statements of its page. The judge
// reads facts and causes: sentences may be worded otherwise, but every number in them must be
// a fact of theirs.
func TestExplainJudged(t *testing.T) {
	extent.Long(t)
	const most = 5 // of a recording are shown
	judged := map[string]int{}
	forEach(t, func(t *testing.T, tr recordings.Trace) {
		stream := recordings.Read(t, tr.Path)
		raw := readRaw(t, stream)
		wrong := 0
		var all []*keeping
		read(t, stream, func(p *gclog.Process) gclog.Observer {
			k := &keeping{Peers: analysis.NewPeers(), process: p}
			all = append(all, k)
			return k.Observe
		})
		for _, k := range all {
			for _, d := range k.records {
				e := analysis.Explain(d, analysis.Context{Process: k.process, HasBegin: true, Peers: k.Peers})
				checkExplanation(t, d, &e)
				j := newJudge(k, d, &e)
				if r := raw[[2]int64{k.process.ID, int64(d.ClrInstance)}]; r != nil {
					j.process, j.raw = r, r.of(d)
				}
				for _, s := range j.statements() {
					judged[s.ID]++
				}
				j.judge()
				for _, text := range j.wrong {
					if wrong++; wrong <= most {
						t.Errorf("process %d: %s: %s", k.process.ID, e.Title, text)
					}
				}
			}
		}
	})
	t.Log(judged)
}

// of is the collection that a record is of: nil if it began before the recording, or what
// the events say of it is not whole.
func (p *rawProcess) of(d *gclog.GCDetails) *rawGC {
	for _, g := range p.gcs {
		if g.start.Count == d.Number && g.startTicks == d.StartTicks && d.Flaws == 0 && !g.lost && (g.in == nil || !g.in.lost) {
			return g
		}
	}
	return nil
}

// A judge judges one explanation.
type judge struct {
	k       *keeping
	d       *gclog.GCDetails // to know which collection it is, and what its peers are
	e       *analysis.Explanation
	process *rawProcess
	raw     *rawGC // nil: nothing is known beside the record
	by      map[string]*analysis.Statement
	wrong   []string
}

func newJudge(k *keeping, d *gclog.GCDetails, e *analysis.Explanation) *judge {
	j := &judge{k: k, d: d, e: e, by: map[string]*analysis.Statement{}}
	for name, list := range map[string][]analysis.Statement{"what": e.What, "trigger": e.Trigger, "generation": e.Generation, "pause": e.Pause, "result": e.Result, "comparison": e.Comparison} {
		for i := range list {
			j.by[name+"/"+list[i].ID] = &list[i]
		}
	}
	return j
}

// statements are those of all sections.
func (j *judge) statements() []analysis.Statement {
	return slices.Concat(j.e.What, j.e.Trigger, j.e.Generation, j.e.Pause, j.e.Result, j.e.Comparison)
}

func (j *judge) errorf(format string, args ...any) {
	j.wrong = append(j.wrong, fmt.Sprintf(format, args...))
}

// check finds it wrong unless ok.
func (j *judge) check(ok bool, s *analysis.Statement, format string, args ...any) {
	if !ok {
		j.errorf("%s (%s): %s", s.ID, s.Text, fmt.Sprintf(format, args...))
	}
}

// same finds a fact wrong that is not what it should be; one that is not there is not.
func (j *judge) same(s *analysis.Statement, name string, want float64) {
	if v, ok := fact(s, name); ok && math.Abs(v-want) > 1e-9*math.Abs(want) {
		j.errorf("%s (%s): %s is %v, the events say %v", s.ID, s.Text, name, v, want)
	}
}

func fact(s *analysis.Statement, name string) (float64, bool) {
	for _, f := range s.Facts {
		if f.Name == name && f.Text == "" {
			return f.Value, true
		}
	}
	return 0, false
}

func textOf(s *analysis.Statement, name string) string {
	for _, f := range s.Facts {
		if f.Name == name {
			return f.Text
		}
	}
	return ""
}

// number is a fact that must be there.
func (j *judge) number(s *analysis.Statement, name string) float64 {
	v, ok := fact(s, name)
	j.check(ok, s, "there is no %s", name)
	return v
}

// judge judges all.
func (j *judge) judge() {
	for name, s := range j.by {
		j.numbers(s)
		judges, ok := statementJudges[name]
		if !ok {
			j.errorf("nobody judges the statement %s: %s", name, s.Text)
			continue
		}
		if judges.page != nil {
			judges.page(j, s)
		}
		if judges.raw != nil && j.raw != nil {
			judges.raw(j, s)
		}
	}
	j.missing()
	j.unknown()
	j.sizes()
	j.roots()
	if j.raw == nil && j.d.Flaws == 0 && j.process != nil {
		j.errorf("the events of a complete record are not known")
	}
}

// Numbers that are part of what something is called, and no claim.
var names = regexp.MustCompile(`GC\.\w+\([^)]*\)|[Gg]en[012]\b|\.NET [0-9.]*|\([A-Z]\w*(, [A-Z]\w*)*\)`)

var ranks = regexp.MustCompile(`(\d+)(st|nd|rd|th) longest`)

var tokens = regexp.MustCompile(`\d+h\d+m\d+s|\d+m\d+s|\d+(\.\d+)?(e[+-]?\d+)?( (ns|µs|ms|s|B|KB|MB|GB|TB|%|times)\b| %)?`)

// numbers: every number of a sentence is among its facts.
func (j *judge) numbers(s *analysis.Statement) {
	text := s.Text
	for i, f := range s.Facts {
		if slices.ContainsFunc(s.Facts[:i], func(other analysis.Fact) bool { return other.Name == f.Name }) {
			j.errorf("%s: two facts are called %s", s.ID, f.Name)
		}
		if f.Name == "@timestamp" {
			at, err := time.Parse(time.RFC3339Nano, f.Text)
			if err != nil {
				j.errorf("%s: %v", s.ID, err)
			}
			text = strings.Replace(text, at.Format("2006-01-02 15:04:05.000000"), "", 1)
		}
		if f.Text != "" {
			text = strings.ReplaceAll(text, f.Text, "")
		}
	}
	if place, ok := fact(s, "rank"); ok {
		for _, rank := range ranks.FindAllStringSubmatch(text, -1) {
			j.check(strconv.Itoa(int(place)) == rank[1], s, "the rank is %v", place)
		}
		text = strings.Replace(ranks.ReplaceAllString(text, ""), "their p99", "", 1) // a percentile's name
	}
	if !strings.ContainsAny(text, "0123456789") {
		return
	}
	for _, token := range tokens.FindAllString(names.ReplaceAllString(text, ""), -1) {
		if !slices.ContainsFunc(s.Facts, func(f analysis.Fact) bool {
			return f.Text == "" && shows(token, f) || strings.HasPrefix(f.Name, "heap."+token)
		}) && !slices.Contains(s.Causes, token) && !between(s, token) {
			j.errorf("%s (%s): no fact has the number %s", s.ID, s.Text, token)
		}
	}
}

// between: of a run of heaps or numbers the first and the last one are named.
func between(s *analysis.Statement, token string) bool {
	n, err := strconv.ParseFloat(token, 64)
	first, ok := fact(s, "first")
	last, _ := fact(s, "last")
	return err == nil && ok && n >= first && n <= last
}

// scales are the units in sentences, by those of facts.
var scales = map[string]map[string]float64{
	"ns": {"ns": 1, "µs": 1e3, "ms": 1e6, "s": 1e9}, "bytes": {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12},
	"bytes/s": {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}, "%": {"%": 1}, "": {"": 1, "times": 1},
}

// shows reports whether a number of a sentence is the value of a fact: it has three digits or
// more, as people read them.
func shows(token string, f analysis.Fact) bool {
	number, unit, _ := strings.Cut(token, " ")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		d, err := time.ParseDuration(token)
		return err == nil && f.Unit == "ns" && math.Abs(math.Abs(f.Value)-float64(d)) <= 5e8
	}
	scale, ok := scales[f.Unit][unit]
	want := math.Abs(f.Value) / scale
	return ok && math.Abs(v-want) <= max(0.0051, want*0.0051)
}

// missing judges what is not said: what the page has no reason for must not be known.
func (j *judge) missing() {
	if j.raw == nil {
		return
	}
	if j.by["generation/kind"] == nil {
		heaps, joined := j.raw.conditions()
		if c := (heaps | joined) & blocking; c != 0 || j.raw.global != nil && j.raw.global.HasMemoryLoad && j.raw.global.PauseMode == clr.PauseModeBatch {
			j.errorf("why it was blocking is not told, but the conditions are %v", c.Names(nil))
		}
	}
	if g := j.raw; g.global != nil && g.global.HasCondemned && len(g.heaps) > 0 && j.by["generation/instead"] == nil && j.by["generation/before-background"] == nil {
		if final, _ := g.most(); final != int(g.start.Depth) {
			j.errorf("the heaps wanted gen%d, and it is gen%d: nothing is said about it", final, g.start.Depth)
		}
	}
}

// unknown: what is not known because an event was not seen, was not seen.
func (j *judge) unknown() {
	g := j.raw
	if g == nil {
		return
	}
	for _, u := range j.e.Unknown {
		seen := strings.Contains(u.Why, "GCPerHeapHistory") && g.global != nil && len(g.heaps) == int(g.global.Heaps) ||
			strings.Contains(u.Why, "GCHeapStats") && g.stats != nil ||
			strings.Contains(u.Why, "GCTriggered") && g.triggered ||
			strings.Contains(u.Why, "GCMarkWithType") && slices.Contains(g.marks[:], true) ||
			strings.Contains(u.Why, "GCSuspendEEEnd") && g.in != nil && g.in.suspended > 0
		if seen {
			j.errorf("%v is not known: %s. It was", u.What, u.Why)
		}
	}
}

// sizes judges the table of generations.
func (j *judge) sizes() {
	g := j.raw
	if g == nil || len(g.heaps) == 0 {
		return
	}
	for n := range j.e.Sizes {
		z, one := &j.e.Sizes[n], []int{n}
		same := func(what string, v analysis.Number, want float64) {
			if v.Known() && v.Value != want {
				j.errorf("%s %s is %v, the events say %v", what, z.Name, v.Value, want)
			}
		}
		before := g.each(one, func(g *clr.HeapGeneration) float64 { return float64(g.ObjectsBefore()) })
		survived := g.each(one, func(g *clr.HeapGeneration) float64 { return float64(g.Survivors()) })
		same("before", z.Before, g.each(one, func(g *clr.HeapGeneration) float64 { return float64(g.SizeBefore) }))
		same("after", z.After, float64(g.stats.Size[n]))
		if z.Collected != slices.Contains(g.collected(), n) {
			j.errorf("%s was collected: %v", z.Name, z.Collected)
		}
		if n != clr.POH && !g.background() {
			same("promoted", z.Promoted, float64(g.stats.Promoted[n]))
		} else {
			same("promoted", z.Promoted, survived)
		}
		if n == clr.Gen0 && z.Budget.Known() && g.global.FinalYoungestDesired > 0 {
			same("the budget of", z.Budget, float64(g.global.FinalYoungestDesired)*float64(g.global.Heaps))
		}
		if x, ok := j.process.samples[uint64(g.start.Count)]; ok && n == clr.Gen0 && z.Budget.Known() {
			same("by DATAS the budget of", z.Budget, float64(x.Gen0BudgetPerHeap)*float64(g.global.Heaps))
		}
		if z.Survival.Known() && math.Abs(z.Survival.Value-min(100, 100*survived/before)) > 0.1 {
			j.errorf("survival in %s is %v, the events say %v of %v", z.Name, z.Survival.Value, survived, before)
		}
	}
}

// roots judges the table of roots: it has those that were reported, with the promoted bytes.
func (j *judge) roots() {
	if j.raw == nil {
		return
	}
	reported := map[clr.MarkType]bool{}
	for _, r := range j.e.Roots {
		reported[r.Type] = true
		if want := j.raw.promotedFrom[r.Type]; r.Promoted.Value != float64(want) {
			j.errorf("from %s %v were promoted, the events say %d", r.Name, r.Promoted, want)
		}
	}
	for t, marked := range j.raw.marks {
		if marked != reported[clr.MarkType(t)] {
			j.errorf("marked from %v: %v", clr.MarkType(t), marked)
		}
	}
}

// statementJudges judge statements: page within the page, raw with the events.
var statementJudges = map[string]struct {
	page, raw func(*judge, *analysis.Statement)
}{
	"what/demoted": {raw: func(j *judge, s *analysis.Statement) {
		j.check(j.raw.start.Type == clr.TypeBackground && !j.raw.background(), s, "its type is %v", j.raw.start.Type)
	}},
	"what/inside-background-start": {raw: func(j *judge, s *analysis.Statement) {
		b := j.raw.beside
		j.check(b != nil && b.in == j.raw.in, s, "no background collection began before it in this suspension")
	}},
	"what/provisional": {raw: func(j *judge, s *analysis.Statement) {
		j.check(j.raw.start.Reason == clr.ReasonPMFullGC, s, "its reason is %v", j.raw.start.Reason)
	}},
	"what/heap-dump": {raw: func(j *judge, s *analysis.Statement) { j.check(j.raw.walked, s, "no root was told") }},
	"what/time":      {raw: (*judge).time},
	"what/process":   {raw: (*judge).ofProcess},
	"what/complete":  {page: (*judge).complete},

	"trigger/reason":       {raw: (*judge).reason},
	"trigger/thread":       {raw: (*judge).thread},
	"trigger/budget":       {page: (*judge).budget, raw: (*judge).budgetUsed},
	"trigger/allocation":   {page: (*judge).allocation, raw: (*judge).allocated},
	"trigger/used-numbers": {page: (*judge).usedNumbers},

	"generation/before-background": {raw: (*judge).beforeBackground},
	"generation/steps":             {page: (*judge).stepsAndBudgets, raw: (*judge).steps},
	"generation/conditions":        {raw: (*judge).conditions},
	"generation/instead":           {raw: (*judge).instead},
	"generation/heaps":             {raw: (*judge).heaps},
	"generation/kind":              {page: (*judge).kindSeen, raw: (*judge).kind},
	"generation/memory-load":       {raw: (*judge).memoryLoad},

	"pause/pause":       {page: (*judge).pausePage, raw: (*judge).pause},
	"pause/largest":     {page: (*judge).largest},
	"pause/foreground":  {raw: (*judge).foreground},
	"pause/revisited":   {raw: (*judge).revisited},
	"pause/processors":  {raw: (*judge).processors},
	"pause/alloc-waits": {page: (*judge).waits, raw: (*judge).waitReasons},
	"pause/balance":     {page: (*judge).balancePage, raw: (*judge).balance},

	"result/heap":              {page: (*judge).heapPage, raw: (*judge).heap},
	"result/peak":              {page: (*judge).peak},
	"result/committed":         {raw: (*judge).committed},
	"result/promoted":          {page: (*judge).promotedPage, raw: (*judge).promoted},
	"result/garbage":           {page: (*judge).garbagePage, raw: (*judge).garbage},
	"result/free-list":         {raw: (*judge).freeList},
	"result/free":              {page: (*judge).freePage, raw: (*judge).free},
	"result/compaction":        {raw: (*judge).compaction},
	"result/expansion":         {raw: (*judge).expansion},
	"result/loh-compaction":    {raw: (*judge).lohCompaction},
	"result/promotion":         {raw: (*judge).promotion},
	"result/demotion":          {raw: (*judge).demotion},
	"result/datas":             {raw: (*judge).datas},
	"result/datas-sample":      {raw: (*judge).datasSample},
	"result/pins":              {page: (*judge).pinsPage, raw: (*judge).pins},
	"result/finalization":      {raw: (*judge).finalization},
	"result/finalizers":        {page: (*judge).finalizersPage, raw: (*judge).finalizers},
	"result/finalizer-running": {raw: (*judge).finalizerRunning},
	"result/memory": {page: func(j *judge, s *analysis.Statement) {
		usage, _ := fact(s, "process.cgroup.memory.usage")
		if limit, ok := fact(s, "process.cgroup.memory.limit"); ok {
			j.check(usage <= limit, s, "it has more than it may have")
		}
	}},
	"result/handles":  {raw: (*judge).handles},
	"result/segments": {raw: (*judge).segments},

	"comparison/pause":    {page: (*judge).rank},
	"comparison/promoted": {page: (*judge).promotedAgainst},
}

func (j *judge) time(s *analysis.Statement) {
	at, err := time.Parse(time.RFC3339Nano, textOf(s, "@timestamp"))
	offset := j.number(s, "offset")
	j.check(err == nil && at.Equal(j.k.process.Time(int64(offset))), s, "the time stamp is that of %v", offset)
	j.check(offset >= float64(j.raw.in.begin) && offset < float64(j.raw.in.end), s, "its suspension is from %d to %d", j.raw.in.begin, j.raw.in.end)
	j.same(s, "event.duration", float64(j.raw.end-j.raw.at))
}

func (j *judge) ofProcess(s *analysis.Statement) {
	j.same(s, "process.pid", float64(j.k.process.ID))
	if j.raw.global != nil {
		j.same(s, "dotnet.gc.heap_count", float64(j.raw.global.Heaps))
	}
	j.check(textOf(s, "dotnet.gc.server") != "no" || !j.process.datas && (j.raw.global == nil || j.raw.global.Heaps <= 1), s, "it has several heaps, or changes their number")
}

// complete: a complete record has all its events, of one that is not something is missing.
func (j *judge) complete(s *analysis.Statement) {
	j.check((len(s.Causes) == 0) == j.d.Complete, s, "complete: %v", j.d.Complete)
	if g := j.raw; g != nil && len(s.Causes) == 0 {
		j.check(g.ended && g.stats != nil && g.in != nil && g.in.end > 0, s, "an event is missing")
		j.check(g.global == nil || len(g.heaps) == int(g.global.Heaps), s, "%d heaps have told their history", len(g.heaps))
	}
}

func (j *judge) reason(s *analysis.Statement) {
	j.check(len(s.Causes) == 1 && s.Causes[0] == j.raw.start.Reason.String(), s, "the reason is %v", j.raw.start.Reason)
}

func (j *judge) thread(s *analysis.Statement) {
	g := j.raw
	thread, asked := fact(s, "dotnet.gc.trigger.thread")
	if !asked {
		j.check(!g.triggered && len(g.in.gcs) > 1 && g.in.gcs[0] != g, s, "it is the first of its suspension, or was asked for")
		return
	}
	j.check(g.triggered && thread == float64(g.triggerer), s, "thread %d asked for it", g.triggerer)
	if g.beside == nil {
		j.same(s, "dotnet.gc.trigger.delay", float64(g.in.begin-g.trigger))
	}
}

// budget: what is exceeded has nothing left.
func (j *judge) budget(s *analysis.Statement) {
	for g := range gclog.Generations {
		_, left := fact(s, "dotnet.gc."+gclog.GenerationName(g)+".budget_left")
		over, exceeded := fact(s, "dotnet.gc."+gclog.GenerationName(g)+".budget_exceeded")
		j.check(!left || !exceeded, s, "the budget of gen%d was exceeded and was not", g)
		j.check(!exceeded || over > 0, s, "exceeded by %v", over)
	}
}

// budgetUsed: what the program is said to have used up had next to nothing left: of the last
// budget that was set, less than a twentieth.
func (j *judge) budgetUsed(s *analysis.Statement) {
	left, ok := fact(s, "dotnet.gc.gen0.budget_left")
	if !ok || j.raw.start.Reason != clr.ReasonAllocSmall || j.raw.in.gcs[0] != j.raw {
		return
	}
	for _, g := range slices.Backward(j.process.gcs) {
		if g.startTicks < j.raw.startTicks && g.global != nil && g.global.FinalYoungestDesired > 0 {
			j.check(left <= 0.05*float64(g.global.FinalYoungestDesired), s, "of %d", g.global.FinalYoungestDesired)
			return
		}
	}
}

// allocation: the parts are the whole.
func (j *judge) allocation(s *analysis.Statement) {
	sum, parts := 0.0, 0
	for _, f := range s.Facts {
		if strings.HasSuffix(f.Name, ".allocated") && f.Name != "dotnet.gc.allocated" {
			sum += f.Value
			parts++
		}
	}
	total := j.number(s, "dotnet.gc.allocated")
	j.check(parts == 0 || sum == total, s, "the parts add up to %v", sum)
}

// allocated: a program that allocates does so before somebody counts it; what a rate counts
// and the amount does not, background collections have counted.
func (j *judge) allocated(s *analysis.Statement) {
	total := j.number(s, "dotnet.gc.allocated")
	if rate, ok := fact(s, "dotnet.gc.alloc_rate"); ok && rate > 0 && total == 0 {
		j.check(slices.Contains(s.Causes, "background-collection"), s, "nothing was allocated, at %v bytes a second", rate)
	}
	if slices.Contains(s.Causes, "background-collection") && !j.raw.background() {
		j.check(slices.ContainsFunc(j.process.gcs, func(g *rawGC) bool { return g.background() && g.end < j.raw.at }), s, "no background collection has ended before it")
	}
}

func (j *judge) usedNumbers(s *analysis.Statement) {
	first, last := j.number(s, "first"), j.number(s, "last")
	j.check(first <= last && last == float64(j.d.Number)-1, s, "it is collection %d", j.d.Number)
	for n := first; n <= last && j.process != nil; n++ {
		j.check(j.process.find(uint32(n)) == nil, s, "%v is a collection", n)
	}
}

func (j *judge) beforeBackground(s *analysis.Statement) {
	heaps, _ := j.raw.conditions()
	j.check(heaps == clr.CondemnedEphemeralBeforeBackground && j.raw.start.Depth < 2, s, "it is gen%d, and the conditions are %v", j.raw.start.Depth, heaps.Names(nil))
	j.same(s, "dotnet.gc.generation", float64(j.raw.start.Depth))
	for i := range j.raw.heaps {
		j.check(j.raw.heaps[i].CondemnedGenerations == 0, s, "the runtime noted steps: %v", j.raw.heaps[i].CondemnedGenerations)
	}
}

// stepsAndBudgets: what the runtime saw left is not said to be exceeded.
func (j *judge) stepsAndBudgets(s *analysis.Statement) {
	budgets := j.by["trigger/budget"]
	if left, ok := fact(s, "budget_left"); ok && budgets != nil && left < 2 {
		_, exceeded := fact(budgets, fmt.Sprintf("dotnet.gc.gen%v.budget_exceeded", left))
		j.check(!exceeded, s, "but: %s", budgets.Text)
	}
}

func (j *judge) steps(s *analysis.Statement) {
	want := clr.MakeCondemnedGenerations(int(j.number(s, "dotnet.gc.condemned.initial")), int(j.number(s, "dotnet.gc.condemned.final")),
		int(j.number(s, "dotnet.gc.condemned.budget_exceeded")), int(j.number(s, "dotnet.gc.condemned.time_tuning")))
	g := j.raw
	heaps, _ := g.conditions()
	j.check(heaps&clr.CondemnedEphemeralBeforeBackground == 0, s, "the runtime notes no steps of what comes before a background collection")
	if len(g.heaps) == 0 {
		j.check(g.global.CondemnedGenerations == want, s, "the steps of all heaps are %v", g.global.CondemnedGenerations)
		return
	}
	j.check(slices.ContainsFunc(g.heaps, func(h clr.GCPerHeapHistory) bool { return h.CondemnedGenerations == want }), s, "no heap has these steps")
	final, _ := g.most()
	j.check(want.Final() == final, s, "a heap wanted gen%d", final)
	if left, ok := fact(s, "budget_left"); ok {
		j.check(want.BudgetExceeded() <= want.Initial() && int(left) == want.Initial()+1 && (left < 2 || g.beside == nil), s, "the runtime did not look at this budget")
	}
}

func (j *judge) conditions(s *analysis.Statement) {
	c := bits(j, s)
	heaps, joined := j.raw.conditions()
	j.check(c&^(heaps|joined) == 0, s, "the conditions are %v", (heaps | joined).Names(nil))
	j.check(joined&^c == 0, s, "those of all heaps are %v", joined.Names(nil))
	j.check(len(j.raw.heaps) == 0 || slices.ContainsFunc(j.raw.heaps, func(h clr.GCPerHeapHistory) bool { return h.Condemned&^c == 0 && c&^h.Condemned&^joined == 0 }), s, "no heap has just these")
}

// bits are the conditions among the causes.
func bits(j *judge, s *analysis.Statement) (c clr.Condemned) {
	for _, name := range s.Causes {
		bit, ok := clr.ParseCondemned([]byte(name))
		j.check(ok, s, "%s is no condition", name)
		c |= bit
	}
	return c
}

const (
	// raising are the conditions that make a gen2 whatever the heaps want, lowering those that
	// leave it at a younger one, in the decision for all heaps (joined_generation_to_condemn).
	raising = clr.CondemnedLimitBeforeOOM | clr.CondemnedLimitLOHFragmented | clr.CondemnedLimitLOHReclaim | clr.CondemnedServoNGC |
		clr.CondemnedServoInitial | clr.CondemnedServoBGC | clr.CondemnedStress | clr.CondemnedStressMix
	lowering = clr.CondemnedAvoidUnproductive | clr.CondemnedGen1InPM | clr.CondemnedServoPostpone
	// blocking are those that set blocking_collection.
	blocking = clr.CondemnedInducedFullBlocking | clr.CondemnedExpandHeap | clr.CondemnedFragmentedGen2 | clr.CondemnedFragmentedGen2HighMemory |
		clr.CondemnedFragmentedGen2VeryHighMemory | clr.CondemnedBeforeOOM | clr.CondemnedTooSmallForBackground | clr.CondemnedPMInducedFull |
		clr.CondemnedPMAllocLOH | clr.CondemnedLimitBeforeOOM | clr.CondemnedLimitLOHFragmented | clr.CondemnedLimitLOHReclaim | clr.CondemnedServoNGC
)

// instead: the cause that is given held, and where none is given none is known.
func (j *judge) instead(s *analysis.Statement) {
	g := j.raw
	final, budget := g.most()
	_, joined := g.conditions()
	depth := int(g.start.Depth)
	j.same(s, "dotnet.gc.generation", float64(depth))
	wanted := int(j.number(s, "wanted"))
	j.check(wanted == final || wanted == budget, s, "the heaps wanted gen%d, by budgets gen%d", final, budget)
	up := wanted < depth
	lowLatency := g.global != nil && g.global.PauseMode == clr.PauseModeLowLatency && !g.start.Reason.Induced()
	elevation := g.global != nil && g.global.Mechanisms&clr.MechanismElevation != 0
	for _, cause := range s.Causes {
		bit, isBit := clr.ParseCondemned([]byte(cause))
		switch {
		case isBit:
			j.check(joined&bit != 0 && (bit&raising != 0) == (depth == 2) && bit&(raising|lowering) != 0, s, "of all heaps %v", joined.Names(nil))
		case cause == "background-collection":
			j.check(!up && g.beside != nil && depth == 1, s, "no background collection was running")
		case cause == "low-latency":
			j.check(!up && lowLatency, s, "the mode is %v, the reason %v", g.global.PauseMode, g.start.Reason)
		case cause == "Elevation":
			j.check(!up && elevation, s, "the mechanisms are %v", g.global.Mechanisms.Names(nil))
		case cause == "provisional-mode":
			j.check(up && g.start.Reason == clr.ReasonPMFullGC, s, "its reason is %v", g.start.Reason)
		case cause == "datas":
			j.check(j.process.datas && joined&(raising|lowering) == 0, s, "DATAS: %v, of all heaps %v", j.process.datas, joined.Names(nil))
		default:
			j.errorf("nobody judges the cause %s", cause)
		}
	}
	if len(s.Causes) > 0 {
		return
	}
	known := up && (joined&raising != 0 || g.start.Reason == clr.ReasonPMFullGC) || !up && (joined&lowering != 0 || g.beside != nil && depth == 1 || lowLatency || elevation)
	j.check(!known, s, "the cause is known: %v", joined.Names(nil))
}

func (j *judge) heaps(s *analysis.Statement) {
	for i := range j.raw.heaps {
		h := &j.raw.heaps[i]
		name := fmt.Sprintf("heap.%d.", h.Heap)
		j.check(j.number(s, name+"final") == float64(h.CondemnedGenerations.Final()), s, "heap %d wanted gen%d", h.Heap, h.CondemnedGenerations.Final())
		j.same(s, name+"budget_exceeded", float64(h.CondemnedGenerations.BudgetExceeded()))
		j.check(textOf(s, name+"conditions") == strings.Join(h.Condemned.Names(nil), ", "), s, "heap %d has %v", h.Heap, h.Condemned.Names(nil))
	}
}

// kindSeen: how it was carried out is said only of what was seen to begin, or in the background.
func (j *judge) kindSeen(s *analysis.Statement) {
	const noStart = "no-start"
	flawed := slices.Contains(j.d.Flaws.Names(nil), noStart)
	j.check(!flawed || j.d.Generation < 2 || j.d.Kind == gclog.KindBackground, s, "its begin was not seen")
	j.check(!flawed || !strings.Contains(j.e.Title, " blocking ") && !strings.Contains(j.e.Title, " foreground "), s, "its begin was not seen: %s", j.e.Title)
}

// kind: the cause that is given held, and is enough to make it so.
func (j *judge) kind(s *analysis.Statement) {
	g := j.raw
	heaps, joined := g.conditions()
	c := heaps | joined
	mode := clr.PauseModeInteractive
	if g.global != nil && g.global.HasMemoryLoad {
		mode = g.global.PauseMode
	}
	full := g.start.Depth == 2 && !g.background()
	for _, cause := range s.Causes {
		bit, isBit := clr.ParseCondemned([]byte(cause))
		reason, isReason := clr.ParseReason([]byte(cause))
		switch {
		case isReason && reason == g.start.Reason:
			j.check(full && (c&clr.CondemnedInducedFullBlocking != 0 || len(g.heaps) == 0), s, "the conditions are %v", c.Names(nil))
		case isBit:
			j.check(full && c&bit != 0 && bit&blocking != 0, s, "the conditions are %v", c.Names(nil))
			j.check(mode != clr.PauseModeBatch, s, "there are no background collections at all")
			j.check(bit != clr.CondemnedFragmentedGen2 || joined&bit != 0 || mode != clr.PauseModeSustainedLowLatency, s, "SustainedLowLatency leaves it in the background")
		case cause == "young":
			j.check(g.start.Depth < 2, s, "it is gen%d", g.start.Depth)
		case cause == "background-collection":
			j.check(g.beside != nil && g.start.Type == clr.TypeForeground, s, "no background collection was running")
		case cause == "default":
			j.check(g.background() && c&blocking == 0, s, "the conditions are %v", c.Names(nil))
		case cause == "sustained-low-latency":
			j.check(g.background() && mode == clr.PauseModeSustainedLowLatency, s, "the mode is %v", mode)
		case cause == "provisional-mode":
			j.check(full && g.start.Reason == clr.ReasonPMFullGC, s, "its reason is %v", g.start.Reason)
		case cause == "demoted":
			j.check(full && g.start.Type == clr.TypeBackground, s, "its type is %v", g.start.Type)
		case cause == "batch":
			j.check(full && mode == clr.PauseModeBatch, s, "the mode is %v", mode)
		case cause == "low-latency":
			j.check(full && mode == clr.PauseModeLowLatency, s, "the mode is %v", mode)
		case cause == "concurrent-off":
			j.check(full && !slices.ContainsFunc(j.process.gcs, (*rawGC).background), s, "there was a background collection")
		default:
			j.errorf("nobody judges the cause %s", cause)
		}
	}
	j.check(len(s.Causes) > 0, s, "it gives no cause")
}

// memoryLoad: the load is the event's, and what a high load makes happens at a high load.
func (j *judge) memoryLoad(s *analysis.Statement) {
	j.same(s, "dotnet.gc.memory_load", float64(j.raw.global.MemoryLoad))
	if j.process.limits != nil {
		j.same(s, "dotnet.gc.hard_limit", float64(j.process.limits.HardLimit))
		j.same(s, "dotnet.gc.settings.high_memory", float64(j.process.limits.HighMemoryPercent))
	}
	if high, ok := fact(s, "dotnet.gc.settings.high_memory"); ok {
		heaps, _ := j.raw.conditions()
		const highLoad = clr.CondemnedAlmostMaxAlloc | clr.CondemnedFragmentedGen2HighMemory | clr.CondemnedFragmentedGen2VeryHighMemory | clr.CondemnedHighMemory | clr.CondemnedVeryHighMemory
		j.check(heaps&highLoad == 0 || float64(j.raw.global.MemoryLoad) >= high, s, "the conditions are %v", heaps.Names(nil))
	}
}

// pausePage: the parts are the whole.
func (j *judge) pausePage(s *analysis.Statement) {
	total, sum, parts := j.number(s, "dotnet.gc.pause.total"), 0.0, 0
	for _, f := range s.Facts {
		if strings.HasPrefix(f.Name, "pause.") {
			sum += f.Value
			parts++
		}
	}
	j.check(parts == 0 || sum == total, s, "the pauses add up to %v", sum)
	if window, ok := fact(s, "window"); ok {
		j.same(s, "dotnet.gc.paused", 100*total/window)
		j.check(total <= window, s, "it is longer than the time that it is a part of")
	}
}

// pause: it is what the program was suspended for.
func (j *judge) pause(s *analysis.Statement) {
	if want, ok := j.raw.paused(); ok {
		j.same(s, "dotnet.gc.pause.total", float64(want))
	} else {
		j.check(j.number(s, "dotnet.gc.pause.total") <= float64(want), s, "it shares a suspension of %d", want)
	}
}

// paused is how long the program was suspended for a collection; not exact where several
// share a suspension.
func (g *rawGC) paused() (ns int64, exact bool) {
	ns = g.in.duration()
	for _, f := range g.finals {
		ns += f.duration()
	}
	return ns, len(g.in.gcs) == 1
}

// largest: no known part is larger.
func (j *judge) largest(s *analysis.Statement) {
	most, id := 0.0, ""
	for _, p := range j.e.Parts {
		parts := []analysis.Part{p}
		if p.ID == "initial" || p.ID == "final" {
			parts = p.Parts
		}
		for _, p := range parts {
			if p.Time.Known() && p.Time.Value > most {
				most, id = p.Time.Value, p.ID
			}
		}
	}
	j.check(j.number(s, "largest") == most && slices.Equal(s.Causes, []string{id}), s, "the table has %s with %v", id, most)
}

func (j *judge) foreground(s *analysis.Statement) {
	n, pause := 0, int64(0)
	for _, g := range j.process.gcs {
		if g.start.Type == clr.TypeForeground && g.beside == j.raw {
			n++
			ns, _ := g.paused()
			pause += ns
		}
	}
	j.same(s, "foreground", float64(n))
	j.same(s, "foreground.pause", float64(pause))
}

// revisited: the runtime tells some of it again, so that it is no more than what was told.
func (j *judge) revisited(s *analysis.Statement) {
	pages, references := 0.0, 0.0
	for _, f := range s.Facts {
		if strings.HasSuffix(f.Name, ".pages") {
			pages += f.Value
		}
		if strings.HasSuffix(f.Name, ".references") {
			references += f.Value
		}
	}
	j.check(pages <= float64(j.raw.pages) && references <= float64(j.raw.references), s, "at most %d pages with %d references", j.raw.pages, j.raw.references)
	j.same(s, "drained_marks", float64(j.raw.drained))
	j.same(s, "dotnet.gc.background.mark_overflow_objects", float64(j.raw.overflowed))
}

// processors: no recording has what only a live session reads.
func (j *judge) processors(s *analysis.Statement) { j.check(false, s, "nothing was read") }

func (j *judge) waits(s *analysis.Statement) {
	n := j.number(s, "dotnet.gc.background.alloc_waits.count")
	if total, ok := fact(s, "dotnet.gc.background.alloc_waits.total"); ok {
		longest := j.number(s, "dotnet.gc.background.alloc_waits.max")
		j.check(longest <= total && total <= n*longest, s, "the longest of %v took %v", n, longest)
	}
}

func (j *judge) waitReasons(s *analysis.Statement) {
	for _, cause := range s.Causes {
		j.check(slices.ContainsFunc(j.raw.waits, func(r uint32) bool { return fmt.Sprint(r) == cause }), s, "the reasons are %v", j.raw.waits)
	}
}

// balancePage: what is called uneven is, by a tenth.
func (j *judge) balancePage(s *analysis.Statement) {
	for _, name := range []string{"gen0", "survived"} {
		ratio, _ := fact(s, "dotnet.gc.imbalance."+name)
		j.check(slices.Contains(s.Causes, name) == (ratio > 1.1), s, "%s: %v", name, ratio)
	}
}

func (j *judge) balance(s *analysis.Statement) {
	var young, survived []float64
	for i := range j.raw.heaps {
		h := &j.raw.heaps[i]
		young = append(young, max(0, float64(h.Generation[0].SizeBefore)-float64(h.Generation[0].FreeListBefore)-float64(h.Generation[0].FreeObjectsBefore)))
		n := 0.0
		for _, g := range h.Generation {
			n += float64(g.PinnedSurvivors + g.NonPinnedSurvivors)
		}
		survived = append(survived, n)
	}
	ratio := func(list []float64) float64 {
		sum := 0.0
		for _, v := range list {
			sum += v
		}
		return slices.Max(list) / (sum / float64(len(list)))
	}
	j.same(s, "dotnet.gc.imbalance.gen0", ratio(young))
	j.same(s, "dotnet.gc.imbalance.survived", ratio(survived))
}

// column adds up a column of the table of generations; not known if a field is not.
func (j *judge) column(of func(*analysis.Size) analysis.Number) (sum float64, known bool) {
	for i := range j.e.Sizes {
		n := of(&j.e.Sizes[i])
		if !n.Known() {
			return 0, false
		}
		sum += n.Value
	}
	return sum, len(j.e.Sizes) > 0
}

// heapPage: the table adds up to the sentence.
func (j *judge) heapPage(s *analysis.Statement) {
	before, hasBefore := fact(s, "dotnet.gc.heap.before")
	after := j.number(s, "dotnet.gc.heap.after")
	if sum, ok := j.column(func(z *analysis.Size) analysis.Number { return z.Before }); ok && hasBefore {
		j.check(sum == before, s, "the table has %v before", sum)
	}
	if sum, ok := j.column(func(z *analysis.Size) analysis.Number { return z.After }); ok {
		j.check(sum == after, s, "the table has %v after", sum)
	}
	j.same(s, "heap.less", before-after)
	j.same(s, "heap.more", after-before)
	if before > 0 {
		j.same(s, "heap.less_pct", 100*(before-after)/before)
	}
}

func (j *judge) heap(s *analysis.Statement) {
	after, before := uint64(0), uint64(0)
	for g := range clr.Generations {
		after += j.raw.stats.Size[g]
		for i := range j.raw.heaps {
			before += j.raw.heaps[i].Generation[g].SizeBefore
		}
	}
	j.same(s, "dotnet.gc.heap.after", float64(after))
	if len(j.raw.heaps) > 0 {
		j.same(s, "dotnet.gc.heap.before", float64(before))
	}
}

func (j *judge) peak(s *analysis.Statement) {
	peak := j.number(s, "dotnet.gc.heap.peak")
	if heap := j.by["result/heap"]; heap != nil {
		before, _ := fact(heap, "dotnet.gc.heap.before")
		after, _ := fact(heap, "dotnet.gc.heap.after")
		j.check(peak >= before && peak > after, s, "but: %s", heap.Text)
	}
}

func (j *judge) committed(s *analysis.Statement) {
	list := j.raw.committed
	if len(list) == 0 {
		j.check(false, s, "no event says so")
		return
	}
	j.same(s, "dotnet.gc.heap.committed_before", float64(list[0]))
	if _, ok := fact(s, "dotnet.gc.heap.committed"); ok {
		j.check(len(list) > 1, s, "it was told once")
		j.same(s, "dotnet.gc.heap.committed", float64(list[len(list)-1]))
	}
	used := uint64(0)
	for _, n := range j.raw.stats.Size {
		used += n
	}
	if after, ok := fact(s, "dotnet.gc.heap.committed"); ok {
		j.check(after >= float64(used), s, "the heap has %d of it", used)
	}
}

// promotedPage: the table adds up to the sentence.
func (j *judge) promotedPage(s *analysis.Statement) {
	sum := 0.0
	for _, z := range j.e.Sizes {
		if !z.Promoted.Known() && z.Collected {
			return
		}
		sum += z.Promoted.Value
	}
	if len(j.e.Sizes) > 0 {
		j.same(s, "dotnet.gc.heap.promoted", sum)
	}
}

func (j *judge) promoted(s *analysis.Statement) {
	if j.raw.background() {
		return // the events have what older ones promoted (docs/reduction.md)
	}
	sum := uint64(0)
	for g := range clr.Generations {
		sum += j.raw.stats.Promoted[g]
	}
	if j.raw.start.Depth == 2 {
		for i := range j.raw.heaps {
			h := &j.raw.heaps[i].Generation[clr.POH]
			sum += h.PinnedSurvivors + h.NonPinnedSurvivors
		}
	}
	j.same(s, "dotnet.gc.heap.promoted", float64(sum))
}

func (j *judge) garbagePage(s *analysis.Statement) {
	before, garbage := j.number(s, "objects.before"), j.number(s, "objects.garbage")
	j.check(garbage <= before, s, "more than there was")
	j.same(s, "objects.garbage_pct", 100*garbage/before)
	if pins := j.by["result/pins"]; pins != nil {
		j.same(pins, "survived", before-garbage)
	}
	if heap := j.by["result/heap"]; heap != nil {
		size, _ := fact(heap, "dotnet.gc.heap.before")
		j.check(before <= size, s, "but: %s", heap.Text)
	}
}

// collected are the generations that a collection looked at.
func (g *rawGC) collected() []int {
	switch {
	case g.background():
		return []int{clr.Gen2, clr.LOH, clr.POH}
	case g.start.Depth == 2:
		return []int{clr.Gen0, clr.Gen1, clr.Gen2, clr.LOH, clr.POH}
	}
	return []int{clr.Gen0, clr.Gen1}[:g.start.Depth+1]
}

// each adds up what the heaps say of the generations.
func (g *rawGC) each(generations []int, of func(*clr.HeapGeneration) float64) (sum float64) {
	for i := range g.heaps {
		for _, n := range generations {
			sum += of(&g.heaps[i].Generation[n])
		}
	}
	return sum
}

func (j *judge) garbage(s *analysis.Statement) {
	before := j.raw.each(j.raw.collected(), func(g *clr.HeapGeneration) float64 { return float64(g.ObjectsBefore()) })
	survived := j.raw.each(j.raw.collected(), func(g *clr.HeapGeneration) float64 { return float64(g.Survivors()) })
	const rounding = 1000 // of empty generations the runtime may tell less than nothing
	j.check(math.Abs(j.number(s, "objects.before")-before) <= rounding, s, "the heaps had %v", before)
	j.check(math.Abs(j.number(s, "objects.garbage")-(before-survived)) <= rounding, s, "of the heaps %v survived", survived)
}

func (j *judge) freeList(s *analysis.Statement) {
	used, tried := 0.0, 0.0
	for i := range j.raw.heaps {
		used += float64(j.raw.heaps[i].FreeListAllocated)
		tried += float64(j.raw.heaps[i].FreeListAllocated + j.raw.heaps[i].FreeListRejected)
	}
	j.check(j.raw.start.Depth == 1, s, "it is gen%d", j.raw.start.Depth)
	j.same(s, "dotnet.gc.free_list_efficiency", 100*used/tried)
}

func (j *judge) freePage(s *analysis.Statement) {
	free := j.number(s, "dotnet.gc.heap.fragmentation")
	if heap := j.by["result/heap"]; heap != nil {
		after, _ := fact(heap, "dotnet.gc.heap.after")
		j.check(free <= after, s, "but: %s", heap.Text)
		j.same(s, "fragmentation_pct", 100*free/after)
	}
	if sum, ok := j.column(func(z *analysis.Size) analysis.Number { return z.Free }); ok {
		j.check(sum == free, s, "the table has %v", sum)
	}
}

func (j *judge) free(s *analysis.Statement) {
	free := 0.0
	for g := range clr.Generations {
		one := []int{g}
		if !j.raw.background() && !slices.Contains(j.raw.collected(), g) && j.raw.each(one, func(g *clr.HeapGeneration) float64 { return float64(g.SizeAfter) }) == 0 {
			// .NET Core 3.1 tells nothing of what it did not collect: it is as it was.
			free += min(float64(j.raw.stats.Size[g]), j.raw.each(one, func(g *clr.HeapGeneration) float64 { return float64(g.FreeListBefore + g.FreeObjectsBefore) }))
			continue
		}
		free += j.raw.each(one, func(g *clr.HeapGeneration) float64 { return float64(g.FreeListAfter + g.FreeObjectsAfter) })
	}
	j.same(s, "dotnet.gc.heap.fragmentation", free)
}

// compaction: heaps have compacted for the reasons that are given.
func (j *judge) compaction(s *analysis.Statement) {
	compacting := j.raw.global.Mechanisms&clr.MechanismCompaction != 0 && !j.raw.background()
	j.check((textOf(s, "dotnet.gc.compacting") == "yes") == compacting, s, "the mechanisms are %v", j.raw.global.Mechanisms.Names(nil))
	for _, cause := range s.Causes {
		j.check(cause != "InducedCompacting" || j.raw.start.Reason == clr.ReasonInducedCompacting, s, "the reason is %v", j.raw.start.Reason)
		j.check(cause != "Aggressive" || j.raw.start.Reason == clr.ReasonInducedAggressive, s, "the reason is %v", j.raw.start.Reason)
		j.check(cause != "LOHForced" || j.raw.start.Depth == 2, s, "it is gen%d", j.raw.start.Depth)
	}
	if compacting {
		j.mechanisms(s, func(h *clr.GCPerHeapHistory) string { return h.Compact.CompactReason() })
	}
}

func (j *judge) expansion(s *analysis.Statement) {
	j.mechanisms(s, func(h *clr.GCPerHeapHistory) string { return h.Expand.ExpandReason() })
}

// mechanisms: the causes are those of the heaps, and the facts say of which.
func (j *judge) mechanisms(s *analysis.Statement, of func(*clr.GCPerHeapHistory) string) {
	var want []string
	same := true
	for i := range j.raw.heaps {
		name := of(&j.raw.heaps[i])
		if name != "" && !slices.Contains(want, name) {
			want = append(want, name)
		}
		same = same && name == of(&j.raw.heaps[0])
	}
	slices.Sort(want)
	j.check(slices.Equal(slices.Sorted(slices.Values(s.Causes)), want), s, "the heaps have %v", want)
	for i := range j.raw.heaps {
		if h := &j.raw.heaps[i]; !same {
			j.check(textOf(s, fmt.Sprintf("heap.%d", h.Heap)) == of(h), s, "heap %d has %s", h.Heap, of(h))
		}
	}
}

func (j *judge) lohCompaction(s *analysis.Statement) {
	var plan, relocate, compact, refs float64
	for _, c := range j.raw.loh {
		plan, relocate, compact = max(plan, float64(c.PlanMicroseconds)), max(relocate, float64(c.RelocateMicroseconds)), max(compact, float64(c.CompactMicroseconds))
		refs += float64(c.TotalRefs)
	}
	j.same(s, "loh.plan", 1000*plan)
	j.same(s, "loh.relocate", 1000*relocate)
	j.same(s, "loh.compact", 1000*compact)
	j.same(s, "loh.references", refs)
}

// promotion: nothing came from a younger generation.
func (j *judge) promotion(s *analysis.Statement) {
	j.check(j.raw.global.Mechanisms&clr.MechanismPromotion == 0, s, "the mechanisms are %v", j.raw.global.Mechanisms.Names(nil))
	in := j.raw.each([]int{clr.Gen1, clr.Gen2}, func(g *clr.HeapGeneration) float64 { return float64(g.In) })
	j.check(in == 0, s, "%v came from younger generations", in)
}

func (j *judge) demotion(s *analysis.Statement) {
	j.check(j.raw.global.Mechanisms&clr.MechanismDemotion != 0, s, "the mechanisms are %v", j.raw.global.Mechanisms.Names(nil))
	pins := j.raw.each([]int{clr.Gen0, clr.Gen1, clr.Gen2}, func(g *clr.HeapGeneration) float64 { return float64(g.PinnedSurvivors) })
	j.check(pins > 0, s, "nothing was pinned")
}

func (j *judge) datas(s *analysis.Statement) {
	list := j.process.tunings[uint64(j.raw.start.Count)]
	heaps, full := fact(s, "dotnet.gc.datas.full_gc_new_heaps")
	if !full {
		heaps = j.number(s, "dotnet.gc.datas.new_heaps")
	}
	j.check(slices.Contains(list, uint16(heaps)), s, "it decided on %v", list)
	least, ok := fact(s, "heaps.min")
	most, _ := fact(s, "heaps.max")
	j.check(!ok || least <= heaps && heaps <= most, s, "they are not right")
}

func (j *judge) datasSample(s *analysis.Statement) {
	if wait, ok := fact(s, "dotnet.gc.datas.lock_wait"); ok {
		j.check(wait == 1000*float64(j.process.waits8[uint64(j.raw.start.Count)]), s, "%d µs", j.process.waits8[uint64(j.raw.start.Count)])
		return
	}
	x := j.process.samples[uint64(j.raw.start.Count)]
	j.same(s, "dotnet.gc.datas.stable_size", float64(x.StableSize))
	j.same(s, "dotnet.gc.datas.gen0_budget_per_heap", float64(x.Gen0BudgetPerHeap))
	j.same(s, "dotnet.gc.datas.soh_lock_wait", 1000*float64(x.SOHLockMicroseconds))
	j.same(s, "dotnet.gc.datas.uoh_lock_wait", 1000*float64(x.UOHLockMicroseconds))
}

// pinsPage: what pins hold is a part of what survived, and nothing is held by no pin.
func (j *judge) pinsPage(s *analysis.Statement) {
	pinned, known := fact(s, "dotnet.gc.pinned")
	held, _ := fact(s, "survived_pinned")
	survived, _ := fact(s, "survived")
	j.check(held <= survived, s, "more than survived")
	j.check(!known || pinned > 0 || held == 0, s, "no object is pinned")
}

func (j *judge) pins(s *analysis.Statement) {
	j.same(s, "dotnet.gc.pinned", float64(j.raw.stats.PinnedObjects))
	j.same(s, "survived_pinned", j.raw.each(j.raw.collected(), func(g *clr.HeapGeneration) float64 { return float64(g.PinnedSurvivors) }))
	j.same(s, "survived", j.raw.each(j.raw.collected(), func(g *clr.HeapGeneration) float64 { return float64(g.Survivors()) }))
	j.same(s, "dotnet.gc.pinned_seen.count", float64(j.raw.pins))
	j.same(s, "dotnet.gc.pinned_seen.bytes", float64(j.raw.pinBytes))
	j.same(s, "dotnet.gc.pinned_plugs.count", float64(j.raw.plugs))
	j.same(s, "dotnet.gc.pinned_plugs.bytes", float64(j.raw.plugBytes))
}

func (j *judge) finalization(s *analysis.Statement) {
	j.same(s, "dotnet.gc.finalization.count", float64(j.raw.stats.FinalizationCount))
	j.same(s, "dotnet.gc.finalization.bytes", float64(j.raw.stats.FinalizationSize))
}

func (j *judge) finalizersPage(s *analysis.Statement) {
	if longest, ok := fact(s, "dotnet.gc.finalizers.longest"); ok {
		j.check(longest > 0, s, "it took no time")
	}
}

func (j *judge) finalizers(s *analysis.Statement) {
	j.same(s, "dotnet.gc.finalizers.runs", float64(j.raw.runs))
	j.same(s, "dotnet.gc.finalizers.objects", float64(j.raw.finalized))
}

func (j *judge) finalizerRunning(s *analysis.Statement) {
	j.check(j.raw.finalizerSince != 0, s, "it was not")
	j.same(s, "dotnet.gc.finalizers.running", float64(j.raw.at-j.raw.finalizerSince))
}

func (j *judge) handles(s *analysis.Statement) {
	j.same(s, "dotnet.gc.handles", float64(j.raw.stats.Handles))
	j.same(s, "dotnet.gc.sync_blocks", float64(j.raw.stats.SyncBlocks))
}

func (j *judge) segments(s *analysis.Statement) {
	j.same(s, "dotnet.gc.segments.created.count", float64(j.raw.created))
	j.same(s, "dotnet.gc.segments.created.bytes", float64(j.raw.createdBytes))
	j.same(s, "dotnet.gc.segments.freed.count", float64(j.raw.freed))
}

// peers are the collections of the same generation and kind whose pause was seen.
func (j *judge) peers() (list []*gclog.GCDetails) {
	const hides = gclog.FlawNoStart | gclog.FlawNoSuspend | gclog.FlawNoRestart | gclog.FlawNoEnd | gclog.FlawTime
	for _, d := range j.k.records {
		if d.Generation == j.d.Generation && d.Kind == j.d.Kind && len(d.Pauses) > 0 && d.Flaws&hides == 0 {
			list = append(list, d)
		}
	}
	return list
}

// rank: so many of its kind had a longer pause.
func (j *judge) rank(s *analysis.Statement) {
	var pauses []int64
	longer := 0
	for _, d := range j.peers() {
		pauses = append(pauses, d.Pause())
		if d.Pause() > j.d.Pause() {
			longer++
		}
	}
	slices.Sort(pauses)
	j.check(j.number(s, "rank") == float64(longer+1) && j.number(s, "peers") == float64(len(pauses)), s, "%d of %d are longer", longer, len(pauses))
	j.same(s, "pause.median", float64(pauses[(len(pauses)+1)/2-1]))
	j.same(s, "pause.p99", float64(pauses[int(math.Ceil(0.99*float64(len(pauses))))-1]))
	j.same(s, "ratio", j.number(s, "dotnet.gc.pause.total")/j.number(s, "pause.median"))
	if pause := j.by["pause/pause"]; pause != nil {
		j.same(s, "dotnet.gc.pause.total", j.number(pause, "dotnet.gc.pause.total"))
	}
}

func (j *judge) promotedAgainst(s *analysis.Statement) {
	var promoted []uint64
	for _, d := range j.peers() {
		if d.Known.Has(gclog.GroupPromoted) {
			promoted = append(promoted, d.PromotedBytes)
		}
	}
	slices.Sort(promoted)
	j.same(s, "promoted.median", float64(promoted[(len(promoted)+1)/2-1]))
	j.same(s, "ratio", j.number(s, "dotnet.gc.heap.promoted")/j.number(s, "promoted.median"))
	if p := j.by["result/promoted"]; p != nil {
		j.same(s, "dotnet.gc.heap.promoted", j.number(p, "dotnet.gc.heap.promoted"))
	}
}
