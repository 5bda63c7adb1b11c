package daemon

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
)

// TestMetricsDocs: docs/metrics.md lists the metrics about the daemon.
func TestMetricsDocs(t *testing.T) {
	text := "| name | type | labels | meaning |\n|---|---|---|---|\n"
	for _, m := range selfTable {
		kind := "gauge"
		if m.counter {
			kind = "counter"
		}
		labels := ""
		if m.labels != nil {
			labels = "`" + strings.Join(m.labels, "` `") + "`"
		}
		text += fmt.Sprintf("| `%s` | %s | %s | %s |\n", m.name, kind, labels, m.help)
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "metrics.md"), map[string]string{"metrics of the daemon": text})
}
