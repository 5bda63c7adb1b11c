package config

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gclog/gclog/internal/spelling"
)

// prefix is what the names of variables that set a key start with. GCLOG_OUTPUTS__0__PATH is
// outputs[0].path.
const prefix = "GCLOG_"

// notKeys are variables of gclog that do not belong to the configuration.
var notKeys = []string{
	"GCLOG_XLOG", "GCLOG_SHARED", "GCLOG_LIVE", "GCLOG_JAVA", "GCLOG_UPDATE", FileVariable, "GCLOG_IGNORE",
}

// environment applies the variables. Those without __ may belong to another program, unless they
// are a key, or one with single instead of double underscores: Kubernetes sets GCLOG_PORT and
// similar variables for a service named gclog.
func (l *loader) environment(environ []string, v reflect.Value) {
	values := map[string]string{}
	for _, e := range environ {
		name, value, _ := strings.Cut(e, "=")
		if strings.HasPrefix(name, prefix) && !slices.Contains(notKeys, name) {
			values[name] = value
		}
	}
	var ordered []string
	for name := range values {
		ordered = append(ordered, name)
	}
	slices.SortFunc(ordered, inOrder)
	for _, name := range ordered {
		parts := strings.Split(strings.ToLower(strings.TrimPrefix(name, prefix)), "__")
		if len(parts) > 1 || slices.Contains(names(fields(v.Type())), parts[0]) {
			l.assign(origin{variable: name}, parts, values[name], v, field{}, "")
			continue
		}
		for _, k := range Keys() {
			if name == strings.ReplaceAll(k.Variable, "__", "_") {
				l.wrong(origin{variable: name}, "", "unknown key, did you mean %s?", k.Variable)
			}
		}
	}
}

// inOrder compares two names of variables, and elements of a list by their numbers.
func inOrder(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "__"), strings.Split(b, "__"), func(x, y string) int {
		n, xerr := strconv.Atoi(x)
		m, yerr := strconv.Atoi(y)
		if xerr == nil && yerr == nil {
			return n - m
		}
		return strings.Compare(x, y)
	})
}

// assign sets the value that parts lead to, starting from v.
func (l *loader) assign(at origin, parts []string, value string, v reflect.Value, f field, path string) {
	switch {
	case v.Kind() == reflect.Struct && len(parts) > 0:
		known := fields(v.Type())
		i := slices.IndexFunc(known, func(f field) bool { return f.key == parts[0] })
		if i < 0 {
			var others []string
			for _, f := range known {
				others = append(others, variable(strings.Join(append([]string{join(path, f.key)}, parts[1:]...), ".")))
			}
			l.wrong(at, "", "unknown key %s%s", join(path, parts[0]), spelling.DidYouMean(at.variable, others))
			return
		}
		l.assign(at, parts[1:], value, v.Field(known[i].index), known[i], join(path, parts[0]))
	case v.Kind() == reflect.Slice && len(parts) > 0:
		i, err := strconv.Atoi(parts[0])
		if err != nil || i < 0 || i > v.Len() {
			l.wrong(at, "", "index out of range: the next element of %s is %s", path, variable(item(path, v.Len())))
			return
		}
		if i == v.Len() {
			v.Set(reflect.Append(v, newElement(v.Type().Elem())))
			l.origins[item(path, i)] = at
		}
		l.assign(at, parts[1:], value, v.Index(i), f, item(path, i))
	case v.Kind() == reflect.Map && len(parts) == 1:
		if v.IsNil() {
			v.Set(reflect.MakeMap(v.Type()))
		}
		key := parts[0]
		for _, k := range v.MapKeys() {
			if strings.EqualFold(k.String(), key) {
				key = k.String() // as the file writes it
			}
		}
		x := reflect.New(v.Type().Elem()).Elem()
		if !isLabelKey(key) {
			l.wrong(at, path, "%s cannot be a key: only letters, digits, _ and - are allowed", quote(key))
		} else if l.text(at, value, x, f.kind, join(path, key)) {
			v.SetMapIndex(reflect.ValueOf(key), x)
		}
	case len(parts) > 0:
		l.wrong(at, "", "%s has no subkeys: the variable is %s", path, variable(path))
	case v.Kind() == reflect.Struct:
		l.wrong(at, "", "%s has subkeys: write it like %s", path, variable(join(path, fields(v.Type())[0].key)))
	case v.Kind() == reflect.Slice:
		l.wrong(at, "", "%s is a list: write it like %s", path, variable(item(path, 0)))
	case v.Kind() == reflect.Map:
		l.wrong(at, "", "%s has subkeys: write it like %s", path, variable(join(path, anyKey(f))))
	default:
		l.text(at, value, v, f.kind, path)
	}
}
