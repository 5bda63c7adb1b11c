package node

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gclog/gclog/internal/cli/ctl"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/gclog/gclog/internal/view"
	"github.com/urfave/cli/v2"
)

func (p *commands) configCommand() *cli.Command {
	return &cli.Command{
		Name:      "config",
		Usage:     "show or check the daemon's configuration",
		ArgsUsage: "show|validate|schema",
		Description: `show prints the configuration that the daemon would use: environment variables
(GCLOG_SESSION__LEVEL is session.level) override the file, which overrides the
defaults. Secrets are printed as ***. validate reports all problems in it; those of this host, such as a missing
file, are warnings, because it may be meant for another one. schema prints the JSON Schema for
editors. docs/configuration.md describes every key.

Examples:
   gclog config show --origin
   gclog config validate -c gclog.yaml
   gclog config schema > gclog.schema.json`,
		Flags: []cli.Flag{
			ctl.ConfigFlag(),
			&cli.BoolFlag{Name: "origin", Usage: "show: also where each value came from"},
			&cli.BoolFlag{Name: "show-secrets", Usage: "show: also the values of secrets, instead of ***"},
		},
		Action: p.configuration,
	}
}

func (p *commands) configuration(c *cli.Context) error {
	what := c.Args().First()
	if c.Args().Len() == 2 && (what == "show" || what == "validate") {
		return exit.Usagef("config %s has no argument: name the file with -c %s", what, c.Args().Get(1))
	}
	if c.Args().Len() != 1 {
		return exit.Usagef("config needs one word: show, validate or schema")
	}
	for _, name := range []string{"origin", "show-secrets"} {
		if c.IsSet(name) && what != "show" {
			return exit.Usagef("--%s is for config show", name)
		}
	}
	switch what {
	case "show":
		return p.configShow(c)
	case "validate":
		return p.configValidate(c)
	case "schema":
		if c.IsSet(flags.Config) {
			return exit.Usagef("config schema reads no file: the schema is always the same")
		}
		_, err := p.Out.Write(config.Schema())
		return err
	}
	return exit.Usagef("config %s: it must be show, validate or schema", what)
}

// checkHost returns an error for what keeps a daemon from using a configuration on this host, and adds
// less serious problems to its warnings.
func checkHost(l *config.Loaded) error {
	return errors.Join(l.CheckHost(), daemon.CheckFiles(l, os.Environ()))
}

// loadConfig calls ctl.Config, and prints warnings about what may be a mistake.
func (p *commands) loadConfig(c *cli.Context) (*config.Loaded, error) {
	l, err := ctl.Config(c)
	if err != nil {
		return nil, exit.With(exit.Usage, err)
	}
	for _, w := range l.Warnings {
		p.UI.Say("warning: " + w)
	}
	return l, nil
}

func (p *commands) configShow(c *cli.Context) error {
	l, err := p.loadConfig(c)
	if err != nil {
		return err
	}
	_, err = p.Out.Write(l.YAML(c.Bool("origin"), c.Bool("show-secrets")))
	return err
}

func (p *commands) configValidate(c *cli.Context) error {
	l, err := ctl.Config(c)
	if err != nil {
		return exit.With(exit.Usage, err)
	}
	name := l.File
	if name == "" {
		name = "the default configuration (there is no file)"
	}
	host := checkHost(l)
	for _, w := range l.Warnings {
		p.UI.Say("warning: " + w)
	}
	if host == nil && os.Geteuid() == 0 && l.HasSu() {
		p.UI.Say("note: root can do what su asks for, and a daemon of another user needs more rights for it; for " +
			"gclog.service, add samples/systemd/gclog-su.conf")
	}
	if host != nil {
		for text := range strings.Lines(host.Error()) {
			p.UI.Say("warning: on this host a daemon of this user would not start: " + strings.TrimSpace(text))
		}
	}
	_, err = fmt.Fprintf(p.Out, "%s is valid\n", view.Clean(name))
	return err
}
