package history

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/accesslog"
)

// A Span is the part of a history that is asked for.
type Span struct {
	Since, Until Instant
	// At is the moment of interest. If there are several instances of a process, the one that
	// contains it is read.
	At Instant
	// AtEnd is the end of the time of interest, Took its length before At; without them it is what At
	// includes.
	AtEnd Instant
	Took  time.Duration
	Zone  Zone // of times without one
}

// An Instant is a moment of a history as people write it. The zero Instant is left open.
type Instant struct {
	Text    string // as it was written
	kind    instantKind
	time    time.Time      // calendar time, as the clocks of its zone show it
	clock   time.Duration  // since midnight, as those clocks show it
	where   *time.Location // the zone of time and clock
	zoned   bool           // the zone was given
	step    time.Duration  // upper limit of unit: the unit of the last digit without decimals, or a second for an offset
	offset  time.Duration  // from the start
	fromEnd time.Duration  // back from the end
}

type instantKind uint8

const (
	instantOpen    instantKind = iota // the start, or the end
	instantTime                       // a calendar time
	instantClock                      // a time of day
	instantOffset                     // from the start
	instantFromEnd                    // from the end
)

// Layouts of calendar times and of times of day, with and without seconds, and with and without a
// zone. Go reads decimals of the seconds in all of them.
var (
	timeLayouts  = zonedLayouts("2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", "02/Jan/2006:15:04:05")
	clockLayouts = zonedLayouts("15:04:05", "15:04")
)

func zonedLayouts(layouts ...string) (all []string) {
	for _, l := range layouts {
		all = append(all, l+"Z07:00", l+"Z0700", l+" Z07:00", l+" Z0700", l)
	}
	return all
}

const (
	aDay = 24 * time.Hour
	// A time shortly before the start may be meant as the start. Times farther away are more likely
	// of another zone, or of another recording.
	shortly = time.Hour
)

// Whole reports whether no part was selected.
func (s *Span) Whole() bool { return s.Since.Text == "" && s.Until.Text == "" }

// CheckRunning returns an error if the span cannot be that of a running process.
func (s *Span) CheckRunning() error {
	for _, x := range []struct {
		flag string
		Instant
	}{{"since", s.Since}, {"until", s.Until}} {
		if x.kind == instantFromEnd {
			return callf("--%s %s: a running process has no end to count from: give a time since the start of the session, such as 10s", x.flag, x.Text)
		}
	}
	return nil
}

// timeText formats a time for people, in the zone of the span.
func (s *Span) timeText(t time.Time) string { return TimeText(t.In(s.Zone.location())) }

