package condition

import (
	"github.com/gclog/gclog/gclog/analysis"
)

func (t Type) String() string { return [...]string{"a number", "a text", "a flag"}[t] }

// An operand is one side of a comparison, or a part of it.
type operand struct {
	at     token
	kind   Type
	fields []int // in it
	field  int   // it is just this field; -1: it is not
	number quantity
	unit   string
	// open: it is a number as it was typed, whose unit depends on what it is combined with.
	open bool
	// share: it is a quotient of two values with the same unit, which may be compared with 90%.
	share bool
}

func (o *operand) isConstant() bool { return len(o.fields) == 0 }

// A quantity is a number in a condition.
type quantity interface {
	number(v Values) (x float64, known bool)
}

type constant float64

func (c constant) number(Values) (float64, bool) { return float64(c), true }

type fieldNumber int

func (f fieldNumber) number(v Values) (float64, bool) { return v.Number(int(f)) }

// A calculation is a sum, difference, product or quotient. A quotient by 0 is unknown.
type calculation struct {
	operator byte
	a, b     quantity
}

func (c *calculation) number(v Values) (float64, bool) {
	a, known := c.a.number(v)
	b, alsoKnown := c.b.number(v)
	if !known || !alsoKnown {
		return 0, false
	}
	switch c.operator {
	case '+':
		return a + b, true
	case '-':
		return a - b, true
	case '*':
		return a * b, true
	}
	return a / b, b != 0
}

// sum = product { ( "+" | "-" ) product }
func (p *parser) sum() (*operand, error) {
	left, err := p.product()
	if err != nil {
		return nil, err
	}
	for {
		operator, more := p.accept("+", "-")
		if !more {
			return left, nil
		}
		right, err := p.product()
		if err != nil {
			return nil, err
		}
		if err := p.areNumbers(operator, left, right); err != nil {
			return nil, err
		}
		if err := p.agree(left, right); err != nil {
			return nil, err
		}
		left = left.with(operator, right, left.unit)
	}
}

// product = factor { ( "*" | "/" ) factor }
func (p *parser) product() (*operand, error) {
	left, err := p.factor()
	if err != nil {
		return nil, err
	}
	for {
		operator, more := p.accept("*", "/")
		if !more {
			return left, nil
		}
		right, err := p.factor()
		if err != nil {
			return nil, err
		}
		if err := p.areNumbers(operator, left, right); err != nil {
			return nil, err
		}
		if left, err = p.multiply(left, operator, right); err != nil {
			return nil, err
		}
	}
}

// multiply returns a product or a quotient: of something with a unit and a factor, which may be a
// percentage, or the share that one value has of another.
func (p *parser) multiply(left *operand, operator token, right *operand) (*operand, error) {
	for _, o := range []*operand{left, right} {
		if err := p.settle(o); err != nil {
			return nil, err
		}
		if o.isConstant() && o.unit == "%" {
			v, _ := o.number.number(nil)
			o.number, o.unit = constant(v/100), ""
		}
	}
	switch {
	case operator.text == "/" && left.unit == right.unit:
		x := left.with(operator, right, "")
		x.share = left.unit != ""
		return x, nil
	case right.unit == "":
		return left.with(operator, right, left.unit), nil
	case left.unit == "" && operator.text == "*":
		return left.with(operator, right, right.unit), nil
	}
	return nil, p.wrong(operator,
		"%s cannot be combined with %s by %s", unitText(left.unit), unitText(right.unit), operator.text)
}

// factor = name | number | text | "(" sum ")" | "-" factor
func (p *parser) factor() (*operand, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.wrong(p.peek(), "the condition is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	t := p.peek()
	if minus, ok := p.accept("-"); ok {
		of, err := p.factor()
		if err != nil {
			return nil, err
		}
		if err := p.areNumbers(minus, of); err != nil {
			return nil, err
		}
		if err := p.settle(of); err != nil {
			return nil, err
		}
		return (&operand{at: t, number: constant(0)}).with(minus, of, of.unit), nil
	}
	if _, ok := p.accept("("); ok {
		o, err := p.sum()
		if err != nil {
			return nil, err
		}
		if t, ok := p.accept(")"); !ok {
			return nil, p.unexpected(t, ")")
		}
		o.field = -1
		return o, nil
	}
	switch t.kind {
	case tokenName:
		p.next++
		f := p.find(t.text)
		if f < 0 {
			return nil, p.unknownField(t)
		}
		field := &p.scope.Fields[f]
		return &operand{
			at: t, kind: field.Type, field: f, fields: []int{f}, number: fieldNumber(f), unit: field.Unit,
		}, nil
	case tokenNumber:
		p.next++
		return &operand{at: t, field: -1, open: true}, nil
	case tokenText:
		p.next++
		return &operand{at: t, kind: Text, field: -1}, nil
	}
	return nil, p.unexpected(t, "a name or a number")
}

// with returns the calculation with another operand.
func (o *operand) with(operator token, other *operand, unit string) *operand {
	return &operand{
		at: o.at, field: -1, fields: merged(o.fields, other.fields), unit: unit, share: o.share && other.share,
		number: &calculation{operator.text[0], o.number, other.number},
	}
}

func (p *parser) areNumbers(operator token, list ...*operand) error {
	for _, o := range list {
		if o.kind != Number {
			return p.wrong(o.at, "%s needs numbers, and %s is %s", operator.text, o.at.text, o.kind)
		}
	}
	return nil
}

// agree gives open numbers the unit of the other side, and checks that both sides have the same.
func (p *parser) agree(a, b *operand) error {
	for _, x := range [][2]*operand{{a, b}, {b, a}} {
		open, other := x[0], x[1]
		if !open.open || other.open {
			continue
		}
		if other.share {
			if v, err := analysis.ParseValue(open.at.text, "%"); err == nil && open.at.text != "0" {
				open.number, open.open = constant(v/100), false
				return nil
			}
		}
		v, err := p.value(open.at, other.unit)
		open.number, open.unit, open.open = constant(v), other.unit, false
		return err
	}
	for _, o := range []*operand{a, b} {
		if err := p.settle(o); err != nil {
			return err
		}
	}
	if a.unit != b.unit {
		return p.wrong(b.at, "%s cannot be combined with %s", unitText(a.unit), unitText(b.unit))
	}
	return nil
}

// value returns the value of a number with a unit.
func (p *parser) value(t token, unit string) (float64, error) {
	v, err := analysis.ParseValue(t.text, unit)
	if err != nil {
		return 0, p.wrong(t, "%v", err)
	}
	return v, nil
}

// units are those that a number may have by itself, in the order in which they are tried: 5m are
// minutes, 5M is a size.
var units = []string{"", "ns", "%", "bytes", "bytes/s", "1/min", "%/h"}

// settle gives an open number the unit that it was written with.
func (p *parser) settle(o *operand) error {
	if !o.open {
		return nil
	}
	o.open = false
	for _, unit := range units {
		if v, err := analysis.ParseValue(o.at.text, unit); err == nil {
			o.number, o.unit = constant(v), unit
			return nil
		}
	}
	return p.wrong(o.at, "%q is not a number with a unit, such as 50ms, 500MB or 5%%", o.at.text)
}

// unitText names what has a unit.
func unitText(unit string) string {
	switch unit {
	case "":
		return "a number"
	case "ns":
		return "a duration"
	case "bytes":
		return "a size"
	case "bytes/s":
		return "a rate"
	case "%":
		return "a percentage"
	case "1/min":
		return "a rate per minute"
	}
	return "a value in " + unit
}
