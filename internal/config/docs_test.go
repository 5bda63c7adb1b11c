package config

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
)

var (
	docs   = filepath.Join("..", "..", "docs", "configuration.md")
	sample = filepath.Join("..", "..", "samples", "gclog.yaml")
	schema = filepath.Join("..", "..", "samples", "gclog.schema.json")
)

// TestTable: the struct, its kinds and its tags are consistent.
func TestTable(t *testing.T) {
	used := map[string]bool{}
	unused := maps.Clone(purposes())
	var check func(v reflect.Type)
	check = func(v reflect.Type) {
		for f := range v.Fields() {
			name := f.Tag.Get("is")
			used[name] = true
			of := f.Type
			for of.Kind() == reflect.Slice || of.Kind() == reflect.Map {
				of = of.Elem()
			}
			purpose := v.Name() + "." + f.Tag.Get("key")
			if purposes()[purpose] == "" || f.Tag.Get("key") == "" {
				t.Errorf("%s.%s has no words", v, f.Name)
			}
			delete(unused, purpose)
			if of.Kind() == reflect.Struct {
				check(of)
				continue
			}
			k, known := kinds[name]
			if !known {
				t.Errorf("%s.%s is of no kind", v, f.Name)
				continue
			}
			x, err := k.parse(k.example)
			if err != nil || reflect.TypeOf(x) != of {
				t.Errorf("%s.%s: the example %s is %T, %v", v, f.Name, k.example, x, err)
				continue
			}
			if again, err := k.parse(k.format(x)); err != nil || again != x {
				t.Errorf("%s.%s: %v is written as %s", v, f.Name, x, k.format(x))
			}
		}
	}
	check(reflect.TypeFor[Config]())
	for name := range unused {
		t.Errorf("keys.txtar has %s, which is no key", name)
	}
	for name := range kinds {
		if !used[name] {
			t.Errorf("no key is of kind %s", name)
		}
	}
}

// TestDocs: the tables of docs/configuration.md match the keys.
func TestDocs(t *testing.T) {
	code := func(s string) string {
		if s == "" {
			return ""
		}
		return "`" + s + "`"
	}
	keys := "| key | default | example | | variable |\n|---|---|---|---|---|\n"
	for _, k := range Keys() {
		keys += fmt.Sprintf("| `%s` | %s | `%s` | %s | `%s` |\n", k.Path, code(k.Default), k.Example, k.About, k.Variable)
	}
	match := "| key | |\n|---|---|\n"
	for _, k := range MatchKeys() {
		match += fmt.Sprintf("| `%s` | %s |\n", k.Path, k.About)
	}
	generated.Sections(t, docs, map[string]string{"keys": keys, "match": match})
}

// TestSchema: the schema file for editors is what the program prints, and it contains every key.
func TestSchema(t *testing.T) {
	generated.File(t, schema, string(Schema()))
	var s map[string]any
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	each(reflect.ValueOf(defaults()).Elem(), "", func(path string, f field, v reflect.Value) bool {
		x := s
		for part := range strings.SplitSeq(strings.ReplaceAll(path, "[]", ".[]"), ".") {
			var next any
			switch {
			case part == "[]":
				next = x["items"]
			case part == "env", part == "tenant":
				next = x["additionalProperties"]
			default:
				next = x["properties"].(map[string]any)[part]
			}
			if x, _ = next.(map[string]any); x["$ref"] == "#/$defs/match" {
				x = s["$defs"].(map[string]any)["match"].(map[string]any)
			}
		}
		if x["type"] == nil {
			t.Errorf("%s is not in the schema", path)
		}
		if v.Kind() == reflect.Struct {
			return true
		}
		// What the loader accepts the schema accepts.
		for _, value := range []string{f.kind.example, fmt.Sprint(x["default"])} {
			if p, ok := x["pattern"].(string); ok && f.kind.parses(value) && !regexp.MustCompile(p).MatchString(value) {
				t.Errorf("%s: the schema does not take %s", path, value)
			}
		}
		return false
	})
}

// TestSample: the sample as it is equals the default; with its examples enabled it contains every
// key.
func TestSample(t *testing.T) {
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	if l := mustLoad(t, string(text)); !reflect.DeepEqual(&l.Config, Default()) {
		t.Errorf("it is not the default:\n%s", l.YAML(true, true))
	}
	l := mustLoad(t, regexp.MustCompile(`(?m)^#(  |[^ \n])`).ReplaceAllString(string(text), "$1"))
	var there []string
	for _, o := range l.Origins() {
		if o.From != "default" {
			there = append(there, regexp.MustCompile(`\[\d+\]`).ReplaceAllString(o.Path, "[]"))
		}
	}
	each(reflect.ValueOf(defaults()).Elem(), "", func(path string, _ field, _ reflect.Value) bool {
		if !slices.ContainsFunc(there, func(p string) bool { return p == path || strings.HasPrefix(p, path+".") }) {
			t.Errorf("%s is not in the sample", path)
		}
		return path == "discovery.include[]" // one rule shows all patterns
	})
}
