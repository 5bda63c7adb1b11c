package record

import (
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func sessionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:     "level",
			Value:    "normal",
			Category: flags.RecordingGroup,
			Usage: "`LEVEL` of detail: light, normal (adds background phases) or full (adds allocations and " +
				"pinned objects; costs more)",
		},
		&cli.StringSliceFlag{
			Name:     "providers",
			Category: flags.RecordingGroup,
			Usage: "additional events, in the syntax of dotnet-trace: `NAME:KEYWORDS:LEVEL[:FILTER]`; may " +
				"be repeated",
		},
		&cli.GenericFlag{
			Name:     flags.Counters,
			Value:    &counterNames{},
			Category: flags.RecordingGroup,
			Usage: "also log what the runtime counts: thread pool, locks, exceptions, CPU; --counters=`NAMES`: those " +
				"of these meters and EventSources (System.Runtime,MyApp.*)",
		},
		&cli.StringFlag{
			Name:     flags.CountersEvery,
			Value:    attach.CountersEvery.String(),
			Category: flags.RecordingGroup,
			Usage:    "with --counters: `TIME` between them, at least 1s",
		},
	}
}

// counterNames is the value of --counters: that of --counters alone is the runtime's.
type counterNames struct {
	names string
	set   bool
}

func (n *counterNames) String() string { return n.names }

// IsBoolFlag says that the flag needs no value: package flag then sets it to "true".
func (n *counterNames) IsBoolFlag() bool { return true }

func (n *counterNames) Set(s string) error {
	n.names, n.set = s, s != "false"
	if s == "true" || s == "false" {
		n.names = ""
	}
	return nil
}

// counters returns which counters the flags ask for.
func counters(c *cli.Context) (attach.Counters, error) {
	n, _ := c.Generic(flags.Counters).(*counterNames)
	every, err := flags.Duration(c, flags.CountersEvery)
	switch {
	case err != nil:
		return attach.Counters{}, err
	case n == nil || !n.set:
		if c.IsSet(flags.CountersEvery) {
			return attach.Counters{}, exit.Usagef("--%s needs --%s", flags.CountersEvery, flags.Counters)
		}
		return attach.Counters{}, nil
	}
	list, err := attach.ParseCounters(n.names, every)
	if err != nil {
		return list, exit.Usagef("--%w", err)
	}
	return list, nil
}

// unsafeFlag is a flag of record alone: who tries what crashes a runtime wants to have what it sent.
const unsafeFlag = "force-unsafe"

// sessionConfig returns the configuration of a session.
func sessionConfig(c *cli.Context, records bool) (session.Config, error) {
	cfg, err := attach.SessionConfig(c.String("level"), c.StringSlice("providers"), records)
	if err != nil {
		return cfg, exit.Usagef("--%w", err)
	}
	cfg.Unsafe = c.Bool(unsafeFlag)
	return cfg, nil
}

// dotnetCauses reads --causes.
func dotnetCauses(c *cli.Context) (bool, error) {
	switch v := c.String("causes"); v {
	case "java":
		return false, nil
	case "dotnet":
		return true, nil
	default:
		return false, exit.Usagef("--causes %s: it must be java or dotnet", v)
	}
}
