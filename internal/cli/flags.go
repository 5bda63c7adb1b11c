package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/output"
	"github.com/gclog/gclog/internal/rotate"
	"github.com/gclog/gclog/internal/xlog"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

// Flags that several commands share, and their meaning.

const (
	defaultFileCount = 5
	defaultFileSize  = "10M" // opens within seconds in all of Java's readers: docs/performance.md
)

// Groups of flags in --help, as the library's categories.
const (
	processOptions   = "process"
	timeOptions      = "time"
	outputOptions    = "output"
	rotationOptions  = "rotation"
	recordingOptions = "recording"
	ruleOptions      = "rules"
	endingOptions    = "ending"
)

func outputFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: outputFlag, Aliases: []string{"o"}, Category: outputOptions, Usage: "write to `FILE`; - is standard output; %p %t %hn %n %s %c %P %N in it stand for pid, start, host, name, service, container, pod and namespace; may be repeated"},
		&cli.StringSliceFlag{Name: xlogFlag, Category: outputOptions, Usage: "the same as Java's -Xlog:`SPEC`, which is accepted as it is; may be repeated; -Xlog:help explains it; without any output $" + xlogVariable + " is used (not with convert)"},
		&cli.StringSliceFlag{Name: formatFlag, Aliases: []string{"f"}, Category: outputOptions, Usage: "`FORMAT`: " + formatNames() + "; one for all outputs, or one for each"},
		&cli.StringFlag{Name: "causes", Value: "java", Category: outputOptions, Usage: "`WORDS` for reasons in the JDK formats: java (all readers know them) or dotnet"},
	}
}

func rotationFlags(count int) []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "filecount", Value: strconv.Itoa(count), Category: rotationOptions, Usage: "keep `N` old files; 0: never start a new file"},
		&cli.StringFlag{Name: "filesize", Value: defaultFileSize, Category: rotationOptions, Usage: "start a new file at `SIZE` (K, M, G)"},
		&cli.StringFlag{Name: "rotation-names", Value: "timestamp", Category: rotationOptions, Usage: "`KIND` of names for old files: timestamp (gc-2026-01-31T12-00-00.000.log) or index (gc.log.0)"},
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
func (p *program) outputs(c *cli.Context, byDefault, variable string) ([]output.Spec, error) {
	if isTable(c) {
		return nil, usagef("%s cannot write Parquet: gclog convert and the daemon write Parquet files", c.Command.Name)
	}
	rotate, err := rotation(c)
	if err != nil {
		return nil, err
	}
	paths, names, options := c.StringSlice(outputFlag), c.StringSlice(formatFlag), c.StringSlice(xlogFlag)
	fromVariable := len(paths)+len(names)+len(options) == 0 && strings.TrimSpace(variable) != ""
	switch {
	case fromVariable:
		options = xlog.Fields(variable)
	case len(paths) == 0 && len(options) == 0:
		paths = []string{byDefault}
	case len(paths) == 0 && len(names) > 0:
		return nil, usagef("--format applies to -o: -Xlog writes unified, or the format of the file's extension")
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
			return nil, usagef("%s: %w", xlogVariable, err)
		case err != nil:
			return nil, usagef("%w", err)
		}
		specs = append(specs, more...)
	}
	for i, s := range specs {
		if slices.ContainsFunc(specs[:i], func(other output.Spec) bool { return output.SamePath(s.Path, other.Path) }) {
			return nil, usagef("the output %s is given twice", s.Path)
		}
		if err := p.checkOutput(s.Path); err != nil {
			return nil, err
		}
	}
	for _, w := range warnings {
		p.ui.say("warning: " + w)
	}
	return specs, nil
}

// plainOutputs pairs the outputs with their formats. Without a format it depends on the file's
// extension, for standard output on whether that is a terminal.
func (p *program) plainOutputs(paths, names []string, rotate rotate.Options) (specs []output.Spec, err error) {
	if len(names) > 1 && len(names) != len(paths) {
		return nil, usagef("%d times --format and %d times -o: give one format for all, or one for each", len(names), len(paths))
	}
	for i, path := range paths {
		if path == "" {
			return nil, usagef("an output without a name")
		}
		path = output.Named(path)
		f := formats.ForFile(path)
		switch {
		case len(names) == 1:
			f, err = formats.Find(names[0])
		case len(names) > 1:
			f, err = formats.Find(names[i])
		case path == output.Stdout && screen.IsTerminal(p.stdout):
			f, err = formats.Find("text")
		}
		if err != nil {
			return nil, usagef("%w", err)
		}
		specs = append(specs, output.Spec{Path: path, Format: f, Rotate: rotate})
	}
	return specs, nil
}

// notInput returns an error if an output is one of the inputs, which it would overwrite.
func notInput(path string, inputs ...string) error {
	for _, name := range inputs {
		if name != "" && name != output.Stdout && path != "" && path != output.Stdout && output.SamePath(name, path) {
			return usagef("%s is the input and cannot be the output too", name)
		}
	}
	return nil
}

// checkOutput finds problems of an output that can be found before a session begins.
func (p *program) checkOutput(path string) error {
	if output.IsStream(path) {
		return nil
	}
	if bad := output.BadPlace(path); bad != "" {
		return usagef("%s: there is no %s: %s", path, bad, output.Places)
	}
	return p.checkFile(path)
}

