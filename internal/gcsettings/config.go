package gcsettings

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A Config is the relevant content of a runtimeconfig.json.
type Config struct {
	Path    string // as the process sees it
	Version string // version of the runtime; "": the file has none
	// Properties has the properties of the GC, and variables of the GC that are in the file by mistake.
	// Numbers are json.Number.
	Properties map[string]any
}

// propertyPrefix is what the names of the GC's properties start with.
const propertyPrefix = "System.GC."

// ParseConfig parses a runtimeconfig.json.
func ParseConfig(path string, b []byte) (*Config, error) {
	type framework struct{ Name, Version string }
	var file struct {
		RuntimeOptions struct {
			Framework          framework
			Frameworks         []framework
			IncludedFrameworks []framework
			ConfigProperties   map[string]any
		}
	}
	dec := json.NewDecoder(strings.NewReader(string(b)))
	dec.UseNumber()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o := &file.RuntimeOptions
	c := &Config{Path: path, Properties: map[string]any{}}
	for _, f := range append(append([]framework{o.Framework}, o.IncludedFrameworks...), o.Frameworks...) {
		if f.Name == "Microsoft.NETCore.App" && c.Version == "" {
			c.Version = f.Version
		}
	}
	variables := variableNames()
	for name, value := range o.ConfigProperties {
		bare, _ := bareName(name)
		if variables[bare] || isProperty(name) && !strings.Contains(name[:len(propertyPrefix)], "_") {
			c.Properties[name] = value
		}
	}
	return c, nil
}
