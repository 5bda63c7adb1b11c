// Package fields is the table of what records contain: for each field its names, its unit, what it
// means, where it comes from, and how to get and set it. All has the fields of a collection, Process
// those of a process, Gap, Suspension and Stall those of other records. Package formats writes logs
// from these tables and package formats/logs reads them with them; Parquet columns, conditions,
// attributes of OpenTelemetry, the tables of docs/formats.md and the schema samples/gc.schema.json
// are generated from them.
//
// A field that is a number or a flag has Get, and Set unless it is derived from others; a field that
// is one of several names has Text. Everything else, such as lists and what depends on the process,
// is only described here: the formats have code for it.
package fields

import (
	"math"
	"slices"

	"github.com/gclog/gclog/gclog"
)

// A Field is a field of a collection.
type Field = Row[gclog.GCDetails]

// A Fact is a field of a process.
type Fact = Row[gclog.Process]

// A Row is a field of a record of type R. Names are empty in formats that do not contain the field.
type Row[R any] struct {
	JSON    string // the path, of fields of a collection below dotnet.gc; a name ending in [] is a list
	CSV     string // the column
	Unified string // the title of the line and the name in it
	OTel    string // the resource attribute of OpenTelemetry
	Unit    Unit
	Events  string // what it comes from: numbers as in docs/events.md, or the document that says so
	Doc     string // what it is
	Value[R]
}

// A Unit is what a value counts, and how it is represented.
type Unit uint8

// The units. In json a value is in an object that names its unit, unless the unit is Plain, or has
// no name. Values of Percent, ExactPercent and Ratio are the bits of a float64.
const (
	Number Unit = iota
	Signed
	Count
	Bytes
	PlainBytes
	Nanoseconds
	PlainNanoseconds
	Time         // nanoseconds since the sync point
	Date         // nanoseconds since 1970
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
type Value[R any] struct {
	// Get returns the value, if it is known.
	Get func(r *R) (v uint64, known bool)
	// Set sets a value up to Max, and marks it as known.
	Set func(r *R, v uint64)
	Max uint64
	// Text returns the name or the text; empty if it is unknown.
	Text func(r *R) string
	// SetText sets a text that is not empty, and reports whether it is valid; nil if formats have code
	// for it.
	SetText func(r *R, text []byte) bool
	// Values are the names that a Text may be; nil if there are others, or formats know them.
	Values []string
}

// Of returns the value or the text, if it is known.
func (x *Value[R]) Of(r *R) (v uint64, text string, known bool) {
	if x.Text != nil {
		text = x.Text(r)
		return 0, text, text != ""
	}
	v, known = x.Get(r)
	return v, "", known
}

func row(json, csv, unified string, unit Unit, events, doc string, v Value[gclog.GCDetails]) Field {
	return Field{JSON: json, CSV: csv, Unified: unified, Unit: unit, Events: events, Doc: doc, Value: v}
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

// grouped is a value of a group of fields.
func grouped[T integer](g gclog.Groups, at func(*gclog.GCDetails) *T) Value[gclog.GCDetails] {
	return Value[gclog.GCDetails]{
		Get: func(d *gclog.GCDetails) (uint64, bool) { return uint64(*at(d)), d.Known.Has(g) },
		Set: func(d *gclog.GCDetails, v uint64) {
			*at(d) = T(v)
			d.Known |= g
		},
		Max: most[T](),
	}
}

// positive is a value that is known if it is greater than 0.
func positive[R any, T integer](at func(*R) *T) Value[R] {
	return Value[R]{
		Get: func(r *R) (uint64, bool) { v := *at(r); return uint64(v), v > 0 },
		Set: func(r *R, v uint64) { *at(r) = T(v) },
		Max: most[T](),
	}
}

// when is a value that is known when others are.
func when[R any, T integer](known func(*R) bool, at func(*R) *T) Value[R] {
	return Value[R]{
		Get: func(r *R) (uint64, bool) {
			if !known(r) {
				return 0, false
			}
			return uint64(*at(r)), true
		},
		Set: func(r *R, v uint64) { *at(r) = T(v) },
		Max: most[T](),
	}
}

// yes is a flag that is only written if it is set.
func yes[R any](at func(*R) *bool) Value[R] {
	return Value[R]{
		Get: func(r *R) (uint64, bool) { return 1, *at(r) },
		Set: func(r *R, v uint64) { *at(r) = v != 0 },
		Max: 1,
	}
}

// stored is any other value up to most.
func stored[R any](most uint64, get func(*R) (uint64, bool), set func(*R, uint64)) Value[R] {
	return Value[R]{Get: get, Set: set, Max: most}
}

// derived is a value that is not stored.
func derived[R any](get func(*R) (uint64, bool)) Value[R] { return Value[R]{Get: get} }

// always is a value that is always known.
func always[R any, T integer](at func(*R) *T) Value[R] {
	return when(func(*R) bool { return true }, at)
}

// enum is one of the names of the values up to last.
func enum[R any, T interface {
	~uint8
	String() string
}](last T, at func(*R) *T) Value[R] {
	v := Value[R]{
		Text: func(r *R) string { return (*at(r)).String() },
	}
	for x := range last + 1 {
		v.Values = append(v.Values, x.String())
	}
	v.SetText = func(r *R, text []byte) bool {
		i := slices.Index(v.Values, string(text))
		*at(r) = T(max(0, i))
		return i >= 0
	}
	return v
}

// text is one of several names.
func text[R any](get func(*R) string) Value[R] { return Value[R]{Text: get} }

// bits returns a value of the units that are no integers.
func bits(v float64, known bool) (uint64, bool) { return math.Float64bits(v), known }
