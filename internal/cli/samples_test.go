package cli

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/goccy/go-yaml"
	"github.com/urfave/cli/v2"
)

// A call is a command line of gclog in a file for users.
type call struct {
	where string
	args  []string // without gclog itself
}

// callsOfYAML returns the commands and arguments of gclog's containers.
func callsOfYAML(t *testing.T, file string, text []byte) (calls []call) {
	t.Helper()
	words := func(v any) (list []string) {
		items, _ := v.([]any)
		for _, x := range items {
			s, _ := x.(string)
			list = append(list, s)
		}
		return list
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, x := range v {
				walk(x)
			}
		case map[string]any:
			if image, _ := v["image"].(string); strings.Contains(image, "/gclog:") && v["args"] != nil {
				calls = append(calls, call{file, words(v["args"])})
			}
			if command := words(v["command"]); len(command) > 0 && filepath.Base(command[0]) == "gclog" {
				calls = append(calls, call{file, command[1:]})
			}
			for _, x := range v {
				walk(x)
			}
		}
	}
	for dec := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var v any
		err := dec.Decode(&v)
		if errors.Is(err, io.EOF) {
			return calls
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
			return calls
		}
		walk(v)
	}
}

var (
	codeBlock  = regexp.MustCompile("(?ms)^```\\w*\n(.*?)^```")
	inlineCode = regexp.MustCompile("`([^`\n]+)`")
	unitLine   = regexp.MustCompile(`(?m)^Exec\w+=(.*)$`)
	// A command of an image that is called gclog.
	inImage  = regexp.MustCompile(`^(?:podman|docker) (?:run|exec) .* gclog ((?:/usr/bin/)?gclog .*|[a-z]+ .*)$`)
	redirect = regexp.MustCompile(`\d?[<>]+\s*\S*|\s#.*|\s\s\s*.*`)
)

// callsOfText returns the commands in the code of a text: of a document, a unit, or comments.
func callsOfText(file string, text []byte) (calls []call) {
	var code []string
	switch filepath.Ext(file) {
	case ".md":
		for _, m := range codeBlock.FindAllSubmatch(text, -1) {
			code = append(code, strings.Split(strings.ReplaceAll(string(m[1]), "\\\n", ""), "\n")...)
		}
		text = codeBlock.ReplaceAll(text, nil)
	case ".service":
		for _, m := range unitLine.FindAllSubmatch(text, -1) {
			code = append(code, string(m[1]))
		}
	default: // code is indented in comments
		var comments strings.Builder
		for line := range strings.Lines(string(text)) {
			if comment, ok := strings.CutPrefix(line, "#   "); ok {
				comments.WriteString(strings.TrimSpace(comment) + "\n")
			}
		}
		code = append(code, strings.Split(strings.ReplaceAll(comments.String(), "\\\n", ""), "\n")...)
	}
	for _, m := range inlineCode.FindAllSubmatch(text, -1) {
		code = append(code, string(m[1]))
	}
	for _, line := range code {
		for part := range strings.FieldsFuncSeq(line, func(r rune) bool { return r == '|' || r == ';' || r == '&' }) {
			part = strings.TrimSpace(part)
			if m := inImage.FindStringSubmatch(part); m != nil {
				part = "gclog " + strings.TrimPrefix(m[1], "gclog ")
			}
			if before, after, ok := strings.Cut(part, " -- "); ok && strings.HasPrefix(before, "kubectl debug") {
				part = after
			}
			part = redirect.ReplaceAllString(part, "")
			if words := strings.Fields(part); len(words) > 1 && filepath.Base(words[0]) == "gclog" && words[1] != "COMMAND" {
				calls = append(calls, call{file, words[1:]})
			}
		}
	}
	return calls
}

// takes runs a command line through the tree of commands, whose actions are removed.
func takes(args []string) error {
	p := &commands{&program.Run{Unfiltered: io.Discard, Out: program.NewPrinter(io.Discard), UI: program.NewUI(io.Discard)}}
	app := p.app()
	reached := false
	var stub func(c *cli.Command)
	stub = func(c *cli.Command) {
		if c.Action != nil && len(c.Subcommands) == 0 {
			c.Action = func(*cli.Context) error { reached = true; return nil }
		}
		for _, sub := range c.Subcommands {
			stub(sub)
		}
	}
	for _, c := range app.Commands {
		stub(c)
	}
	if slices.Contains(args, "--help") {
		reached = true
	}
	arranged, err := arrange(app, append([]string{"gclog"}, args...))
	if err == nil {
		err = app.Run(arranged)
	}
	if err == nil && (!reached || p.Code != exit.OK) {
		err = errors.New("there is no such command")
	}
	return err
}

// TestSampleCommands: gclog accepts every one of its command lines in the samples, the packages and
// the documents for users.
func TestSampleCommands(t *testing.T) {
	root := filepath.Join("..", "..")
	var calls []call
	for _, dir := range []string{"samples", "packaging", "docs", "README.md"} {
		err := filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			ext := filepath.Ext(path)
			if err != nil || d.IsDir() || slices.Contains([]string{".log", ".csv", ".txt", ".json", ".sh"}, ext) {
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if ext == ".yaml" || ext == ".yml" {
				calls = append(calls, callsOfYAML(t, path, text)...)
			}
			calls = append(calls, callsOfText(path, text)...)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	const least = 30
	if len(calls) < least {
		t.Errorf("only %d command lines were found", len(calls))
	}
	files := map[string]int{}
	for _, c := range calls {
		files[filepath.Base(c.where)]++
		if err := takes(c.args); err != nil {
			t.Errorf("%s: gclog %s: %v", c.where, strings.Join(c.args, " "), err)
		}
	}
	for name, least := range map[string]int{
		"gclog.service": 2, "daemonset.yaml": 3, "sidecar.yaml": 2, "debug-container.yaml": 1, "deployment.md": 5,
	} {
		if files[name] < least {
			t.Errorf("in %s %d command lines were found, and there are %d", name, files[name], least)
		}
	}
}

// TestSampleConfigurations: every configuration in the repository is valid.
func TestSampleConfigurations(t *testing.T) {
	root := filepath.Join("..", "..")
	configurations := map[string][]byte{}
	for _, file := range []string{"packaging/gclog.yaml", "samples/gclog.yaml"} {
		b, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		configurations[file] = b
	}
	manifest, err := os.ReadFile(filepath.Join(root, "samples", "kubernetes", "daemonset.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for dec := yaml.NewDecoder(bytes.NewReader(manifest)); ; {
		var v struct {
			Kind string            `yaml:"kind"`
			Data map[string]string `yaml:"data"`
		}
		if err := dec.Decode(&v); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if v.Kind == "ConfigMap" {
			configurations["the ConfigMap"] = []byte(v.Data["gclog.yaml"])
		}
	}
	if len(configurations) != 3 {
		t.Errorf("%d configurations were found", len(configurations))
	}
	for name, text := range configurations {
		file := filepath.Join(t.TempDir(), "gclog.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := Main([]string{"gclog", "config", "validate", "-c", file}, nil, &stdout, &stderr); code != exit.OK || len(text) == 0 {
			t.Errorf("%s: %d: %s", name, code, &stderr)
		}
	}
}
