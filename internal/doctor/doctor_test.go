package doctor

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
)

// TestTroubleshooting compares docs/troubleshooting.md with the table.
func TestTroubleshooting(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("# When something does not work\n\n`gclog doctor` finds these causes. It reports those of a process, a file or the machine, with the name from the first column in brackets; `-f json` has the name as `cause`, and so has `gclog ps -f json`.\n")
	for _, s := range Table() {
		fmt.Fprintf(&b, "\n## %s\n\n| cause | what it means | what to do |\n|---|---|---|\n", s.Title)
		for _, c := range s.Causes {
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.ID, cell(c.What), cell(c.Way))
		}
	}
	generated.File(t, filepath.Join("..", "..", "docs", "troubleshooting.md"), b.String())
}

// cell formats a sentence for a Markdown table.
func cell(s string) string {
	for _, c := range []string{"|", "<", "*"} {
		s = string(bytes.ReplaceAll([]byte(s), []byte(c), []byte(`\`+c)))
	}
	return s
}

// TestTable: every cause has a unique id, a sentence, and a solution.
func TestTable(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range Table() {
		for _, c := range s.Causes {
			if seen[c.ID] {
				t.Errorf("%s is there twice", c.ID)
			}
			seen[c.ID] = true
			for _, sentence := range []string{c.What, c.Way} {
				if len(sentence) < 10 || sentence[len(sentence)-1] != '.' {
					t.Errorf("%s: %q is no sentence", c.ID, sentence)
				}
			}
		}
	}
}
