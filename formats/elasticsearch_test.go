package formats_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	table "github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/parse/clr"
)

// An esField is a field of a mapping, with its subfields.
type esField struct {
	Type       string             `json:"type"`
	Enabled    *bool              `json:"enabled"`
	Properties map[string]esField `json:"properties"`
}

// opaque reports whether the parts of the field are not indexed individually.
func (f *esField) opaque() bool { return f.Type == "flattened" || f.Enabled != nil && !*f.Enabled }

// An esTemplate is a rule for fields without a mapping of their own.
type esTemplate struct {
	PathMatch string  `json:"path_match"`
	Kind      string  `json:"match_mapping_type"`
	Mapping   esField `json:"mapping"`
}

type esMappings struct {
	DateDetection    bool                    `json:"date_detection"`
	NumericDetection bool                    `json:"numeric_detection"`
	Templates        []map[string]esTemplate `json:"dynamic_templates"`
	Properties       map[string]esField      `json:"properties"`
}

// fieldFor returns how Elasticsearch maps a value: by its own mapping or, without one, by the first
// rule that matches. Without either Elasticsearch would guess.
func (m *esMappings) fieldFor(name string, value any) (field esField, found bool) {
	known := m.Properties
	for part := range strings.SplitSeq(name, ".") {
		f, ok := known[part]
		if !ok {
			break
		}
		if f.opaque() || f.Type != "" && f.Type != "object" {
			return f, true
		}
		known = f.Properties
	}
	for _, rule := range m.Templates {
		for _, r := range rule {
			if (r.Kind == "" || r.Kind == esKind(value)) && (r.PathMatch == "" || glob(r.PathMatch, name)) {
				return r.Mapping, true
			}
		}
	}
	return esField{}, false
}

func glob(pattern, name string) bool {
	return regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(pattern), `\*`, ".*") + "$").MatchString(name)
}

// esKind returns the type that Elasticsearch detects for a JSON value.
func esKind(value any) string {
	switch v := value.(type) {
	case bool:
		return "boolean"
	case json.Number:
		if strings.ContainsAny(v.String(), ".eE") {
			return "double"
		}
		return "long"
	}
	return "string"
}

// esTypes returns the types that a value may have in the index.
func esTypes(name string, value any) string {
	unit := path.Ext(name)
	switch v := value.(type) {
	case bool:
		return "boolean"
	case json.Number:
		switch {
		case unit == ".pct":
			return "scaled_float"
		case unit == ".bytes_per_s" || esKind(v) == "double":
			return "double"
		}
		return "long"
	case string:
		if jsonTime.MatchString(v) {
			return "date_nanos"
		}
	}
	if name == "message" || name == "error.message" || name == "verdict.text" {
		return "match_only_text"
	}
	return "keyword"
}

