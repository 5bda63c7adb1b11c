package fields_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/generated"
	"github.com/gclog/gclog/internal/testing/recordings"
)

// A schema is a JSON Schema, as far as it is needed here.
type schema map[string]any

// schemaFile is the schema of the records.
var schemaFile = filepath.Join("..", "..", "samples", "gc.schema.json")

// TestSchema: samples/gc.schema.json is what the table says.
func TestSchema(t *testing.T) {
	gc := object()
	for _, f := range fields.All() {
		if f.JSON != "" {
			add(gc, strings.Split(f.JSON, "."), f)
		}
	}
	text, err := json.MarshalIndent(schema{
		"$schema": "https://json-schema.org/draft/2020-12/schema",
		"title":   "A record of gclog's JSON logs; what dotnet.gc contains if event.action is gc",
		"$defs":   definitions(),
		"type":    "object",
		"properties": schema{
			"@timestamp": schema{"$ref": "#/$defs/time"},
			"event":      schema{"type": "object", "properties": schema{"action": schema{"type": "string"}}, "required": []string{"action"}},
			"gclog":      schema{"type": "object", "properties": schema{"schema": schema{"const": formats.Schema}}, "required": []string{"schema"}},
			"dotnet":     schema{"type": "object", "properties": schema{"counters": counters()}},
		},
		"required": []string{"@timestamp", "event", "gclog"},
		"if":       schema{"properties": schema{"event": schema{"properties": schema{"action": schema{"const": "gc"}}}}},
		"then":     schema{"properties": schema{"dotnet": schema{"properties": schema{"gc": gc}, "required": []string{"gc"}}}, "required": []string{"dotnet"}},
	}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	generated.File(t, schemaFile, string(text)+"\n")
}

// counters returns the schema of what the program has counted.
func counters() schema {
	ref := func(name string) schema { return schema{"$ref": "#/$defs/" + name} }
	number := schema{"type": "number"}
	return schema{
		"type": "object", "additionalProperties": false, "required": []string{"values"},
		"properties": schema{
			"interval": ref("ns"), "omitted": ref("count"), "problem": ref("text"),
			"locks": schema{
				"type": "object", "additionalProperties": false, "required": []string{"waits", "total", "max"},
				"properties": schema{"waits": ref("integer"), "total": ref("ns"), "max": ref("ns")},
			},
			"values": schema{"type": "array", "items": schema{
				"type": "object", "additionalProperties": false, "required": []string{"meter", "name"},
				"properties": schema{
					"meter": ref("text"), "name": ref("text"), "tags": ref("text"), "unit": ref("text"), "value": number, "delta": number,
					"count": ref("integer"), "p50": number, "p95": number, "p99": number,
				},
			}},
		},
	}
}

func object() schema {
	return schema{"type": "object", "properties": schema{}, "additionalProperties": false}
}

// add adds the field at a path to the schema of an object.
func add(to schema, path []string, f fields.Field) {
	name, isList := strings.CutSuffix(path[0], "[]")
	if name == "*" {
		if to["additionalProperties"] == false {
			to["additionalProperties"] = object()
		}
		add(to["additionalProperties"].(schema), path[1:], f)
		return
	}
	members := to["properties"].(schema)
	switch of, known := members[name].(schema); {
	case len(path) == 1:
		members[name] = valueSchema(f)
	case !known && isList:
		members[name] = schema{"type": "array", "items": object()}
		add(members[name].(schema)["items"].(schema), path[1:], f)
	case !known:
		members[name] = object()
		add(members[name].(schema), path[1:], f)
	case isList:
		add(of["items"].(schema), path[1:], f)
	default:
		add(of, path[1:], f)
	}
}

// valueSchema returns the schema of a value: that of its unit, with what it is.
func valueSchema(f fields.Field) schema {
	return schema{"$ref": "#/$defs/" + unitSchema[f.Unit], "description": f.Doc}
}

// unitSchema are the names of the definitions of units.
var unitSchema = map[fields.Unit]string{
	fields.Number: "integer", fields.PlainBytes: "integer", fields.PlainNanoseconds: "integer", fields.Count: "count", fields.Bytes: "bytes",
	fields.Nanoseconds: "ns", fields.WholePercent: "pct", fields.Percent: "pct", fields.ExactPercent: "pct", fields.Ratio: "ratio",
	fields.Time: "time", fields.Flag: "flag", fields.Text: "text", fields.Hex: "text", fields.Texts: "texts", fields.Numbers: "integers",
}

// definitions are the units.
func definitions() schema {
	whole := schema{"type": "integer", "minimum": 0}
	unit := func(name string, v schema) schema {
		return schema{"type": "object", "properties": schema{name: v}, "required": []string{name}, "additionalProperties": false}
	}
	return schema{
		"integer": whole, "count": unit("count", whole), "bytes": unit("bytes", whole), "ns": unit("ns", whole),
		"pct": unit("pct", schema{"type": "number", "minimum": 0}), "ratio": schema{"type": "number", "minimum": 0},
		"time": schema{"type": "string", "format": "date-time"}, "flag": schema{"type": "boolean"}, "text": schema{"type": "string"},
		"texts": schema{"type": "array", "items": schema{"type": "string"}}, "integers": schema{"type": "array", "items": whole},
	}
}

// TestRecordsMatchSchema holds the records of all recordings, and of the sample, against the schema.
func TestRecordsMatchSchema(t *testing.T) {
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	var s map[string]any
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	sample, err := os.ReadFile(filepath.Join("..", "..", "samples", "gc.json"))
	if err != nil {
		t.Fatal(err)
	}
	matches(t, s, sample)
	format, err := formats.Find("json")
	if err != nil {
		t.Fatal(err)
	}
	recordings.ForEach(t, func(t *testing.T, tr recordings.Trace) {
		var log bytes.Buffer
		_ = gclog.Read(bytes.NewReader(recordings.Read(t, tr.Path)), func(p *gclog.Process) gclog.Observer {
			return formats.NewWriter(format, formats.NewStream(&log, false), formats.Options{Process: *p, Version: "1.0", Session: "s"}).Observe
		}) // some recordings are damaged
		matches(t, s, log.Bytes())
	})
}

// matches holds the lines of a log against a schema.
func matches(t *testing.T, s map[string]any, log []byte) {
	t.Helper()
	for line := range bytes.Lines(log) {
		var v any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Fatal(err)
		}
		if wrong := (checker{s["$defs"].(map[string]any)}).validate(s, v, ""); wrong != "" {
			t.Fatalf("%s in %s", wrong, line)
		}
	}
}

