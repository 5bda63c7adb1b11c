// Package compare has the commands that judge: check tests a history against conditions, compare two groups of
// runs against each other.
package compare

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Commands returns the commands in the order of gclog --help.
func Commands(p *program.Run) []*cli.Command {
	x := &commands{p}
	return []*cli.Command{x.checkCommand(), x.compareCommand()}
}
