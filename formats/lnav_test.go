package formats_test

import (
	"encoding/csv"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// lnav runs lnav with the formats in samples/lnav, on files and with commands.
func lnav(t *testing.T, args ...string) string {
	t.Helper()
	program, err := exec.LookPath("lnav")
	if err != nil {
		t.Skip("lnav is not installed")
	}
	home := t.TempDir()
	dir := filepath.Join(home, "formats", "gclog")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"gclog_json.json", "gclog_text.json"} {
		b, err := os.ReadFile(filepath.Join("..", "samples", "lnav", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, append([]string{"-n", "-I", home}, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+home, "TZ=UTC")
	out, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(out), "error:") {
		t.Fatalf("%v: %s", err, out)
	}
	return string(out)
}

// query runs an lnav query on one of the samples.
func query(t *testing.T, sql, sample string) [][]string {
	t.Helper()
	out := lnav(t, "-c", ";"+sql, "-c", ":write-csv-to -", filepath.Join("..", "samples", sample))
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if err != nil || len(rows) == 0 {
		t.Fatalf("%v: %s", err, out)
	}
	return rows[1:]
}

// TestLnav: lnav understands each line of the samples, and sorts them among those of an
// application.
func TestLnav(t *testing.T) {
	t.Run("json", func(t *testing.T) {
		rows := query(t, `SELECT "dotnet/gc/number", "dotnet/gc/pause/total/ns", "process/pid", "event/action" FROM gclog_json`, "gc.json")
		b, err := os.ReadFile("../samples/gc.json")
		if err != nil {
			t.Fatal(err)
		}
		list := lines(b)
		if len(rows) != len(list) {
			t.Fatalf("%d lines are understood, want %d", len(rows), len(list))
		}
		for i, row := range rows {
			if !strings.Contains(list[i], `"action":"`+row[3]+`"`) || !strings.Contains(list[i], `"pid":`+row[2]) {
				t.Errorf("line %d is understood as %q", i+1, row)
			}
			paused := strings.Contains(list[i], `"pause":{"total":{"ns":`+row[1]+"}") || row[1] == "<NULL>" && !strings.Contains(list[i], `"pause":`)
			if row[3] == "gc" && (!strings.Contains(list[i], `"gc":{"number":`+row[0]) || !paused) {
				t.Errorf("line %d is understood as %q", i+1, row)
			}
		}
	})
	t.Run("text", func(t *testing.T) {
		rows := query(t, `SELECT gc, condemned, gen, kind, reason, log_body FROM gclog_text`, "gc.txt")
		b, err := os.ReadFile("../samples/gc.txt")
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, line := range lines(b)[1:] { // except the header
			for n < len(rows) && rows[n][3] == "<NULL>" && !strings.Contains(line, rows[n][5]) {
				n++ // lnav has put the header in front of its first line
			}
			if n == len(rows) {
				t.Fatalf("not understood: %s", line)
			}
			for i, field := range rows[n][:5] {
				if field != "<NULL>" && !strings.Contains(line, field) {
					t.Errorf("field %d is %q in %s", i, field, line)
				}
			}
			n++
		}
	})
	t.Run("beside an application", func(t *testing.T) {
		app := filepath.Join(t.TempDir(), "app.log")
		if err := os.WriteFile(app, []byte("2026-11-21 00:28:23.890 INFO the first order\n2026-11-21 00:28:23.950 WARN a slow order\n2026-11-21 00:28:24.150 INFO the last order\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		out := lnav(t, app, filepath.Join("..", "samples", "gc.json"))
		at := -1
		for _, want := range []string{"GC 1 gen0", "the first order", "GC 2 gen2", "a slow order", "GC 31 gen2", "GC 145 gen2", "the last order", "GC 146 gen2"} {
			i := strings.Index(out, want)
			if i < at || i < 0 {
				t.Fatalf("%q is not at its place in\n%s", want, out)
			}
			at = i
		}
	})
}
