package analysis

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// TestRuleTexts: each text of rules.txtar is used by a rule, once, and each text that the code asks for
// is there. TestRuleTable has those that every rule needs.
func TestRuleTexts(t *testing.T) {
	used := map[string]bool{}
	for _, r := range Rules() {
		for _, name := range []string{"title", "sample", "evidence", "explanation", "advice", "workstation-advice"} {
			used[r.ID+"/"+name] = true
		}
		for _, x := range r.Thresholds {
			used[r.ID+"/threshold/"+x.Name] = true
		}
	}
	need := func(name string) {
		used[name] = true
		if ruleTexts()[name] == "" {
			t.Errorf("there is no text %s", name)
		}
	}
	for _, cause := range blockingCauses {
		need("blocking-gen2/" + cause)
		need("blocking-gen2/" + cause + "/advice")
	}
	for w := WayKilled; w <= WayCrashed; w++ {
		if w.advice() == "" {
			t.Errorf("way %d has no advice", w)
		}
	}
	var names []string
	for _, f := range txtar.Parse(rulesArchive).Files {
		rule, _, _ := strings.Cut(f.Name, "/")
		for _, p := range placeholder.FindAllString(string(f.Data), -1) {
			need(rule + "/" + strings.Trim(p, "{}"))
		}
		names = append(names, f.Name)
	}
	for _, name := range names {
		if !used[name] {
			t.Errorf("nothing uses the text %s", name)
		}
	}
	if len(names) != len(ruleTexts()) {
		t.Errorf("a name is there twice: %v", slices.Sorted(maps.Keys(ruleTexts())))
	}
	for name, text := range ruleTexts() {
		if strings.ContainsAny(text, "{}") {
			t.Errorf("%s: a brace is left: %s", name, text)
		}
	}
}
