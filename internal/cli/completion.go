package cli

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/attach"
	"github.com/gclog/gclog/internal/rules"
	"github.com/gclog/gclog/session"
	"github.com/urfave/cli/v2"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script for a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		Description: `Completes commands, flags, and the pids and names of .NET processes.

Examples:
   source <(gclog completion bash)
   gclog completion zsh > "${fpath[1]}/_gclog"
   gclog completion fish > ~/.config/fish/completions/gclog.fish
   gclog completion powershell | Out-String | Invoke-Expression`,
		Action: p.completion,
	}
}

func (p *program) completion(c *cli.Context) error {
	scripts := map[string]func(*cli.App) string{"bash": bashScript, "zsh": zshScript, "fish": fishScript, "powershell": powershellScript}
	script := scripts[c.Args().First()]
	if script == nil || c.Args().Len() != 1 {
		return usagef("completion needs the name of a shell: bash, zsh, fish or powershell")
	}
	_, err := fmt.Fprint(p.out, script(c.App))
	return err
}

// takesProcess reports whether the argument of a command is a process, or with "--" a command.
func takesProcess(name string) bool { return name == "attach" || name == "record" }

// wordsFor returns the words that the argument of a command can be.
func wordsFor(c *cli.Command) string {
	switch c.Name {
	case "config":
		return strings.Join(configurationWords, " ")
	case "ctl":
		return strings.Join(ctlWords, " ")
	case "rules":
		return strings.Join(rulesWords, " ")
	case "completion":
		return "bash zsh fish powershell"
	}
	return texts(commands(c.Subcommands), " ")
}

// completesProcesses reports whether the argument of a command can only be a process.
func completesProcesses(name string) bool {
	return takesProcess(name) || slices.Contains([]string{"gc", "heap snapshot", "heap watch"}, name)
}

// completesInputs reports whether the arguments of a command are files, or a running process.
func completesInputs(name string) bool {
	return slices.Contains([]string{"summary", "report", "check", "explain", "pauses", "stat", "top", "doctor", "settings", "metrics", "heap stat"}, name)
}

// eachArgument calls f for the subcommands of a command whose argument can be a process, by the shell
// function that completes it.
func eachArgument(c *cli.Command, f func(names []string, complete string)) {
	for _, x := range []struct {
		complete string
		is       func(name string) bool
	}{{"_gclog_processes", completesProcesses}, {"_gclog_inputs", completesInputs}} {
		var names []string
		for _, sub := range c.Subcommands {
			if x.is(c.Name + " " + sub.Name) {
				names = append(names, sub.Names()...)
			}
		}
		if names != nil {
			f(names, x.complete)
		}
	}
}

// processesCommand lists the words that choose a process: only completion uses it.
const processesCommand = "complete-processes"

func (p *program) processesCommand() *cli.Command {
	return &cli.Command{Name: processesCommand, Hidden: true, Action: func(c *cli.Context) error {
		list, err := p.host.List(c.Context)
		if err != nil {
			return err
		}
		for _, w := range processWords(list) {
			fmt.Fprintln(p.out, w.text+"\t"+w.about)
		}
		return nil
	}}
}

