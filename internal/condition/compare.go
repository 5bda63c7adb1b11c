package condition

import (
	"slices"
	"strings"

	"github.com/gclog/gclog/internal/spelling"
)

// flag makes c the comparison that a flag alone is.
func (p *parser) flag(c *Comparison, flag *operand) error {
	c.Fields = flag.fields
	field := flag.field
	c.compare = func(v Values) Truth {
		x, known := v.Number(field)
		if !known {
			return Unknown
		}
		return truth(x != 0)
	}
	return nil
}

// compare parses what is compared with left.
func (p *parser) compare(c *Comparison, left *operand, operator token) error {
	c.Operator, c.Fields = operator.text, left.fields
	if f := left.field; f >= 0 && p.scope.Fields[f].Compared != (operator.text == Worse) {
		if operator.text == Worse {
			return p.wrong(operator, "only a difference can be worse: compare %s with a number", left.at.text)
		}
		return p.wrong(operator, "%s is a difference: write '%s worse than 10%%'", left.at.text, left.at.text)
	}
	switch operator.text {
	case Worse:
		return p.worse(c, left)
	case "in":
		return p.among(c, left, operator)
	}
	if w := p.peek(); left.kind == Flag && w.kind == tokenName && (w.text == "true" || w.text == "false") {
		return p.flagIs(c, left, operator, w)
	}
	right, err := p.sum()
	if err != nil {
		return err
	}
	c.Fields = merged(left.fields, right.fields)
	switch {
	case left.kind == Text && right.kind == Text:
		return p.compareTexts(c, left, operator, right)
	case left.kind != Number || right.kind != Number:
		return p.wrong(right.at, "%s is %s, and %s is %s", left.at.text, left.kind, right.at.text, right.kind)
	}
	return p.compareNumbers(c, left, operator, right)
}

// flagIs parses the comparison of a flag with true or false.
func (p *parser) flagIs(c *Comparison, left *operand, operator, word token) error {
	p.next++
	want := truth(word.text == "true")
	switch operator.text {
	case "==":
	case "!=":
		want = negated(want)
	default:
		return p.wrong(operator, "flags can only be compared with == and !=")
	}
	if err := p.flag(c, left); err != nil || want == True {
		return err
	}
	is := c.compare
	c.compare = func(v Values) Truth { return negated(is(v)) }
	return nil
}

// worse parses the limit of a difference: none is 0 %.
func (p *parser) worse(c *Comparison, left *operand) error {
	if left.field < 0 {
		return p.wrong(left.at, "only a difference can be worse")
	}
	c.Simple, c.Operator = true, Worse
	c.compare = func(Values) Truth { return Unknown }
	if _, ok := p.accept("than"); !ok {
		return nil
	}
	limit := p.peek()
	if limit.kind != tokenNumber {
		return p.unexpected(limit, "a percentage")
	}
	p.next++
	value, err := p.value(limit, "%")
	c.Typed, c.Limit = limit.text, value
	return err
}

// among parses a list of texts.
func (p *parser) among(c *Comparison, left *operand, operator token) error {
	if left.kind != Text || left.field < 0 {
		return p.wrong(operator, "in needs a field with a text on its left, and a list of texts on its right: reason "+
			"in ['Induced', 'LowMemory']")
	}
	if t, ok := p.accept("["); !ok {
		return p.unexpected(t, "a list, such as ['Induced', 'LowMemory'],")
	}
	var list []string
	for {
		t := p.peek()
		if t.kind != tokenText {
			return p.unexpected(t, "a text in quotes")
		}
		if err := p.checkText(left.field, t); err != nil {
			return err
		}
		list = append(list, t.text)
		p.next++
		if _, more := p.accept(","); !more {
			break
		}
	}
	if t, ok := p.accept("]"); !ok {
		return p.unexpected(t, "]")
	}
	field := left.field
	c.compare = func(v Values) Truth {
		x, known := v.Text(field)
		if !known {
			return Unknown
		}
		return truth(slices.Contains(list, x))
	}
	return nil
}

func (p *parser) compareTexts(c *Comparison, left *operand, operator token, right *operand) error {
	if operator.text != "==" && operator.text != "!=" {
		return p.wrong(operator, "texts can only be compared with ==, != and in")
	}
	if left.field < 0 {
		left, right = right, left
	}
	if left.field < 0 {
		return p.wrong(left.at, "there is no field in the comparison")
	}
	field, equal := left.field, operator.text == "=="
	if other := right.field; other >= 0 {
		c.compare = func(v Values) Truth {
			a, known := v.Text(field)
			b, alsoKnown := v.Text(other)
			if !known || !alsoKnown {
				return Unknown
			}
			return truth((a == b) == equal)
		}
		return nil
	}
	if err := p.checkText(field, right.at); err != nil {
		return err
	}
	want := right.at.text
	c.compare = func(v Values) Truth {
		x, known := v.Text(field)
		if !known {
			return Unknown
		}
		return truth((x == want) == equal)
	}
	return nil
}

// checkText checks that a field can have the value of a text.
func (p *parser) checkText(field int, t token) error {
	f := &p.scope.Fields[field]
	if len(f.Values) == 0 || slices.Contains(f.Values, t.text) {
		return nil
	}
	return p.wrong(t, "%s is never %q%s (it is %s)",
		f.Name, t.text, spelling.DidYouMean(t.text, f.Values), strings.Join(f.Values, ", "))
}

func (p *parser) compareNumbers(c *Comparison, left *operand, operator token, right *operand) error {
	if len(c.Fields) == 0 {
		return p.wrong(left.at, "there is no field in the comparison")
	}
	if err := p.agree(left, right); err != nil {
		return err
	}
	is := comparers[operator.text]
	if left.isConstant() {
		left, right, operator.text = right, left, mirrored(operator.text)
	}
	if left.field >= 0 && right.isConstant() {
		c.Simple, c.Operator, c.Typed = true, operator.text, right.at.text
		c.Limit, _ = right.number.number(nil)
		field, limit := left.field, c.Limit
		is = comparers[operator.text]
		c.compare = func(v Values) Truth {
			x, known := v.Number(field)
			if !known {
				return Unknown
			}
			return truth(is(x, limit))
		}
		return nil
	}
	is = comparers[operator.text]
	a, b := left.number, right.number
	c.compare = func(v Values) Truth {
		x, known := a.number(v)
		y, alsoKnown := b.number(v)
		if !known || !alsoKnown {
			return Unknown
		}
		return truth(is(x, y))
	}
	return nil
}

var comparers = map[string]func(a, b float64) bool{
	">":  func(a, b float64) bool { return a > b },
	">=": func(a, b float64) bool { return a >= b },
	"<":  func(a, b float64) bool { return a < b },
	"<=": func(a, b float64) bool { return a <= b },
	"==": func(a, b float64) bool { return a == b },
	"!=": func(a, b float64) bool { return a != b },
}

// Compare reports whether a comparison of two numbers with an operator is true.
func Compare(a float64, operator string, b float64) bool { return comparers[operator](a, b) }

// mirrored returns the operator with its sides exchanged.
func mirrored(operator string) string {
	return strings.NewReplacer(">", "<", "<", ">").Replace(operator)
}

func merged(a, b []int) (list []int) {
	for _, f := range slices.Concat(a, b) {
		if !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list
}
