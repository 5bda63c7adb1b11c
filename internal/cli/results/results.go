// Package results decides where the result of a command is written, and in which format: -o and -f.
package results

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/outfile"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/output"
	"github.com/urfave/cli/v2"
)

// In all commands -o is the file that is written, and -f the format of what is written.

// The formats of results. The first one is the default.
var (
	TextOrJSON = []string{"text", "json"}
	Lists      = []string{"text", "csv", "json"}
)

// endings are the endings of files that have a format.
var endings = map[string][]string{
	"csv": {".csv"}, "json": {".json", ".ndjson"}, "html": {".html", ".htm"}, "md": {".md"},
	"pprof": {".pb.gz", ".pprof"}, "speedscope": {".json"}, "folded": {".folded"},
}

// Flags are the flags of a command that writes its result in one of these formats.
func Flags(names []string) []cli.Flag {
	return []cli.Flag{
		FileFlag(),
		&cli.StringFlag{
			Name: flags.Format, Aliases: []string{"f"}, Category: flags.OutputGroup,
			Usage: "`FORMAT`: " + orList(names), DefaultText: "by the ending of FILE, else " + names[0],
		},
	}
}

// FileFlag is the flag of a command whose result has one format only.
func FileFlag() cli.Flag {
	return &cli.StringFlag{
		Name: flags.Output, Aliases: []string{"o"}, Category: flags.OutputGroup,
		Usage: "write to `FILE`, which is replaced when it is complete; - is standard output",
	}
}

// orList returns words as a list: a, b or c.
func orList(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// Action returns the action of a command that has Flags: do prints the result in a format to
// p.out or p.stdout, which are the file then.
func Action(p *program.Run, names []string, do func(c *cli.Context, how string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		how, err := Format(c, names)
		to := c.String(flags.Output)
		switch {
		case err != nil:
			return err
		case to == "" && c.IsSet(flags.Output):
			return exit.Usagef("an output without a name")
		case to == "", to == output.Stdout:
			return do(c, how)
		}
		if err := outfile.NotInput(to, Inputs(c)...); err != nil {
			return err
		}
		return resultTo(p, to, func() error { return do(c, how) })
	}
}

// Inputs returns the files that a command is given to read.
func Inputs(c *cli.Context) []string {
	return append(c.Args().Slice(), c.String("config"), c.String("join"))
}

// Format returns the format of a result: that of -f, or of the file's ending, or the first one.
func Format(c *cli.Context, names []string) (string, error) {
	if how := c.String(flags.Format); c.IsSet(flags.Format) {
		if !slices.Contains(names, how) {
			return "", exit.Usagef("--%s %s: it must be %s", flags.Format, how, orList(names))
		}
		return how, nil
	}
	if len(names) == 1 || c.IsSet("join") { // the log keeps its format
		return names[0], nil
	}
	to, other := strings.ToLower(c.String(flags.Output)), false
	has := func(name string) bool {
		return slices.ContainsFunc(endings[name], func(e string) bool { return strings.HasSuffix(to, e) })
	}
	for name := range endings {
		other = other || has(name)
	}
	if i := slices.IndexFunc(names, has); i >= 0 {
		return names[i], nil
	}
	if other {
		return "", exit.Usagef("-o %s: %s writes %s, not %s; with -f %s the name does not matter",
			c.String(flags.Output), flags.CommandName(c), orList(names), filepath.Ext(to), names[0])
	}
	return names[0], nil
}

// errNothing is the error of a file for which there is no result.
var errNothing = errors.New("nothing was written")

// resultTo makes a file what a command prints. A command that fails before it has printed anything
// leaves an existing file alone.
func resultTo(p *program.Run, path string, do func() error) error {
	if err := outfile.Check(p, path); err != nil {
		return err
	}
	stdout, out := p.Unfiltered, p.Out
	defer func() { p.Unfiltered, p.Out = stdout, out }()
	var failed error
	_, err := outfile.Write(path, outfile.ReportMode, func(w io.Writer) error {
		f := &resultFile{w: w}
		p.Unfiltered, p.Out = f, program.NewPrinter(f)
		if failed = do(); failed != nil && f.n == 0 {
			return errNothing
		}
		return nil
	})
	if err != nil && !errors.Is(err, errNothing) {
		return err
	}
	return failed
}

// A resultFile counts the bytes that are written to a file.
type resultFile struct {
	w io.Writer
	n int
}

// Write implements io.Writer.
func (f *resultFile) Write(b []byte) (int, error) {
	n, err := f.w.Write(b)
	f.n += n
	return n, err
}

// CheckWords reports a format where a file belongs, and a file where a format belongs.
func CheckWords(c *cli.Context) error {
	given := func(flag string) []string {
		if list := c.StringSlice(flag); list != nil || !c.IsSet(flag) {
			return list
		}
		return []string{c.String(flag)}
	}
	for _, name := range given(flags.Output) {
		if !isFormat(name) {
			continue
		}
		instead := ""
		knows := func(f cli.Flag) bool { return f.Names()[0] == flags.Format && hasWord(f.String(), name) }
		if slices.ContainsFunc(c.Command.Flags, knows) {
			instead = "write -f " + name + ", or "
		}
		return exit.Usagef("-o %s: %s is a format, and -o takes a file: %s-o .%c%[1]s for a file of this name",
			name, name, instead, filepath.Separator)
	}
	for _, name := range given(flags.Format) {
		if name == output.Stdout || strings.ContainsAny(name, `./\`) {
			return exit.Usagef("-f %s: this is the name of a file, and -f takes a format: write -o %[1]s", name)
		}
	}
	return nil
}

// hasWord reports whether a text contains a word.
func hasWord(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), word)
}

// isFormat reports whether a word is the name of a format of any command.
func isFormat(word string) bool {
	_, has := endings[word]
	return has || slices.Contains([]string{"text", "table", "wide", ParquetFormat}, word) ||
		slices.ContainsFunc(formats.All(), func(f formats.Format) bool { return f.Name == word })
}

// ParquetFormat is the format of tables. It is none of package formats: a table is not written line
// by line, and contains many processes.
const ParquetFormat = "parquet"

// FlameFormats are those of stacks, for other tools.
var FlameFormats = []string{"pprof", "speedscope", "folded"}

// Write writes a report and says what is in it.
func Write(p *program.Run, to, what string, write func(io.Writer) error) error {
	if to == output.Stdout {
		return p.WriteFormat(write)
	}
	size, err := outfile.Write(to, outfile.ReportMode, write)
	if err != nil {
		return err
	}
	p.UI.Sayf("%s: %s, %s", to, what, formats.SizeText(size))
	return nil
}