// safeName matches names without characters that a shell interprets. Processes choose their own
// names, and the shell expands, splits and types what is proposed: other names are left out.
var safeName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.+-]*$`)

// processWords returns the pids and names of processes, with descriptions.
func processWords(list []session.Listed) (words []word) {
	pids := map[string][]string{}
	for i := range list {
		pid, about := strconv.Itoa(list[i].PID), ""
		names := attach.Names(&list[i].Process)
		for _, name := range names {
			// The system truncates names, and the host of programs is not a program's name.
			if !safeName.MatchString(name) || name != names[0] && (name == "dotnet" || strings.HasPrefix(names[0], name)) {
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

// valuesOf returns the words that the value of a flag can be, or begin with; nil: anything.
func valuesOf(flag string) []string {
	switch flag {
	case "--" + failIfFlag:
		names := names(allMetrics())
		for _, m := range differenceMetrics(nil) {
			if !m.compared {
				names = append(names, m.Name)
			}
		}
		return names
	case "--" + onFlag:
		var names []string
		for _, f := range rules.OnGC.Fields() {
			names = append(names, f.Name)
		}
		return append(names, rules.Kinds[1:]...)
	case "--" + doFlag:
		return []string{"log", "exec:", "webhook:", "heap", "heap:"}
	case "--" + thresholdFlagName:
		return thresholdNames()
	case "--" + timeIsFlag:
		return []string{"end", "start"}
	case "--" + durationUnitFlag:
		return slices.Sorted(maps.Keys(durationUnits))
	}
	return nil
}

// A word is something that can be typed, with a description.
type word struct {
	text, about string
	value       bool     // a flag that is followed by a value
	process     bool     // the value is a process
	values      []string // that the value can be, or begin with; nil: anything
}

// flagsOf lists the flags of a command as they are typed.
func flagsOf(c *cli.Command) (list []word) {
	flags := slices.Clone(c.Flags)
	for _, sub := range c.Subcommands { // one script for all of them
		for _, f := range sub.Flags {
			if !slices.ContainsFunc(flags, func(other cli.Flag) bool { return other.Names()[0] == f.Names()[0] }) {
				flags = append(flags, f)
			}
		}
	}
	for _, f := range flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() || f == cli.HelpFlag {
			continue
		}
		w := word{}
		if d, ok := f.(cli.DocGenerationFlag); ok {
			w.about, w.value = strings.ReplaceAll(d.GetUsage(), "`", ""), d.TakesValue()
		}
		w.process = f.Names()[0] == "process-id" || f.Names()[0] == "name"
		for _, name := range f.Names() {
			w.text = "--" + name
			if len(name) == 1 {
				w.text = "-" + name
			}
			w.values = valuesOf(w.text)
			list = append(list, w)
		}
	}
	return append(list, word{text: "--help", about: "show help"})
}

func commands(of []*cli.Command) (list []word) {
	for _, c := range of {
		if !c.Hidden {
			list = append(list, word{text: c.Name, about: c.Usage})
		}
	}
	return list
}

// texts joins the texts of words.
func texts(list []word, separator string) string {
	var all []string
	for _, w := range list {
		all = append(all, w.text)
	}
	return strings.Join(all, separator)
}

// those returns the words for which so is true.
func those(list []word, so func(w *word) bool) (some []word) {
	for i := range list {
		if so(&list[i]) {
			some = append(some, list[i])
		}
	}
	return some
}

// bashHead contains the functions that the rest of the script calls.
const bashHead = `# bash completion of gclog
_gclog_words() { COMPREPLY=($(compgen -W "$1" -- "$2")); }
_gclog_processes() { _gclog_words "$(gclog ` + processesCommand + ` 2>/dev/null | cut -f 1)" "$1"; }
_gclog_inputs() {
  _gclog_processes "$1"
  local file
  while IFS= read -r file; do COMPREPLY+=("$file"); done < <(compgen -f -- "$1")
  compopt -o filenames 2>/dev/null
}
_gclog() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}
  COMPREPLY=()
`

func bashScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString(bashHead)
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    _gclog_words %q \"$cur\"\n    return\n  fi\n", texts(commands(app.Commands), " "))
	b.WriteString("  case $cmd in\n")
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&b, "  %s)\n", c.Name)
		flags := flagsOf(c)
		for _, f := range flags {
			if f.values != nil {
				fmt.Fprintf(&b, "    case $prev in %s) _gclog_words %q \"$cur\"; return ;; esac\n", f.text, strings.Join(f.values, " "))
			}
		}
		if processes := texts(those(flags, func(w *word) bool { return w.process }), "|"); processes != "" {
			fmt.Fprintf(&b, "    case $prev in %s) _gclog_processes \"$cur\"; return ;; esac\n", processes)
		}
		if values := texts(those(flags, func(w *word) bool { return w.value && !w.process }), "|"); values != "" {
			fmt.Fprintf(&b, "    case $prev in %s) return ;; esac\n", values)
		}
		fmt.Fprintf(&b, "    if [[ $cur == -* ]]; then\n      _gclog_words %q \"$cur\"\n", texts(flags, " "))
		switch words := wordsFor(c); {
		case completesProcesses(c.Name):
			b.WriteString("    else\n      _gclog_processes \"$cur\"\n")
		case completesInputs(c.Name):
			b.WriteString("    else\n      _gclog_inputs \"$cur\"\n")
		case len(c.Subcommands) > 0:
			fmt.Fprintf(&b, "    elif [ \"$COMP_CWORD\" -eq 2 ]; then\n      _gclog_words %q \"$cur\"\n    else\n      case ${COMP_WORDS[2]} in\n", words)
			eachArgument(c, func(names []string, complete string) {
				fmt.Fprintf(&b, "        %s) %s \"$cur\" ;;\n", strings.Join(names, "|"), complete)
			})
			b.WriteString("      esac\n")
		case words != "":
			fmt.Fprintf(&b, "    else\n      _gclog_words %q \"$cur\"\n", words)
		}
		b.WriteString("    fi\n    ;;\n")
	}
	b.WriteString("  esac\n}\ncomplete -o default -F _gclog gclog\n")
	return b.String()
}

