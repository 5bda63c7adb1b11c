package cli

import (
	"embed"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/cli/compare"
	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/host"
	"github.com/gclog/gclog/internal/rules"
	"github.com/urfave/cli/v2"
)

// stubs are the completion scripts of the shells. A script calls gclog with completeCommand and the
// words in front of the cursor, and proposes what that prints: so it never needs to change.
//
//go:embed completion
var stubs embed.FS

func (p *commands) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script for a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		Description: `Completes commands, flags and their values, files, and the pids and names of .NET processes.
The script calls the gclog that the PATH finds.

Examples:
   source <(gclog completion bash)
   gclog completion zsh > "${fpath[1]}/_gclog"
   gclog completion fish > ~/.config/fish/completions/gclog.fish
   gclog completion powershell | Out-String | Invoke-Expression`,
		Action: p.completion,
	}
}

func (p *commands) completion(c *cli.Context) error {
	script, err := stubs.ReadFile("completion/gclog." + c.Args().First())
	if err != nil || c.Args().Len() != 1 {
		return exit.Usagef("completion needs the name of a shell: bash, zsh, fish or powershell")
	}
	_, err = p.Out.Write(script)
	return err
}

const (
	completeCommand = "__complete"
	filesToo        = ":files" // instead of a word: the shell completes the names of files
)

func (p *commands) completeCommand() *cli.Command {
	return &cli.Command{Name: completeCommand, Hidden: true, SkipFlagParsing: true, Action: p.complete}
}

// complete prints what the last of the words can be: a word a line, with its description after a tab.
// The shell selects those that begin with what has been typed, in its own way.
func (p *commands) complete(c *cli.Context) error {
	words := c.Args().Slice()
	if len(words) == 0 {
		return nil
	}
	last := len(words) - 1
	// bash makes three words of --flag=value.
	before := slices.DeleteFunc(words[:last:last], func(w string) bool { return w == "=" })
	current := strings.TrimSuffix(words[last], " ") // see gclog.powershell
	can := proposals(c.App, before, strings.TrimPrefix(current, "="))
	if can.processes {
		list, err := p.Host.List(c.Context)
		if err != nil {
			return err
		}
		can.words = append(can.words, processWords(list)...)
	}
	for _, w := range can.words {
		fmt.Fprintln(p.Out, can.prefix+w.text+"\t"+w.about)
	}
	if can.files {
		fmt.Fprintln(p.Out, filesToo)
	}
	return nil
}

// A word is something that can be typed, with a description.
type word struct{ text, about string }

// A proposal is what a word can be.
type proposal struct {
	words            []word
	prefix           string // of all words: --flag=
	processes, files bool
}

// proposals returns what can be typed after other words. Of what has been typed already, it only
// matters whether that is a flag.
func proposals(app *cli.App, before []string, current string) (can proposal) {
	c, n := commandOf(app, before)
	if c == nil {
		if n == 0 {
			can.words = commandWords(app.VisibleCommands())
		}
		return can
	}
	takesValue := valueFlags(c)
	flag, arguments, dashes := "", 0, false // flag: the one whose value is next
	for _, w := range before[n:] {
		name := strings.TrimLeft(w, "-")
		switch {
		case flag != "":
			flag = ""
		case w == "--":
			dashes = true
		case dashes || name == w || name == "":
			arguments++
			dashes = dashes || runsCommand(c)
		case takesValue[name]:
			flag = name
		}
	}
	isFlag := !dashes && flag == "" && strings.HasPrefix(current, "-")
	if name, _, ok := strings.Cut(current, "="); ok && isFlag {
		flag, can.prefix = strings.TrimLeft(name, "-"), name+"="
	}
	switch {
	case flag != "":
		can.value(c, flag)
	case isFlag:
		for _, o := range append(options(c.Flags), helpOption) {
			for _, name := range o.names {
				can.words = append(can.words, word{name, o.about})
			}
		}
	case dashes:
		can.files = true
	case arguments == 0 && len(c.VisibleCommands()) > 0:
		can.words = commandWords(c.VisibleCommands())
	default:
		can.argument(c.ArgsUsage, arguments)
	}
	return can
}

