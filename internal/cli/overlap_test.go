package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/cli/exit"
)

// TestReportedTwice: what is reported a second time is not counted again, and a message says so.
func TestReportedTwice(t *testing.T) {
	for _, format := range []string{"unified", "json", "csv"} {
		log := convertTo(t, "a.log", "--format", format, trace("net10-datas-bgc"))
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		write := func(name string, parts ...[]byte) string {
			path := filepath.Join(filepath.Dir(log), name)
			if err := os.WriteFile(path, bytes.Join(parts, nil), 0o600); err != nil {
				t.Fatal(err)
			}
			return path
		}
		double := write("double.log", b, b)
		// The same header says that what follows is about the same process.
		lines := bytes.SplitAfter(b, []byte("\n"))
		head := map[string]int{"unified": 2, "json": 1, "csv": 1}[format]
		later := write("later.log", append(lines[:head:head], lines[len(lines)/3:]...)...)
		reported := `it contains collection \d+ of process 29336 a second time`
		for names, want := range map[string]string{
			double:            `double\.log: line \d+: ` + reported + `: the same log twice, or sessions that ran at the same time: pass the log of each session separately\n`,
			log + " " + later: `later\.log: line \d+: ` + reported + `, after .*a\.log: pass them one at a time\n`,
		} {
			once, _, _ := run("check", log, "--fail-if", "gc.count > 1000")
			got, said, code := run(append([]string{"check", "--fail-if", "gc.count > 1000"}, strings.Fields(names)...)...)
			if code != exit.Data || got != once || !regexp.MustCompile(want).MatchString(said) {
				t.Errorf("%s, %s: exit %d, %s, want %s\n%s, want %s", format, names, code, got, once, said, want)
			}
			if _, said, code = run(append([]string{"convert", "-o", filepath.Join(t.TempDir(), "c.csv")}, strings.Fields(names)...)...); code != exit.Data || !regexp.MustCompile(want).MatchString(said) {
				t.Errorf("%s, %s: exit %d\n%s", format, names, code, said)
			}
		}
		// A restarted process has the same numbers at a later time.
		anew := bytes.ReplaceAll(b, []byte("2026-11-21T00:"), []byte("2026-11-21T05:"))
		if _, said, code := run("check", write("anew.log", b, anew), "--fail-if", "gc.count > 1000"); code != exit.OK {
			t.Errorf("%s: exit %d\n%s", format, code, said)
		}
	}
}