func readJSON(t *testing.T, name string, into any) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	if err := dec.Decode(into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// esOpaque are the objects whose parts are not indexed individually: what has names of its own, and
// details of each heap, of which there may be hundreds.
var esOpaque = map[string]any{
	"dotnet.gc.settings":       map[string]any{"type": "flattened"},
	"dotnet.gc.heaps":          map[string]any{"type": "object", "enabled": false},
	"dotnet.gc.dynamic_events": map[string]any{"type": "object", "enabled": false},
	"pad":                      map[string]any{"type": "object", "enabled": false},
}

// esUnits are the types of fields in the index, by their units.
var esUnits = map[table.Unit]string{
	table.Number: "long", table.PlainBytes: "long", table.PlainNanoseconds: "long", table.Count: "long", table.Bytes: "long", table.Nanoseconds: "long",
	table.WholePercent: "scaled_float", table.Percent: "scaled_float", table.ExactPercent: "scaled_float", table.Ratio: "double",
	table.Time: "date_nanos", table.Flag: "boolean", table.Text: "keyword", table.Texts: "keyword", table.Numbers: "long", table.Hex: "keyword",
}

// esSuffixes are the names that units add to fields.
var esSuffixes = map[table.Unit]string{
	table.Count: ".count", table.Bytes: ".bytes", table.Nanoseconds: ".ns", table.WholePercent: ".pct", table.Percent: ".pct", table.ExactPercent: ".pct",
}

// esRecords calls check with a value of every field of every record: of the samples and golden
// files, and of records with everything at once.
func esRecords(t *testing.T, check func(where, name string, value any)) {
	t.Helper()
	all := func(where string, line []byte) {
		_, all := members(t, where, line)
		for _, x := range all {
			check(where, strings.ReplaceAll(x.path, "[]", ""), x.value)
		}
	}
	files, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	for _, file := range append(files, filepath.Join("..", "samples", "gc.json")) {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines(b) {
			all(file, []byte(line))
		}
	}
	d := &gclog.GCDetails{}
	fill(reflect.ValueOf(d).Elem())
	d.Generation, d.GenerationCount, d.TimingCount = 2, gclog.Generations, clr.Times
	for i := range d.Heaps {
		d.Heaps[i].History.Generations = gclog.Generations
	}
	p := someone()
	p.ServiceVersion, p.Namespace, p.Pod, p.PodUID, p.ContainerName = "1", "shop", "orders-1", "u", "orders"
	p.Labels = map[string]string{"env": "prod"}
	summary := &gclog.Summary{}
	fill(reflect.ValueOf(summary).Elem())
	summary.To = 2
	gap, stall, growth := &gclog.Gap{}, &gclog.Stall{}, &gclog.HeapGrowth{}
	for _, x := range []any{gap, stall, growth} {
		fill(reflect.ValueOf(x).Elem())
	}
	counters := &gclog.Counters{Interval: 1, Omitted: 1, Problem: gclog.CountersTooMany, Locks: gclog.LockWaits{Count: 1, Total: 1, Max: 1}}
	counters.Add(&gclog.Counter{
		Meter: "m", Name: "n", Tags: "t=v", Unit: "By", Value: 1.5, Delta: 1.5, Histogram: gclog.Quantiles{Count: 1, P50: 1.5, P95: 1.5, P99: 1.5},
	})
	_, records := written(t, "json", formats.Options{Process: p, Version: "1", Session: "1", Host: "h"}, func(w *formats.Writer) {
		w.Observe(&gclog.Start{Providers: "p"})
		w.Observe(d)
		d.TimingCount = 0 // as with an old runtime, which reports until when it marked instead
		w.Observe(d)
		w.Observe(gap)
		gap.Reason = gclog.GapQueueFull // such gaps have dropped records
		w.Observe(gap)
		w.Observe(stall)
		w.Observe(growth)
		w.Observe(counters)
		w.Observe(summary)
		verdict := &gclog.Verdict{}
		fill(reflect.ValueOf(verdict).Elem())
		w.Observe(&gclog.End{Reason: gclog.EndStreamError, Message: "m", HasCode: true, Signal: 9, Verdict: verdict})
	})
	for _, r := range records {
		all("a full record", []byte(r))
	}
}

// TestElasticsearchMappings: the component template names every field: of a collection those of the
// table of fields, by their units, and of all records those that they have.
func TestElasticsearchMappings(t *testing.T) {
	properties := map[string]any{}
	types := map[string]string{}
	add := func(name, kind string) {
		for opaque := range esOpaque {
			if name == opaque || strings.HasPrefix(name, opaque+".") {
				return
			}
		}
		if strings.HasPrefix(name, "labels.") {
			return // people name them
		}
		if before, known := types[name]; known && before != kind {
			t.Errorf("%s is %s and %s", name, before, kind)
		}
		types[name] = kind
		mapping := map[string]any{"type": kind}
		switch kind {
		case "keyword":
			mapping["ignore_above"] = 1024
		case "scaled_float":
			mapping["scaling_factor"] = 10000
		}
		esPut(properties, name, mapping)
	}
	for name, unit := range esTable() {
		add(name, esUnits[unit])
	}
	esRecords(t, func(_, name string, value any) { add(name, esTypes(name, value)) })
	add("event.ingested", "date") // by the pipeline
	for name, mapping := range esOpaque {
		esPut(properties, name, mapping)
	}
	text, err := json.MarshalIndent(map[string]any{
		"_meta": map[string]any{"description": "Fields of the records of gclog: made by go test ./formats with GCLOG_UPDATE=1"},
		"template": map[string]any{"mappings": map[string]any{
			"date_detection": false, "numeric_detection": false,
			"dynamic_templates": esDynamic(), "properties": properties,
		}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	generated.File(t, filepath.Join("..", "samples", "elasticsearch", "component-template.json"), string(text)+"\n")
}

// esTable returns the fields of collections, with their units. A * stands for several names.
func esTable() map[string]table.Unit {
	all := map[string]table.Unit{}
	for _, f := range table.All() {
		if f.JSON != "" && !strings.Contains(f.JSON, "*") {
			all["dotnet.gc."+strings.ReplaceAll(f.JSON, "[]", "")+esSuffixes[f.Unit]] = f.Unit
		}
	}
	return all
}

// esPut adds a mapping at a path.
func esPut(properties map[string]any, name string, mapping any) {
	object, rest, nested := strings.Cut(name, ".")
	if !nested {
		properties[object] = mapping
		return
	}
	of, known := properties[object].(map[string]any)
	if !known {
		of = map[string]any{"properties": map[string]any{}}
		properties[object] = of
	}
	esPut(of["properties"].(map[string]any), rest, mapping)
}

// esDynamic are the rules for fields that a later gclog adds, by their units, and for labels.
func esDynamic() (list []any) {
	add := func(name, path, kind string, mapping map[string]any) {
		rule := map[string]any{"path_match": path, "mapping": mapping}
		if kind != "" {
			rule["match_mapping_type"] = kind
		}
		list = append(list, map[string]any{name: rule})
	}
	add("gclog_labels", "labels.*", "", map[string]any{"type": "keyword", "ignore_above": 1024})
	add("gclog_shares", "dotnet.*.pct", "", map[string]any{"type": "scaled_float", "scaling_factor": 10000})
	add("gclog_rates", "dotnet.*.bytes_per_s", "", map[string]any{"type": "double"})
	for _, kind := range []string{"long", "double", "boolean"} {
		add("gclog_"+kind, "dotnet.*", kind, map[string]any{"type": kind})
	}
	add("gclog_names", "dotnet.*", "string", map[string]any{"type": "keyword", "ignore_above": 1024})
	return list
}

// esTemplates are the files of samples/elasticsearch, as Elasticsearch composes them.
type esTemplates struct {
	Template struct {
		Settings map[string]any `json:"settings"`
		Mappings esMappings     `json:"mappings"`
	} `json:"template"`
	Patterns      []string `json:"index_patterns"`
	ComposedOf    []string `json:"composed_of"`
	IgnoreMissing []string `json:"ignore_missing_component_templates"`
}

func readTemplates(t *testing.T) (composed esTemplates) {
	t.Helper()
	var component esTemplates
	readJSON(t, filepath.Join("..", "samples", "elasticsearch", "component-template.json"), &component)
	readJSON(t, filepath.Join("..", "samples", "elasticsearch", "index-template.json"), &composed)
	m, own := &composed.Template.Mappings, composed.Template.Mappings.Templates
	if m.Properties != nil || len(component.Template.Settings) > 0 {
		t.Error("mappings belong to the component template, settings to the index template")
	}
	*m = component.Template.Mappings
	m.Templates = append(m.Templates, own...) // the first rule that matches applies
	return composed
}

// TestElasticsearch: the templates of the samples give every field of every record the required
// type; Elasticsearch guesses none. Every field that they name exists.
func TestElasticsearch(t *testing.T) {
	composed := readTemplates(t)
	m := &composed.Template.Mappings
	if m.DateDetection || m.NumericDetection {
		t.Error("the template lets Elasticsearch guess from the text of a value")
	}
	for _, name := range composed.ComposedOf {
		if name != "logs-dotnet.gc@mappings" && !slices.Contains(composed.IgnoreMissing, name) {
			t.Errorf("%s must exist, and is not among the samples", name)
		}
	}
	seen := map[string]bool{}
	esRecords(t, func(where, name string, value any) {
		seen[name] = true
		field, found := m.fieldFor(name, value)
		if want := esTypes(name, value); !found || !field.opaque() && field.Type != want {
			t.Errorf("%s: %s (%v) is mapped as %q, found %v, and must be %s", where, name, value, field.Type, found, want)
		}
	})
	for name := range esTable() {
		seen[name] = true // in records with rare values
	}
	n := 0
	var walk func(prefix string, known map[string]esField)
	walk = func(prefix string, known map[string]esField) {
		for name, f := range known {
			n++
			name = prefix + name
			walk(name+".", f.Properties)
			there := name == "event.ingested" // added by the pipeline
			for s := range seen {
				there = there || s == name || strings.HasPrefix(s, name+".")
			}
			if !there {
				t.Errorf("the template names %s, which no record has", name)
			}
		}
	}
	walk("", m.Properties)
	if limit, _ := composed.Template.Settings["index.mapping.total_fields.limit"].(float64); int(limit) < n*3/2 {
		t.Errorf("the template allows %v fields; records have %d besides those of the shipper", limit, n)
	}
}

// TestElasticsearchLater: a field of a later gclog is mapped by its unit, and what a shipper adds
// without Elasticsearch's own templates as a name.
func TestElasticsearchLater(t *testing.T) {
	composed := readTemplates(t)
	for name, x := range map[string]struct {
		value any
		want  string
	}{
		"dotnet.gc.new.bytes": {json.Number("1"), "long"}, "dotnet.gc.new.ns": {json.Number("1"), "long"}, "dotnet.gc.new.pct": {json.Number("1"), "scaled_float"},
		"dotnet.gc.new.bytes_per_s": {json.Number("1"), "double"}, "dotnet.gc.new": {"x", "keyword"}, "dotnet.gc.yes": {true, "boolean"},
		"labels.new": {"x", "keyword"}, "agent.name": {"x", "keyword"},
	} {
		if f, found := composed.Template.Mappings.fieldFor(name, x.value); !found || f.Type != x.want {
			t.Errorf("%s is mapped as %q, found %v, and must be %s", name, f.Type, found, x.want)
		}
	}
}

// TestElasticsearchNames: the names by which the templates, the pipeline and the policy refer to each
// other are those under which docs/deployment.md installs them.
func TestElasticsearchNames(t *testing.T) {
	composed := readTemplates(t)
	page, err := os.ReadFile(filepath.Join("..", "docs", "deployment.md"))
	if err != nil {
		t.Fatal(err)
	}
	for path, file := range map[string]string{
		"_ilm/policy/" + fmt.Sprint(composed.Template.Settings["index.lifecycle.name"]):        "ilm-policy.json",
		"_ingest/pipeline/" + fmt.Sprint(composed.Template.Settings["index.default_pipeline"]): "ingest-pipeline.json",
		"_component_template/" + composed.ComposedOf[0]:                                        "component-template.json",
		"_index_template/logs-dotnet.gc":                                                       "index-template.json",
	} {
		if !regexp.MustCompile(`PUT "\$ES/` + regexp.QuoteMeta(path) + `" .* -d @samples/elasticsearch/` + regexp.QuoteMeta(file)).Match(page) {
			t.Errorf("docs/deployment.md does not install %s as %s", file, path)
		}
	}
	var policy struct {
		Policy struct {
			Phases map[string]struct {
				MinAge  string         `json:"min_age"`
				Actions map[string]any `json:"actions"`
			} `json:"phases"`
		} `json:"policy"`
	}
	readJSON(t, filepath.Join("..", "samples", "elasticsearch", "ilm-policy.json"), &policy)
	if policy.Policy.Phases["hot"].Actions["rollover"] == nil || policy.Policy.Phases["delete"].Actions["delete"] == nil {
		t.Errorf("%+v", policy)
	}
}

// TestIngestPipeline: the pipeline that the template names removes nothing that records need.
func TestIngestPipeline(t *testing.T) {
	var pipeline struct {
		Processors []map[string]struct {
			Field         string `json:"field"`
			Value         string `json:"value"`
			IgnoreMissing bool   `json:"ignore_missing"`
		} `json:"processors"`
	}
	readJSON(t, filepath.Join("..", "samples", "elasticsearch", "ingest-pipeline.json"), &pipeline)
	for _, p := range pipeline.Processors {
		for name, x := range p {
			switch name {
			case "set":
				if x.Field != "event.ingested" {
					t.Errorf("%s of the record is overwritten", x.Field)
				}
			case "remove":
				if x.Field != "pad" || !x.IgnoreMissing {
					t.Errorf("%s is removed", x.Field)
				}
			default:
				t.Errorf("processor %s: nothing needs it", name)
			}
		}
	}
	if len(pipeline.Processors) != 2 {
		t.Errorf("%d processors", len(pipeline.Processors))
	}
}
