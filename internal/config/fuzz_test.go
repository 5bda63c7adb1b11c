package config

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// FuzzLoad: whatever a file and the environment contain, it is either rejected, or means the same
// when it is shown and loaded again.
func FuzzLoad(f *testing.F) {
	f.Add(whole, "GCLOG_OUTPUTS__0__PATH=x-%p.log")
	f.Add("labels: {a: \"\\u2028\\e\\0\", b: |\n  x\n   y\n}", "GCLOG_LABELS__A=\x7f\n")
	f.Add("labels:\n  a: >-\n    x\n    y\n  b: 'it''s'\n  c: 1e3\n  d: 0x10\n  e: ~x\n  f: .inf\n", "GCLOG_LABELS__ENV=%p: #")
	f.Add("outputs: [{path: \"é-%p.json\", only: [{pid: 007, user: \"*:*\"}]}]", "GCLOG_DISCOVERY__LISTEN__0=- a")
	f.Add("services: [{match: {process: \"? x\"}, name: \"- y\"}]", "GCLOG_SERVICES__1__MATCH__USER=&a")
	f.Fuzz(func(t *testing.T, text, variable string) {
		l, err := load(text, variable)
		if err != nil {
			if l != nil || strings.TrimSpace(err.Error()) == "" || strings.Contains(err.Error(), "reflect") {
				t.Fatalf("%v, %v", l, err)
			}
			return
		}
		shown := l.YAML(true, true)
		again, err := parse("shown.yaml", shown, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, shown)
		}
		if d := cmp.Diff(l.Config, again.Config, cmpopts.EquateEmpty()); d != "" {
			t.Fatalf("%s\n%s", d, shown)
		}
		for _, spec := range l.OutputsFor(&Subject{}) {
			if spec.Path == "" || spec.Format.Name == "" {
				t.Fatalf("%+v", spec)
			}
		}
		if list := l.Origins(); len(list) < 10 {
			t.Fatalf("%v", list)
		}
	})
}
