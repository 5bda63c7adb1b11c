package node

import (
	"fmt"

	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/urfave/cli/v2"
)

func (p *commands) healthCommand() *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "report whether the daemon on this host is ready",
		Description: `The exit code is 0 if it is ready; otherwise it is 1, and the reason is printed. As the
probe of a container it needs neither a shell nor curl. It uses the control socket.

Examples:
   gclog health
   gclog health -c /etc/gclog/gclog.yaml
   gclog health --socket /run/gclog/ctl.sock`,
		Flags:  ctl.Flags(),
		Action: p.health,
	}
}

func (p *commands) health(c *cli.Context) error {
	if err := flags.NoArguments(c); err != nil {
		return err
	}
	path, err := ctl.Socket(c)
	if err != nil {
		return err
	}
	answer, err := ctl.Ready(c.Context, path)
	if err != nil {
		return exit.With(exit.Session, err)
	}
	_, err = fmt.Fprintln(p.Out, answer)
	return err
}
