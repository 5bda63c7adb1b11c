package config

import (
	"reflect"
	"strconv"
	"strings"
)

// A field is one key of a section, with the field of the struct that has its value.
type field struct {
	key   string
	about string
	kind  *kind // of its value or, in a list or a map, of each; nil: of a section
	index int
}

// fields are the keys of a section, in order.
func fields(section reflect.Type) (list []field) {
	for i := range section.NumField() {
		f := section.Field(i)
		x := field{key: f.Tag.Get("key"), about: f.Tag.Get("about"), index: i}
		if name := f.Tag.Get("is"); name != "" {
			k := kinds[name]
			x.kind = &k
		}
		list = append(list, x)
	}
	return list
}

// names are what the keys of a section are called.
func names(list []field) (all []string) {
	for _, f := range list {
		all = append(all, f.key)
	}
	return all
}

// newElement returns an element of a list of sections as it is before its keys are
// read.
func newElement(t reflect.Type) reflect.Value {
	e := reflect.New(t).Elem()
	if o, ok := reflect.TypeAssert[*Output](e.Addr()); ok {
		*o = defaultOutput()
	}
	return e
}

// join and item are the paths of a key in a section and of an element of a list.
func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func item(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// variable is the name in the environment of the key with a path.
func variable(path string) string {
	return prefix + strings.ToUpper(strings.NewReplacer(".", "__", "[", "__", "]", "").Replace(path))
}
