package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gclog/gclog/internal/spelling"
	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Limits of what is passed to the parser, whose time grows with the square of the number of keys
// and of the depth.
const (
	maxTokens = 50_000
	maxDepth  = 20  // of nested brackets
	maxIndent = 100 // columns
)

var errNotUTF8 = errors.New("it is not valid UTF-8 text")

// document reads a file into v, which contains the defaults. The library's own decoder stops at the
// first problem, and its messages name Go types: only its parser is used.
func (l *loader) document(data []byte, v reflect.Value) {
	whole := origin{file: l.file}
	if !utf8.Valid(data) {
		l.wrong(whole, "", "%v", errNotUTF8)
		return
	}
	// Windows editors put a byte order mark in front of a text.
	tokens := lexer.Tokenize(strings.TrimPrefix(string(data), "\uFEFF"))
	if !l.plain(tokens) {
		return
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		if errors.As(err, &syntax) && syntax.GetToken() != nil {
			l.wrong(l.at(syntax.GetToken()), "", "invalid YAML: %s", syntax.GetMessage())
		} else {
			l.wrong(whole, "", "invalid YAML: %v", err)
		}
		return
	}
	var bodies []ast.Node
	for _, d := range file.Docs {
		if d.Body != nil {
			bodies = append(bodies, d.Body)
		}
	}
	switch {
	case len(bodies) > 1:
		l.wrong(l.at(start(bodies[1])), "", "a second YAML document starts here: a configuration is a single document")
	case len(bodies) == 1:
		l.value(bodies[0], v, field{}, "")
	}
}

