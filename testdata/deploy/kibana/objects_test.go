package kibana

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var root = filepath.Join("..", "..", "..")

// TestObjects: the file is what this package makes. There is no Kibana to read it: the test holds it
// against the attributes that Kibana's types have, against the mapping, and against real records.
func TestObjects(t *testing.T) {
	mapping := mapped(t)
	var names []string
	for name := range mapping {
		names = append(names, name)
	}
	path := filepath.Join(root, "samples", "kibana", "gclog.ndjson")
	var want strings.Builder
	for _, o := range objects(names) {
		want.WriteString(text(o) + "\n")
	}
	if os.Getenv("GCLOG_UPDATE") != "" {
		if err := os.WriteFile(path, []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want.String() {
		t.Errorf("%s is not what the code says: GCLOG_UPDATE=1 rewrites it", path)
	}
	r := reader{t: t, mapping: mapping, records: recorded(t), objects: map[string]savedObject{}}
	for line := range bytes.Lines(got) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.DisallowUnknownFields()
		var o savedObject
		if err := d.Decode(&o); err != nil {
			t.Fatal(err)
		}
		if _, twice := r.objects[o.Type+" "+o.ID]; twice || o.TypeMigrationVersion == "" {
			t.Errorf("%s %s is there twice, or has no version", o.Type, o.ID)
		}
		r.read(&o)
		r.objects[o.Type+" "+o.ID] = o
	}
	// A dashboard shows everything else.
	shown := map[string]bool{}
	for _, o := range r.objects {
		for _, ref := range o.References {
			shown[ref.Type+" "+ref.ID] = true
		}
	}
	for name, o := range r.objects {
		if !shown[name] && o.Type != "dashboard" {
			t.Errorf("nothing refers to %s", name)
		}
	}
}

// attributes are those that Kibana's types have. It rejects objects with others.
var attributes = map[string][]string{
	"index-pattern": {"title", "name", "timeFieldName", "fieldFormatMap", "runtimeFieldMap", "fieldAttrs", "fields", "sourceFilters", "typeMeta"},
	"lens":          {"title", "description", "visualizationType", "state"},
	"search":        {"title", "description", "columns", "sort", "grid", "rowsPerPage", "hideChart", "isTextBasedQuery", "timeRestore", "kibanaSavedObjectMeta"},
	"dashboard":     {"title", "description", "timeRestore", "version", "panelsJSON", "optionsJSON", "controlGroupInput", "kibanaSavedObjectMeta"},
}

// rare are fields that the samples do not have: a program in Kubernetes, a disk that is too slow.
var rare = []string{"orchestrator.namespace", "dotnet.gc.gap.records.count"}

// A reader checks objects.
type reader struct {
	t       *testing.T
	mapping map[string]string // types of the fields in the index
	records map[string]bool   // fields that real records have
	objects map[string]savedObject
}

func (r *reader) read(o *savedObject) {
	r.t.Helper()
	for name, value := range o.Attributes {
		if !slices.Contains(attributes[o.Type], name) {
			r.t.Errorf("%s %s: a %s has no attribute %s", o.Type, o.ID, o.Type, name)
		}
		if s, ok := value.(string); ok && (strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[")) && !json.Valid([]byte(s)) {
			r.t.Errorf("%s: %s is not JSON", o.ID, name)
		}
	}
	if title, _ := o.Attributes["title"].(string); title == "" {
		r.t.Errorf("%s has no title", o.ID)
	}
	for _, ref := range o.References {
		if _, there := r.objects[ref.Type+" "+ref.ID]; !there {
			r.t.Errorf("%s refers to %s %s, which is not in front of it", o.ID, ref.Type, ref.ID)
		}
	}
	switch o.Type {
	case "lens":
		r.lens(o)
	case "search":
		var s struct {
			Columns               []string
			Sort                  [][]string
			KibanaSavedObjectMeta struct{ SearchSourceJSON string }
		}
		r.decode(o, o.Attributes, &s)
		var source struct{ Query struct{ Query string } }
		r.decode(o, json.RawMessage(s.KibanaSavedObjectMeta.SearchSourceJSON), &source)
		r.query(o, source.Query.Query)
		for _, field := range append(s.Columns, s.Sort[0][0]) {
			r.field(o, field, "")
		}
		r.referred(o, "kibanaSavedObjectMeta.searchSourceJSON.index")
	case "dashboard":
		r.dashboard(o)
	}
}

func (r *reader) decode(o *savedObject, from, into any) {
	r.t.Helper()
	if err := json.Unmarshal([]byte(text(from)), into); err != nil {
		r.t.Fatalf("%s: %v", o.ID, err)
	}
}

func (r *reader) referred(o *savedObject, name string) {
	r.t.Helper()
	if !slices.ContainsFunc(o.References, func(ref reference) bool { return ref.Name == name }) {
		r.t.Errorf("%s has no reference %s", o.ID, name)
	}
}

// field checks that a field exists, in records too. kind: its type must be this one.
func (r *reader) field(o *savedObject, name, kind string) {
	r.t.Helper()
	if name == pausedSeconds || name == "___records___" {
		return
	}
	is, known := r.mapping[name]
	if !known || kind != "" && is != kind {
		r.t.Errorf("%s: the field %s is mapped as %q, not as %q", o.ID, name, is, kind)
	}
	if !r.records[name] && !slices.Contains(rare, name) {
		r.t.Errorf("%s: no record has the field %s", o.ID, name)
	}
}

// query checks the fields and the actions in a query.
func (r *reader) query(o *savedObject, kql string) {
	r.t.Helper()
	fields := regexp.MustCompile(`([\w.]+): `).FindAllStringSubmatch(kql, -1)
	if fields == nil {
		r.t.Errorf("%s selects all records", o.ID)
	}
	for _, m := range fields {
		r.field(o, m[1], "")
	}
	for _, m := range regexp.MustCompile(`"([^"]+)"`).FindAllStringSubmatch(kql, -1) {
		if !r.records["event.action="+m[1]] {
			r.t.Errorf("%s: no record has the action %s", o.ID, m[1])
		}
	}
}

// lens checks the columns of a visualization.
func (r *reader) lens(o *savedObject) {
	r.t.Helper()
	type column struct {
		DataType, OperationType, SourceField string
		Params                               struct {
			SecondaryFields []string
			OrderBy         struct{ ColumnID string }
		}
	}
	var a struct {
		State struct {
			Query            struct{ Query string }
			DatasourceStates struct {
				FormBased struct {
					Layers map[string]struct {
						ColumnOrder []string
						Columns     map[string]column
					}
				}
			}
			Visualization struct {
				Layers []struct {
					LayerID, XAccessor, SplitAccessor string
					Accessors                         []string
				}
			}
		}
	}
	r.decode(o, o.Attributes, &a)
	r.query(o, a.State.Query.Query)
	for _, shown := range a.State.Visualization.Layers {
		l := a.State.DatasourceStates.FormBased.Layers[shown.LayerID]
		r.referred(o, "indexpattern-datasource-layer-"+shown.LayerID)
		used := append(slices.Clone(shown.Accessors), shown.XAccessor)
		if shown.SplitAccessor != "" {
			used = append(used, shown.SplitAccessor)
		}
		if slices.Sort(used); !slices.Equal(used, slices.Sorted(slices.Values(l.ColumnOrder))) || len(l.Columns) != len(used) {
			r.t.Errorf("%s shows %v and has %v", o.ID, used, l.ColumnOrder)
		}
		for _, c := range l.Columns {
			kind := map[string]string{"date": "date_nanos", "number": "long", "string": "keyword"}[c.DataType]
			r.field(o, c.SourceField, kind)
			for _, field := range c.Params.SecondaryFields {
				r.field(o, field, "")
			}
			if by := c.Params.OrderBy.ColumnID; by != "" && l.Columns[by].OperationType == "" {
				r.t.Errorf("%s is ordered by %s", o.ID, by)
			}
		}
	}
}

// dashboard checks the panels and controls.
func (r *reader) dashboard(o *savedObject) {
	r.t.Helper()
	var a struct {
		PanelsJSON        string
		ControlGroupInput struct{ PanelsJSON string }
	}
	r.decode(o, o.Attributes, &a)
	var panels []struct {
		PanelIndex, PanelRefName string
		GridData                 struct{ X, Y, W, H int }
	}
	r.decode(o, json.RawMessage(a.PanelsJSON), &panels)
	var controls map[string]struct{ ExplicitInput struct{ FieldName string } }
	r.decode(o, json.RawMessage(a.ControlGroupInput.PanelsJSON), &controls)
	taken := map[[2]int]bool{}
	for _, p := range panels {
		r.referred(o, p.PanelIndex+":"+p.PanelRefName)
		for x := p.GridData.X; x < p.GridData.X+p.GridData.W; x++ {
			for y := p.GridData.Y; y < p.GridData.Y+p.GridData.H; y++ {
				if taken[[2]int{x, y}] || x >= 48 {
					r.t.Fatalf("%s: panel %s is over another one, or outside", o.ID, p.PanelIndex)
				}
				taken[[2]int{x, y}] = true
			}
		}
	}
	for name, c := range controls {
		r.referred(o, "controlGroup_"+name+":optionsListDataView")
		r.field(o, c.ExplicitInput.FieldName, "")
	}
	if len(o.References) != len(panels)+len(controls) {
		r.t.Errorf("%s has %d references", o.ID, len(o.References))
	}
}

// mapped returns the types of all fields in the index.
func mapped(t *testing.T) map[string]string {
	t.Helper()
	type field struct {
		Type       string
		Properties map[string]json.RawMessage
	}
	var file struct{ Template struct{ Mappings field } }
	b, err := os.ReadFile(filepath.Join(root, "samples", "elasticsearch", "component-template.json"))
	if err == nil {
		err = json.Unmarshal(b, &file)
	}
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	var walk func(prefix string, f field)
	walk = func(prefix string, f field) {
		for name, raw := range f.Properties {
			var of field
			if err := json.Unmarshal(raw, &of); err != nil {
				t.Fatal(err)
			}
			if of.Type != "" {
				all[prefix+name] = of.Type
			}
			walk(prefix+name+".", of)
		}
	}
	walk("", file.Template.Mappings)
	return all
}

// recorded returns the fields of real records.
func recorded(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	var walk func(name string, v any)
	walk = func(name string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for part, x := range v {
				walk(strings.TrimPrefix(name+"."+part, "."), x)
			}
		case []any:
			for _, x := range v {
				walk(name, x)
			}
		default:
			all[name] = true
		}
	}
	golden, err := filepath.Glob(filepath.Join(root, "formats", "testdata", "golden", "*.json"))
	if err != nil || golden == nil {
		t.Fatal("no golden files", err)
	}
	for _, path := range append(golden, filepath.Join(root, "samples", "gc.json")) {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(b) {
			var record any
			if err := json.Unmarshal(line, &record); err != nil {
				t.Fatal(err)
			}
			walk("", record)
			event, _ := record.(map[string]any)["event"].(map[string]any)
			action, _ := event["action"].(string)
			all["event.action="+action] = true
		}
	}
	return all
}
