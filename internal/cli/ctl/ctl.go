// Package ctl reaches the daemon of this host: the flags that choose it, its configuration, its control
// socket.
package ctl

import (
	"context"
	"net/http"
	"os"
	"strings"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/control"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

// Config reads the configuration in effect.
func Config(c *cli.Context) (*config.Loaded, error) {
	return config.Load(config.Find(c.String(flags.Config), os.Environ()), os.Environ())
}

// Flags choose the daemon.
func Flags() []cli.Flag {
	return []cli.Flag{
		ConfigFlag(),
		&cli.StringFlag{
			Name: "socket", Usage: "`PATH` of the control socket, instead of control.socket of the configuration",
		},
	}
}

// Socket returns the path of the daemon's control socket.
func Socket(c *cli.Context) (string, error) {
	if path := c.String("socket"); path != "" {
		return path, nil
	}
	loaded, err := Config(c)
	if err != nil {
		return "", exit.With(exit.Usage, err)
	}
	path := control.Path(loaded.Control.Socket)
	if path == "" {
		return "", exit.Usagef("the configuration has no control.socket: the daemon cannot be reached")
	}
	return path, nil
}

// Ready asks the daemon with a control socket whether it is ready.
func Ready(ctx context.Context, path string) (string, error) {
	answer, err := control.Ask(ctx, path, http.MethodGet, control.PathReady)
	line, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	return view.OneLine(line), err
}

// ConfigFlag is the flag of the commands that read the daemon's configuration.
func ConfigFlag() cli.Flag {
	return &cli.StringFlag{
		Name:    flags.Config,
		Aliases: []string{"c"},
		Usage:   "configuration `FILE` instead of $" + config.FileVariable + " or " + config.DefaultFile,
	}
}
