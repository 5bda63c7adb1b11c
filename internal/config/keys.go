package config

import (
	_ "embed"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/tools/txtar"

	"github.com/gclog/gclog/internal/rules"
)

//go:embed keys.txtar
var keysArchive []byte

// purposes returns what each key is for, by the name of its section's type and the key.
var purposes = sync.OnceValue(func() map[string]string {
	texts := map[string]string{}
	for _, f := range txtar.Parse(keysArchive).Files {
		texts[f.Name] = strings.Join(strings.Fields(string(f.Data)), " ")
	}
	return texts
})

// A field is one key of a section, with the struct field that holds its value.
type field struct {
	key   string
	about string
	kind  *kind // kind of its value, or of each element of a list or map; nil: a section
	index int
}

// fields returns the keys of a section, in order.
func fields(section reflect.Type) (list []field) {
	for i := range section.NumField() {
		f := section.Field(i)
		key := f.Tag.Get("key")
		x := field{key: key, about: purposes()[section.Name()+"."+key], index: i}
		if name := f.Tag.Get("is"); name != "" {
			k := kinds[name]
			x.kind = &k
		}
		list = append(list, x)
	}
	return list
}

// names returns the names of the keys of a section.
func names(list []field) (all []string) {
	for _, f := range list {
		all = append(all, f.key)
	}
	return all
}

// newElement returns an element of a list of sections as it is before its keys are read.
func newElement(t reflect.Type) reflect.Value {
	e := reflect.New(t).Elem()
	switch x := e.Addr().Interface().(type) {
	case *Output:
		*x = defaultOutput()
	case *Rule:
		x.Event = rules.OnGC.String()
	case *Action:
		*x = defaultAction()
	}
	return e
}

// join and item return the paths of a key in a section and of an element of a list.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// variable returns the name of the environment variable for the key with a path.
func variable(path string) string {
	return prefix + strings.ToUpper(strings.NewReplacer(".", "__", "[", "__", "]", "").Replace(path))
}

// A Key describes a key for people. Path has [] for the number of an element, which is 0 in
// Variable.
type Key struct {
	Path, Default, Example, About string
	Variable                      string // in the environment
}

// Keys lists all keys that have a value, counting a Match as one.
func Keys() (list []Key) {
	c := defaults()
	each(reflect.ValueOf(c).Elem(), "", func(path string, f field, v reflect.Value) bool {
		k := Key{Path: path, About: f.about, Variable: variable(strings.ReplaceAll(path, "[]", "[0]"))}
		switch {
		case v.Kind() == reflect.Struct:
			first := fields(v.Type())[0]
			k.Example = "{" + first.key + ": " + scalarText(first.kind.example) + "}"
			k.Variable = variable(strings.ReplaceAll(join(path, first.key), "[]", "[0]"))
		default:
			k.Example, k.Default = f.kind.example, f.kind.format(v.Interface())
		}
		if path == "outputs[].path" {
			k.Default = c.Outputs[0].Path
		}
		list = append(list, k)
		return false
	})
	return list
}

// MatchKeys lists the keys of a Match.
func MatchKeys() (list []Key) {
	for _, f := range fields(reflect.TypeFor[Match]()) {
		list = append(list, Key{Path: f.key, Example: f.kind.example, About: f.about})
	}
	return list
}

// anyKey returns a key that represents any key of a map.
func anyKey(x field) string {
	if x.key == "headers" {
		return "tenant"
	}
	return "env"
}

// each calls f with every key that has a value, as if lists had one element. For a match, f reports
// whether to visit its keys too.
func each(v reflect.Value, path string, f func(path string, x field, v reflect.Value) (more bool)) {
	for _, x := range fields(v.Type()) {
		at, value := join(path, x.key), v.Field(x.index)
		switch value.Kind() {
		case reflect.Slice:
			at, value = at+"[]", newElement(value.Type().Elem())
		case reflect.Map:
			at, value = at+"."+anyKey(x), reflect.Zero(value.Type().Elem())
		}
		isMatch := value.Type() == reflect.TypeFor[Match]()
		if value.Kind() == reflect.Struct && !isMatch || f(at, x, value) && isMatch {
			each(value, at, f)
		}
	}
}