// TestSchemaRejects: the validator notices what is wrong.
func TestSchemaRejects(t *testing.T) {
	s := map[string]any{
		"type": "object", "required": []any{"a"}, "additionalProperties": false,
		"properties": map[string]any{"a": map[string]any{"type": "integer", "minimum": 0.0}, "b": map[string]any{"type": "array", "items": map[string]any{"const": "x"}}},
		"if":         map[string]any{"properties": map[string]any{"a": map[string]any{"const": 7.0}}},
		"then":       map[string]any{"required": []any{"b"}},
	}
	for text, valid := range map[string]bool{
		`{"a":1}`: true, `{"a":7,"b":["x"]}`: true, `{"a":7}`: false, `{"a":1.5}`: false, `{"a":-1}`: false, `{"a":"1"}`: false, `{}`: false, `{"a":1,"c":1}`: false, `{"a":1,"b":["y"]}`: false, `[]`: false,
	} {
		var v any
		if err := json.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		if wrong := (checker{}).validate(s, v, ""); (wrong == "") != valid {
			t.Errorf("%s: %q", text, wrong)
		}
	}
}

// A checker validates values.
type checker struct{ definitions map[string]any }

// validate returns what is wrong with a value; empty if nothing is.
func (c checker) validate(s map[string]any, v any, path string) (wrong string) {
	if ref, there := s["$ref"].(string); there {
		s = c.definitions[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	if c, there := s["const"]; there && c != v {
		return fmt.Sprintf("%s is %v, not %v", path, v, c)
	}
	ok := true
	switch s["type"] {
	case "object":
		_, ok = v.(map[string]any)
	case "array":
		_, ok = v.([]any)
	case "string":
		_, ok = v.(string)
	case "boolean":
		_, ok = v.(bool)
	case "number", "integer":
		var n float64
		n, ok = v.(float64)
		least, limited := s["minimum"].(float64)
		ok = ok && (s["type"] == "number" || n == float64(int64(n))) && (!limited || n >= least)
	}
	if !ok {
		return fmt.Sprintf("%s is %v, no %v", path, v, s["type"])
	}
	if list, isList := v.([]any); isList {
		items, _ := s["items"].(map[string]any)
		for _, x := range list {
			if wrong = c.validate(items, x, path+"[]"); wrong != "" {
				return wrong
			}
		}
	}
	if members, isObject := v.(map[string]any); isObject {
		if wrong = c.validateMembers(s, members, path); wrong != "" {
			return wrong
		}
	}
	if condition, there := s["if"].(map[string]any); there && c.validate(condition, v, path) == "" {
		return c.validate(s["then"].(map[string]any), v, path)
	}
	return ""
}

func (c checker) validateMembers(s, members map[string]any, path string) (wrong string) {
	required, _ := s["required"].([]any)
	if i := slices.IndexFunc(required, func(name any) bool { _, there := members[name.(string)]; return !there }); i >= 0 {
		return fmt.Sprintf("%s.%s is missing", path, required[i])
	}
	properties, _ := s["properties"].(map[string]any)
	for name, x := range members {
		of, known := properties[name].(map[string]any)
		if !known {
			if s["additionalProperties"] == false {
				return fmt.Sprintf("%s.%s is not in the schema", path, name)
			}
			of, _ = s["additionalProperties"].(map[string]any)
		}
		if wrong = c.validate(of, x, path+"."+name); wrong != "" {
			return wrong
		}
	}
	return ""
}
