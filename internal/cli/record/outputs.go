package record

import (
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/urfave/cli/v2"
)

const (
	defaultFileCount = 5
	defaultFileSize  = "10M" // opens within seconds in all of Java's readers: docs/performance.md
)

func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{
			Name:     flags.Output,
			Aliases:  []string{"o"},
			Category: flags.OutputGroup,
			Usage: "write to `FILE`; - is standard output; %p %t %hn %n %s %c %P %N in it stand for pid, start, " +
				"host, name, service, container, pod and namespace; may be repeated",
		},
		&cli.StringSliceFlag{
			Name:     flags.Xlog,
			Category: flags.OutputGroup,
			Usage: "the same as Java's -Xlog:`SPEC`, which is accepted as it is; may be repeated; -Xlog:help " +
				"explains it; without any output $" + flags.XlogVariable + " is used (not with convert)",
		},
		&cli.StringSliceFlag{
			Name:     flags.Format,
			Aliases:  []string{"f"},
			Category: flags.OutputGroup,
			Usage:    "`FORMAT`: " + formatNames() + "; one for all outputs, or one for each",
		},
		&cli.StringFlag{
			Name:     "causes",
			Value:    "java",
			Category: flags.OutputGroup,
			Usage:    "`WORDS` for reasons in the JDK formats: java (all readers know them) or dotnet",
		},
	}
}

func rotationFlags(count int) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name:     "filecount",
			Value:    strconv.Itoa(count),
			Category: flags.RotationGroup,
			Usage:    "keep `N` old files; 0: never start a new file",
		},
		&cli.StringFlag{
			Name:     "filesize",
			Value:    defaultFileSize,
			Category: flags.RotationGroup,
			Usage:    "start a new file at `SIZE` (K, M, G)",
		},
		&cli.StringFlag{
			Name:     "rotation-names",
			Value:    "timestamp",
			Category: flags.RotationGroup,
			Usage:    "`KIND` of names for old files: timestamp (gc-2026-01-31T12-00-00.000.log) or index (gc.log.0)",
		},
	}
}

func formatNames() string {
	var names []string
	for _, f := range formats.All() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// outputs returns all outputs of a log. Those of -Xlog and of -o are combined; variable, the value
// of the environment variable, counts only if the command line specifies none.
func (p *commands) outputs(c *cli.Context, byDefault, variable string) ([]output.Spec, error) {
	if isTable(c) {
		return nil, exit.Usagef("%s cannot write Parquet: gclog convert and the daemon write Parquet files",
			c.Command.Name)
	}
	rotate, err := rotation(c)
	if err != nil {
		return nil, err
	}
	paths, names, options := c.StringSlice(flags.Output), c.StringSlice(flags.Format), c.StringSlice(flags.Xlog)
	fromVariable := len(paths)+len(names)+len(options) == 0 && strings.TrimSpace(variable) != ""
	switch {
	case fromVariable:
		options = xlog.Fields(variable)
	case len(paths) == 0 && len(options) == 0:
		paths = []string{byDefault}
	case len(paths) == 0 && len(names) > 0:
		return nil, exit.Usagef("--format applies to -o: -Xlog writes unified, or the format of the file's extension")
	}
	specs, err := p.plainOutputs(paths, names, rotate)
	if err != nil {
		return nil, err
	}
	var warnings []string
	if len(options) > 0 {
		var more []output.Spec
		more, warnings, err = xlog.Specs(options, rotate, c.IsSet("rotation-names"))
		switch {
		case err != nil && fromVariable:
			return nil, exit.Usagef("%s: %w", flags.XlogVariable, err)
		case err != nil:
			return nil, exit.Usagef("%w", err)
		}
		specs = append(specs, more...)
	}
	for i, s := range specs {
		if slices.ContainsFunc(specs[:i], func(other output.Spec) bool { return output.SamePath(s.Path, other.Path) }) {
			return nil, exit.Usagef("the output %s is given twice", s.Path)
		}
		if err := outfile.CheckOutput(p.Run, s.Path); err != nil {
			return nil, err
		}
	}
	for _, w := range warnings {
		p.UI.Say("warning: " + w)
	}
	return specs, nil
}

// plainOutputs pairs the outputs with their formats. Without a format it depends on the file's
// extension, for standard output on whether that is a terminal.
func (p *commands) plainOutputs(paths, names []string, rotate rotate.Options) (specs []output.Spec, err error) {
	if len(names) > 1 && len(names) != len(paths) {
		return nil, exit.Usagef("%d times --format and %d times -o: give one format for all, or one for each",
			len(names), len(paths))
	}
	for i, path := range paths {
		if path == "" {
			return nil, exit.Usagef("an output without a name")
		}
		path = output.Named(path)
		f := formats.ForFile(path)
		switch {
		case len(names) == 1:
			f, err = formats.Find(names[0])
		case len(names) > 1:
			f, err = formats.Find(names[i])
		case path == output.Stdout && screen.IsTerminal(p.Unfiltered):
			f, err = formats.Find("text")
		}
		if err != nil {
			return nil, exit.Usagef("%w", err)
		}
		specs = append(specs, output.Spec{Path: path, Format: f, Rotate: rotate})
	}
	return specs, nil
}

func rotation(c *cli.Context) (r rotate.Options, err error) {
	r.Sudo = outfile.SudoUser()
	if !slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == "filecount" }) {
		return r, nil
	}
	if r.Count, err = output.ParseFileCount(c.String("filecount")); err != nil {
		return r, exit.Usagef("--filecount %w", err)
	}
	if r.Size, err = output.ParseSize(c.String("filesize")); err != nil {
		return r, exit.Usagef("--filesize: %w", err)
	}
	if r.Naming, err = output.ParseNaming(c.String("rotation-names")); err != nil {
		return r, exit.Usagef("--rotation-names %w", err)
	}
	return r, nil
}
