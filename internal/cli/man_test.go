package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/config"
	"github.com/urfave/cli/v2"
)

// manual writes all pages into a folder, and returns the names of the files.
func manual(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	var stderr bytes.Buffer
	if code := Main([]string{"gclog", "man", "--dir", dir}, nil, io.Discard, &stderr); code != exitOK {
		t.Fatalf("gclog man ended with %d: %s", code, &stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "man[15]", "*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	return files
}

// render returns a page as a reader sees it, with lines so long that none is broken. A warning of
// groff fails the test.
func render(t *testing.T, file string) string {
	t.Helper()
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip("groff is not installed")
	}
	var out, warnings bytes.Buffer
	cmd := exec.Command("groff", "-man", "-ww", "-Tutf8", "-P-c", "-P-b", "-P-u", "-rLL=2000n", file)
	cmd.Stdout, cmd.Stderr = &out, &warnings
	if err := cmd.Run(); err != nil || warnings.Len() > 0 {
		t.Errorf("%s: %v %s", filepath.Base(file), err, &warnings)
	}
	return out.String()
}

// TestManPages: the page of a command contains the text of --help, in a form that can be typed.
func TestManPages(t *testing.T) {
	pages := map[string]string{}
	for _, file := range manual(t) {
		pages[filepath.Base(file)] = render(t, file)
	}
	app := (&program{ui: newUI(io.Discard)}).app()
	has := func(page, what string) {
		if !strings.Contains(pages[page], what) {
			t.Errorf("%s has not %q:\n%s", page, what, pages[page])
		}
	}
	var check func(page string, c *cli.Command)
	check = func(page string, c *cli.Command) {
		for _, f := range c.VisibleFlags() {
			for _, name := range f.Names() {
				has(page, "-"+name)
			}
			if d, ok := f.(cli.DocGenerationFlag); ok {
				has(page, strings.ReplaceAll(d.GetUsage(), "`", ""))
			}
		}
		_, examples := splitExamples(c.Description)
		for line := range strings.Lines(examples) {
			has(page, strings.TrimSpace(line))
		}
		for _, sub := range c.Subcommands {
			has(page, sub.Usage)
			check(page, sub)
		}
	}
	for _, c := range app.Commands {
		if !c.Hidden {
			check("gclog-"+c.Name+".1", c)
			has("gclog-"+c.Name+".1", c.Usage)
			has("gclog.1", c.Usage)
		}
	}
}

// TestManConfig: gclog.yaml(5) contains every key, and a valid example.
func TestManConfig(t *testing.T) {
	files := manual(t)
	page := ""
	for _, file := range files {
		if filepath.Base(file) == "gclog.yaml.5" {
			page = render(t, file)
		}
	}
	for _, k := range append(config.Keys(), config.MatchKeys()...) {
		for _, what := range []string{k.Path, k.About, k.Default, k.Variable} {
			if !strings.Contains(page, what) {
				t.Errorf("gclog.yaml(5) has not %q", what)
			}
		}
	}
	for line := range strings.SplitSeq(manConfigExample, "\n") {
		if !strings.Contains(page, strings.TrimSpace(line)) {
			t.Errorf("gclog.yaml(5) has not %q", line)
		}
	}
	file := filepath.Join(t.TempDir(), "gclog.yaml")
	if err := os.WriteFile(file, []byte(manConfigExample), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := config.Load(file, nil); err != nil {
		t.Error(err)
	}
}

// TestRoffText: no part of a text is interpreted as a macro or an escape.
func TestRoffText(t *testing.T) {
	const text = ".SH no section\n'br no break\n\\fBno bold\\fR \\n[.T] ^~`'\"--x \u2026 \u00e9\nGCLOG_%n-%p"
	r := newRoff("x", 1, `1"2`)
	r.title("x", "what it is")
	r.section(`A "section"`)
	r.verbatim(text)
	file := filepath.Join(t.TempDir(), "x.1")
	if err := os.WriteFile(file, []byte(r.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	page := render(t, file)
	for line := range strings.SplitSeq(text+"\nA \"SECTION\"", "\n") {
		if !strings.Contains(strings.ToUpper(page), strings.ToUpper(line)) {
			t.Errorf("not on the page: %q\n%s", line, page)
		}
	}
}

// TestManIsFound: apropos and whatis find each page by its first section.
func TestManIsFound(t *testing.T) {
	if _, err := exec.LookPath("lexgrog"); err != nil {
		t.Skip("lexgrog (man-db) is not installed")
	}
	for _, file := range manual(t) {
		out, err := exec.Command("lexgrog", file).CombinedOutput()
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
		if err != nil || !strings.Contains(string(out), `"`+name+" - ") {
			t.Errorf("%s: %v %s", file, err, out)
		}
	}
}

// TestManExitCodes: the page and docs/manual.md contain the same list.
func TestManExitCodes(t *testing.T) {
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "manual.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## Exit codes")
	var rows []string
	for line := range strings.Lines(table) {
		if code, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | "); ok && len(code) > 0 && code[0] >= '0' && code[0] <= '9' {
			rows = append(rows, strings.TrimSpace(line))
		} else if len(rows) > 0 {
			break
		}
	}
	var ours []string
	commands := strings.NewReplacer("run: as", "`run`: as", "also tune", "also `tune`", "check, compare: a", "`check`, `compare`: a")
	for _, x := range manExitCodes {
		ours = append(ours, "| "+x.term+" | "+commands.Replace(x.about)+" |")
	}
	if got, want := strings.Join(ours, "\n"), strings.Join(rows, "\n"); got != want {
		t.Errorf("gclog(1) and docs/manual.md differ:\n%s\n%s", got, want)
	}
	if len(rows) < 8 {
		t.Error("only " + strconv.Itoa(len(rows)) + " rows were found")
	}
}
