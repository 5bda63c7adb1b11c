package doctor

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestEveryCauseIsMade: each cause that doctor can report has a test that produces it and expects its
// id: a script, or a test of package doctor for recordings that nobody has.
func TestEveryCauseIsMade(t *testing.T) {
	scripts, err := filepath.Glob(filepath.Join("..", "..", "testdata", "script", "doctor*.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tests, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	made := map[string]bool{}
	collect := func(files []string, pattern string) {
		id := regexp.MustCompile(pattern)
		for _, name := range files {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range id.FindAllSubmatch(b, -1) {
				made[string(m[1])] = true
			}
		}
	}
	collect(scripts, `(?m)^(?:\[[^]]*\] )*stdout '.*\\\(([a-z0-9-]+)\\\)\$?'$`)
	collect(tests, `wants\(t, [^"]*"([a-z0-9-]+)"`)
	for _, s := range Table() {
		for _, c := range s.Causes {
			if !made[c.ID] {
				t.Errorf("no test makes the cause %s", c.ID)
			}
			delete(made, c.ID)
		}
	}
	for id := range made {
		t.Errorf("a test makes the cause %s, which is none", id)
	}
}
