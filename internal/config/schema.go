package config

import (
	"encoding/json"
	"maps"
	"reflect"
)

// Schema returns the JSON Schema (draft 2020-12) of a configuration, for editors. It expresses
// rules between several keys only in part.
func Schema() []byte {
	s := sectionSchema(reflect.ValueOf(defaults()).Elem())
	s["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	s["title"] = "configuration of gclog"
	s["$defs"] = object{"match": sectionSchema(reflect.ValueOf(Match{}))}
	b, _ := json.MarshalIndent(s, "", "  ") // it contains nothing that JSON cannot represent
	return append(b, '\n')
}

// more is what the schema of a section contains besides its keys.
var more = map[reflect.Type]object{
	reflect.TypeFor[Match]():   {"minProperties": 1},
	reflect.TypeFor[Service](): {"required": []string{"match"}, "anyOf": []object{required("name"), required("level")}},
	reflect.TypeFor[Output]():  {"oneOf": []object{required("path"), required("xlog")}},
}

func required(key string) object { return object{"required": []string{key}} }

// sectionSchema returns the schema of a section; v contains its defaults.
func sectionSchema(v reflect.Value) object {
	properties := object{}
	for _, f := range fields(v.Type()) {
		s := keySchema(f, v.Field(f.index))
		s["description"] = f.about
		properties[f.key] = s
	}
	s := object{"type": "object", "additionalProperties": false, "properties": properties}
	maps.Copy(s, more[v.Type()])
	return s
}

// keySchema returns the schema of the value of a key. A section or list may be empty, because
// everything in it is commented out.
func keySchema(f field, v reflect.Value) object {
	switch v.Kind() {
	case reflect.Struct:
		s := elementSchema(f, v)
		if s["type"] == "object" {
			s["type"] = []string{"object", "null"}
		}
		return s
	case reflect.Map:
		return object{
			"type": []string{"object", "null"}, "propertyNames": object{"pattern": `^[A-Za-z0-9_-]{1,100}$`},
			"additionalProperties": elementSchema(f, reflect.Zero(v.Type().Elem())),
		}
	case reflect.Slice:
		s := object{"type": []string{"array", "null"}, "items": elementSchema(f, newElement(v.Type().Elem()))}
		if v.Len() > 0 {
			s["minItems"] = 1 // where there is a default there must be something
		}
		return s
	}
	s := elementSchema(f, v)
	if value := f.kind.format(v.Interface()); f.kind.parses(value) {
		s["default"] = value
		if len(f.kind.types) == 1 && f.kind.types[0] != "string" {
			s["default"] = v.Interface()
		}
	}
	return s
}

// elementSchema returns the schema of an element of a list or a map, or of a value.
func elementSchema(f field, v reflect.Value) object {
	switch {
	case v.Type() == reflect.TypeFor[Match]():
		return object{"$ref": "#/$defs/match"}
	case v.Kind() == reflect.Struct:
		return sectionSchema(v)
	}
	s := object{"type": f.kind.types}
	if len(f.kind.types) == 1 {
		s["type"] = f.kind.types[0]
	}
	maps.Copy(s, f.kind.schema)
	return s
}

func (k *kind) parses(s string) bool {
	_, err := k.parse(s)
	return err == nil
}
