package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

func (p *program) completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Usage:     "print the completion script of a shell",
		ArgsUsage: "bash|zsh|fish|powershell",
		Description: `Commands, flags and the pids of .NET processes are completed.

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

// takesProcess are the commands whose argument is a process, or with "--" a command.
func takesProcess(name string) bool { return name == "attach" || name == "record" }

// wordsFor are the arguments of commands that take one of a few words.
func wordsFor(name string) string {
	switch name {
	case "config":
		return strings.Join(configurationWords, " ")
	case "ctl":
		return strings.Join(ctlWords, " ")
	case "completion":
		return "bash zsh fish powershell"
	}
	return ""
}

// completesPids are the commands whose argument may be a pid.
func completesPids(name string) bool {
	return takesProcess(name) || name == "doctor" || name == "gc" || name == "settings" || takesHistory(name)
}

// takesHistory are the commands whose arguments are files, or a running process.
func takesHistory(name string) bool {
	return slices.Contains([]string{"summary", "check", "explain", "pauses"}, name)
}

// valuesOf are the words that the value of a flag may be, or begin with; nil: anything.
func valuesOf(flag string) []string {
	switch flag {
	case "--" + failIfFlag:
		return names(allMetrics())
	case "--" + thresholdFlagName:
		return thresholdNames()
	case "--" + timeIsFlag:
		return []string{"end", "start"}
	case "--" + durationUnitFlag:
		return slices.Sorted(maps.Keys(durationUnits))
	}
	return nil
}

// A word is what can be typed, with what it is for.
type word struct {
	text, about string
	value       bool     // a flag that a value follows, other than what stands without a flag too
	values      []string // that it may be, or begin with; nil: anything
}

// flagsOf lists the flags of a command as they are typed.
func flagsOf(c *cli.Command) (list []word) {
	for _, f := range c.Flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() || f == cli.HelpFlag {
			continue
		}
		w := word{}
		if d, ok := f.(cli.DocGenerationFlag); ok {
			w.about, w.value = strings.ReplaceAll(d.GetUsage(), "`", ""), d.TakesValue() && f.Names()[0] != "process-id"
		}
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

func commands(app *cli.App) (list []word) {
	for _, c := range app.Commands {
		if !c.Hidden {
			list = append(list, word{text: c.Name, about: c.Usage})
		}
	}
	return list
}

// texts joins what can be typed; onlyValues leaves out what no value follows.
func texts(list []word, separator string, onlyValues bool) string {
	var all []string
	for _, w := range list {
		if w.value || !onlyValues {
			all = append(all, w.text)
		}
	}
	return strings.Join(all, separator)
}

const pidsOf = `gclog ps -o json 2>/dev/null | sed -n 's/^ *"pid": \([0-9]*\),*$/\1/p'`

func bashScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# bash completion of gclog\n_gclog() {\n")
	b.WriteString("  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}\n  COMPREPLY=()\n")
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W %q -- \"$cur\"))\n    return\n  fi\n", texts(commands(app), " ", false))
	b.WriteString("  case $cmd in\n")
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&b, "  %s)\n", c.Name)
		for _, f := range flagsOf(c) {
			if f.values != nil {
				fmt.Fprintf(&b, "    case $prev in %s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;; esac\n", f.text, strings.Join(f.values, " "))
			}
		}
		if values := texts(flagsOf(c), "|", true); values != "" {
			fmt.Fprintf(&b, "    case $prev in %s) return ;; esac\n", values)
		}
		fmt.Fprintf(&b, "    if [[ $cur == -* ]]; then\n      COMPREPLY=($(compgen -W %q -- \"$cur\"))\n", texts(flagsOf(c), " ", false))
		if completesPids(c.Name) {
			fmt.Fprintf(&b, "    else\n      COMPREPLY=($(compgen -W \"$(%s)\" -- \"$cur\"))\n", pidsOf)
		} else if words := wordsFor(c.Name); words != "" {
			fmt.Fprintf(&b, "    else\n      COMPREPLY=($(compgen -W %q -- \"$cur\"))\n", words)
		}
		b.WriteString("    fi\n    ;;\n")
	}
	b.WriteString("  esac\n}\ncomplete -o default -F _gclog gclog\n")
	return b.String()
}

// zshQuote puts the parts of a description into single quotes for zsh.
// Its completion functions give brackets a meaning.
func zshQuote(parts ...string) string {
	return "'" + strings.NewReplacer("'", `'\''`).Replace(strings.Join(parts, "")) + "'"
}

var zshText = strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`)

func zshScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("#compdef gclog\n_gclog() {\n  local -a commands\n  commands=(\n")
	for _, c := range commands(app) {
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
			case f.value:
				value = ":value:_files"
			}
			fmt.Fprintf(&b, " \\\n      %s", zshQuote("*", f.text, "[", zshText.Replace(f.about), "]", value))
		}
		if completesPids(c.Name) {
			fmt.Fprintf(&b, " \\\n      \"*:process:($(%s))\"", strings.ReplaceAll(strings.ReplaceAll(pidsOf, `\`, `\\`), `"`, `\"`))
		} else if words := wordsFor(c.Name); words != "" {
			fmt.Fprintf(&b, " \\\n      '1:what:(%s)'", words)
		} else {
			b.WriteString(" \\\n      '*:file:_files'")
		}
		b.WriteString("\n    ;;\n")
	}
	b.WriteString("  esac\n}\ncompdef _gclog gclog\n")
	return b.String()
}

// fishQuote puts s into single quotes for fish.
func fishQuote(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

func fishScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# fish completion of gclog\n")
	for _, c := range commands(app) {
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
			if f.values != nil {
				kind += " -f -a " + fishQuote(strings.Join(f.values, " "))
			}
			fmt.Fprintf(&b, "complete -c gclog -n %s %s -d %s\n", seen, kind, fishQuote(f.about))
		}
		if completesPids(c.Name) {
			fmt.Fprintf(&b, "complete -c gclog -n %s -f -a %s\n", seen, fishQuote("("+pidsOf+")"))
		} else if words := wordsFor(c.Name); words != "" {
			fmt.Fprintf(&b, "complete -c gclog -n %s -f -a %s\n", seen, fishQuote(words))
		}
	}
	return b.String()
}

func powershellScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# PowerShell completion of gclog\nRegister-ArgumentCompleter -Native -CommandName gclog -ScriptBlock {\n  param($word, $ast, $position)\n")
	b.WriteString("  $flags = @{\n")
	values := map[string][]string{}
	for _, c := range app.Commands {
		if !c.Hidden {
			list := texts(flagsOf(c), " ", false)
			if words := wordsFor(c.Name); words != "" {
				list = words + " " + list
			}
			fmt.Fprintf(&b, "    '%s' = '%s'\n", c.Name, list)
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
	b.WriteString("  }\n  $parts = $ast.CommandElements | ForEach-Object { $_.ToString() }\n")
	fmt.Fprintf(&b, "  if ($parts.Count -lt 2 -or ($parts.Count -eq 2 -and $word)) { $list = '%s' } else { $list = $flags[$parts[1]] }\n", texts(commands(app), " ", false))
	b.WriteString("  $before = $parts[$(if ($word) { $parts.Count - 2 } else { $parts.Count - 1 })]\n  if ($values.ContainsKey($before)) { $list = $values[$before] }\n")
	b.WriteString("  $list -split ' ' | Where-Object { $_ -like \"$word*\" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n}\n")
	return b.String()
}