// plain reports whether a file contains only keys, lists and values, and no more than the parser
// can handle.
func (l *loader) plain(tokens token.Tokens) bool {
	if len(tokens) > maxTokens {
		l.wrong(origin{file: l.file}, "", "it has more than %d tokens: it is probably not a configuration", maxTokens)
		return false
	}
	depth, line := 0, 0
	for _, t := range tokens {
		switch t.Type {
		case token.AnchorType, token.AliasType, token.MergeKeyType:
			l.wrong(l.at(t), "",
				"anchors and aliases (& * <<) are not supported: write the value out, or quote the text")
			return false
		case token.TagType, token.DirectiveType, token.MappingKeyType:
			l.wrong(l.at(t), "",
				"a configuration contains only plain keys and values: %s is not supported", quote(t.Value))
			return false
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		first := t.Position.Line != line && t.Type != token.CommentType
		starts := first || t.Type == token.SequenceEntryType
		if depth > maxDepth || depth <= 0 && t.Position.Column > maxIndent && starts {
			l.wrong(l.at(t), "", "nested too deeply")
			return false
		}
		line = t.Position.Line
	}
	return true
}

func (l *loader) at(t *token.Token) origin {
	return origin{file: l.file, line: t.Position.Line, column: t.Position.Column}
}

// value reads a node into v: a section, list, map or value, whose kind is in f.
func (l *loader) value(n ast.Node, v reflect.Value, f field, path string) {
	at := l.at(start(n))
	if _, null := n.(*ast.NullNode); null && v.Kind() != reflect.String && f.kind == nil || n == nil {
		return // everything in it is commented out
	}
	switch v.Kind() {
	case reflect.Struct:
		l.section(n, v, path)
	case reflect.Map:
		l.labels(n, v, f, path)
	case reflect.Slice:
		sequence, ok := n.(*ast.SequenceNode)
		if _, null := n.(*ast.NullNode); null {
			return
		}
		if !ok {
			l.wrong(at, path, "it must be a list: write %s", example(v.Type(), f))
			return
		}
		l.origins[path] = at
		v.Set(reflect.MakeSlice(v.Type(), 0, len(sequence.Values)))
		for i, x := range sequence.Values {
			e := newElement(v.Type().Elem())
			if _, null := x.(*ast.NullNode); null {
				l.wrong(l.at(start(x)), item(path, i), "it is empty")
				continue
			}
			l.origins[item(path, i)] = l.at(start(x))
			l.value(x, e, f, item(path, i))
			v.Set(reflect.Append(v, e))
		}
	default:
		l.leaf(n, v, f.kind, path)
	}
}

// start returns the first token of a node. The token of a mapping itself is the colon of its first
// key.
func start(n ast.Node) *token.Token {
	switch n := n.(type) {
	case *ast.MappingNode:
		if len(n.Values) > 0 && !n.IsFlowStyle {
			return n.Values[0].Key.GetToken()
		}
	case *ast.MappingValueNode:
		return n.Key.GetToken()
	}
	return n.GetToken()
}

// entries returns the keys of a mapping with their values.
func (l *loader) entries(n ast.Node, path, what string) (entries []*ast.MappingValueNode, ok bool) {
	switch n := n.(type) {
	case *ast.MappingNode:
		entries = n.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{n}
	default:
		l.wrong(l.at(start(n)), path, "%s", what)
		return nil, false
	}
	first := map[string]origin{}
	for _, e := range entries {
		key, at := e.Key.GetToken().Value, l.at(e.Key.GetToken())
		if before, twice := first[key]; twice {
			l.wrong(at, join(path, printable(key)), "duplicate key, first in line %d", before.line)
		} else {
			first[key] = at
		}
	}
	return entries, true
}

// section reads a mapping into a struct.
func (l *loader) section(n ast.Node, v reflect.Value, path string) {
	known := fields(v.Type())
	entries, ok := l.entries(n, path, "expected keys: "+strings.Join(names(known), ", "))
	if !ok {
		return
	}
	l.origins[path] = l.at(start(n))
	for _, e := range entries {
		key, at := e.Key.GetToken().Value, l.at(e.Key.GetToken())
		i := slices.IndexFunc(known, func(f field) bool { return f.key == key })
		if i < 0 {
			l.wrong(at, join(path, printable(key)), "unknown key%s", l.instead(key, path, known))
			continue
		}
		l.value(e.Value, v.Field(known[i].index), known[i], join(path, key))
	}
}

// printable formats a key for a message.
func printable(key string) string {
	if isLabelKey(key) {
		return key
	}
	return quote(key)
}

// instead suggests keys for an unknown one.
func (l *loader) instead(key, path string, known []field) string {
	if s := spelling.DidYouMean(key, names(known)); s != "" {
		return s
	}
	if path == "" {
		path = "a configuration"
	}
	return ": those of " + path + " are " + strings.Join(names(known), ", ")
}

// labels reads a mapping into a map.
func (l *loader) labels(n ast.Node, v reflect.Value, f field, path string) {
	if _, null := n.(*ast.NullNode); null {
		return
	}
	entries, ok := l.entries(n, path, "expected keys with values")
	if !ok {
		return
	}
	l.origins[path] = l.at(start(n))
	if len(entries) > 0 {
		v.Set(reflect.MakeMap(v.Type()))
	}
	for _, e := range entries {
		key, at := e.Key.GetToken().Value, l.at(e.Key.GetToken())
		if !isLabelKey(key) {
			l.wrong(at, path, "%s cannot be a key: only letters, digits, _ and - are allowed", quote(key))
			continue
		}
		x := reflect.New(v.Type().Elem()).Elem()
		l.leaf(e.Value, x, f.kind, join(path, key))
		v.SetMapIndex(reflect.ValueOf(key), x)
	}
}

// leaf reads a value.
func (l *loader) leaf(n ast.Node, v reflect.Value, k *kind, path string) {
	at := l.at(start(n))
	typ, s := scalarOf(n)
	shown := s
	if k.secret {
		shown = hidden
	}
	switch {
	case typ == "null":
		l.wrong(at, path, "it has no value")
	case typ == "":
		l.wrong(at, path, "it must be a single value, such as %s", k.example)
	case !slices.Contains(k.types, typ) && slices.Contains(k.types, "string"):
		l.wrong(at, path, "%s must be text, such as %q", shown, k.example)
	case !slices.Contains(k.types, typ) && slices.Contains(k.types, "boolean"):
		l.wrong(at, path, "%s: it must be true or false, without quotes", quote(s))
	case !slices.Contains(k.types, typ):
		l.wrong(at, path, "%s must be a number, without quotes, such as %s", quote(s), k.example)
	default:
		l.text(at, s, v, k, path)
	}
}

// text parses the text of a value; it returns false if it is invalid.
func (l *loader) text(at origin, s string, v reflect.Value, k *kind, path string) bool {
	x, err := k.parse(s)
	if err == nil && !utf8.ValidString(s) {
		err = errNotUTF8
	}
	if err != nil {
		l.wrong(at, path, "%v", err)
		return false
	}
	v.Set(reflect.ValueOf(x))
	l.origins[path] = at
	return true
}

// scalarOf returns the JSON type and the text of a value, as it was written; the type is "" if it
// is not a single value.
func scalarOf(n ast.Node) (typ, text string) {
	switch n := n.(type) {
	case *ast.NullNode:
		return "null", ""
	case *ast.StringNode:
		return "string", n.Value
	case *ast.LiteralNode:
		return "string", n.Value.Value
	case *ast.IntegerNode:
		return "integer", n.Token.Value
	case *ast.BoolNode:
		return "boolean", n.Token.Value
	case *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "number", n.GetToken().Value
	}
	return "", ""
}

// example shows what a list looks like.
func example(list reflect.Type, f field) string {
	if f.kind != nil {
		return "[" + f.kind.example + "]"
	}
	first := fields(list.Elem())[0]
	if first.kind == nil {
		return "- {" + first.key + ": ...}"
	}
	return "- " + first.key + ": " + quote(first.kind.example)
}
