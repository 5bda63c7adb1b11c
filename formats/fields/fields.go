// Package fields is the table of what a record of a collection contains: for each field its name in
// json, csv and unified logs, its unit, what it means, which event it comes from, and how to get and
// set it. Package formats writes logs from this table and package formats/logs reads them with it;
// the tables of docs/formats.md and the schema samples/gc.schema.json are generated from it.
//
// A field that is a number or a flag has Get, and Set unless it is derived from others; a field that
// is one of several names has Text. Everything else, such as lists and what depends on the process,
// is only described here: the formats have code for it.
package fields

import (
	"math"

	"github.com/gclog/gclog/gclog"
)

// A Field is a row of the table. Names are empty in formats that do not contain the field.
type Field struct {
	JSON    string // the path below dotnet.gc; a name ending in [] is a list
	CSV     string // the column
	Unified string // the title of the line and the name in it
	Unit    Unit
	Events  string // what it comes from: numbers as in docs/events.md, or the document that says so
	Doc     string // what it is
	Value
}

// A Unit is what a value counts, and how it is represented.
type Unit uint8

// The units. In json a value is in an object that names its unit, unless the unit is Plain, or has
// no name. Values of Percent, ExactPercent and Ratio are the bits of a float64.
const (
	Number Unit = iota
	Count
	Bytes
	PlainBytes
	Nanoseconds
	PlainNanoseconds
	Time         // nanoseconds since the sync point
	WholePercent // an integer
	Percent      // with two decimals
	ExactPercent // with all digits
	Ratio        // with all digits
	Flag         // 0 or 1
	Text         // one of several names
	Texts        // a list of names
	Numbers      // a list of numbers
	Hex          // bytes
)

// A Value gets and sets a field of a record.
type Value struct {
	// Get returns the value, if it is known.
	Get func(d *gclog.GCDetails) (v uint64, known bool)
	// Set sets a value up to Max, and marks it as known.
	Set func(d *gclog.GCDetails, v uint64)
	Max uint64
	// Text returns the name; empty if it is unknown.
	Text func(d *gclog.GCDetails) string
}

func row(json, csv, unified string, unit Unit, events, doc string, v Value) Field {
	return Field{json, csv, unified, unit, events, doc, v}
}

type integer interface {
	int | int32 | int64 | uint16 | uint32 | uint64
}

// MaxSpan is the longest duration that logs may contain, more than two years in nanoseconds: sums of
// such durations do not overflow.
const MaxSpan = 1 << 56

// most returns the maximum value of a field of type T.
func most[T integer]() uint64 {
	switch any(T(0)).(type) {
	case uint16:
		return math.MaxUint16
	case uint32:
		return math.MaxUint32
	case uint64:
		return math.MaxUint64
	case int64:
		return MaxSpan
	}
	return math.MaxInt32
}

// flagged is a value with a flag that says that it is known.
func flagged[T integer](at func(*gclog.GCDetails) (*T, *bool)) Value {
	return Value{
		Get: func(d *gclog.GCDetails) (uint64, bool) { v, known := at(d); return uint64(*v), *known },
		Set: func(d *gclog.GCDetails, v uint64) { to, known := at(d); *to, *known = T(v), true },
		Max: most[T](),
	}
}

// positive is a value that is known if it is greater than 0.
func positive[T integer](at func(*gclog.GCDetails) *T) Value {
	return Value{
		Get: func(d *gclog.GCDetails) (uint64, bool) { v := *at(d); return uint64(v), v > 0 },
		Set: func(d *gclog.GCDetails, v uint64) { *at(d) = T(v) },
		Max: most[T](),
	}
}

// when is a value that is known when others are.
func when[T integer](known func(*gclog.GCDetails) bool, at func(*gclog.GCDetails) *T) Value {
	return Value{
		Get: func(d *gclog.GCDetails) (uint64, bool) {
			if !known(d) {
				return 0, false
			}
			return uint64(*at(d)), true
		},
		Set: func(d *gclog.GCDetails, v uint64) { *at(d) = T(v) },
		Max: most[T](),
	}
}

// yes is a flag that is only written if it is set.
func yes(at func(*gclog.GCDetails) *bool) Value {
	return Value{
		Get: func(d *gclog.GCDetails) (uint64, bool) { return 1, *at(d) },
		Set: func(d *gclog.GCDetails, v uint64) { *at(d) = v != 0 },
		Max: 1,
	}
}

// stored is any other value up to most.
func stored(most uint64, get func(*gclog.GCDetails) (uint64, bool), set func(*gclog.GCDetails, uint64)) Value {
	return Value{Get: get, Set: set, Max: most}
}

// derived is a value that is not stored.
func derived(get func(*gclog.GCDetails) (uint64, bool)) Value { return Value{Get: get} }

// text is one of several names.
func text(get func(*gclog.GCDetails) string) Value { return Value{Text: get} }

// bits returns a value of the units that are no integers.
func bits(v float64, known bool) (uint64, bool) { return math.Float64bits(v), known }
