// Package live has the commands that show what running processes do: a list of them, their collections,
// settings and metrics, and what keeps gclog from watching them.
package live

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Commands returns the commands in the order of gclog --help.
func Commands(p *program.Run) []*cli.Command {
	x := &commands{p}
	return []*cli.Command{
		x.psCommand(), x.topCommand(), x.statCommand(), x.settingsCommand(), x.metricsCommand(), x.gcCommand(),
		x.doctorCommand(),
	}
}
