package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
	"github.com/gclog/gclog/internal/cli/flags"
	"github.com/gclog/gclog/internal/cli/program"
	"github.com/gclog/gclog/internal/config"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/urfave/cli/v2"
	"golang.org/x/tools/txtar"
)

// manual writes all pages into a folder, and returns the names of the files.
func manual(t *testing.T) (files []string) {
	t.Helper()
	dir := t.TempDir()
	var stderr bytes.Buffer
	if code := Main([]string{"gclog", "man", "--dir", dir}, nil, io.Discard, &stderr); code != exit.OK {
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
	app := (&commands{&program.Run{UI: program.NewUI(io.Discard)}}).app()
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
	sections := manEntries("gclog.yaml")
	example := sections[len(sections)-1].about
	for line := range strings.SplitSeq(example, "\n") {
		if !strings.Contains(page, strings.TrimSpace(line)) {
			t.Errorf("gclog.yaml(5) has not %q", line)
		}
	}
	file := filepath.Join(t.TempDir(), "gclog.yaml")
	if err := os.WriteFile(file, []byte(example), 0o600); err != nil {
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

// TestManual: what gclog(1) says of files and variables is about those that gclog uses, no section is
// forgotten, and docs/manual.md has the same exit codes.
func TestManual(t *testing.T) {
	var terms []string
	codes := "\n| code | meaning |\n|---|---|\n"
	for _, f := range txtar.Parse(manualArchive).Files {
		section, term, _ := strings.Cut(f.Name, "/")
		switch section {
		case "EXIT STATUS":
			codes += "| " + term + " | " + strings.Join(strings.Fields(string(f.Data)), " ") + " |\n"
		case "ENVIRONMENT", "FILES", "gclog.yaml":
			terms = append(terms, term)
		default:
			t.Errorf("%s is on no page", f.Name)
		}
	}
	for _, term := range []string{config.FileVariable, config.DefaultFile, flags.XlogVariable, "DESCRIPTION", "KEYS", "RULES", "EXAMPLES"} {
		if !slices.Contains(terms, term) {
			t.Errorf("there is no text about %s", term)
		}
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "manual.md"), map[string]string{"exit codes": codes + "\n"})
}
