package formats

import (
	"bytes"
	"strconv"
)

// An object writes the members of a JSON object, with commas where needed.
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

// bytes, ns, count and pct write a number with its unit as a nested name.
func (o *object) bytes(name string, v uint64) { o.unit(name, `":{"bytes":`, v) }
func (o *object) ns(name string, v int64)     { o.unit(name, `":{"ns":`, uint64(max(0, v))) }
func (o *object) count(name string, v uint64) { o.unit(name, `":{"count":`, v) }

// nsIf omits unknown values.
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

// ratio writes all digits of a number, so that a reader gets the same value. It always has
// decimals: an index would take its type from the first value, even one without decimals.
func (o *object) ratio(name string, v float64) {
	o.name(name)
	from := len(o.b)
	if o.b = strconv.AppendFloat(o.b, v, 'f', -1, 64); bytes.IndexByte(o.b[from:], '.') < 0 {
		o.b = append(o.b, ".0"...)
	}
}

// share writes a percentage as a ratio.
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
