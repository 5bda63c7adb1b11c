package subject

import (
	"os"
	"path/filepath"
	"strings"
	"time"
	_ "time/tzdata"

	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/history"
	"github.com/urfave/cli/v2"
)

// Zone returns the zone of times without one: UTC unless TZ or --local says otherwise.
func Zone(p *program.Run, c *cli.Context) history.Zone {
	tz, local := os.Getenv("TZ"), c.Bool(flags.Local)
	switch {
	case c.IsSet(flags.Local) && !local, tz == "" && !local:
		return history.Zone{}
	case tz == "":
		return history.Zone{Local: time.Local, From: "--" + flags.Local}
	}
	where, err := loadZone(strings.TrimPrefix(tz, ":"))
	if err != nil {
		p.UI.Sayf("warning: the time zone %s (TZ) is unknown on this machine: times are UTC", tz)
		return history.Zone{}
	}
	return history.Zone{Local: where, From: "TZ"}
}

// loadZone loads the zone in TZ: a name, or a file.
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
