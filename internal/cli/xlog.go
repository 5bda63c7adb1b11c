package cli

import (
	"fmt"

	"github.com/gclog/gclog/internal/xlog"
	"github.com/urfave/cli/v2"
)

// Java's way to say what is logged, and where.
const (
	xlogFlag     = "xlog"
	xlogVariable = "GCLOG_XLOG"
	xlogHelpName = "xlog-help" // what -Xlog:help is turned into
)

func (p *program) xlogHelpCommand() *cli.Command {
	return &cli.Command{
		Name: xlogHelpName, Hidden: true,
		Action: func(*cli.Context) error {
			_, err := fmt.Fprintln(p.out, xlog.Help())
			return err
		},
	}
}
