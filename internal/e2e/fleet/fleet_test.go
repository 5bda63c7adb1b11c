//go:build linux

package fleet

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/internal/testing/fleet"
	"github.com/gclog/gclog/internal/testing/program"
)

// engines are those that samples/fleet has queries for, with the package of Python that contains each.
var engines = []struct{ name, module string }{{"duckdb", "duckdb"}, {"clickhouse", "chdb"}, {"spark", "pyspark"}}

// TestFleet: the queries of samples/fleet have the same answers in each engine as a simple computation
// from the records themselves. The files are those that gclog convert writes from the logs of a fleet.
func TestFleet(t *testing.T) {
	python := os.Getenv("GCLOG_FLEET_PYTHON")
	if python == "" {
		t.Skip("no Python with an engine: make fleet installs one")
	}
	shapes, err := fleet.Shapes()
	if err != nil {
		t.Fatal(err)
	}
	logs, dir := t.TempDir(), t.TempDir()
	var answers fleet.Answers
	f := fleet.New(shapes, fleet.Options{Seed: 7, Processes: 480, Services: 60, Duration: 2 * time.Hour, Interval: 40 * time.Second})
	if _, _, err := f.WriteLogs(logs, answers.Observe); err != nil {
		t.Fatal(err)
	}
	inputs, err := filepath.Glob(filepath.Join(logs, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "fleet"), 0o755); err != nil {
		t.Fatal(err)
	}
	convert := exec.Command(program.Build(t), append([]string{"convert", "-o", filepath.Join(dir, "fleet", "date=%d", "hour=%H", "part.parquet")}, inputs...)...)
	if out, err := convert.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want := answers.All()
	for number, rows := range want {
		if len(rows) < 3 {
			t.Errorf("question %s has only %d rows: the fleet is too plain", number, len(rows))
		}
	}
	for _, engine := range engines {
		t.Run(engine.name, func(t *testing.T) {
			if exec.Command(python, "-c", "import "+engine.module).Run() != nil {
				t.Skipf("%s is not in %s: make fleet installs it", engine.module, python)
			}
			got := query(t, python, engine.name, dir)
			if len(got) != len(want) {
				t.Errorf("%d answers, want %d", len(got), len(want))
			}
			for number, rows := range want {
				if difference := differ(got[number].Rows, rows); difference != "" {
					t.Errorf("question %s: %s", number, difference)
				}
			}
		})
	}
}

// An engineAnswer is what an engine answers.
type engineAnswer struct {
	Columns []string
	Rows    [][]any
}

// query runs the queries for an engine in a directory.
func query(t *testing.T, python, engine, dir string) map[string]engineAnswer {
	t.Helper()
	absolute := func(path string) string {
		path, err := filepath.Abs(path)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	cmd := exec.Command(absolute(python), absolute("testdata/fleet/run.py"), engine, absolute("samples/fleet/"+engine+".sql"))
	var stderr strings.Builder
	cmd.Dir, cmd.Stderr = dir, &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	var answers map[string]engineAnswer
	if err := json.Unmarshal(out, &answers); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return answers
}

// differ returns how rows differ from what they should be; "" if they do not.
func differ(got, want [][]any) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if !slices.EqualFunc(got[i], want[i], equal) {
			return fmt.Sprintf("row %d is\n%v, want\n%v", i+1, got[i], want[i])
		}
	}
	return ""
}

// equal compares a value of an engine, where numbers may be text, with what it should be.
func equal(got, want any) bool {
	w, isNumber := want.(float64)
	if !isNumber {
		return got == want
	}
	g, ok := got.(float64)
	if s, isText := got.(string); isText {
		var err error
		g, err = strconv.ParseFloat(s, 64)
		ok = err == nil
	}
	return ok && math.Abs(g-w) <= 1e-9*max(1, math.Abs(w))
}
