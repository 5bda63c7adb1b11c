package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/urfave/cli/v2"
)

func spanFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "since", Usage: "only what was since `TIME`: 14:03, 14:03:22, 2026-01-31T14:03:22Z, 90s after the start, -5m before the end"},
		&cli.StringFlag{Name: "until", Usage: "only what was before `TIME`, which is written like that of --since"},
		&cli.BoolFlag{Name: localFlag, Usage: "times are those of this host, not UTC; so they are where TZ is set"},
	}
}

// A span is what --since and --until say, and --at.
type span struct {
	since, until, at instant
	zone             zone // of times without one
}

// An instant is a moment of a recording as people write it.
type instant struct {
	text    string // as it was written; "": it was not
	kind    instantKind
	time    time.Time      // of the calendar, as the clocks of its zone show it
	clock   time.Duration  // since midnight, as they show it
	where   *time.Location // the zone of time and clock
	zoned   bool           // the zone was written
	step    time.Duration  // of the last digit that was written, at least
	offset  time.Duration  // from the begin
	fromEnd time.Duration  // before the end
}

type instantKind uint8

const (
	instantOpen    instantKind = iota // the begin, or the end
	instantTime                       // of the calendar
	instantClock                      // a time of day
	instantOffset                     // from the begin
	instantFromEnd                    // from the end
)

// Layouts of moments of the calendar, and of times of the day, each with seconds and without, and
// with a zone and without. Go takes decimals of the seconds in all of them.
var (
	timeLayouts  = zonedLayouts("2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04")
	clockLayouts = zonedLayouts("15:04:05", "15:04")
)

func zonedLayouts(layouts ...string) (all []string) {
	for _, l := range layouts {
		all = append(all, l+"Z07:00", l+"Z0700", l)
	}
	return all
}

const (
	aDay = 24 * time.Hour
	// shortly before the begin is what may be meant as the begin. Times that are farther
	// away are rather those of another zone, or of another recording.
	shortly = time.Hour
)

// parseSpan reads --since, --until and --at.
func (p *program) parseSpan(c *cli.Context) (s span, err error) {
	s.zone = p.zoneOf(c)
	for _, x := range []struct {
		flag string
		to   *instant
	}{{"since", &s.since}, {"until", &s.until}, {"at", &s.at}} {
		if !c.IsSet(x.flag) {
			continue
		}
		if *x.to, err = parseInstant(x.flag, c.String(x.flag), s.zone); err != nil {
			return s, err
		}
	}
	return s, nil
}

// whole tells whether no part was chosen.
func (s *span) whole() bool { return s.since.text == "" && s.until.text == "" }

// timeText is a time for people, in the zone of the span.
func (s *span) timeText(t time.Time) string { return timeText(t.In(s.zone.location())) }

func parseInstant(flag, text string, z zone) (i instant, err error) {
	i.text = text
	if t, layout, ok := parseAny(timeLayouts, text); ok {
		i.kind, i.time = instantTime, shown(t)
		i.setZone(t, layout, z)
		if len(moments(i.time, i.where)) == 0 {
			return i, usagef("--%s %s is no time of %s: clocks were set forward over it", flag, text, i.where)
		}
		return i, nil
	}
	if t, layout, ok := parseAny(clockLayouts, text); ok {
		i.kind, i.clock = instantClock, shown(t).Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
		i.setZone(t, layout, z)
		return i, nil
	}
	if d, err := time.ParseDuration(text); err == nil {
		i.kind, i.offset, i.step = instantOffset, d, time.Second
		if strings.HasPrefix(text, "-") {
			i.kind, i.offset, i.fromEnd = instantFromEnd, 0, -d
		}
		return i, nil
	}
	return i, usagef("--%s %q is no time: write 14:03, 14:03:22, 2026-01-31T14:03:22Z, 90s from the start or -5m from the end", flag, text)
}

// parseAny reads a time in the first of the layouts that fits.
func parseAny(layouts []string, text string) (t time.Time, layout string, ok bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, layout, true
		}
	}
	return t, "", false
}

// setZone notes what the layout says of a time that was parsed with it.
func (i *instant) setZone(t time.Time, layout string, z zone) {
	i.where, i.zoned, i.step = z.location(), strings.Contains(layout, "Z"), time.Minute
	if strings.Contains(layout, ":05") {
		i.step = time.Second
	}
	if i.zoned {
		_, east := t.Zone()
		i.where = time.FixedZone("", east)
	}
}

// fromEnd tells whether the end of what begins so must be known for it.
func (s *span) fromEnd(begin time.Time) bool {
	return s.since.fromEndOf(begin) || s.until.fromEndOf(begin)
}

// mayBeFromEnd is the same while the begin is not known.
func (s *span) mayBeFromEnd() bool {
	kinds := [...]instantKind{s.since.kind, s.until.kind}
	return slices.Contains(kinds[:], instantFromEnd) || slices.Contains(kinds[:], instantClock)
}

func (i *instant) fromEndOf(begin time.Time) bool {
	switch i.kind {
	case instantFromEnd:
		return true
	case instantClock:
		before, _ := i.around(begin)
		return begin.Sub(before) <= shortly
	default:
		return false
	}
}

// around are the last time that the clock says this before begin, and the first from then on.
func (i *instant) around(begin time.Time) (before, from time.Time) {
	midnight := shown(begin.In(i.where)).Truncate(aDay)
	for day := -2; day <= 2; day++ { // on one of them it may not exist
		for _, t := range moments(midnight.AddDate(0, 0, day).Add(i.clock), i.where) {
			if !t.Before(begin) {
				return before, t
			}
			before = t
		}
	}
	return before, from
}

