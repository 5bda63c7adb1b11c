package accesslog

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/times"
)

// problem is what is wrong with a row. Nothing is known about a row with a problem, except for
// problemNarrow.
type problem uint8

const (
	problemNone problem = iota
	problemNoTime
	problemNoDuration
	problemTime
	problemDuration
	problemOutside
	problemGap
	problemUnreadable
	problemJoined
	problemLong
	problemWide
	problemNarrow
	problems
)

// A Report is what was found in a log.
type Report struct {
	Rows     int64 // without the CSV header and blank lines
	Joined   int64 // rows whose pauses are all known
	Paused   int64 // joined rows that overlapped a pause
	Duration int64 // sum over all joined rows, in nanoseconds
	Pause    int64 // time in these that the program was paused

	o        Options
	problems [problems]noted
	there    []string // fields of the first row that lacked one
	zoneless int64    // times without a zone: they are taken as UTC
	precise  bool     // a time has a fraction of a second
	// first and last are when the earliest request started and the latest ended, in nanoseconds
	// since 1970; 0: no row has both time and duration.
	first, last int64
	bare        int64 // durations without a unit
	all         histogram
	paused      histogram
}

// noted are the rows with one problem.
type noted struct {
	count  int64
	lines  []int64 // of the first rows
	sample string  // the text in the first row that could not be parsed
}

// at reads the time of a row, in nanoseconds since 1970.
func (r *Report) at(b []byte) (ns int64, ok bool) {
	t, ok := times.Parse(b)
	if !ok {
		return 0, false
	}
	if !t.Zoned {
		r.zoneless++
	}
	ns, ok = t.Nanoseconds()
	r.precise = r.precise || ok && ns%int64(time.Second) != 0
	return ns, ok
}

func (r *Report) note(p problem, line int64, sample []byte) {
	const most, longest = 10, 60
	n := &r.problems[p]
	if n.count == 0 {
		n.sample = string(sample[:min(len(sample), longest)])
	}
	if n.count++; len(n.lines) < most {
		n.lines = append(n.lines, line)
	}
}

// span records the time of a request.
func (r *Report) span(from, to int64) {
	if r.last == 0 {
		r.first, r.last = from, to
	}
	r.first, r.last = min(r.first, from), max(r.last, to)
}

// Apart reports whether all requests are outside the Timeline.
func (r *Report) Apart() bool { return r.last != 0 && r.Joined+r.problems[problemGap].count == 0 }

// learn records the fields of the first row that has any.
func (r *Report) learn(l layout, row []byte) {
	if len(r.there) == 0 {
		r.there = l.names(row)
	}
}

func (r *Report) add(duration int64, o *analysis.Overlap) {
	r.Joined++
	r.Duration += duration
	r.all.add(duration)
	if o.Pauses > 0 {
		r.Paused++
		r.Pause += o.Pause
		r.paused.add(duration)
	}
}

// Err returns an error if the options fit no row; nil if they fit at least one, or there are no
// rows.
func (r *Report) Err() error {
	if r.Rows == 0 {
		return nil
	}
	p := &r.problems
	switch r.Rows - p[problemUnreadable].count - p[problemJoined].count - p[problemLong].count - p[problemWide].count {
	case 0:
		switch r.Rows {
		case p[problemUnreadable].count:
			return &FormatError{"no row is a JSON object"}
		case p[problemWide].count:
			return &FormatError{"all rows have more fields than the header"}
		}
	case p[problemNoTime].count:
		return &FieldError{Field: r.o.Time, There: r.there}
	case p[problemNoDuration].count:
		return &FieldError{Field: r.o.Duration, There: r.there}
	case p[problemTime].count:
		return &ValueError{fmt.Sprintf("no row has a valid time in %s: the first is %q",
			r.o.Time, p[problemTime].sample)}
	case p[problemDuration].count:
		return &ValueError{fmt.Sprintf("no row has a valid duration in %s: the first is %q",
			r.o.Duration, p[problemDuration].sample)}
	}
	return nil
}

