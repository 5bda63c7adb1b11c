package parquet

import (
	"bytes"
	"encoding/json"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// TestColumns: each field of a JSON record with a single value is a column, names are plain
// identifiers, and each column has one source.
func TestColumns(t *testing.T) {
	names := map[string]bool{}
	for i, c := range Columns() {
		if !regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`).MatchString(c.Name) || names[c.Name] {
			t.Errorf("the name %q", c.Name)
		}
		names[c.Name] = true
		sources := 0
		for _, has := range []bool{c.ofProcess != nil, c.textOfProcess != nil, c.labels != nil, c.field != nil, c.get != nil, c.text != nil, c.list != nil} {
			if has {
				sources++
			}
		}
		if want := min(1, max(0, i-columnID)); sources != want {
			t.Errorf("%s has %d sources", c.Name, sources)
		}
		if c.In != all && !slices.Contains(actionNames[:], c.In) || c.Doc == "" {
			t.Errorf("%s is in %q: %q", c.Name, c.In, c.Doc)
		}
	}
	for _, f := range fields.All() {
		if f.JSON == "" || strings.ContainsAny(f.JSON, "[*") {
			continue
		}
		if name := "gc_" + strings.ReplaceAll(f.JSON, ".", "_"); !slices.ContainsFunc(Columns(), func(c Column) bool { return strings.HasPrefix(c.Name, name) }) {
			t.Errorf("%s is no column", f.JSON)
		}
	}
}

// TestDocs: the table of docs/fleet.md has every column as the code has it.
func TestDocs(t *testing.T) {
	var s strings.Builder
	s.WriteString("| column | type | unit | records | |\n|---|---|---|---|---|\n")
	for _, c := range Columns() {
		in := c.In
		if in != all {
			in = "`" + in + "`"
		}
		s.WriteString("| `" + c.Name + "` | " + c.Type.String() + " | " + c.Unit + " | " + in + " | " + c.Doc + " |\n")
	}
	generated.Sections(t, filepath.Join("..", "..", "docs", "fleet.md"), map[string]string{"columns": s.String()})
}

// TestRecordsAreEqual: what is in the rows of real recordings is what JSON records contain: the same
// paths, with the same values. The names follow from the paths, by a rule that is written here again.
func TestRecordsAreEqual(t *testing.T) {
	extent.Long(t)
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	compared := map[string]int{}
	all := recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		var log bytes.Buffer
		dir := t.TempDir()
		table := NewTable(Options{Path: filepath.Join(dir, "a.parquet"), Version: "1.0"})
		_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(p *gclog.Process) gclog.Observer {
			p.Service, p.Pod, p.Labels = "shop", "shop-0", map[string]string{"env": "prod", "a": "b"}
			p.Host = "h"
			w := formats.NewWriter(format, formats.NewStream(&log, false), formats.Options{Process: *p, Version: "1.0", Session: "s"})
			both := gclog.Tee(w.Observe, table.Observe(p, "", func(err error) { t.Error(err) }))
			return func(r gclog.Record) {
				if _, end := r.(*gclog.End); !end { // in JSON it repeats the settings, which are those of the start here
					both(r)
				}
			}
		}) // some recordings are damaged
		files, err := table.Finish()
		if err != nil {
			t.Fatal(err)
		}
		byID := map[string]record{}
		for _, f := range files {
			rows, _ := readFile(t, f.Path)
			for _, r := range rows {
				byID[r["gclog_doc_id"].(string)] = r
			}
		}
		for line := range bytes.Lines(log.Bytes()) {
			var x map[string]any
			decoder := json.NewDecoder(bytes.NewReader(line))
			decoder.UseNumber()
			if err := decoder.Decode(&x); err != nil {
				t.Fatal(err)
			}
			id, _ := x["gclog_doc_id"].(string)
			if x["gclog_file_id"] != nil {
				continue // the header
			}
			row := byID[id]
			if row == nil {
				t.Fatalf("no row for %s", line)
			}
			want := record{}
			flatten(want, "", x)
			compare(t, want, row, compared)
			delete(byID, id)
		}
		for _, r := range byID {
			t.Errorf("no JSON record for %v", r)
		}
	})
	if n := len(compared); all && n < 180 || n < 120 {
		t.Errorf("only %d columns were compared", n)
	}
}

var plain = strings.NewReplacer(".", "_", "@", "")

// flatten adds the values of a JSON record by the names of their columns.
func flatten(to record, path string, v any) {
	switch v := v.(type) {
	case map[string]any:
		if path == "labels" {
			to[path] = v
			return
		}
		for name, member := range v {
			at := strings.TrimPrefix(plain.Replace(name), "_")
			if path != "" {
				at = path + "_" + at
			}
			if at == "dotnet" {
				at = ""
			}
			flatten(to, at, member)
		}
	default:
		to[path] = v
	}
}

// notColumns are what JSON records contain besides columns, or in another way.
var notColumns = regexp.MustCompile(`^(log_|message$|ecs_|event_(kind|category|type|module|dataset|sequence)$|process_uptime$|host_hostname$|orchestrator_(type|resource_type)$|gclog_(version|schema|session)|runtime_|gc_(server|concurrent)$|gc_(heaps|pause_parts|mark|dynamic_events|condemned_for_all|background_alloc_waits_list|settings)\b)`)

// ofCollections are columns of collections that other JSON records contain, too.
var ofCollections = map[string]bool{"gc_number": true, "gc_generation": true, "gc_type": true, "gc_reason": true, "event_start": true, "event_end": true, "event_duration": true}

func compare(t *testing.T, want, got record, compared map[string]int) {
	t.Helper()
	for name, v := range want {
		if notColumns.MatchString(name) || strings.HasPrefix(name, "gc_mark_") {
			continue
		}
		if want["event_action"] != "gc" && ofCollections[name] {
			if want["event_action"] != "gc-stall" {
				continue
			}
			name = strings.Replace(name, "gc_", "gc_stall_", 1)
		}
		if !same(v, got[name]) {
			t.Fatalf("%s of %v is %v in JSON, %v in the row", name, want["gclog_doc_id"], v, got[name])
		}
		compared[name]++
	}
	for name := range got {
		if _, there := want[name]; !there && !strings.HasPrefix(name, "gc_settings_") && !notColumns.MatchString(name) && want["event_action"] == "gc" {
			t.Fatalf("%s of %v is %v in the row, and not in JSON", name, want["gclog_doc_id"], got[name])
		}
	}
}

// same compares a value of JSON with that of a column.
func same(v, column any) bool {
	switch v := v.(type) {
	case json.Number:
		n, err := v.Float64()
		switch c := column.(type) {
		case int64:
			return v.String() == json.Number(strings.TrimSpace(jsonOf(c))).String()
		case float64:
			return err == nil && math.Abs(n-c) <= 1e-9*math.Abs(n)+1e-12
		}
	case bool:
		return column == v
	case string:
		if us, isTime := column.(int64); isTime {
			at, err := time.Parse(time.RFC3339Nano, v)
			return err == nil && at.UnixMicro() == us
		}
		return column == v
	case []any:
		list, isList := column.([]string)
		return isList && len(list) == len(v) && !slices.ContainsFunc(v, func(x any) bool { return !slices.Contains(list, x.(string)) })
	case map[string]any:
		m, _ := column.(map[string]string)
		for name, x := range v {
			if m[name] != x {
				return false
			}
		}
		return len(m) == len(v)
	}
	return false
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
