package history

import (
	"strings"
	"time"

	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/times"
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
	Text  string // as it was written
	kind  instantKind
	time  time.Time      // instantTime
	again time.Time      // the same, or the second moment at which clocks show it
	twice bool           // clocks show it twice: a time of day, on some days
	ofDay int64          // instantClock: since midnight, as the clocks of where show it
	where *time.Location // the zone of a time of day
	bare  bool           // the zone was left out
	// offset is from the start, or back from the end.
	offset time.Duration
	unit   time.Duration // of the last digit: a time stands for everything that starts with its digits
}

type instantKind uint8

const (
	instantOpen    instantKind = iota // the start, or the end
	instantTime                       // a calendar time
	instantClock                      // a time of day
	instantOffset                     // from the start
	instantFromEnd                    // from the end
)

// shortly is how long before the start of a recording a time of day may be: one farther away is of the
// next day.
const shortly = time.Hour

// Whole reports whether no part was selected.
func (s *Span) Whole() bool { return s.Since.Text == "" && s.Until.Text == "" }

// CheckRunning returns an error if the span cannot be that of a running process.
func (s *Span) CheckRunning() error {
	for _, x := range []struct {
		flag string
		Instant
	}{{"since", s.Since}, {"until", s.Until}} {
		if x.kind == instantFromEnd {
			return callf("--%s %s: a running process has no end to count from: give a time since the start of the "+
				"session, such as 10s", x.flag, x.Text)
		}
	}
	return nil
}

// timeText formats a time for people, in the zone of the span.
func (s *Span) timeText(t time.Time) string { return TimeText(t.In(s.Zone.location())) }

// ParseInstant parses the value of a flag: a time in any form of package times, an offset from the start
// or, if it is negative, from the end. Times without a zone are in the zone z.
func ParseInstant(flag, text string, z Zone) (i Instant, err error) {
	i.Text = text
	t, ok := times.Parse([]byte(text))
	d, err := time.ParseDuration(text)
	switch {
	case ok && t.OfDay:
		i.kind, i.ofDay, i.where, i.bare, i.unit = instantClock, t.Shown, t.Zone(z.location()), !t.Zoned, t.Unit
		i.twice = times.Twice(i.ofDay, i.where)
	case ok && (t.Shown >= leastNumber || !t.Number):
		i.kind, i.bare, i.unit = instantTime, !t.Zoned, t.Unit
		i.time, i.again = times.Moments(t.Shown, t.Zone(z.location()))
		i.twice = !i.time.Equal(i.again)
	case err != nil && ok:
		return i, callf("--%s %s is %s as a number since 1970: %s",
			flag, text, TimeText(time.Unix(0, t.Shown).UTC()), howToWrite())
	case err != nil:
		return i, callf("--%s %q is not a time: %s", flag, text, howToWrite())
	default:
		i.kind, i.offset, i.unit = instantOffset, d, offsetUnit(text)
		if strings.HasPrefix(text, "-") {
			i.kind, i.offset = instantFromEnd, -d
		}
	}
	return i, nil
}

// leastNumber is the smallest number since 1970 that is taken as a time: the start of 2000. A smaller
// number lacks its unit, or is a date without its dashes.
const leastNumber = int64(946_684_800 * time.Second)

// howToWrite says how a time is written, as the end of a sentence.
func howToWrite() string {
	return "write " + strings.Join(times.Examples(), ", ") + " (since 1970), 90s from the start or -5m from the end"
}

// offsetUnit returns the unit of the last digit of an offset, at most a second.
func offsetUnit(text string) time.Duration {
	number := strings.TrimRight(text, "hmnsuµμ")
	unit, _ := time.ParseDuration("1" + text[len(number):])
	decimals := 0
	if dot := strings.LastIndexByte(number, '.'); dot >= 0 {
		decimals = len(number) - dot - 1
	}
	return min(times.UnitAfter(unit, decimals), time.Second)
}

// isFromEnd reports whether a time counts from the end of the input.
func (s *Span) isFromEnd() bool {
	return s.Since.kind == instantFromEnd || s.Until.kind == instantFromEnd
}

// needsEnd reports whether the end of the input must be known for the span.
func (s *Span) needsEnd() bool { return s.isFromEnd() || s.Since.twice }