// checkFile does so for a path without placeholders.
func (p *program) checkFile(path string) error {
	if output.IsStream(output.Named(path)) {
		return nil
	}
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if os.IsNotExist(err) {
		return usagef("cannot write to %s: the directory %s does not exist; create it first (mkdir -p %s)", path, dir, dir)
	}
	if err != nil {
		return usagef("cannot write to %s: %w", path, err)
	}
	if !info.IsDir() {
		return usagef("cannot write to %s: %s is not a directory", path, dir)
	}
	r := rotate.Options{Sudo: sudoUser()}
	place, err := r.Place(path)
	if err != nil {
		return usagef("cannot write to %s: %w", path, err)
	}
	dir = filepath.Dir(place)
	info, err = os.Stat(place)
	if err == nil && info.IsDir() {
		return usagef("cannot write to %s: it is a directory", path)
	}
	if err == nil && !info.Mode().IsRegular() {
		return nil // errors appear when it is opened, which is at once
	}
	if err := mayWrite(dir); err != nil {
		return usagef("cannot write to %s: the directory %s cannot be written to: %w", path, dir, err)
	}
	warning, err := r.CheckFolder(dir)
	if err != nil {
		return usagef("cannot write to %s: %w", path, err)
	}
	if warning != "" {
		p.ui.say("warning: " + warning)
	}
	return nil
}

// sudoUser returns the uid of the user who called gclog with sudo, or 0 without sudo: that user's
// files are as trustworthy as root's.
func sudoUser() int {
	uid, err := strconv.Atoi(os.Getenv("SUDO_UID"))
	if err != nil || uid < 0 || os.Geteuid() != 0 {
		return 0
	}
	return uid
}

func rotation(c *cli.Context) (r rotate.Options, err error) {
	r.Sudo = sudoUser()
	if !slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == "filecount" }) {
		return r, nil
	}
	if r.Count, err = output.ParseFileCount(c.String("filecount")); err != nil {
		return r, usagef("--filecount %w", err)
	}
	if r.Size, err = output.ParseSize(c.String("filesize")); err != nil {
		return r, usagef("--filesize: %w", err)
	}
	if r.Naming, err = output.ParseNaming(c.String("rotation-names")); err != nil {
		return r, usagef("--rotation-names %w", err)
	}
	return r, nil
}

const forFlag = "for"

// lengthFlag is how long something is watched, in all commands. dotnet-trace calls it --duration.
func lengthFlag(category, usage, value, text string) cli.Flag {
	return &cli.StringFlag{
		Name: forFlag, Aliases: []string{"duration"}, Category: category, Usage: usage, Value: value, DefaultText: text,
	}
}

// watchFlag is the length for a running process where a file can be read instead.
func watchFlag() cli.Flag {
	return lengthFlag(timeOptions, "watch a running process for `TIME`: 90s, 5m, 00:00:05:00; Ctrl-C ends it earlier",
		"", watchFor.String())
}

// parseDuration reads 90s, 5m, 1h30m, or dd:hh:mm:ss as dotnet-trace does, from a flag.
func parseDuration(c *cli.Context, flag string) (time.Duration, error) {
	s := c.String(flag)
	if s == "" {
		return 0, nil
	}
	wrong := usagef("--%s %q is not a duration: write 90s, 5m or 00:00:05:00", flag, s)
	if parts := strings.Split(s, ":"); len(parts) > 1 {
		units := []time.Duration{24 * time.Hour, time.Hour, time.Minute, time.Second}
		if len(parts) > len(units) {
			return 0, wrong
		}
		var d time.Duration
		for i, part := range parts {
			n, err := strconv.ParseUint(part, 10, 31)
			if err != nil {
				return 0, wrong
			}
			d += time.Duration(n) * units[len(units)-len(parts)+i]
		}
		if d <= 0 {
			return 0, wrong
		}
		return d, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, wrong
	}
	return d, nil
}

func sessionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "level", Value: "normal", Category: recordingOptions, Usage: "`LEVEL` of detail: light, normal (adds background phases) or full (adds allocations and pinned objects; costs more)"},
		&cli.StringSliceFlag{Name: "providers", Category: recordingOptions, Usage: "additional events, in the syntax of dotnet-trace: `NAME:KEYWORDS:LEVEL[:FILTER]`; may be repeated"},
	}
}

// unsafeFlag is a flag of record alone: who tries what crashes a runtime wants to have what it sent.
const unsafeFlag = "force-unsafe"

// sessionConfig returns the configuration of a session.
func sessionConfig(c *cli.Context, records bool) (session.Config, error) {
	cfg, err := attach.SessionConfig(c.String("level"), c.StringSlice("providers"), records)
	if err != nil {
		return cfg, usagef("--%w", err)
	}
	cfg.Unsafe = c.Bool(unsafeFlag)
	return cfg, nil
}

// dotnetCauses reads --causes.
func dotnetCauses(c *cli.Context) (bool, error) {
	switch v := c.String("causes"); v {
	case "java":
		return false, nil
	case "dotnet":
		return true, nil
	default:
		return false, usagef("--causes %s: it must be java or dotnet", v)
	}
}
