package analysis

import (
	"slices"
	"testing"
)

// TestMeanings: the table of causes and symptoms names rules that exist, each once, and no rule is a symptom of
// its own symptoms: arrange follows the causes to the last.
func TestMeanings(t *testing.T) {
	known := map[string]bool{}
	for _, r := range Rules() {
		known[r.ID] = true
	}
	symptoms := map[string][]string{}
	for _, m := range meanings {
		if _, twice := symptoms[m.rule]; twice {
			t.Errorf("%s has two rows", m.rule)
		}
		symptoms[m.rule] = slices.Clone(m.symptoms)
		if m.cause != "" {
			symptoms[m.rule] = append(symptoms[m.rule], pauses...)
		}
		for _, id := range append(symptoms[m.rule], m.rule) {
			if !known[id] {
				t.Errorf("%s: there is no rule %s", m.rule, id)
			}
		}
	}
	var follow func(rule string, path []string)
	follow = func(rule string, path []string) {
		if slices.Contains(path, rule) {
			t.Fatalf("%s is a symptom of itself: %v", rule, path)
		}
		for _, s := range symptoms[rule] {
			follow(s, append(path, rule))
		}
	}
	for rule := range symptoms {
		follow(rule, nil)
	}
}
