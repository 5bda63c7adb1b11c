package condition

import (
	"slices"
	"strings"

	"github.com/gclog/gclog/internal/spelling"
)

// Parse parses a condition on the fields of the scope. Its errors are of type *Error.
func (s *Scope) Parse(text string) (*Condition, error) {
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := &parser{scope: s, text: text, tokens: tokens}
	c := &Condition{Text: strings.TrimSpace(text)}
	if p.peek().kind == tokenEnd {
		return nil, p.wrong(p.peek(), "the condition is empty: write a comparison, such as %s", s.Fields[0].example())
	}
	if c.root, err = p.either(); err != nil {
		return nil, err
	}
	if t := p.peek(); t.kind != tokenEnd {
		return nil, p.unexpected(t, "&&, || or the end")
	}
	c.Comparisons = p.comparisons
	return c, nil
}

// example returns a comparison of a number.
func (f *Field) example() string {
	if f.Compared {
		return "'" + f.Name + " worse than 10%'"
	}
	return "'" + f.Name + " > " + exampleOf(f.Unit) + "'"
}

// A parser parses a condition: each method parses what its grammar names, from the next token on.
type parser struct {
	scope       *Scope
	text        string
	tokens      []token
	next        int
	depth       int
	comparisons []*Comparison
}

// maxDepth is how deep conditions may be nested.
const maxDepth = 64

func (p *parser) peek() token { return p.tokens[p.next] }

// accept consumes the next token if it is one of the operators.
func (p *parser) accept(operators ...string) (token, bool) {
	t := p.peek()
	if t.kind == tokenOperator && slices.Contains(operators, t.text) {
		p.next++
		return t, true
	}
	return t, false
}

func (p *parser) wrong(t token, format string, args ...any) error {
	return wrong(p.text, t.at, format, args...)
}

// unexpected reports a token in place of something else.
func (p *parser) unexpected(t token, instead string) error {
	switch {
	case t.kind == tokenEnd:
		return p.wrong(t, "the condition ends where %s should follow", instead)
	case t.text == "=":
		return p.wrong(t, "= is not an operator: write == to compare")
	case t.text == "&" || t.text == "|":
		return p.wrong(t, "%s is not an operator: write %s", t.text, t.text+t.text)
	}
	return p.wrong(t, "%q where %s should follow", t.text, instead)
}

// either = both { "||" both }
func (p *parser) either() (node, error) { return p.chained("||", true, p.both) }

// both = term { "&&" term }
func (p *parser) both() (node, error) { return p.chained("&&", false, p.term) }

func (p *parser) chained(operator string, any bool, part func() (node, error)) (node, error) {
	first, err := part()
	if err != nil {
		return nil, err
	}
	parts := []node{first}
	for {
		if _, more := p.accept(operator); !more {
			break
		}
		n, err := part()
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	if len(parts) == 1 {
		return first, nil
	}
	return &chain{any, parts}, nil
}

// term = "!" term | "(" either ")" | comparison
func (p *parser) term() (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.wrong(p.peek(), "the condition is nested more than %d deep", maxDepth)
	}
	defer func() { p.depth-- }()
	if _, ok := p.accept("!"); ok {
		n, err := p.term()
		return not{n}, err
	}
	if p.isGroup() {
		p.next++
		n, err := p.either()
		if err != nil {
			return nil, err
		}
		if t, ok := p.accept(")"); !ok {
			return nil, p.unexpected(t, ")")
		}
		return n, nil
	}
	return p.comparison()
}

// isGroup reports whether a parenthesis follows that encloses a condition, not a number: one with a
// comparison in it.
func (p *parser) isGroup() bool {
	if t := p.peek(); t.kind != tokenOperator || t.text != "(" {
		return false
	}
	open := 0
	for _, t := range p.tokens[p.next:] {
		if t.kind != tokenOperator {
			continue
		}
		switch t.text {
		case "(":
			open++
		case ")":
			if open--; open == 0 {
				return p.aloneFlag()
			}
		case "+", "-", "*", "/", "[", "]", ",":
		default:
			return true
		}
	}
	return true
}

// aloneFlag reports whether a parenthesis encloses a flag, which is a condition.
func (p *parser) aloneFlag() bool {
	t := p.tokens[p.next+1]
	f := p.find(t.text)
	return t.kind == tokenName && f >= 0 && p.scope.Fields[f].Type == Flag
}

// find returns the index of a field, or -1.
func (p *parser) find(name string) int {
	return slices.IndexFunc(p.scope.Fields, func(f Field) bool { return f.Name == name })
}

// comparison = flag | operand operator operand | text "in" "[" text { "," text } "]" | name "worse" [ "than" number ]
func (p *parser) comparison() (node, error) {
	begin := p.peek()
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	c := &Comparison{}
	t := p.peek()
	operator, ok := p.accept(comparing...)
	switch {
	case ok:
		err = p.compare(c, left, operator)
	case left.kind == Flag:
		err = p.flag(c, left)
	case t.kind == tokenEnd:
		text := strings.TrimSpace(p.text[begin.at:])
		if f := left.field; f >= 0 && left.kind == Number {
			err = p.wrong(begin, "%s is not a condition: write %s in quotes, for the shell interprets the >",
				text, p.scope.Fields[f].example())
		} else {
			err = p.wrong(begin, "%s is not a condition: compare it", text)
		}
	default:
		err = p.unexpected(t, "a comparison")
	}
	if err != nil {
		return nil, err
	}
	if again, ok := p.accept(comparing...); ok {
		return nil, p.wrong(again, "comparisons cannot be chained: join two with &&")
	}
	c.Text = strings.TrimSpace(p.text[begin.at:p.peek().at])
	p.comparisons = append(p.comparisons, c)
	return c, nil
}

// comparing are the operators of comparisons.
var comparing = []string{">", ">=", "<", "<=", "==", "!=", "in", Worse}

// unknownField returns the error for a name that is not in the scope.
func (p *parser) unknownField(t token) error {
	var known []string
	for i := range p.scope.Fields {
		known = append(known, p.scope.Fields[i].Name)
	}
	meant := p.scope.Meant
	if meant == nil {
		meant = spelling.DidYouMean
	}
	return p.wrong(t, "there is no %s %s%s (%s)", p.scope.About, t.text, meant(t.text, known), p.scope.Where)
}

// exampleOf returns a value in a unit.
func exampleOf(unit string) string {
	switch unit {
	case "ns":
		return "50ms"
	case "bytes", "bytes/s":
		return "500MB" + strings.TrimPrefix(unit, "bytes")
	case "%", "%/h":
		return "5" + unit
	case "1/min":
		return "5/min"
	}
	return "5"
}
