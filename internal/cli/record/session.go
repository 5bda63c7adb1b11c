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
	}
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
