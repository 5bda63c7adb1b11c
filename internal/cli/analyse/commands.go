// Package analyse has the commands that say what happened: the summary, the report, and the explanations of
// collections and pauses.
package analyse

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Commands returns the commands in the order of gclog --help.
func Commands(p *program.Run) []*cli.Command {
	x := &commands{p}
	return []*cli.Command{x.summaryCommand(), x.reportCommand(), x.explainCommand(), x.pausesCommand()}
}
