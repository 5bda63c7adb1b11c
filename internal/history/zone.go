package history

import (
	"slices"
	"time"
)

// A Zone is where times are read and shown that are written without a zone: UTC, as logs are,
// unless the user chose another one.
type Zone struct {
	Local *time.Location // nil: UTC
	From  string         // what chose it, "" of UTC
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

// moments returns when the clocks of a zone show this, which is written as a time of UTC: once,
// twice where they are set back, never where they are set forward over it.
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

// shown returns what the clocks of its zone show at a time, written as a time of UTC.
func shown(t time.Time) time.Time {
	_, east := t.Zone()
	return t.UTC().Add(time.Duration(east) * time.Second)
}

// offsetText returns the zone of a time as it is written after one, "" of UTC.
func offsetText(t time.Time) string {
	if _, east := t.Zone(); east == 0 {
		return ""
	}
	return t.Format("-07:00")
}
