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
		&cli.StringFlag{Name: "since", Usage: "only what was since `TIME`: 14:03:22, 2026-01-31T14:03:22Z, 90s after the begin, -5m before the end"},
		&cli.StringFlag{Name: "until", Usage: "only what was before `TIME`, which is written like that of --since"},
	}
}

// A span is what --since and --until say, and --at.
type span struct{ since, until, at instant }

// An instant is a moment of a recording as people write it.
type instant struct {
	text    string // as it was written; "": it was not
	kind    instantKind
	time    time.Time
	clock   time.Duration // since midnight, UTC
	zoned   bool          // a zone was written
	offset  time.Duration // from the begin
	fromEnd time.Duration // before the end
}

type instantKind uint8

const (
	instantOpen    instantKind = iota // the begin, or the end
	instantTime                       // of the calendar
	instantClock                      // a time of day
	instantOffset                     // from the begin
	instantFromEnd                    // from the end
)

// Layouts of moments of the calendar. Those without a zone are UTC, as logs are. Go takes
// decimals of the seconds in all of them.
var timeLayouts = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05Z0700", "2006-01-02T15:04:05", "2006-01-02 15:04:05",
}

// Layouts of times of the day.
var clockLayouts = []string{"15:04:05Z07:00", "15:04:05Z0700", "15:04:05"}

const (
	aDay = 24 * time.Hour
	// shortly before the begin is what may be meant as the begin. Times that are farther
	// away are rather those of another zone, or of another recording.
	shortly = time.Hour
)

// parseSpan reads --since, --until and --at.
func parseSpan(c *cli.Context) (s span, err error) {
	if s.since, err = parseInstant(c, "since"); err != nil {
		return s, err
	}
	if s.until, err = parseInstant(c, "until"); err != nil {
		return s, err
	}
	s.at, err = parseInstant(c, "at")
	return s, err
}

func parseInstant(c *cli.Context, flag string) (i instant, err error) {
	text := c.String(flag)
	if !c.IsSet(flag) {
		return i, nil
	}
	i.text = text
	for _, layout := range timeLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			i.kind, i.time, i.zoned = instantTime, t, strings.Contains(layout, "Z")
			return i, nil
		}
	}
	for _, layout := range clockLayouts {
		if t, err := time.Parse(layout, text); err == nil {
			since := t.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
			i.kind, i.clock, i.zoned = instantClock, (since+aDay)%aDay, strings.Contains(layout, "Z")
			return i, nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil {
		i.kind, i.offset = instantOffset, d
		if strings.HasPrefix(text, "-") {
			i.kind, i.offset, i.fromEnd = instantFromEnd, 0, -d
		}
		return i, nil
	}
	return i, usagef("--%s %q is no time: write 14:03:22, 2026-01-31T14:03:22Z, 90s from the begin or -5m from the end", flag, text)
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
		return i.after(begin).Sub(begin) >= aDay-shortly
	default:
		return false
	}
}

// after is the first time that the clock says this from begin on.
func (i *instant) after(begin time.Time) time.Time {
	t := begin.UTC().Truncate(aDay).Add(i.clock)
	if t.Before(begin) {
		t = t.Add(aDay)
	}
	return t
}

// at is the moment in a recording. The end needs to be known where fromEnd says so. ok
// tells whether there is one: an instant may be left open.
//
// A time of the day is the first one in the recording. If there is none it is one shortly
// before the begin, unless the next one is nearer to the end: what begins some seconds after
// 14:00 is asked for from 14:00 on.
func (i *instant) at(begin, end time.Time) (t time.Time, ok bool) {
	switch i.kind {
	case instantTime:
		return i.time, true
	case instantClock:
		t = i.after(begin)
		if before := t.Add(-aDay); i.fromEndOf(begin) && t.Sub(end) > begin.Sub(before) {
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
	zone       string    // that a log is written in, "" of UTC
}

// check tells whether the span is one at all.
func (s *stretch) check() error {
	since, a := s.since.at(s.begin, s.end)
	until, b := s.until.at(s.begin, s.end)
	if a && b && !since.Before(until) {
		return usagef("--since %s (%s) is not before --until %s (%s)", s.since.text, timeText(since), s.until.text, timeText(until))
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
	is := timeText(s.begin) + " to " + timeText(end)
	switch {
	case a && since.After(end):
		return usagef("--since %s (%s) is after the end of what was recorded: that is from %s%s", s.since.text, timeText(since), is, s.since.zoneRule(s.zone))
	case b && !until.After(s.begin):
		return usagef("--until %s (%s) is before the begin of what was recorded: that is from %s%s", s.until.text, timeText(until), is, s.until.zoneRule(s.zone))
	}
	return nil
}

// zoneRule says how a time without a zone is taken, and how it is written in the zone of the
// log, "" of UTC. It is for errors about a time that may have been meant in another one.
func (i *instant) zoneRule(zone string) string {
	if i.zoned || i.kind != instantClock && i.kind != instantTime {
		return ""
	}
	if zone != "" {
		return fmt.Sprintf("; times without a zone are UTC: one copied from this log is %s%s", i.text, zone)
	}
	return fmt.Sprintf("; times without a zone are UTC: write the zone behind, as in %s-05:00", i.text)
}

// zoneOf is the zone of a time as it is written behind one, "" of UTC.
func zoneOf(t time.Time) string {
	if _, east := t.Zone(); east == 0 {
		return ""
	}
	return t.Format("-07:00")
}

// timeText is a time for people, in a form that --since takes.
func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