// at returns the moment in a recording, whose end must be known if needsEnd says so: of two that clocks
// show alike the one that is in the recording, the first if both or none are. ok is false if the instant
// was left open.
func (i *Instant) at(begin, end time.Time) (t time.Time, ok bool) {
	switch i.kind {
	case instantTime, instantClock:
		first, again := i.from(begin)
		return i.within(first, again, begin, end), true
	case instantOffset:
		return begin.Add(i.offset), true
	case instantFromEnd:
		return end.Add(-i.offset), true
	default:
		return t, false
	}
}

// from returns the moments at which clocks show a calendar time, or a time of day in a recording that
// starts at begin.
func (i *Instant) from(begin time.Time) (first, again time.Time) {
	if i.kind == instantTime {
		return i.time, i.again
	}
	return i.after(begin.Add(-shortly))
}

// within returns the one of two moments that is in a recording, the first if both or none are.
func (i *Instant) within(first, again, begin, end time.Time) time.Time {
	in := func(t time.Time) bool { return t.Add(i.unit).After(begin) && !t.After(end) }
	if in(again) && !in(first) {
		return again
	}
	return first
}

// after returns the moments of the time of day on the day of a moment that are not before it or, if it
// is over, on the next day.
func (i *Instant) after(at time.Time) (first, again time.Time) {
	first, again = times.MomentsOn(at, i.ofDay, i.where)
	switch {
	case again.Before(at):
		return times.MomentsOn(at.In(i.where).AddDate(0, 0, 1), i.ofDay, i.where)
	case first.Before(at):
		first = again
	}
	return first, again
}

// to returns the moment as the end of a time that starts at since.
func (i *Instant) to(since, begin, end time.Time) time.Time {
	first, again := i.time, i.again
	if i.kind == instantClock {
		first, again = i.after(since)
	}
	if !first.After(since) {
		first = again
	}
	return i.within(first, again, begin, end)
}

// IsClock reports whether it is a time of day.
func (i *Instant) IsClock() bool { return i.kind == instantClock }

// A stretch is a Span of a recording whose start is known.
type stretch struct {
	Span
	begin, end time.Time // of the recording; the end is only known if the span needs it
}

// since returns the start of the span. ok is false if it was left open.
func (s *stretch) since() (t time.Time, ok bool) { return s.Since.at(s.begin, s.end) }

// until returns the end of the span. Of two moments that clocks show alike it is the first that is after
// the start, of the recording or of the span. ok is false if it was left open.
func (s *stretch) until() (t time.Time, ok bool) {
	if !s.Until.twice {
		return s.Until.at(s.begin, s.end)
	}
	first, again := s.Until.from(s.begin)
	since, ok := s.since()
	if !first.After(s.begin) || ok && !first.After(since) && !again.After(s.end) {
		first = again
	}
	return first, true
}

// check returns an error if the span is empty.
func (s *stretch) check() error {
	since, a := s.since()
	until, b := s.until()
	if a && b && !since.Before(until) {
		return callf("--since %s (%s) is not before --until %s (%s)",
			s.Since.Text, s.timeText(since), s.Until.Text, s.timeText(until))
	}
	return nil
}

// window returns the span in the times of a process.
func (s *stretch) window(p *gclog.Process) analysis.Window {
	w := analysis.Always()
	if t, ok := s.since(); ok {
		w.From = int64(t.Sub(p.Sync))
	}
	if t, ok := s.until(); ok {
		w.To = int64(t.Sub(p.Sync))
	}
	return w
}

// outside returns an error if the span contains nothing of a recording that ended at end.
func (s *stretch) outside(end time.Time) error {
	since, a := s.since()
	until, b := s.until()
	is := s.timeText(s.begin) + " to " + s.timeText(end)
	switch {
	case a && since.After(end):
		return callf("--since %s (%s) is after the end of the recorded time: that is from %s%s",
			s.Since.Text, s.timeText(since), is, s.zoneRule(&s.Since))
	case b && !until.After(s.begin):
		return callf("--until %s (%s) is before the start of the recorded time: that is from %s%s",
			s.Until.Text, s.timeText(until), is, s.zoneRule(&s.Until))
	}
	return nil
}

// zoneRule returns how a time without a zone is interpreted, as the end of a sentence: it may have been
// meant in another zone.
func (s *stretch) zoneRule(i *Instant) string {
	if !i.bare {
		return ""
	}
	return "; times without a zone are " + s.Zone.text()
}

// TimeText formats a time for people, in its zone and in a form that ParseInstant reads.
func TimeText(t time.Time) string { return t.Format("2006-01-02T15:04:05.000Z07:00") }
