package gclog_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog"
)

// TestAnalysisPage: every name that docs/analysis.md lists as a field or method of the record
// exists, and no exported one is left out.
func TestAnalysisPage(t *testing.T) {
	text, err := os.ReadFile("../docs/analysis.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Of one collection\n")
	section, _, _ = strings.Cut(section, "\n## ")
	record := reflect.TypeFor[*gclog.GCDetails]()
	known := func(name string) bool {
		if g, ok := strings.CutPrefix(name, "Generations."); ok {
			_, ok = reflect.TypeFor[gclog.GenerationDetails]().FieldByName(g)
			return ok
		}
		_, field := record.Elem().FieldByName(name)
		_, method := record.MethodByName(name)
		return field || method
	}
	named := map[string]bool{}
	quoted := regexp.MustCompile("`([^`]*)`")
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(cells[1], -1) {
			named[m[1]] = true
			if !known(m[1]) {
				t.Errorf("the record has no %s", m[1])
			}
		}
	}
	// The rest is not about the collection, or is described with the field that it belongs to.
	plain := regexp.MustCompile(`Estimated$|^(Known|ClrInstance|HeapDump|HeapDumpBy|UserData|StartTicks|Suspended|Triggered|Generations|GenerationCount|Summary|FromLog|PinnedObjects|CopyFrom|Clone|When|Reset|Collected|FinalPauseStart)$`)
	check := func(name string) {
		if !named[name] && !plain.MatchString(name) {
			t.Errorf("docs/analysis.md does not mention %s", name)
		}
	}
	for f := range record.Elem().Fields() {
		if f.IsExported() {
			check(f.Name)
		}
	}
	for m := range record.Methods() {
		check(m.Name)
	}
	for f := range reflect.TypeFor[gclog.GenerationDetails]().Fields() {
		if !strings.HasPrefix(f.Name, "Has") {
			check("Generations." + f.Name)
		}
	}
}
