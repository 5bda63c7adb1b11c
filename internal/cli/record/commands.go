// Package record has the commands that write down what processes do: logs, recordings, and logs of
// recordings. Logger and Tree are also what tune runs programs with.
package record

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Commands returns the commands in the order of gclog --help.
func Commands(p *program.Run) []*cli.Command {
	x := &commands{p}
	return []*cli.Command{x.attachCommand(), x.runCommand(), x.recordCommand(), x.convertCommand()}
}

// Demo returns the command that shows attach without .NET.
func Demo(p *program.Run) *cli.Command { return (&commands{p}).demoCommand() }
