package cli

import (
	"fmt"
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

// takesProcess are the commands whose argument is a process.
func takesProcess(name string) bool { return name == "attach" || name == "record" }

// flagsOf lists the flags of a command as they are typed, with what they are for.
func flagsOf(c *cli.Command) (list [][2]string) {
	for _, f := range c.Flags {
		if v, ok := f.(cli.VisibleFlag); ok && !v.IsVisible() {
			continue
		}
		usage := ""
		if d, ok := f.(cli.DocGenerationFlag); ok {
			usage = strings.ReplaceAll(d.GetUsage(), "`", "")
		}
		for _, name := range f.Names() {
			dashes := "--"
			if len(name) == 1 {
				dashes = "-"
			}
			list = append(list, [2]string{dashes + name, usage})
		}
	}
	return append(list, [2]string{"--help", "show help"})
}

func words(list [][2]string) string {
	var all []string
	for _, f := range list {
		all = append(all, f[0])
	}
	return strings.Join(all, " ")
}

func commands(app *cli.App) (list [][2]string) {
	for _, c := range app.Commands {
		if !c.Hidden {
			list = append(list, [2]string{c.Name, c.Usage})
		}
	}
	return list
}

const pidsOf = `gclog ps -o json 2>/dev/null | sed -n 's/^ *"pid": \([0-9]*\),*$/\1/p'`

func bashScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# bash completion of gclog\n_gclog() {\n")
	b.WriteString("  local cur=${COMP_WORDS[COMP_CWORD]} cmd=${COMP_WORDS[1]}\n  COMPREPLY=()\n")
	fmt.Fprintf(&b, "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n    COMPREPLY=($(compgen -W %q -- \"$cur\"))\n    return\n  fi\n", words(commands(app)))
	b.WriteString("  case $cmd in\n")
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&b, "  %s)\n    if [[ $cur == -* ]]; then\n      COMPREPLY=($(compgen -W %q -- \"$cur\"))\n", c.Name, words(flagsOf(c)))
		if takesProcess(c.Name) {
			fmt.Fprintf(&b, "    else\n      COMPREPLY=($(compgen -W \"$(%s)\" -- \"$cur\"))\n", pidsOf)
		}
		b.WriteString("    fi\n    ;;\n")
	}
	b.WriteString("  esac\n}\ncomplete -o default -F _gclog gclog\n")
	return b.String()
}

// quote puts s into single quotes for a POSIX shell, and takes out what zsh's own
// descriptions give a meaning.
func quote(s string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "[", "(", "]", ")", ":", " -").Replace(s) + "'"
}

func zshScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("#compdef gclog\n_gclog() {\n  local -a commands\n  commands=(\n")
	for _, c := range commands(app) {
		fmt.Fprintf(&b, "    %s\n", "'"+c[0]+":"+strings.Trim(quote(c[1]), "'")+"'")
	}
	b.WriteString("  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n  case $words[2] in\n")
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		fmt.Fprintf(&b, "  %s)\n    _arguments", c.Name)
		for _, f := range flagsOf(c) {
			fmt.Fprintf(&b, " \\\n      %s", "'*"+f[0]+"["+strings.Trim(quote(f[1]), "'")+"]'")
		}
		if takesProcess(c.Name) {
			fmt.Fprintf(&b, " \\\n      \"*:process:($(%s))\"", strings.ReplaceAll(strings.ReplaceAll(pidsOf, `\`, `\\`), `"`, `\"`))
		} else {
			b.WriteString(" \\\n      '*:file:_files'")
		}
		b.WriteString("\n    ;;\n")
	}
	b.WriteString("  esac\n}\ncompdef _gclog gclog\n")
	return b.String()
}

func fishScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# fish completion of gclog\n")
	for _, c := range commands(app) {
		fmt.Fprintf(&b, "complete -c gclog -n __fish_use_subcommand -f -a %s -d %s\n", c[0], quote(c[1]))
	}
	for _, c := range app.Commands {
		if c.Hidden {
			continue
		}
		seen := "'__fish_seen_subcommand_from " + c.Name + "'"
		for _, f := range flagsOf(c) {
			kind := "-l " + strings.TrimPrefix(f[0], "--")
			if !strings.HasPrefix(f[0], "--") {
				kind = "-s " + strings.TrimPrefix(f[0], "-")
			}
			fmt.Fprintf(&b, "complete -c gclog -n %s %s -d %s\n", seen, kind, quote(f[1]))
		}
		if takesProcess(c.Name) {
			fmt.Fprintf(&b, "complete -c gclog -n %s -f -a \"(%s)\"\n", seen, strings.ReplaceAll(strings.ReplaceAll(pidsOf, `"`, `\"`), `\(`, `\\(`))
		}
	}
	return b.String()
}

func powershellScript(app *cli.App) string {
	var b strings.Builder
	b.WriteString("# PowerShell completion of gclog\nRegister-ArgumentCompleter -Native -CommandName gclog -ScriptBlock {\n  param($word, $ast, $position)\n")
	b.WriteString("  $flags = @{\n")
	for _, c := range app.Commands {
		if !c.Hidden {
			fmt.Fprintf(&b, "    '%s' = '%s'\n", c.Name, words(flagsOf(c)))
		}
	}
	b.WriteString("  }\n  $parts = $ast.CommandElements | ForEach-Object { $_.ToString() }\n")
	fmt.Fprintf(&b, "  if ($parts.Count -lt 2 -or ($parts.Count -eq 2 -and $word)) { $list = '%s' } else { $list = $flags[$parts[1]] }\n", words(commands(app)))
	b.WriteString("  $list -split ' ' | Where-Object { $_ -like \"$word*\" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n}\n")
	return b.String()
}
