package analysis_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/testing/generated"
)

// TestDocs: the tables of docs/analysis.md have every metric as it is.
func TestDocs(t *testing.T) {
	all := analysis.NewStatistics(analysis.StatisticsOptions{}).Summary().Metrics()
	session, class := metricTables(t, all)
	generated.Sections(t, filepath.Join("..", "..", "docs", "analysis.md"), map[string]string{"session": session, "class": class})
}

// metricTables are the tables of the metrics of the session and of all classes
// together, which begin with gc.count. The other classes must have no names that these
// do not explain.
func metricTables(t *testing.T, all []analysis.Metric) (session, class string) {
	session, class = "| metric | unit | |\n|---|---|---|\n", "| metric | unit | |\n|---|---|---|\n"
	into := &session
	ofClass := map[string]bool{}
	for _, m := range all {
		if m.Name == "gc.count" {
			into = &class
		}
		if c, name, found := cutClass(m.Name); found && into == &class {
			if !ofClass[name] && !ofClass["gc."+name] {
				t.Errorf("%s is in class %s only", m.Name, c)
			}
			continue
		}
		ofClass[m.Name] = into == &class
		*into += fmt.Sprintf("| `%s` | %s | %s |\n", m.Name, m.Unit, m.Help)
	}
	return session, class
}

func cutClass(name string) (class, rest string, found bool) {
	for c := range analysis.ClassAll {
		if rest, found := strings.CutPrefix(name, c.String()+"."); found {
			return c.String(), rest, true
		}
	}
	return "", name, false
}

// TestMetrics: names can be typed and are there once, units are those that are known,
// and all that is said of one metric is enough to understand it.
func TestMetrics(t *testing.T) {
	valid := regexp.MustCompile(`^[a-z][a-z0-9]*(\.[a-z0-9]+)+$|^duration$`)
	seen, helps := map[string]bool{}, map[string]bool{}
	for _, m := range analysis.NewStatistics(analysis.StatisticsOptions{}).Summary().Metrics() {
		if !valid.MatchString(m.Name) || seen[m.Name] {
			t.Errorf("the name %s is wrong or not the only one", m.Name)
		}
		if m.Help == "" || helps[m.Help] {
			t.Errorf("%s: %q is no help of its own", m.Name, m.Help)
		}
		seen[m.Name], helps[m.Help] = true, true
		switch m.Unit {
		case "", "ns", "bytes", "bytes/s", "%", "1/min":
		default:
			t.Errorf("%s has the unit %s", m.Name, m.Unit)
		}
	}
}
