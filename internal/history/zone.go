package history

import (
	"slices"
	"time"
)

// A Zone is the time zone in which times without a zone are read and shown: UTC, as in logs, unless
// the user chose another one.
type Zone struct {
	Local *time.Location // nil: UTC
	From  string         // what chose it; "" for UTC
}

func (z Zone) location() *time.Location {
	if z.Local == nil {
		return time.UTC
	}
	return z.Local
}

// text names the zone in a sentence.
func (z Zone) text() string {
	switch {
	case z.From == "":
		return "UTC"
	case z.Local == time.Local:
		return "those of this host (--local)"
	}
	return "those of " + z.Local.String() + " (" + z.From + ")"
}

// moments returns the moments at which the clocks of a zone show this time, which is written as
// UTC: one, two where they are set back, none where they are set forward over it.
func moments(shown time.Time, where *time.Location) (list []time.Time) {
	for _, side := range []time.Duration{-aDay, aDay} { // a change of the clocks is in between
		_, east := shown.Add(side).In(where).Zone()
		t := shown.Add(-time.Duration(east) * time.Second).In(where)
		if _, is := t.Zone(); is == east && !slices.ContainsFunc(list, t.Equal) {
			list = append(list, t)
		}
	}
	return list
}

// shown returns what the clocks of t's zone show at t, written as UTC.
func shown(t time.Time) time.Time {
	_, east := t.Zone()
	return t.UTC().Add(time.Duration(east) * time.Second)
}

// offsetText returns the zone of a time as it is written after one; "" for UTC.
func offsetText(t time.Time) string {
	if _, east := t.Zone(); east == 0 {
		return ""
	}
	return t.Format("-07:00")
}
