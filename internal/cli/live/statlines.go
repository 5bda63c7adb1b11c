package live

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
)

// statLines prints a line of statistics at the end of each interval. It observes a process; of a
// file, the records drive it, of a running process a clock. The first error of writing ends it.
type statLines struct {
	out      io.Writer
	uptime   bool // begin lines with the uptime
	repeat   int  // titles are repeated after so many lines; 0: never
	interval time.Duration
	most     int // lines; 0: no limit

	mu      sync.Mutex
	live    time.Time // when observing a running process began; zero: it is a file
	process *gclog.Process
	total   *analysis.Statistics // since the start
	within  *analysis.Statistics // within the interval
	from    int64                // start of the interval
	began   bool
	across  statPause // the latest pause: it may reach into the next interval
	latest  int64
	budgets statBudgets
	load    float64 // percent; negative: unknown
	lines   int
	err     error
}

// A statPause is a pause, with the class that it is counted in.
type statPause struct {
	gclog.PausePart
	class analysis.Class
}

// of returns l as the observer of a process.
func (l *statLines) of(p *gclog.Process) *statLines {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.process, l.total, l.load, l.began = p, newStatStatistics(), -1, false
	l.across = statPause{}
	l.budgets = newStatBudgets()
	return l
}

func newStatStatistics() *analysis.Statistics {
	return analysis.NewStatistics(analysis.StatisticsOptions{Window: analysis.Always(), Live: true})
}

// tick prints the lines of a running process until over is closed; after the last line it calls
// stop.
func (l *statLines) tick(over <-chan struct{}, stop func()) {
	l.mu.Lock()
	l.live = time.Now()
	l.mu.Unlock()
	clock := time.NewTicker(l.interval)
	defer clock.Stop()
	for {
		select {
		case <-over:
			return
		case <-clock.C:
		}
		l.mu.Lock()
		if l.began {
			l.line(time.Since(l.live).Nanoseconds())
		}
		done := l.done()
		l.mu.Unlock()
		if done {
			stop()
			return
		}
	}
}

// done reports whether no more lines will be printed.
func (l *statLines) done() bool { return l.err != nil || l.most > 0 && l.lines >= l.most }

// reach prints the lines of the intervals of a file that end before a record that starts at a time.
func (l *statLines) reach(at int64) {
	l.latest = max(l.latest, at)
	if l.interval == 0 || !l.live.IsZero() {
		return
	}
	for !l.done() && at >= l.from+int64(l.interval) {
		l.line(l.from + int64(l.interval))
	}
}

// finish prints the line of the last interval of a file, which may be shorter.
func (l *statLines) finish(end int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.reach(end)
	if l.began && !l.done() && (end > l.from || l.lines == 0) {
		l.line(end)
	}
}

// Observe takes a record.
func (l *statLines) Observe(r gclog.Record) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch r := r.(type) {
	case *gclog.Start:
		if l.began {
			l.reach(r.At)
		} else {
			l.began, l.from, l.within = true, r.At, newStatStatistics()
		}
		l.total.Observe(&gclog.Start{At: r.At, CollectionsOnly: r.CollectionsOnly})
		l.within.Observe(&gclog.Start{At: max(r.At, l.from)})
		return
	case *gclog.End, *gclog.Gap:
		at, _ := r.When()
		l.reach(at)
	case *gclog.Pause:
		l.reach(r.Start)
		l.across = statPause{r.PausePart, analysis.ClassOf(r.GC)}
		l.latest = max(l.latest, r.Start+r.Duration)
	case *gclog.GCDetails:
		if r.Flaws&gclog.FlawNoStart == 0 {
			l.reach(r.Start)
		}
		l.budgets.add(r)
		if r.Global.MemoryLoad > 0 {
			l.load = float64(r.Global.MemoryLoad)
		}
	default:
		return
	}
	l.total.Observe(r)
	l.within.Observe(r)
}

