// Package tune has the command that runs a program with different settings of the GC, and compares the runs
// as compare does.
package tune

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Command returns the command.
func Command(p *program.Run) *cli.Command { return (&commands{p}).tuneCommand() }
