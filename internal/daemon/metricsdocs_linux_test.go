package daemon

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/metrics"
	"github.com/gclog/gclog/internal/testing/generated"
)

// TestMetricsDocs: docs/metrics.md lists the metrics about the daemon.
func TestMetricsDocs(t *testing.T) {
	text := "| name | type | labels | meaning |\n|---|---|---|---|\n"
	for _, m := range selfTable {
		kind := "gauge"
		if m.isCounter() {
			kind = "counter"
		}
		labels := ""
		if m.labels != "" {
			labels = "`" + strings.ReplaceAll(m.labels, " ", "` `") + "`"
		}
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", m.name, kind, labels, m.help)
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "metrics.md"), map[string]string{"metrics of the daemon": text})
}

// TestSelfTable: each metric about the daemon has values, and all that have some are documented.
func TestSelfTable(t *testing.T) {
	d := newDaemon(t, Options{})
	c := selfCollector{d, metrics.NewRegistry()}
	var got, want []string
	for _, x := range append(c.known(), c.inLoop()...) {
		got = append(got, x.name)
	}
	for _, m := range selfTable {
		want = append(want, m.name)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("there are values of %q, and documented are %q", got, want)
	}
}
