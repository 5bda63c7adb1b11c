// Package node has the commands about the daemon, which logs all processes of a host: the daemon itself, its
// control, its configuration and its rules.
package node

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Commands returns the commands in the order of gclog --help.
func Commands(p *program.Run) []*cli.Command {
	x := &commands{p}
	return []*cli.Command{x.daemonCommand(), x.ctlCommand(), x.healthCommand(), x.configCommand(), x.rulesCommand()}
}
