package cli

import (
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/internal/output"
	"github.com/urfave/cli/v2"
)

// In all commands -o is the file that is written, and -f the format of what is written.

const (
	outputFlag = "output"
	formatFlag = "format"
)

// The formats of results. The first one is the default.
var (
	textOrJSON  = []string{"text", "json"}
	listFormats = []string{"text", "csv", "json"}
)

// endings are the endings of files that have a format.
var endings = map[string][]string{
	"csv": {".csv"}, "json": {".json", ".ndjson"}, "html": {".html", ".htm"}, "md": {".md"},
	"pprof": {".pb.gz", ".pprof"}, "speedscope": {".json"}, "folded": {".folded"},
}

// resultFlags are the flags of a command that writes its result in one of these formats.
func resultFlags(names []string) []cli.Flag {
	return []cli.Flag{
		resultFileFlag(),
		&cli.StringFlag{
			Name: formatFlag, Aliases: []string{"f"}, Category: outputOptions,
			Usage: "`FORMAT`: " + orList(names), DefaultText: "by the ending of FILE, else " + names[0],
		},
	}
}

// resultFileFlag is the flag of a command whose result has one format only.
func resultFileFlag() cli.Flag {
	return &cli.StringFlag{
		Name: outputFlag, Aliases: []string{"o"}, Category: outputOptions,
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

// result returns the action of a command that has resultFlags: do prints the result in a format to
// p.out or p.stdout, which are the file then.
func (p *program) result(names []string, do func(c *cli.Context, how string) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		how, err := resultFormat(c, names)
		to := c.String(outputFlag)
		switch {
		case err != nil:
			return err
		case to == "" && c.IsSet(outputFlag):
			return usagef("an output without a name")
		case to == "", to == output.Stdout:
			return do(c, how)
		}
		if err := notInput(to, inputsOf(c)...); err != nil {
			return err
		}
		return p.resultTo(to, func() error { return do(c, how) })
	}
}

// inputsOf returns the files that a command is given to read.
func inputsOf(c *cli.Context) []string {
	return append(c.Args().Slice(), c.String("config"), c.String("join"))
}

// resultFormat returns the format of a result: that of -f, or of the file's ending, or the first one.
func resultFormat(c *cli.Context, names []string) (string, error) {
	if how := c.String(formatFlag); c.IsSet(formatFlag) {
		if !slices.Contains(names, how) {
			return "", usagef("--%s %s: it must be %s", formatFlag, how, orList(names))
		}
		return how, nil
	}
	if len(names) == 1 || c.IsSet("join") { // the log keeps its format
		return names[0], nil
	}
	to, other := strings.ToLower(c.String(outputFlag)), false
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
		return "", usagef("-o %s: %s writes %s, not %s; with -f %s the name does not matter", c.String(outputFlag), commandName(c), orList(names), filepath.Ext(to), names[0])
	}
	return names[0], nil
}

// errNothing is the error of a file for which there is no result.
var errNothing = errors.New("nothing was written")

// resultTo makes a file what a command prints. A command that fails before it has printed anything
// leaves an existing file alone.
func (p *program) resultTo(path string, do func() error) error {
	if err := p.checkFile(path); err != nil {
		return err
	}
	stdout, out := p.stdout, p.out
	defer func() { p.stdout, p.out = stdout, out }()
	var failed error
	_, err := writeFile(path, modeReport, func(w io.Writer) error {
		f := &resultFile{w: w}
		p.stdout, p.out = f, newPrinter(f)
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

// checkWords reports a format where a file belongs, and a file where a format belongs.
func checkWords(c *cli.Context) error {
	given := func(flag string) []string {
		if list := c.StringSlice(flag); list != nil || !c.IsSet(flag) {
			return list
		}
		return []string{c.String(flag)}
	}
	for _, name := range given(outputFlag) {
		if !isFormat(name) {
			continue
		}
		instead := ""
		if slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return f.Names()[0] == formatFlag && hasWord(f.String(), name) }) {
			instead = "write -f " + name + ", or "
		}
		return usagef("-o %s: %s is a format, and -o takes a file: %s-o .%c%[1]s for a file of this name", name, name, instead, filepath.Separator)
	}
	for _, name := range given(formatFlag) {
		if name == output.Stdout || strings.ContainsAny(name, `./\`) {
			return usagef("-f %s: this is the name of a file, and -f takes a format: write -o %[1]s", name)
		}
	}
	return nil
}

// hasWord reports whether a text contains a word.
func hasWord(text, word string) bool {
	return slices.Contains(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), word)
}

// isFormat reports whether a word is the name of a format of any command.
func isFormat(word string) bool {
	_, has := endings[word]
	return has || slices.Contains([]string{"text", "table", "wide", parquetFormat}, word) ||
		slices.ContainsFunc(formats.All(), func(f formats.Format) bool { return f.Name == word })
}
