package config

import (
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/gclog/gclog/formats"
)

// YAML returns the effective configuration. With origins each value has a comment that says where it
// came from. With secrets it is a file that loads the same; otherwise *** is in their place.
func (l *Loaded) YAML(origins, secrets bool) []byte {
	const column = 50 // of the comments
	var b strings.Builder
	for _, line := range l.lines(secrets) {
		b.WriteString(line.text)
		if origins && line.path != "" {
			b.WriteString(strings.Repeat(" ", max(1, column-len(line.text))) + "# " + l.origins[line.path].String())
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// A line of YAML. Lines of values have a path.
type line struct{ text, path string }

func (l *Loaded) lines(secrets bool) []line {
	p := printer{secrets: secrets}
	p.section(reflect.ValueOf(&l.Config).Elem(), "", "", "")
	return p.lines
}

// A printer writes YAML.
type printer struct {
	secrets bool // they are written, too
	lines   []line
}

// section writes the keys of a section. first precedes the first line, if the section is an element
// of a list.
func (p *printer) section(v reflect.Value, path, first, indent string) {
	head := first
	for _, f := range fields(v.Type()) {
		at, x := join(path, f.key), v.Field(f.index)
		if x.Kind() == reflect.String && x.String() == "" && !f.kind.parses("") {
			continue // it was not given, and cannot be written
		}
		s, ok := reflect.TypeAssert[interface{ isSet() bool }](x)
		if ok && !s.isSet() || v.Type() == reflect.TypeFor[Action]() && x.IsZero() {
			continue // it was not given either
		}
		p.field(f, x, at, head+f.key+":", indent)
		head = indent
	}
}

// field writes a key and its value; text ends with the key.
func (p *printer) field(f field, v reflect.Value, path, text, indent string) {
	add := func(text, path string) { p.lines = append(p.lines, line{text, path}) }
	switch v.Kind() {
	case reflect.Struct:
		add(text, "")
		p.section(v, path, indent+"  ", indent+"  ")
	case reflect.Map:
		if v.Len() == 0 {
			add(text+" {}", path)
			return
		}
		add(text, "")
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			p.field(f, v.MapIndex(k), join(path, k.String()), indent+"  "+scalarText(k.String())+":", indent+"  ")
		}
	case reflect.Slice:
		if v.Len() == 0 {
			add(text+" []", path)
			return
		}
		add(text, "")
		for i := range v.Len() {
			if f.kind != nil {
				p.field(f, v.Index(i), item(path, i), indent+"  -", indent+"  ")
			} else {
				p.section(v.Index(i), item(path, i), indent+"  - ", indent+"    ")
			}
		}
	default:
		value := f.kind.format(v.Interface())
		if s, ok := reflect.TypeAssert[Secret](v); ok && !p.secrets {
			value = s.String()
		}
		isNumber := slices.Contains(f.kind.types, "integer") && plainNumber.MatchString(value)
		if v.Kind() != reflect.Bool && !isNumber {
			value = scalarText(value)
		}
		add(text+" "+value, path)
	}
}

var (
	// plainText matches what YAML reads as text without quotes, except for a few words.
	plainText   = regexp.MustCompile(`^(?:[A-Za-z/][A-Za-z0-9_./%-]*|[0-9]+(?:ms|[smhdKMG])[0-9a-z.]*)$`)
	plainNumber = regexp.MustCompile(`^(?:0|[1-9][0-9]{0,17})$`)
)

// scalarText formats a text so that YAML reads it back.
func scalarText(s string) string {
	word := slices.Contains([]string{"true", "false", "null", "yes", "no", "on", "off", "y", "n"}, strings.ToLower(s))
	if plainText.MatchString(s) && !word {
		return s
	}
	var b strings.Builder
	e := formats.NewJSONEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a string can always be encoded
	return strings.TrimSuffix(b.String(), "\n")
}
