package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func (p *program) healthCommand() *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "report whether the daemon on this host is ready",
		Description: `Ends with 0 if it is, else with 1 and the reason: for the probe of a container, which
needs neither a shell nor curl then. It asks over the control socket.

Examples:
   gclog health
   gclog health -c /etc/gclog/gclog.yaml
   gclog health --socket /run/gclog/ctl.sock`,
		Flags:  socketFlags(),
		Action: p.health,
	}
}

func (p *program) health(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	path, err := controlSocket(c)
	if err != nil {
		return err
	}
	answer, err := askReady(c.Context, path)
	if err != nil {
		return &codedError{exitSession, err}
	}
	_, err = fmt.Fprintln(p.out, answer)
	return err
}
