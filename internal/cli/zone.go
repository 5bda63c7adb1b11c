package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	_ "time/tzdata" // containers with nothing but gclog in them have none

	"github.com/urfave/cli/v2"
)

// A zone is where people's times are read and shown that have no zone of their own: UTC, as logs
// are, unless TZ or --local says otherwise.
type zone struct {
	local *time.Location // nil: UTC
	from  string         // what chose it, "" of UTC
}

func (z zone) location() *time.Location {
	if z.local == nil {
		return time.UTC
	}
	return z.local
}

const localFlag = "local"

// zoneOf decides which zone it is.
func (p *program) zoneOf(c *cli.Context) zone {
	tz, local := os.Getenv("TZ"), c.Bool(localFlag)
	switch {
	case c.IsSet(localFlag) && !local, tz == "" && !local:
		return zone{}
	case tz == "":
		return zone{time.Local, "--" + localFlag}
	}
	where, err := loadZone(strings.TrimPrefix(tz, ":"))
	if err != nil {
		p.ui.sayf("warning: the time zone %s (TZ) is not known here: times are UTC", tz)
		return zone{}
	}
	return zone{where, "TZ"}
}

// loadZone loads what TZ names: a zone, or its file.
func loadZone(name string) (*time.Location, error) {
	if !filepath.IsAbs(name) {
		return time.LoadLocation(name)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return time.LoadLocationFromTZData(filepath.Base(name), data)
}

// text names the zone in a sentence.
func (z zone) text() string {
	switch {
	case z.from == "":
		return "UTC"
	case z.local == time.Local:
		return "those of this host (--" + localFlag + ")"
	}
	return "those of " + z.local.String() + " (" + z.from + ")"
}

// moments are when the clocks of a zone show this, which is written as a time of UTC: once, twice
// where they are set back, and never where they are set forward over it.
func moments(shown time.Time, where *time.Location) (list []time.Time) {
	for _, side := range []time.Duration{-aDay, aDay} { // a change of the clocks lies between
		_, east := shown.Add(side).In(where).Zone()
		t := shown.Add(-time.Duration(east) * time.Second).In(where)
		if _, is := t.Zone(); is == east && !slices.ContainsFunc(list, t.Equal) {
			list = append(list, t)
		}
	}
	return list
}

// shown is what the clocks of its zone show at a time, written as a time of UTC.
func shown(t time.Time) time.Time {
	_, east := t.Zone()
	return t.UTC().Add(time.Duration(east) * time.Second)
}

// offsetText is the zone of a time as it is written behind one, "" of UTC.
func offsetText(t time.Time) string {
	if _, east := t.Zone(); east == 0 {
		return ""
	}
	return t.Format("-07:00")
}
