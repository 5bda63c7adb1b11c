package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// TestReport: a stage that costs a fifth more than before is named; others, also new ones, are not;
// and nothing is once the table is rewritten.
func TestReport(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir(".ci", 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(table, []byte("# a comment\nmake other\t7\t70\nmake lint\t10\t100\nmake race\t10\t100\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, s := range []stage{{"make lint", 11, 119}, {"make race", 12, 121}, {"make new", 3, 30}} {
		if err := remember(s); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := report(&out); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 6 || lines[5] != "warning: make race cost 121, 21 % more than .ci/times.tsv says" {
		t.Errorf("%s", out.String())
	}
	if err := write(); err != nil {
		t.Fatal(err)
	}
	if costs, err := readTable(); err != nil || costs["make other"] != 70 || costs["make race"] != 121 {
		t.Errorf("the table is %v, %v", costs, err)
	}
	out.Reset()
	if err := report(&out); err != nil || strings.Contains(out.String(), "warning") {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// TestRunStage: a stage ends with the exit code of its command; one that fails is not in the table.
func TestRunStage(t *testing.T) {
	t.Chdir(t.TempDir())
	var out bytes.Buffer
	for _, test := range []struct {
		script string
		code   int
	}{{"exit 0", 0}, {"exit 3", 3}} {
		if code, err := runStage(test.script, []string{"sh", "-c", test.script}, &out); code != test.code || err != nil {
			t.Errorf("%s: %d, %v", test.script, code, err)
		}
	}
	list, err := stages()
	if err != nil || len(list) != 1 || list[0].Name != "exit 0" {
		t.Errorf("%v, %v", list, err)
	}
}
