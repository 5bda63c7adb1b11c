package condition

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// A token is a piece of the text of a condition.
type token struct {
	kind tokenKind
	text string // of a text without its quotes
	at   int    // offset in the text
}

type tokenKind uint8

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenNumber // with its unit
	tokenText
	tokenOperator
)

// maxText is the longest text of a condition.
const maxText = 4 << 10

var (
	// A name may have hyphens between letters, as findings.long-pause has: a minus needs a space.
	namePattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*(-[A-Za-z][A-Za-z0-9_.]*)*`)
	// A unit may be separated by spaces, and a duration may have several: 2m30s, 500 MB/s, 5 %.
	numberPattern = regexp.MustCompile(
		`^\.?[0-9][0-9.]*(\s*(%/h|%|/(?:s|h|min)\b|[A-Za-zµ]+(/s)?)([0-9.]+[a-zµ]+)*)?`)
	operatorPattern = regexp.MustCompile(`^(\|\||&&|>=|<=|==|!=|[-><!+*/()\[\],=&|])`)
)

// words are the names that are operators, or that may follow a number without being its unit.
var words = map[string]string{"and": "&&", "or": "||", "not": "!", "in": "in", "worse": Worse, "than": "than"}

// lex splits a condition into tokens. The last one is the end.
func lex(text string) (list []token, err error) {
	if len(text) > maxText {
		return nil, &Error{1, fmt.Sprintf("the condition is longer than %d bytes", maxText)}
	}
	for at := 0; ; {
		at += len(text[at:]) - len(strings.TrimLeft(text[at:], " \t\r\n"))
		rest := text[at:]
		if rest == "" {
			return append(list, token{kind: tokenEnd, at: at}), nil
		}
		t := token{at: at}
		length := 0
		switch {
		case rest[0] == '\'' || rest[0] == '"':
			end := strings.IndexByte(rest[1:], rest[0])
			if end < 0 {
				return nil, wrong(text, at, "the quote is not closed")
			}
			t.kind, t.text, length = tokenText, rest[1:1+end], end+2
		case namePattern.MatchString(rest):
			t.text = namePattern.FindString(rest)
			t.kind, length = tokenName, len(t.text)
			if operator, ok := words[t.text]; ok {
				t.kind, t.text = tokenOperator, operator
			}
		case numberPattern.MatchString(rest):
			t.kind, t.text = tokenNumber, number(rest)
			length = len(t.text)
		case operatorPattern.MatchString(rest):
			t.kind, t.text = tokenOperator, operatorPattern.FindString(rest)
			length = len(t.text)
		default:
			r, _ := utf8.DecodeRuneInString(rest)
			return nil, wrong(text, at, "%q does not belong in a condition", r)
		}
		list = append(list, t)
		at += length
	}
}

// number returns the number at the start of a text, with its unit. A word of the language is none.
func number(text string) string {
	m := numberPattern.FindStringSubmatch(text)
	if _, isWord := words[m[2]]; isWord {
		return text[:strings.Index(m[0], m[2])]
	}
	return m[0]
}

// wrong returns an error at an offset of a text.
func wrong(text string, at int, format string, args ...any) *Error {
	return &Error{utf8.RuneCountInString(text[:min(at, len(text))]) + 1, fmt.Sprintf(format, args...)}
}
