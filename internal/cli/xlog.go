package cli

import (
	"fmt"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/output"
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

// xlogOutputs reads Java's -Xlog. Its files are called as HotSpot calls them, unless
// another way is asked for.
func xlogOutputs(c *cli.Context, options []string, rotate formats.RotateOptions) (specs []output.Spec, warnings []string, err error) {
	config, err := xlog.Parse(options)
	if err != nil {
		return nil, nil, usagef("%w", err)
	}
	if len(config.Outputs) == 0 {
		return nil, nil, usagef("-Xlog:disable leaves nothing to write: say what shall be logged, as in -Xlog:gc*:file=gc.log")
	}
	if !c.IsSet("rotation-names") {
		rotate.Naming = formats.NameByIndex
	}
	for i := range config.Outputs {
		o := &config.Outputs[i]
		s := output.Spec{Path: o.Path, Rotate: rotate}
		switch o.Path {
		case xlog.Stdout:
			s.Path = output.Stdout
		case xlog.Stderr:
			s.Path = output.Stderr
		}
		if o.FileCount != "" {
			if s.Rotate.Count, err = parseFileCount(o.FileCount); err != nil {
				return nil, nil, usagef("-Xlog: filecount %w", err)
			}
		}
		if o.FileSize != "" {
			if s.Rotate.Size, err = parseSize(o.FileSize); err != nil {
				return nil, nil, usagef("-Xlog: filesize %w", err)
			}
		}
		if s.Format = formats.ForFile(o.Path); s.Format.Name == formats.Default {
			s.Selection = &o.Selection
			config.Warnings = append(config.Warnings, o.ReaderWarnings()...)
		}
		specs = append(specs, s)
	}
	return specs, config.Warnings, nil
}
