package cli

import (
	"fmt"
	"strings"

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
		switch {
		case o.IsFile && o.Path == "/dev/stdout", !o.IsFile && o.Path == xlog.Stdout:
			s.Path = output.Stdout
		case !o.IsFile:
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
		s.Format = formats.ForFile(o.Path)
		switch {
		case o.Selection.Empty():
			return nil, nil, usagef("-Xlog selects nothing for %s: the tag sets are %s", o.Path, strings.Join(formats.TagSets(), ", "))
		case s.Format.Name == formats.Default:
			s.Selection = &o.Selection
			config.Warnings = append(config.Warnings, o.ReaderWarnings()...)
		case o.Decorated || o.Selection.Levels[formats.TagGC] < formats.LevelInfo:
			config.Warnings = append(config.Warnings, fmt.Sprintf("%s is %s, which is always whole: tags and decorators are those of the unified format", o.Path, s.Format.Name))
		}
		specs = append(specs, s)
	}
	return specs, config.Warnings, nil
}