// Sentences returns what was found, for people: first what is missing and why, then the summary.
func (r *Report) Sentences(known string) (list []string) {
	say := func(p problem, one, many string) {
		n := &r.problems[p]
		switch {
		case n.count == 1:
			list = append(list, fmt.Sprintf("1 row %s: line %d", one, n.lines[0]))
		case n.count > 1:
			list = append(list, fmt.Sprintf("%d rows %s: lines %s", n.count, many, lineList(n)))
		}
	}
	quoted := func(p problem) string { return strconv.Quote(r.problems[p].sample) }
	say(problemUnreadable, "is not a JSON object and was left unchanged",
		"are not JSON objects and were left unchanged")
	say(problemLong, "is longer than 1 MB and was left unchanged", "are longer than 1 MB and were left unchanged")
	say(problemWide, "has more fields than the header and was left unchanged",
		"have more fields than the header and were left unchanged")
	say(problemNarrow, "has fewer fields than the header: the rest were treated as empty",
		"have fewer fields than the header: the rest were treated as empty")
	say(problemJoined, "already has fields of these names and was left unchanged",
		"already have fields of these names and were left unchanged")
	say(problemNoTime, "has no "+r.o.Time, "have no "+r.o.Time)
	say(problemNoDuration, "has no "+r.o.Duration, "have no "+r.o.Duration)
	say(problemTime, "has an invalid time ("+quoted(problemTime)+")", "have an invalid time ("+quoted(problemTime)+")")
	say(problemDuration, "has an invalid duration ("+quoted(problemDuration)+")",
		"have an invalid duration ("+quoted(problemDuration)+")")
	outside := "outside of the recorded time, which is " + known + ", while the log spans " + timeText(r.first) +
		" to " + timeText(r.last)
	say(problemOutside, "is "+outside, "are "+outside)
	say(problemGap, "is from a time in which records are missing", "are from a time in which records are missing")
	if r.bare > 0 && r.o.Unit == 0 {
		list = append(list, r.o.Duration+" has no unit and was read as milliseconds: set its unit with --duration-unit")
	}
	if r.zoneless > 0 {
		list = append(list, r.o.Time+" has no time zone and was read as UTC")
	}
	if r.Joined > 0 && !r.precise {
		list = append(list, "all times are whole seconds: a pause may be assigned to requests up to a second away; "+
			"log times with milliseconds")
	}
	return append(list, r.sum())
}

// sum returns the sentence about all rows.
func (r *Report) sum() string {
	if r.Joined == 0 {
		return fmt.Sprintf("%d requests; for none is it known whether it overlapped a pause", r.Rows)
	}
	s := fmt.Sprintf("%d of %d requests overlapped a pause", r.Paused, r.Joined)
	if all, paused, from := slowest(&r.all, &r.paused); r.Joined >= 100 {
		s += fmt.Sprintf("; of the slowest 1 %% (from %s on) %s did", millis(from), percent(paused, all))
	}
	return s + fmt.Sprintf("; the GC accounts for %s of %s (%s)",
		millis(r.Pause), millis(r.Duration), percent(r.Pause, r.Duration))
}

func timeText(ns int64) string { return time.Unix(0, ns).UTC().Format("2006-01-02T15:04:05.000Z") }

func millis(ns int64) string { return string(appendMillis(nil, ns)) + " ms" }

func percent(part, of int64) string {
	if of == 0 {
		return "0 %"
	}
	return strconv.FormatFloat(100*float64(part)/float64(of), 'f', 1, 64) + " %"
}

func lineList(n *noted) string {
	var b strings.Builder
	for i, line := range n.lines {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.FormatInt(line, 10))
	}
	if int64(len(n.lines)) < n.count {
		b.WriteString(", ...")
	}
	return b.String()
}

// A histogram counts durations in buckets, each of which spans at most 1.6 %.
type histogram [64 << steps]struct{ count, least int64 }

const steps = 6 // each power of two is divided into 2^steps buckets

func (h *histogram) add(ns int64) {
	b := &h[bucket(uint64(ns))]
	if b.count == 0 || ns < b.least {
		b.least = ns
	}
	b.count++
}

func bucket(ns uint64) int {
	shift := max(0, bits.Len64(ns)-steps-1)
	return shift<<steps + int(ns>>shift)
}

// slowest counts the slowest 1 % of all, or more if many are about equally slow, and how many of
// them are also in part. from is the fastest of them.
func slowest(all, part *histogram) (n, inPart, from int64) {
	total := int64(0)
	for i := range all {
		total += all[i].count
	}
	for i := len(all) - 1; i >= 0 && n*100 < total; i-- {
		if all[i].count > 0 {
			n, inPart, from = n+all[i].count, inPart+part[i].count, all[i].least
		}
	}
	return n, inPart, from
}
