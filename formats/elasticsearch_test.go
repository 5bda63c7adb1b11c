package formats_test

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
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
	if name == "message" || name == "error.message" {
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

// TestElasticsearch: the index template of the samples gives every field of every record the
// required type; Elasticsearch guesses none. Every field that the template names exists.
func TestElasticsearch(t *testing.T) {
	var template struct {
		Template struct {
			Settings map[string]any `json:"settings"`
			Mappings esMappings     `json:"mappings"`
		} `json:"template"`
	}
	readJSON(t, filepath.Join("..", "samples", "elasticsearch", "index-template.json"), &template)
	m := &template.Template.Mappings
	if m.DateDetection || m.NumericDetection {
		t.Error("the template lets Elasticsearch guess from the text of a value")
	}
	seen := map[string]bool{}
	check := func(where string, line []byte) {
		_, all := members(t, where, line)
		for _, x := range all {
			name := strings.ReplaceAll(x.path, "[]", "")
			seen[name] = true
			field, found := m.fieldFor(name, x.value)
			if want := esTypes(name, x.value); !found || !field.opaque() && field.Type != want {
				t.Errorf("%s: %s (%v) is mapped as %q, found %v, and must be %s", where, name, x.value, field.Type, found, want)
			}
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
			check(file, []byte(line))
		}
	}
	// What no sample contains: everything at once.
	d := &gclog.GCDetails{}
	fill(reflect.ValueOf(d).Elem())
	d.Generation, d.GenerationCount, d.TimingCount = 2, gclog.Generations, clr.Times
	for i := range d.Heaps {
		d.Heaps[i].History.Generations = gclog.Generations
	}
	p := someone()
	p.ServiceVersion, p.Namespace, p.Pod, p.PodUID, p.ContainerName = "1", "shop", "orders-1", "u", "orders"
	p.Labels = map[string]string{"env": "prod"}
	summary := &formats.Summary{}
	fill(reflect.ValueOf(summary).Elem())
	summary.To = 2
	_, records := written(t, "json", formats.Options{Process: p, Version: "1", Session: "1", Host: "h"}, func(w *formats.Writer) {
		w.Start(&formats.Start{Providers: "p"})
		w.GC(d)
		d.TimingCount = 0 // as with an old runtime, which reports until when it marked instead
		w.GC(d)
		w.Summary(summary)
		w.End(&formats.End{Reason: formats.EndStreamError, Message: "m", HasCode: true, Signal: 9})
	})
	for _, r := range records {
		check("a full record", []byte(r))
	}
	var walk func(prefix string, fields map[string]esField)
	walk = func(prefix string, fields map[string]esField) {
		for name, f := range fields {
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
	if limit, _ := template.Template.Settings["index.mapping.total_fields.limit"].(float64); int(limit) < 2*len(seen) {
		t.Errorf("the template allows %v fields; records have %d besides those of the shipper", limit, len(seen))
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
