// Package xlog parses the syntax of Java's -Xlog, so that people who know it can ask for a .NET log
// in the same way. It is for the commands and for configurations.
//
//	-Xlog[:what[:output[:decorators[:options]]]]
//	what       = disable | selector,...
//	selector   = tag[+tag...][*][=level] | all[=level]
//	output     = stdout | stderr | [file=]name | file="name"
//	decorators = none | name,...
//	options    = filecount=N,filesize=N[K|M|G],foldmultilines=true|false
package xlog

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/formats"
)

// An Output is one place that lines go to.
type Output struct {
	Path      string // Stdout, Stderr or the name of a file, as it was given
	IsFile    bool   // Path is the name of a file
	Decorated bool   // decorators were given
	Selection formats.Selection
	FileCount string // as it was given; "" if it was not
	FileSize  string
}

// Paths that are not files.
const (
	Stdout = "stdout"
	Stderr = "stderr"
)

// A Config is the combined result of several -Xlog options.
type Config struct {
	Outputs  []Output
	Warnings []string // sentences for people
}

// defaultDecorators adds the date to Java's defaults: a log continues for days, and is read
// alongside others.
var defaultDecorators = formats.Of(formats.DecTime, formats.DecUptime, formats.DecLevel, formats.DecTags)

// Parse parses the arguments in turn: several outputs add up, and arguments for the same output are
// combined. The prefix -Xlog: may be missing.
func Parse(args []string) (*Config, error) {
	c := &Config{}
	for _, arg := range args {
		if err := c.add(arg); err != nil {
			return nil, fmt.Errorf("%s: %w", arg, err)
		}
	}
	return c, nil
}

// IsOption reports whether an argument is one for Parse.
func IsOption(arg string) bool {
	return arg == "-Xlog" || strings.HasPrefix(arg, "-Xlog:") || strings.HasPrefix(arg, "-Xloggc:") ||
		arg == "-verbose:gc"
}

// Fields splits the value of a variable into arguments, at whitespace that is not in quotes.
func Fields(s string) []string {
	quoted := false
	return strings.FieldsFunc(s, func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return !quoted && (r == ' ' || r == '\t' || r == '\n' || r == '\r')
	})
}

func (c *Config) add(arg string) error {
	switch {
	case arg == "-Xlog":
		arg = ""
	case arg == "-verbose:gc":
		arg = "gc"
	case strings.HasPrefix(arg, "-Xloggc:"):
		name := strings.TrimPrefix(arg, "-Xloggc:")
		if name == "" {
			return errors.New("it needs the name of a file")
		}
		arg = `gc*:file="` + name + `"`
	default:
		arg = strings.TrimPrefix(arg, "-Xlog:")
	}
	what, rest, err := cut(arg)
	if err != nil {
		return err
	}
	switch what {
	case "disable":
		c.Outputs = nil
		if rest != "" {
			return errors.New("nothing can follow disable")
		}
		return nil
	case "":
		what = "all"
	}
	path, rest, err := cut(rest)
	if err != nil {
		return err
	}
	decorators, options, err := cut(rest)
	if err != nil {
		return err
	}
	path, isFile := outputPath(path)
	if path == "" {
		return errors.New("an output without a name")
	}
	o := c.output(path, isFile)
	if err := c.selectors(o, what); err != nil {
		return err
	}
	if err := o.decorators(decorators); err != nil {
		return err
	}
	return o.options(options)
}

// cut splits s at the first colon that is neither in quotes nor after a drive letter.
func cut(s string) (part, rest string, err error) {
	quoted := false
	for i := range len(s) {
		switch {
		case s[i] == '"':
			quoted = !quoted
		case s[i] == ':' && !quoted && !isDrive(s, i):
			return s[:i], s[i+1:], nil
		}
	}
	if quoted {
		return "", "", errors.New("a quotation mark is missing")
	}
	return s, "", nil
}

// isDrive reports whether the colon at i belongs to C:\ or C:/.
func isDrive(s string, i int) bool {
	if i+1 >= len(s) || s[i+1] != '\\' && s[i+1] != '/' {
		return false
	}
	letter := strings.TrimPrefix(s[:i], "file=")
	return len(letter) == 1 && (letter[0]|0x20) >= 'a' && (letter[0]|0x20) <= 'z'
}

func outputPath(s string) (path string, isFile bool) {
	switch s {
	case "", Stdout, "#0":
		return Stdout, false
	case Stderr, "#1":
		return Stderr, false
	}
	return strings.ReplaceAll(strings.TrimPrefix(s, "file="), `"`, ""), true
}

// output returns the output with a name: the existing one, or a new one.
func (c *Config) output(path string, isFile bool) *Output {
	for i := range c.Outputs {
		if o := &c.Outputs[i]; o.Path == path && o.IsFile == isFile {
			return o
		}
	}
	c.Outputs = append(c.Outputs,
		Output{Path: path, IsFile: isFile, Selection: formats.Selection{Decorators: defaultDecorators}})
	return &c.Outputs[len(c.Outputs)-1]
}

func (c *Config) selectors(o *Output, what string) error {
	for selector := range strings.SplitSeq(what, ",") {
		text, levelName, hasLevel := strings.Cut(selector, "=")
		level := formats.LevelInfo
		if hasLevel {
			i := slices.Index(formats.LevelNames[:], strings.ToLower(levelName))
			if i < 0 {
				return fmt.Errorf("invalid level '%s' in log selection: the levels are %s",
					levelName, strings.Join(formats.LevelNames[:], ", "))
			}
			level = formats.Level(i)
		}
		list, wildcard := strings.CutSuffix(text, "*")
		tags := strings.Split(strings.ToLower(list), "+")
		if list == "all" {
			tags, wildcard = nil, true
		}
		if slices.Contains(tags, "") {
			return fmt.Errorf("invalid log selection '%s': a tag is missing", selector)
		}
		if !o.Selection.Select(tags, wildcard, level) {
			c.Warnings = append(c.Warnings, fmt.Sprintf("No tag set matches selection: %s. The tag sets are %s",
				text, strings.Join(formats.TagSets(), ", ")))
		}
	}
	return nil
}

func (o *Output) decorators(list string) error {
	if list == "" {
		return nil
	}
	o.Selection.Decorators, o.Decorated = 0, true
	if list == "none" {
		return nil
	}
	for name := range strings.SplitSeq(list, ",") {
		i := slices.IndexFunc(formats.DecoratorNames[:],
			func(d [2]string) bool { return slices.Contains(d[:], strings.ToLower(name)) })
		if i < 0 {
			var names []string
			for _, d := range formats.DecoratorNames {
				names = append(names, d[0])
			}
			return fmt.Errorf("invalid decorator '%s': the decorators are %s, or none", name, strings.Join(names, ", "))
		}
		o.Selection.Decorators |= formats.Of(formats.Decorator(i))
	}
	return nil
}

func (o *Output) options(list string) error {
	if list == "" {
		return nil
	}
	for option := range strings.SplitSeq(list, ",") {
		key, value, _ := strings.Cut(option, "=")
		switch strings.ToLower(key) {
		case "filecount":
			o.FileCount = value
		case "filesize":
			o.FileSize = value
		case "foldmultilines": // each of our messages is one line
			if _, err := strconv.ParseBool(value); err != nil {
				return fmt.Errorf("invalid value '%s' for option '%s': it must be true or false", value, key)
			}
		default:
			return fmt.Errorf("invalid option '%s' for log output: the options are filecount, filesize, foldmultilines",
				key)
		}
	}
	return nil
}
