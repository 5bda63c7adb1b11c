package cli

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func (p *program) healthCommand() *cli.Command {
	return &cli.Command{
		Name:  "health",
		Usage: "report whether the daemon on this host is ready",
		Description: `The exit code is 0 if it is ready; otherwise it is 1, and the reason is printed. As the
probe of a container it needs neither a shell nor curl. It uses the control socket.

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
