// Package totals sums up everything that a test receives, number by number, and compares the sums
// with a file, so that no change goes unnoticed.
package totals

import (
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gclog/gclog/internal/testing/generated"
)

// Totals are the sums by field name.
type Totals map[string]*total

type total struct {
	n    int // of values that are not zero
	sum  float64
	hash uint32 // of the values, each with its position in the order
}

// An Adder adds values and counts their positions; several Adders may add to the same Totals.
type Adder struct {
	Totals Totals
	place  uint64 // position of the last number
}

// AddAll adds every exported field of a value, and of the values that it points to.
func (s *Adder) AddAll(name string, v any) {
	s.Add(name, reflect.ValueOf(v))
}

// Add is AddAll for a reflect.Value.
func (s *Adder) Add(path string, v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		bit := uint64(0)
		if v.Bool() {
			bit = 1
		}
		s.number(path, bit, float64(bit))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		s.number(path, uint64(v.Int()), float64(v.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s.number(path, v.Uint(), float64(v.Uint()))
	case reflect.Float32, reflect.Float64:
		// The last bits may differ between architectures.
		s.number(path, uint64(math.Float32bits(float32(v.Float()))), v.Float())
	case reflect.String:
		h := fnv.New64a()
		_, _ = h.Write([]byte(v.String()))
		s.number(path, h.Sum64(), float64(v.Len()))
	case reflect.Pointer:
		if !v.IsNil() {
			s.Add(path, v.Elem())
		}
	case reflect.Array:
		for i := range v.Len() {
			s.Add(path+"[]", v.Index(i))
		}
	case reflect.Slice:
		s.Add(path+".len", reflect.ValueOf(v.Len()))
		for i := range v.Len() {
			s.Add(path+"[]", v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				s.Add(path+"."+f.Name, v.Field(i))
			}
		}
	}
}

func (s *Adder) number(path string, bits uint64, v float64) {
	if s.place++; bits == 0 {
		return
	}
	f := s.Totals[path]
	if f == nil {
		f = &total{}
		s.Totals[path] = f
	}
	f.n++
	f.sum += v
	f.hash += uint32((bits ^ s.place*0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd >> 32)
}

// A Part is a part of a file, under a title.
type Part struct {
	Title  string
	Totals Totals
}

// Hold compares the sums with a file.
func Hold(t testing.TB, file string, parts ...Part) {
	t.Helper()
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "# %s: field, values that are not zero, their sum (of texts: of their lengths), their hash\n", p.Title)
		for _, name := range slices.Sorted(maps.Keys(p.Totals)) {
			f := p.Totals[name]
			fmt.Fprintf(&b, "%s %d %.6g %08x\n", name, f.n, f.sum, f.hash)
		}
	}
	generated.File(t, file, b.String())
}
