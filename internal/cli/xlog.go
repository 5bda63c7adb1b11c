package cli

import (
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/urfave/cli/v2"
)

// Java's syntax for what is logged, and where.
const (
	xlogFlag     = "xlog"
	xlogVariable = "GCLOG_XLOG"
	xlogHelpName = "xlog-help" // what -Xlog:help is converted to
)

func (p *program) xlogHelpCommand() *cli.Command {
	return &cli.Command{
		Name: xlogHelpName, Hidden: true,
		Action: func(*cli.Context) error {
			for line := range strings.Lines(xlog.Help() + "\n") {
				line = strings.TrimSuffix(line, "\n")
				deeper := len(line) - len(strings.TrimLeft(line, " ")) + 2
				_, _ = p.out.Write(append(screen.Wrap(nil, line, screen.TextWidth(p.stdout), deeper), '\n'))
			}
			return nil
		},
	}
}
