package metrics

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// translated returns the name that Prometheus gives to a metric that it receives by OTLP: the words of
// the name, its unit unless it is there already, and for a counter "total", which is in no other place.
func translated(f *Family) string {
	words := strings.FieldsFunc(f.Name, func(r rune) bool { return r == '.' || r == '_' })
	unit := map[string]string{"s": "seconds", "By": "bytes"}[f.Unit]
	if f.Unit == "1" && f.Kind == Gauge {
		unit = "ratio"
	}
	if unit != "" && !slices.Contains(words, unit) {
		words = append(words, unit)
	}
	if f.Kind == Counter {
		words = append(slices.DeleteFunc(words, func(w string) bool { return w == "total" }), "total")
	}
	return strings.Join(words, "_")
}

// TestTranslated: metrics that come by OTLP have the names of those that are scraped. Where they do not,
// the dashboards, rules and alerts select both names.
func TestTranslated(t *testing.T) {
	other := map[string]string{}
	for _, f := range (Naming{}).Families() {
		if got := translated(f); got != f.Prometheus() {
			other[f.Prometheus()] = got
		}
	}
	const scraped, received = "dotnet_gc_heap_total_allocated_bytes_total", "dotnet_gc_heap_allocated_bytes_total"
	if len(other) != 1 || other[scraped] != received {
		t.Errorf("other names are %v", other)
	}
	both := regexp.MustCompile(`__name__=~\\?"(dotnet_gc_heap_[^"\\]*)\\?"`)
	seen := 0
	for _, pattern := range []string{"grafana/dashboards/*.json", "prometheus/rules.yml", "prometheus/alerts.yml"} {
		paths, err := filepath.Glob(filepath.Join("..", "..", "samples", filepath.FromSlash(pattern)))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range paths {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), scraped) || strings.Contains(string(text), received) {
				t.Errorf("%s selects one of the names", path)
			}
			for _, m := range both.FindAllStringSubmatch(string(text), -1) {
				seen++
				if x := regexp.MustCompile("^(?:" + m[1] + ")$"); !x.MatchString(scraped) || !x.MatchString(received) || x.MatchString("dotnet_gc_allocated_bytes_total") {
					t.Errorf("%s selects %s", path, m[1])
				}
			}
		}
	}
	if seen < 7 {
		t.Errorf("only %d queries of what programs allocate", seen)
	}
}