// line prints the line of the interval that ends at a time, and starts the next one.
func (l *statLines) line(end int64) {
	if l.done() {
		return
	}
	l.total.Observe(&gclog.End{At: end})
	l.within.Observe(&gclog.End{At: end})
	total, share := l.total.Summary(), l.share(end)
	cells := make([]string, 0, len(statTitles)+1)
	if l.uptime {
		cells = append(cells, strconv.FormatFloat(l.process.Uptime(end).Seconds(), 'f', 1, 64))
	}
	for g := range gclog.Generations {
		cells = append(cells, statNumber(l.budgets.used[g], 1))
	}
	cells = append(cells, statOf(total.Heap.Last, 1e6, 1), statOf(total.Heap.Committed, 1e6, 1), statNumber(l.load, 0))
	past := max(0, l.across.Start+l.across.Duration-end) // belongs to the next intervals
	paused := func(c analysis.Class) string {
		n := total.Classes[c].Pauses.Total
		if c == l.across.class || c == analysis.ClassAll {
			n.Value -= float64(past)
		}
		return statOf(n, 1e9, 3)
	}
	for _, c := range [...]analysis.Class{
		analysis.ClassGen0, analysis.ClassGen1, analysis.ClassGen2, analysis.ClassBackground,
	} {
		cells = append(cells, strconv.FormatUint(total.Classes[c].Count, 10), paused(c))
	}
	cells = append(cells, paused(analysis.ClassAll), share)
	l.print(cells)
	l.from, l.within = end, newStatStatistics()
	l.within.Observe(&gclog.Start{At: end})
	if past > 0 {
		l.within.Observe(&gclog.Pause{PausePart: gclog.PausePart{Start: end, Duration: past}})
	}
}

// share returns the share of the interval that the program was paused. A pause that ends later
// counts as far as it is within.
func (l *statLines) share(end int64) string {
	s := l.within.Summary()
	if s.Window.To > end { // a pause reaches into the next interval
		past := s.Window.To - end
		whole := float64(end - s.Window.From)
		if !s.Share.Known() || whole <= 0 || s.Unobserved > 0 {
			return "-"
		}
		paused := s.Share.Value/100*(whole+float64(past)) - float64(past)
		return statNumber(max(0, 100*paused/whole), 2)
	}
	return statOf(s.Share, 1, 2)
}

// statTitles are the titles of the columns: part of gclog's compatibility promise.
var statTitles = strings.Fields("G0 G1 G2 LOH POH HEAP COMMIT LOAD% G0C G0T G1C G1T G2B G2BT BGC BGCT GCT PAUSE%")

// statWidths are how wide the columns are, at least.
var statWidths = [...]int{6, 6, 6, 6, 6, 8, 8, 5, 6, 8, 6, 8, 5, 8, 5, 8, 9, 7}

const uptimeTitle, uptimeWidth = "Timestamp", 10

// print prints a line, with titles above it if they are due.
func (l *statLines) print(cells []string) {
	titles, widths := statTitles, statWidths[:]
	if l.uptime {
		titles, widths = append([]string{uptimeTitle}, titles...), append([]int{uptimeWidth}, widths...)
	}
	var b strings.Builder
	row := func(cells []string) {
		for i, cell := range cells {
			if i > 0 {
				b.WriteByte(' ')
			}
			fmt.Fprintf(&b, "%*s", widths[i], cell)
		}
		b.WriteByte('\n')
	}
	if l.lines == 0 || l.repeat > 0 && l.lines%l.repeat == 0 {
		row(titles)
	}
	row(cells)
	l.lines++
	_, l.err = io.WriteString(l.out, b.String()) // one write, so that a reader gets whole lines
}

// statOf formats a number in a unit.
func statOf(n analysis.Number, unit float64, decimals int) string {
	if !n.Known() {
		return "-"
	}
	return strconv.FormatFloat(n.Value/unit, 'f', decimals, 64)
}

// statNumber formats a number; a negative one is unknown.
func statNumber(v float64, decimals int) string {
	if v < 0 {
		return "-"
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// statBudgets are how much of the generations' budgets was used when they were last collected.
type statBudgets struct {
	used  [gclog.Generations]float64 // percent; negative: unknown
	share [gclog.Generations]float64 // bytes of the budget of each heap; 0: unknown
}

func newStatBudgets() (b statBudgets) {
	for g := range b.used {
		b.used[g] = -1
	}
	return b
}

// add takes over the budgets that a collection found, which the collection before it had set, and
// those that it set.
func (b *statBudgets) add(d *gclog.GCDetails) {
	for g := range d.Generations {
		x := &d.Generations[g]
		if !d.Collected(g) {
			continue
		}
		b.used[g] = -1
		if x.HasBudgetLeft && b.share[g] > 0 {
			b.used[g] = max(0, 100*(1-float64(x.BudgetLeft)/b.share[g]))
		}
		if b.share[g] = 0; x.Budget > 0 {
			b.share[g] = float64(x.Budget) / float64(max(1, d.HeapCount()))
		}
	}
}
