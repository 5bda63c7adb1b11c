package formats

import (
	"bytes"
	"strconv"
)

// An object writes the members of a JSON object, with commas where they belong.
type object struct {
	b     []byte
	comma bool
}

func (o *object) name(name string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, '"', ':')
}

func (o *object) open(name string) {
	o.name(name)
	o.b = append(o.b, '{')
	o.comma = false
}

func (o *object) close() {
	o.b = append(o.b, '}')
	o.comma = true
}

// openList begins a list of objects, each of which openElement begins and close ends.
func (o *object) openList(name string) {
	o.name(name)
	o.b = append(o.b, '[')
	o.comma = false
}

func (o *object) openElement() {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.b = append(o.b, '{')
	o.comma = false
}

func (o *object) closeList() {
	o.b = append(o.b, ']')
	o.comma = true
}

func (o *object) text(name, v string) {
	o.name(name)
	o.b = appendJSONString(o.b, v)
}

// textIf leaves out what is unknown.
func (o *object) textIf(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

// label writes a text whose name is not ours.
func (o *object) label(name, v string) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(appendJSONString(o.b, name), ':')
	o.b = appendJSONString(o.b, v)
}

func (o *object) int(name string, v int64) {
	o.name(name)
	o.b = strconv.AppendInt(o.b, v, 10)
}

func (o *object) uint(name string, v uint64) {
	o.name(name)
	o.b = strconv.AppendUint(o.b, v, 10)
}

func (o *object) bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) float(name string, v float64, digits int) {
	o.name(name)
	o.b = strconv.AppendFloat(o.b, v, 'f', digits, 64)
}

// bytes, ns, count and pct write a number with its unit as a name of its own.
func (o *object) bytes(name string, v uint64) { o.unit(name, `":{"bytes":`, v) }
func (o *object) ns(name string, v int64)     { o.unit(name, `":{"ns":`, uint64(max(0, v))) }
func (o *object) count(name string, v uint64) { o.unit(name, `":{"count":`, v) }

// nsIf leaves out what is unknown.
func (o *object) nsIf(name string, v int64) {
	if v >= 0 {
		o.ns(name, v)
	}
}

func (o *object) unit(name, unit string, v uint64) {
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, '"')
	o.b = append(o.b, name...)
	o.b = append(o.b, unit...)
	o.b = strconv.AppendUint(o.b, v, 10)
	o.b = append(o.b, '}')
}

// ratio writes all digits that a number has: who reads it gets the same one. It has decimals in
// any case: an index would take the first one without for the type of all.
func (o *object) ratio(name string, v float64) {
	o.name(name)
	from := len(o.b)
	if o.b = strconv.AppendFloat(o.b, v, 'f', -1, 64); bytes.IndexByte(o.b[from:], '.') < 0 {
		o.b = append(o.b, ".0"...)
	}
}

// share writes a percentage so.
func (o *object) share(name string, percent float64) {
	o.open(name)
	o.ratio("pct", percent/100)
	o.close()
}

func (o *object) pct(name string, v float64) {
	o.open(name)
	o.float("pct", v, 4)
	o.close()
}

func (o *object) strings(name string, list []string) {
	o.name(name)
	o.b = append(o.b, '[')
	for i, s := range list {
		if i > 0 {
			o.b = append(o.b, ',')
		}
		o.b = appendJSONString(o.b, s)
	}
	o.b = append(o.b, ']')
}

func (o *object) raw(name string, v []byte) {
	o.name(name)
	o.b = append(o.b, v...)
}

// members writes members that are ready made.
func (o *object) members(m []byte) {
	if len(m) == 0 {
		return
	}
	if o.comma {
		o.b = append(o.b, ',')
	}
	o.comma = true
	o.b = append(o.b, m...)
}
