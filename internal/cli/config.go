package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/daemon"
	"github.com/urfave/cli/v2"
)

func (p *program) configCommand() *cli.Command {
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
			configFileFlag(),
			&cli.BoolFlag{Name: "origin", Usage: "show: also where each value came from"},
			&cli.BoolFlag{Name: "show-secrets", Usage: "show: also the values of secrets, instead of ***"},
		},
		Action: p.configuration,
	}
}

func (p *program) configuration(c *cli.Context) error {
	what := c.Args().First()
	if c.Args().Len() == 2 && (what == "show" || what == "validate") {
		return usagef("config %s has no argument: name the file with -c %s", what, c.Args().Get(1))
	}
	if c.Args().Len() != 1 {
		return usagef("config needs one word: show, validate or schema")
	}
	for _, name := range []string{"origin", "show-secrets"} {
		if c.IsSet(name) && what != "show" {
			return usagef("--%s is for config show", name)
		}
	}
	switch what {
	case "show":
		return p.configShow(c)
	case "validate":
		return p.configValidate(c)
	case "schema":
		if c.IsSet(configFlag) {
			return usagef("config schema reads no file: the schema is always the same")
		}
		_, err := p.out.Write(config.Schema())
		return err
	}
	return usagef("config %s: it must be show, validate or schema", what)
}

// readConfig reads the configuration in effect.
func readConfig(c *cli.Context) (*config.Loaded, error) {
	return config.Load(config.Find(c.String(configFlag), os.Environ()), os.Environ())
}

// checkHost returns an error for what keeps a daemon from using a configuration on this host, and adds
// less serious problems to its warnings.
func checkHost(l *config.Loaded) error {
	return errors.Join(l.CheckHost(), daemon.CheckFiles(l, os.Environ()))
}

// loadConfig calls readConfig, and prints warnings about what may be a mistake.
func (p *program) loadConfig(c *cli.Context) (*config.Loaded, error) {
	l, err := readConfig(c)
	if err != nil {
		return nil, &codedError{exitUsage, err}
	}
	for _, w := range l.Warnings {
		p.ui.say("warning: " + w)
	}
	return l, nil
}

func (p *program) configShow(c *cli.Context) error {
	l, err := p.loadConfig(c)
	if err != nil {
		return err
	}
	_, err = p.out.Write(l.YAML(c.Bool("origin"), c.Bool("show-secrets")))
	return err
}

func (p *program) configValidate(c *cli.Context) error {
	l, err := readConfig(c)
	if err != nil {
		return &codedError{exitUsage, err}
	}
	name := l.File
	if name == "" {
		name = "the default configuration (there is no file)"
	}
	host := checkHost(l)
	for _, w := range l.Warnings {
		p.ui.say("warning: " + w)
	}
	if host == nil && os.Geteuid() == 0 && l.HasSu() {
		p.ui.say("note: root can do what su asks for, and a daemon of another user needs more rights for it; for gclog.service, add samples/systemd/gclog-su.conf")
	}
	if host != nil {
		for text := range strings.Lines(host.Error()) {
			p.ui.say("warning: on this host a daemon of this user would not start: " + strings.TrimSpace(text))
		}
	}
	_, err = fmt.Fprintf(p.out, "%s is valid\n", clean(name))
	return err
}
