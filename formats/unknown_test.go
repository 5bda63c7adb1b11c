package formats_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/gclog"
	"github.com/gclog/gclog/internal/testing/extent"
	"github.com/gclog/gclog/internal/testing/generated"
)

// TestZeroIsKnown: 0 is a known duration. No format writes it like an unknown one.
func TestZeroIsKnown(t *testing.T) {
	for name, write := range map[string]func(*formats.Writer, gclog.PausePart){
		"a collection": func(w *formats.Writer, p gclog.PausePart) {
			d := blockingInKiB(7, 1, p.Start)
			d.Pauses[0] = p
			w.Observe(&gclog.Pause{PausePart: p, GC: d})
			w.Observe(d)
		},
		"a background collection": func(w *formats.Writer, p gclog.PausePart) {
			d := inKiB()
			d.Pauses[0] = p
			w.Observe(&gclog.Pause{PausePart: p, GC: d})
			w.Observe(d)
		},
		"no collection": func(w *formats.Writer, p gclog.PausePart) {
			p.Kind = gclog.PauseNoGCRegion
			w.Observe(&gclog.Pause{PausePart: p})
			w.Observe(&gclog.Suspension{Start: p.Start, Duration: p.Duration, Suspend: p.Suspend, HasSuspend: p.HasSuspend})
		},
	} {
		for _, f := range formats.All() {
			for _, set := range []func(p *gclog.PausePart, v int64, known bool){
				func(p *gclog.PausePart, v int64, known bool) { p.Suspend, p.HasSuspend = v, known },
				func(p *gclog.PausePart, v int64, known bool) { p.Resume, p.HasResume = v, known },
			} {
				text := func(v int64, known bool) string {
					p := gclog.PausePart{Start: 1e9, Duration: 9e6, Suspend: 3e6, HasSuspend: true, Resume: 4e6, HasResume: true}
					set(&p, v, known)
					_, records := written(t, f.Name, formats.Options{Process: someone(), Selection: allLines()}, func(w *formats.Writer) { write(w, p) })
					return strings.Join(records, "\n")
				}
				if unknown := text(0, false); unknown != text(5e6, true) && unknown == text(0, true) {
					t.Errorf("%s, %s: 0 is written as if it were unknown:\n%s", f.Name, name, unknown)
				}
			}
		}
	}
}

var emptyMember = regexp.MustCompile(`"\w+":(\[\]|\{\})`)

// namesOf returns the names of what each format with names writes of a collection.
func namesOf(t *testing.T, d *gclog.GCDetails) []string {
	t.Helper()
	all := map[string]bool{}
	_, records := written(t, "json", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(d) })
	for _, m := range emptyMember.FindAllString(records[0], -1) {
		all["json "+m] = true
	}
	_, list := members(t, "record", []byte(records[0]))
	for _, m := range list {
		all["json "+strings.TrimPrefix(m.path, "dotnet.gc.")] = true
	}
	head, records := written(t, "csv", formats.Options{Process: someone()}, func(w *formats.Writer) { w.Observe(d) })
	columns := strings.Split(head, ",")
	for i, cell := range strings.Split(records[0], ",") {
		if cell != "" {
			all["csv "+columns[i]] = true
		}
	}
	for name := range fieldsOf(t, d) {
		all["unified "+name] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// leaves calls f with each settable value of v that consists of no others, and its path. Of an
// array, whose elements are alike, it takes the one in the middle.
func leaves(v reflect.Value, path string, f func(path string, v reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer:
		leaves(v.Elem(), path, f)
	case reflect.Struct:
		for field, x := range v.Fields() {
			if x.CanSet() {
				leaves(x, strings.TrimPrefix(path+"."+field.Name, "."), f)
			}
		}
	case reflect.Slice:
		if v.Len() > 0 {
			f(path, v)
		}
		for i := range v.Len() {
			leaves(v.Index(i), path+"["+strconv.Itoa(i)+"]", f)
		}
	case reflect.Array:
		i := v.Len() / 2
		leaves(v.Index(i), path+"["+strconv.Itoa(i)+"]", f)
	default:
		f(path, v)
	}
}

// TestWhatIsUnknown: testdata/unknown.txt has what the formats leave out or add if one value
// of a collection's details is 0 (also false, or empty), 1 or -1 (all bits set). Values that make
// no such difference have no line there.
func TestWhatIsUnknown(t *testing.T) {
	extent.Long(t)
	var out strings.Builder
	d := inKiB()
	whole := namesOf(t, d)
	difference := func(sign string, a, b []string) (text string) {
		for _, name := range a {
			if !slices.Contains(b, name) {
				text += "\n  " + sign + name
			}
		}
		return text
	}
	source, err := os.ReadFile(filepath.Join("..", "gclog", "groups.go"))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range regexp.MustCompile(`(?m)^\t(Group\w+)( Groups = .*)?$`).FindAllSubmatch(source, -1) {
		d.Known &^= 1 << i
		fmt.Fprintf(&out, "without %s:%s\n", m[1], difference("-", whole, namesOf(t, d))+difference("+", namesOf(t, d), whole))
		d.Known |= 1 << i
	}
	leaves(reflect.ValueOf(d), "", func(path string, v reflect.Value) {
		if path == "Known" {
			return
		}
		before := reflect.New(v.Type()).Elem()
		before.Set(v)
		try := func(value string) {
			names := namesOf(t, d)
			if text := difference("-", whole, names) + difference("+", names, whole); text != "" {
				fmt.Fprintf(&out, "%s = %s:%s\n", path, value, text)
			}
			v.Set(before)
		}
		v.SetZero()
		try("0")
		switch v.Kind() {
		case reflect.Int64:
			v.SetInt(1)
			try("1")
			v.SetInt(-1)
			try("-1")
		case reflect.Uint32, reflect.Uint64:
			v.SetUint(1)
			try("1")
			v.SetUint(math.MaxUint64)
			try("-1")
		case reflect.Float64:
			v.SetFloat(1)
			try("1")
		}
	})
	generated.File(t, filepath.Join("testdata", "unknown.txt"), out.String())
}
