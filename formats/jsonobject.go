package formats

import (
	"bytes"
	"strconv"
	"strings"
)

// An object writes the members of a JSON object, with commas where needed.
type object struct {
	b     []byte
	comma bool
	path  string // of the objects that enter opened
}

// enter closes and opens objects, so that the next members are in the one at path: names of objects,
// each with a point behind it. It is relative to the object that was open when enter was first
// called.
func (o *object) enter(path string) {
	if path == o.path {
		return
	}
	for !strings.HasPrefix(path, o.path) {
		o.close()
		o.path = o.path[:strings.LastIndexByte(o.path[:len(o.path)-1], '.')+1]
	}
	for from := len(o.path); from < len(path); from = len(o.path) {
		n := strings.IndexByte(path[from:], '.')
		o.open(path[from : from+n])
		o.path = path[:from+n+1]
	}
}

// member returns what was written, with what is in front of a value.
func (o *object) member(open string) []byte {
	b := o.b
	if o.comma {
		b = append(b, ',')
	}
	o.comma = true
	return append(b, open...)
}

func (o *object) name(name string) {
	start := `,"`
	if !o.comma {
		start = `"`
	}
	o.comma = true
	o.b = append(append(append(o.b, start...), name...), `":`...)
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

// openList starts a list of objects; each is started by openElement and ended by close.
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

// textIf omits unknown values.
func (o *object) textIf(name, v string) {
	if v != "" {
		o.text(name, v)
	}
}

// label writes a text with a name given by the user.
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
	o.b = appendUint(o.b, v)
}

func (o *object) bool(name string, v bool) {
	o.name(name)
	o.b = strconv.AppendBool(o.b, v)
}

func (o *object) float(name string, v float64, digits int) {
	o.name(name)
	o.b = strconv.AppendFloat(o.b, v, 'f', digits, 64)
}

// bytes, ns, count and pct write a number with its unit as a nested name.
func (o *object) bytes(name string, v uint64) { o.unit(name, `":{"bytes":`, v) }
func (o *object) ns(name string, v int64)     { o.unit(name, `":{"ns":`, uint64(max(0, v))) }
func (o *object) count(name string, v uint64) { o.unit(name, `":{"count":`, v) }

// nsIf omits unknown values.
func (o *object) nsIf(name string, v int64, known bool) {
	if known {
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
	o.b = appendUint(o.b, v)
	o.b = append(o.b, '}')
}

// ratio writes all digits of a number, so that a reader gets the same value. It always has
// decimals: an index would take its type from the first value, even one without decimals.
func (o *object) ratio(name string, v float64) {
	o.name(name)
	o.b = appendRatio(o.b, v)
}

func appendRatio(dst []byte, v float64) []byte {
	from := len(dst)
	if dst = strconv.AppendFloat(dst, v, 'f', -1, 64); bytes.IndexByte(dst[from:], '.') < 0 {
		dst = append(dst, ".0"...)
	}
	return dst
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

// members writes preformatted members.
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