func commandWords(list []*cli.Command) (words []word) {
	for _, c := range list {
		words = append(words, word{c.Name, c.Usage})
	}
	return words
}

var (
	literals     = regexp.MustCompile(`\b[a-z]+\b`)
	placeholders = regexp.MustCompile(`\b[A-Z]+\b`)
)

// argument proposes an argument of a command whose ArgsUsage is such as show|test FILE, or FILE|PID.
func (can *proposal) argument(usage string, number int) {
	if words := literals.FindAllString(usage, -1); words != nil && number == 0 {
		for _, w := range words {
			can.words = append(can.words, word{text: w})
		}
		return
	}
	for _, name := range placeholders.FindAllString(usage, -1) {
		can.placeholder(name)
	}
}

// placeholder proposes what stands for a name in a usage.
func (can *proposal) placeholder(name string) {
	switch name {
	case "PID", "NAME":
		can.processes = true
	case "FILE", "DIR", "PATH", "COMMAND", "A": // A, B: what compare compares
		can.files = true
	}
}

// value proposes the value of a flag, or what it begins with.
func (can *proposal) value(c *cli.Command, name string) {
	at := slices.IndexFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if at < 0 {
		return
	}
	switch c.Flags[at].Names()[0] {
	case flags.FailIf:
		for _, m := range compare.ConditionMetrics() {
			can.words = append(can.words, word{m.Name, m.Help})
		}
		return
	case flags.On:
		for _, f := range rules.OnGC.Fields() {
			can.words = append(can.words, word{f.Name, f.About})
		}
		for _, kind := range rules.Kinds[1:] {
			can.words = append(can.words, word{text: kind})
		}
		return
	case flags.Threshold:
		for _, r := range analysis.Rules() {
			for _, t := range r.Thresholds {
				can.words = append(can.words, word{r.ID + "." + t.Name, t.Help})
			}
		}
		return
	}
	d, ok := c.Flags[at].(cli.DocGenerationFlag)
	if !ok {
		return
	}
	if can.words = choices(d.GetUsage()); can.words == nil {
		_, value, _ := quoted(d.GetUsage())
		can.placeholder(value)
	}
}

var (
	remarks   = regexp.MustCompile("\\([^)]*\\)|`")
	between   = regexp.MustCompile(`,? or |, `)
	valueWord = regexp.MustCompile(`^[a-z][a-z0-9-]*(:[A-Z:]+)?$`)
)

// choices returns the values that a flag's usage lists: "`LEVEL` of detail: light, normal or full".
func choices(usage string) (words []word) {
	usage, _, _ = strings.Cut(remarks.ReplaceAllString(usage, ""), ";")
	list := between.Split(usage[strings.LastIndex(usage, ": ")+1:], -1)
	if len(list) < 2 {
		return nil
	}
	for _, text := range list {
		if text = strings.TrimSpace(text); !valueWord.MatchString(text) {
			return nil
		}
		before, _, more := strings.Cut(text, ":")
		if more { // exec:COMMAND
			before += ":"
		}
		words = append(words, word{text: before})
	}
	return slices.Compact(words)
}

// safeName matches names without characters that a shell interprets. Processes choose their own
// names, and the shell expands, splits and types what is proposed: other names are left out.
var safeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.+-]*$`)

// processWords returns the pids and names of processes, with descriptions.
func processWords(list []host.Listed) (words []word) {
	pids := map[string][]string{}
	for i := range list {
		pid, about := strconv.Itoa(list[i].PID), ""
		names := attach.Names(&list[i].Process)
		for _, name := range names {
			// The system truncates names, and the host of programs is not a program's name.
			part := name != names[0] && (name == "dotnet" || strings.HasPrefix(names[0], name))
			if part || !safeName.MatchString(name) {
				continue
			}
			if about == "" {
				about = name
			}
			pids[name] = append(pids[name], pid)
		}
		words = append(words, word{text: pid, about: about})
	}
	for _, name := range slices.Sorted(maps.Keys(pids)) {
		w := word{text: name, about: "process " + pids[name][0]}
		if n := len(pids[name]); n > 1 {
			w.about = fmt.Sprintf("%d processes", n)
		}
		words = append(words, w)
	}
	return words
}
