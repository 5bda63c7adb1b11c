package cli

import (
	"strings"

	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/urfave/cli/v2"
)

func (p *commands) xlogHelpCommand() *cli.Command {
	return &cli.Command{
		Name: flags.XlogHelp, Hidden: true,
		Action: func(*cli.Context) error {
			for line := range strings.Lines(xlog.Help() + "\n") {
				line = strings.TrimSuffix(line, "\n")
				deeper := len(line) - len(strings.TrimLeft(line, " ")) + 2
				_, _ = p.Out.Write(append(screen.Wrap(nil, line, screen.TextWidth(p.Unfiltered), deeper), '\n'))
			}
			return nil
		},
	}
}