// ParseInstant parses the value of a flag: a calendar time, a time of day, an offset from the start
// or, if it is negative, from the end. Times without a zone are in the zone z.
func ParseInstant(flag, text string, z Zone) (i Instant, err error) {
	i.Text = text
	text = plainTime(text)
	if t, layout, ok := parseAny(timeLayouts, text); ok {
		i.kind, i.time = instantTime, shown(t)
		i.setZone(t, layout, z)
		if len(moments(i.time, i.where)) == 0 {
			return i, callf("--%s %s does not exist in %s: clocks were set forward over it", flag, text, i.where)
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
	if ns, unit, ok := accesslog.SinceEpoch([]byte(text)); ok && ns >= leastEpoch {
		i.kind, i.time, i.where, i.zoned, i.step = instantTime, time.Unix(0, ns).UTC(), time.UTC, true, unit
		return i, nil
	}
	return i, callf("--%s %q is not a time: write 14:03, 14:03:22, 2026-01-31T14:03:22Z, 1769868202.5 (since 1970), 31/Jan/2026:14:03:22 +0000, 90s from the start or -5m from the end", flag, i.Text)
}

// leastEpoch is the first number since 1970 that is taken as a time, of 1973: a smaller one lacks its
// unit.
const leastEpoch = int64(1e8 * time.Second)

// plainTime returns a time of an access log as calendar times are written: nginx and Apache put it
// into brackets, others end it with a UTC or write t and z.
func plainTime(text string) string {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		text = text[1 : len(text)-1]
	}
	if bare, utc := strings.CutSuffix(text, "UTC"); utc {
		text = strings.TrimRight(bare, " ") + "Z"
	}
	if len(text) > 11 && text[4] == '-' && text[10] == 't' {
		text = strings.ToUpper(text)
	}
	return text
}

// parseAny parses a time with the first of the layouts that fits.
func parseAny(layouts []string, text string) (t time.Time, layout string, ok bool) {
	for _, layout := range layouts {
		if t, err := time.Parse(layout, text); err == nil {
			return t, layout, true
		}
	}
	return t, "", false
}

// setZone sets what the layout says about a time that was parsed with it.
func (i *Instant) setZone(t time.Time, layout string, z Zone) {
	i.where, i.zoned, i.step = z.location(), strings.Contains(layout, "Z"), time.Minute
	if strings.Contains(layout, ":05") {
		i.step = time.Second
	}
	if i.zoned {
		_, east := t.Zone()
		i.where = time.FixedZone("", east)
	}
}

// isFromEnd reports whether the end of the input, which starts at begin, must be known for the
// span.
func (s *Span) isFromEnd(begin time.Time) bool {
	return s.Since.fromEndOf(begin) || s.Until.fromEndOf(begin)
}

// mayBeFromEnd is isFromEnd while the start is unknown.
func (s *Span) mayBeFromEnd() bool {
	kinds := [...]instantKind{s.Since.kind, s.Until.kind}
	return slices.Contains(kinds[:], instantFromEnd) || slices.Contains(kinds[:], instantClock)
}

func (i *Instant) fromEndOf(begin time.Time) bool {
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

// around returns the last time before begin at which the clock shows this, and the first from then
// on.
func (i *Instant) around(begin time.Time) (before, from time.Time) {
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

// at returns the moment in a recording. The end must be known if isFromEnd says so. ok is false if
// the instant was left open.
//
// A time of day is the first one in the recording. If there is none, it is the one shortly before
// the start, unless the next one is closer to the end: a recording that starts some seconds after
// 14:00 is asked for from 14:00. Of two times that look alike, because clocks were set back, it is
// the first that is not over when the recording starts.
func (i *Instant) at(begin, end time.Time) (t time.Time, ok bool) {
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

// in returns the moment in what was recorded from begin to end. It counts a first second of which
// only the end was recorded.
func (i *Instant) in(begin, end time.Time) time.Time {
	if i.kind == instantClock {
		begin = begin.Truncate(i.unit())
	}
	t, _ := i.at(begin, end)
	return t
}

// unit returns the unit of the last digit that was written, for an offset at most a second: a time
// means everything that starts with its digits.
func (i *Instant) unit() time.Duration {
	number, unit := i.Text, i.step
	if i.kind == instantOffset || i.kind == instantFromEnd {
		number = strings.TrimRight(i.Text, "hmnsuµμ")
		if d, err := time.ParseDuration("1" + i.Text[len(number):]); err == nil {
			unit = d
		}
	}
	if dot := strings.LastIndexAny(number, ".,"); dot >= 0 {
		for _, c := range number[dot+1:] {
			if c < '0' || c > '9' {
				break
			}
			unit /= 10
		}
	}
	return max(1, min(unit, i.step))
}

// IsClock reports whether it is a time of day.
func (i *Instant) IsClock() bool { return i.kind == instantClock }

// A stretch is a Span of a recording whose start is known.
type stretch struct {
	Span
	begin, end time.Time // of the recording; the end is only known if the span needs it
	written    string    // the zone that a log is written in; "" for UTC
}

// check returns an error if the span is empty.
func (s *stretch) check() error {
	since, a := s.Since.at(s.begin, s.end)
	until, b := s.Until.at(s.begin, s.end)
	if a && b && !since.Before(until) {
		return callf("--since %s (%s) is not before --until %s (%s)", s.Since.Text, s.timeText(since), s.Until.Text, s.timeText(until))
	}
	return nil
}

// window returns the span in the times of a process.
func (s *stretch) window(p *gclog.Process) analysis.Window {
	w := analysis.Always()
	if t, ok := s.Since.at(s.begin, s.end); ok {
		w.From = int64(t.Sub(p.Sync))
	}
	if t, ok := s.Until.at(s.begin, s.end); ok {
		w.To = int64(t.Sub(p.Sync))
	}
	return w
}

// outside returns an error if the span contains nothing of a recording that ended at end.
func (s *stretch) outside(end time.Time) error {
	since, a := s.Since.at(s.begin, s.end)
	until, b := s.Until.at(s.begin, s.end)
	is := s.timeText(s.begin) + " to " + s.timeText(end)
	switch {
	case a && since.After(end):
		return callf("--since %s (%s) is after the end of the recorded time: that is from %s%s", s.Since.Text, s.timeText(since), is, s.zoneRule(&s.Since))
	case b && !until.After(s.begin):
		return callf("--until %s (%s) is before the start of the recorded time: that is from %s%s", s.Until.Text, s.timeText(until), is, s.zoneRule(&s.Until))
	}
	return nil
}

// zoneRule returns how a time without a zone is interpreted, and how it is written in the zone of
// the log. It is for errors about a time that may have been meant in another zone.
func (s *stretch) zoneRule(i *Instant) string {
	if !i.bare() {
		return ""
	}
	text := "; times without a zone are " + s.Zone.text()
	day := shown(s.begin.In(i.where)).Truncate(aDay)
	for range 2 { // the time may be on the next day
		if i.kind == instantClock && len(moments(day.Add(i.clock), i.where)) == 0 {
			text = fmt.Sprintf("; on %s clocks were set forward over it%s", day.Format("2006-01-02"), text)
		}
		day = day.Add(aDay)
	}
	switch {
	case s.written != "":
		return fmt.Sprintf("%s: one copied from this log is %s%s", text, i.Text, s.written)
	case s.Zone.From == "":
		return fmt.Sprintf("%s: write the zone after it, as in %s-05:00, or use that of this host with --local", text, i.Text)
	}
	return fmt.Sprintf("%s: write the zone after it, as in %sZ, or use UTC with --local=false", text, i.Text)
}

// bare reports whether the zone of a time was left out.
func (i *Instant) bare() bool {
	return !i.zoned && (i.kind == instantClock || i.kind == instantTime)
}

// doubts returns sentences about times without a zone that may have been meant as other times, in
// what was recorded from begin to end.
func (s *stretch) doubts(begin, end time.Time) (list []string) {
	for _, i := range []*Instant{&s.At, &s.Since, &s.Until} {
		if !i.bare() {
			continue
		}
		t, _ := i.at(s.begin, s.end)
		for _, other := range moments(shown(t), i.where) {
			if !other.Equal(t) && other.Add(i.unit()).After(begin) && other.Before(end) {
				list = append(list, fmt.Sprintf("%s occurs twice in it, because clocks were set back: this is %s%s, the other one is %s%s", i.Text, i.Text, t.Format("-07:00"), i.Text, other.Format("-07:00")))
			}
		}
		if s.written != "" && s.written != offsetText(begin.In(i.where)) {
			list = append(list, fmt.Sprintf("the log is written in another zone, %s: %s was taken as %s%s", s.written, i.Text, i.Text, t.Format("Z07:00")))
		}
	}
	return list
}

// TimeText formats a time for people, in its zone and in a form that ParseInstant reads.
func TimeText(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z07:00") }