// at is the moment in a recording. The end needs to be known where fromEnd says so. ok
// tells whether there is one: an instant may be left open.
//
// A time of the day is the first one in the recording. If there is none it is one shortly
// before the begin, unless the next one is nearer to the end: what begins some seconds after
// 14:00 is asked for from 14:00 on. Of two times that look alike, because clocks were set back,
// it is the first one that is not over when the recording begins.
func (i *instant) at(begin, end time.Time) (t time.Time, ok bool) {
	switch i.kind {
	case instantTime:
		for _, t = range moments(i.time, i.where) {
			if t.Add(i.unit()).After(begin) {
				break
			}
		}
		return t, true
	case instantClock:
		before, t := i.around(begin)
		if i.fromEndOf(begin) && t.Sub(end) > begin.Sub(before) {
			return before, true
		}
		return t, true
	case instantOffset:
		return begin.Add(i.offset), true
	case instantFromEnd:
		return end.Add(-i.fromEnd), true
	default:
		return t, false
	}
}

// in is the moment in what was recorded from begin to end. Its first second counts, if only
// the end of that was recorded.
func (i *instant) in(begin, end time.Time) time.Time {
	if i.kind == instantClock {
		begin = begin.Truncate(i.unit())
	}
	t, _ := i.at(begin, end)
	return t
}

// A stretch is a span of a recording whose begin is known.
type stretch struct {
	span
	begin, end time.Time // of the recording; the end is only known where the span needs it
	written    string    // the zone that a log is written in, "" of UTC
}

// check tells whether the span is one at all.
func (s *stretch) check() error {
	since, a := s.since.at(s.begin, s.end)
	until, b := s.until.at(s.begin, s.end)
	if a && b && !since.Before(until) {
		return usagef("--since %s (%s) is not before --until %s (%s)", s.since.text, s.timeText(since), s.until.text, s.timeText(until))
	}
	return nil
}

// window is the span in the times of a process.
func (s *stretch) window(p *gclog.Process) analysis.Window {
	w := analysis.Always()
	if t, ok := s.since.at(s.begin, s.end); ok {
		w.From = int64(t.Sub(p.Sync))
	}
	if t, ok := s.until.at(s.begin, s.end); ok {
		w.To = int64(t.Sub(p.Sync))
	}
	return w
}

// outside tells that the span has nothing of a recording that ended at end.
func (s *stretch) outside(end time.Time) error {
	since, a := s.since.at(s.begin, s.end)
	until, b := s.until.at(s.begin, s.end)
	is := s.timeText(s.begin) + " to " + s.timeText(end)
	switch {
	case a && since.After(end):
		return usagef("--since %s (%s) is after the end of what was recorded: that is from %s%s", s.since.text, s.timeText(since), is, s.zoneRule(&s.since))
	case b && !until.After(s.begin):
		return usagef("--until %s (%s) is before the begin of what was recorded: that is from %s%s", s.until.text, s.timeText(until), is, s.zoneRule(&s.until))
	}
	return nil
}

// zoneRule says how a time without a zone is taken, and how it is written in the zone of the
// log. It is for errors about a time that may have been meant in another one.
func (s *stretch) zoneRule(i *instant) string {
	if !i.bare() {
		return ""
	}
	text := "; times without a zone are " + s.zone.text()
	day := shown(s.begin.In(i.where)).Truncate(aDay)
	for range 2 { // it may begin on the day before
		if i.kind == instantClock && len(moments(day.Add(i.clock), i.where)) == 0 {
			text = fmt.Sprintf("; on %s clocks were set forward over it%s", day.Format("2006-01-02"), text)
		}
		day = day.Add(aDay)
	}
	switch {
	case s.written != "":
		return fmt.Sprintf("%s: one copied from this log is %s%s", text, i.text, s.written)
	case s.zone.from == "":
		return fmt.Sprintf("%s: write the zone behind, as in %s-05:00, or choose that of this host with --%s", text, i.text, localFlag)
	}
	return fmt.Sprintf("%s: write the zone behind, as in %sZ, or choose UTC with --%s=false", text, i.text, localFlag)
}

// bare tells whether the zone of a time was left out.
func (i *instant) bare() bool {
	return !i.zoned && (i.kind == instantClock || i.kind == instantTime)
}

// doubts are sentences about times without a zone that may be taken for others than were meant: in
// what was recorded from begin to end, and in a log that is written in a zone, "" of UTC.
func (s *stretch) doubts(begin, end time.Time) (list []string) {
	for _, i := range []*instant{&s.at, &s.since, &s.until} {
		if !i.bare() {
			continue
		}
		t, _ := i.at(s.begin, s.end)
		for _, other := range moments(shown(t), i.where) {
			if !other.Equal(t) && other.Add(i.unit()).After(begin) && other.Before(end) {
				list = append(list, fmt.Sprintf("%s is twice in it, because clocks were set back: this is %s%s, the other one is %s%s", i.text, i.text, t.Format("-07:00"), i.text, other.Format("-07:00")))
			}
		}
		if s.written != "" && s.written != offsetText(begin.In(i.where)) {
			list = append(list, fmt.Sprintf("the log is written in another zone, %s: %s was taken as %s%s", s.written, i.text, i.text, t.Format("Z07:00")))
		}
	}
	return list
}

// timeText is a time for people, in its zone and in a form that --since takes.
func timeText(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z07:00") }
