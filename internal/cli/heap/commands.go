// Package heap has the commands about heap snapshots: those that take them, and those that say what is alive,
// what holds it and what grows.
package heap

import (
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/report"
	"github.com/urfave/cli/v2"
)

// commands are those of this package, in one run of gclog.
type commands struct{ *program.Run }

// Command returns the command, with its subcommands.
func Command(p *program.Run) *cli.Command { return (&commands{p}).heapCommand() }

// Report describes the snapshots in files for a report.
func Report(p *program.Run, names []string) ([]*report.Snapshot, error) {
	return (&commands{p}).reportSnapshots(names)
}
