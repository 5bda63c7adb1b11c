package metrics

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
)

// TestDocs: docs/metrics.md lists all families.
func TestDocs(t *testing.T) {
	kinds := map[Kind]string{Counter: "counter", Gauge: "gauge", UpDownCounter: "gauge", Histograms: "histogram"}
	tables := map[string]string{}
	for name, list := range map[string][]Family{"metrics of .NET": ofDotnet, "metrics of DotNetRuntime": ofDotNetRuntime, "metrics of gclog": ofGclog} {
		text := "| name | type | labels | meaning | field |\n|---|---|---|---|---|\n"
		for i := range list {
			f := &list[i]
			var labels []string
			for _, a := range f.Attributes {
				labels = append(labels, "`"+labelName(a)+"`")
			}
			text += fmt.Sprintf("| `%s` | %s | %s | %s | %s |\n", f.Prometheus(), kinds[f.Kind], strings.Join(labels, " "), f.Help, f.Equals)
		}
		tables[name] = text
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "metrics.md"), tables)
}