// zshQuote puts the parts of a description into single quotes for zsh, whose completion functions
// interpret brackets.
func zshQuote(parts ...string) string {
	return "'" + strings.NewReplacer("'", `'\''`).Replace(strings.Join(parts, "")) + "'"
}

var zshText = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`)

// zshHead contains the functions that the rest of the script calls.
const zshHead = `#compdef gclog
_gclog_processes() {
  local -a list
  list=(${(f)"$(gclog ` + processesCommand + ` 2>/dev/null | tr '\t' ':')"})
  _describe process list
}
_gclog_inputs() { _alternative 'processes:process:_gclog_processes' 'files:file:_files' }
`

// zshTail calls the function, for the case that its first call loaded this script.
const zshTail = `  esac
}
if [[ $funcstack[1] == _gclog ]]; then
  _gclog "$@"
else
  compdef _gclog gclog
fi
`

func zshScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString(zshHead)
	b.WriteString("_gclog_argument() {\n  case \"$words[2] $words[3]\" in\n")
	for _, c := range app.Commands {
		eachArgument(c, func(names []string, complete string) {
			fmt.Fprintf(&b, "  %s\\ (%s)) %s ;;\n", c.Name, strings.Join(names, "|"), complete)
		})
	}
	b.WriteString("  *) _files ;;\n  esac\n}\n_gclog() {\n  local -a commands\n  commands=(\n")
	for _, c := range commands(app.Commands) {
		fmt.Fprintf(&b, "    %s\n", zshQuote(c.text, ":", c.about))
	}
	b.WriteString("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n")
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&b, "  %s)\n    _arguments", c.Name)
		for _, f := range flagsOf(c) {
			value := ""
			switch {
			case f.values != nil:
				value = ":value:(" + strings.Join(f.values, " ") + ")"
			case f.process:
				value = ":process:_gclog_processes"
			case f.value:
				value = ":value:_files"
			}
			fmt.Fprintf(&b, " \\\n      %s", zshQuote("*", f.text, "[", zshText.Replace(f.about), "]", value))
		}
		switch words := wordsFor(c); {
		case completesProcesses(c.Name):
			b.WriteString(" \\\n      '*:process:_gclog_processes'")
		case completesInputs(c.Name):
			b.WriteString(" \\\n      '*:input:_gclog_inputs'")
		case words != "":
			fmt.Fprintf(&b, " \\\n      '1:what:(%s)'", words)
			if len(c.Subcommands) > 0 {
				b.WriteString(" \\\n      '*:argument:_gclog_argument'")
			}
		default:
			b.WriteString(" \\\n      '*:file:_files'")
		}
		b.WriteString("\n    ;;\n")
	}
	b.WriteString(zshTail)
	return b.String()
}

// fishQuote puts s into single quotes for fish.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// fishProcesses makes fish ask gclog for the processes.
const fishProcesses = "'(gclog " + processesCommand + " 2>/dev/null)'"

func fishScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# fish completion of gclog\n")
	for _, c := range commands(app.Commands) {
		fmt.Fprintf(&b, "complete -c gclog -n __fish_use_subcommand -f -a %s -d %s\n", c.text, fishQuote(c.about))
	}
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		seen := "'__fish_seen_subcommand_from " + c.Name + "'"
		for _, f := range flagsOf(c) {
			kind := "-s " + strings.TrimPrefix(f.text, "-")
			if long, ok := strings.CutPrefix(f.text, "--"); ok {
				kind = "-l " + long
			}
			if f.value {
				kind += " -r"
			}
			switch {
			case f.values != nil:
				kind += " -f -a " + fishQuote(strings.Join(f.values, " "))
			case f.process:
				kind += " -f -a " + fishProcesses
			}
			fmt.Fprintf(&b, "complete -c gclog -n %s %s -d %s\n", seen, kind, fishQuote(f.about))
		}
		switch words := wordsFor(c); {
		case completesProcesses(c.Name):
			fmt.Fprintf(&b, "complete -c gclog -n %s -f -a %s\n", seen, fishProcesses)
		case completesInputs(c.Name):
			fmt.Fprintf(&b, "complete -c gclog -n %s -a %s\n", seen, fishProcesses)
		case words != "":
			only := "-f "
			if len(c.Subcommands) > 0 {
				only = "" // files follow
			}
			fmt.Fprintf(&b, "complete -c gclog -n %s %s-a %s\n", seen, only, fishQuote(words))
		}
		eachArgument(c, func(names []string, complete string) {
			only := ""
			if complete == "_gclog_processes" {
				only = "-f "
			}
			both := fishQuote("__fish_seen_subcommand_from " + c.Name + "; and __fish_seen_subcommand_from " + strings.Join(names, " "))
			fmt.Fprintf(&b, "complete -c gclog -n %s %s-a %s\n", both, only, fishProcesses)
		})
	}
	return b.String()
}

func powershellScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# PowerShell completion of gclog\nRegister-ArgumentCompleter -Native -CommandName gclog -ScriptBlock {\n  param($word, $ast, $position)\n")
	b.WriteString("  $flags = @{\n")
	values := map[string][]string{}
	var processes []string
	for _, c := range app.Commands {
		if !c.Hidden {
			list := texts(flagsOf(c), " ")
			if words := wordsFor(c); words != "" {
				list = words + " " + list
			}
			fmt.Fprintf(&b, "    '%s' = '%s'\n", c.Name, list)
			if completesProcesses(c.Name) || completesInputs(c.Name) {
				processes = append(processes, "'"+c.Name+"'")
			}
			eachArgument(c, func(names []string, _ string) {
				for _, name := range names {
					processes = append(processes, "'"+c.Name+" "+name+"'")
				}
			})
			for _, f := range flagsOf(c) {
				if f.values != nil {
					values[f.text] = f.values
				}
			}
		}
	}
	b.WriteString("  }\n  $values = @{\n")
	for _, flag := range slices.Sorted(maps.Keys(values)) {
		fmt.Fprintf(&b, "    '%s' = '%s'\n", flag, strings.Join(values[flag], " "))
	}
	fmt.Fprintf(&b, "  }\n  $processes = %s\n", strings.Join(processes, ", "))
	b.WriteString("  $parts = $ast.CommandElements | ForEach-Object { $_.ToString() }\n")
	fmt.Fprintf(&b, "  if ($parts.Count -lt 2 -or ($parts.Count -eq 2 -and $word)) { $list = '%s' } else {\n    $list = $flags[$parts[1]]\n    if ($processes -contains $parts[1] -or $processes -contains \"$($parts[1]) $($parts[2])\") { $list += ' ' + ((gclog %s 2>$null | ForEach-Object { ($_ -split '\\s')[0] }) -join ' ') }\n  }\n", texts(commands(app.Commands), " "), processesCommand)
	b.WriteString("  $before = $parts[$(if ($word) { $parts.Count - 2 } else { $parts.Count - 1 })]\n  if ($values.ContainsKey($before)) { $list = $values[$before] }\n")
	b.WriteString("  $list -split ' ' | Where-Object { $_ -like \"$word*\" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n}\n")
	return b.String()
}
