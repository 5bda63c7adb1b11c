package logs

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gclog/gclog/formats"
	"github.com/gclog/gclog/formats/fields"
)

// A scanner reads the JSON of one line without copying it. Unexpected input makes the scanner fail:
// it returns nothing more from then on.
//
//	for s.object(); s.next(); {
//		switch string(s.key) {
//		case "number":
//			n = s.uint(math.MaxUint32)
//		default:
//			s.skip()
//		}
//	}
//
// It accepts more than JSON, such as extra commas, or anything after a number. Only what can be
// read matters here.
type scanner struct {
	b      []byte
	at     int
	failed bool
	key    []byte // of the current member
	texts  []byte // texts of this line that had escapes
	days   calendar
}

// begin starts a line.
func (s *scanner) begin(b []byte) {
	s.b, s.at, s.failed, s.texts = b, 0, false, s.texts[:0]
}

func (s *scanner) fail() { s.failed, s.at = true, len(s.b) }

// blank skips white space between values.
func (s *scanner) blank() {
	for s.at < len(s.b) && s.b[s.at] <= ' ' {
		s.at++
	}
}

// open skips the start of an object or a list.
func (s *scanner) open(c byte) {
	s.blank()
	if s.at >= len(s.b) || s.b[s.at] != c {
		s.fail()
		return
	}
	s.at++
}

func (s *scanner) object() { s.open('{') }
func (s *scanner) list()   { s.open('[') }

// another skips the commas in front of the next item of an object or a list. It returns false at
// the end.
func (s *scanner) another(end byte) bool {
	for s.at < len(s.b) {
		switch c := s.b[s.at]; {
		case c == ',' || c <= ' ':
			s.at++
		case c == end:
			s.at++
			return false
		default:
			return true
		}
	}
	s.fail()
	return false
}

// element advances to the next element of a list.
func (s *scanner) element() bool { return s.another(']') }

// next advances to the next member of an object that is not null: null means unknown, like a
// missing member.
func (s *scanner) next() bool {
	for s.another('}') {
		s.key = s.text()
		if s.at < len(s.b) && s.b[s.at] == ':' {
			s.at++
		} else {
			s.open(':')
		}
		if s.at < len(s.b) && s.b[s.at] <= ' ' {
			s.blank()
		}
		if s.at < len(s.b) && s.b[s.at] != 'n' {
			return true
		}
		if rest, ok := literal(s.b[s.at:], "null"); ok {
			s.at = len(s.b) - len(rest)
		} else {
			s.fail()
		}
	}
	return false
}

// text reads a string. It is valid as long as the line.
func (s *scanner) text() []byte {
	b, from := s.b, s.at+1
	if s.at >= len(b) || b[s.at] != '"' {
		s.fail()
		return nil
	}
	for i := from; i < len(b); i++ {
		switch b[i] {
		case '"':
			s.at = i + 1
			return b[from:i]
		case '\\':
			return s.escaped(from, i)
		}
	}
	s.fail()
	return nil
}

// escaped reads a string with escapes, the first of which is at i.
func (s *scanner) escaped(from, i int) []byte {
	begin := len(s.texts)
	s.texts = append(s.texts, s.b[from:i]...)
	for i < len(s.b) {
		switch c := s.b[i]; c {
		case '"':
			s.at = i + 1
			return s.texts[begin:len(s.texts):len(s.texts)]
		case '\\':
			n := s.escape(s.b[i:])
			if n == 0 {
				s.fail()
				return nil
			}
			i += n
		default:
			s.texts = append(s.texts, c)
			i++
		}
	}
	s.fail()
	return nil
}

// escape appends the meaning of the escape at the start of b, and returns its length; 0 if it is
// invalid.
func (s *scanner) escape(b []byte) int {
	const short, means = `"\/bfnrt`, "\"\\/\b\f\n\r\t"
	if len(b) < 2 {
		return 0
	}
	if i := bytes.IndexByte([]byte(short), b[1]); i >= 0 {
		s.texts = append(s.texts, means[i])
		return 2
	}
	const unit = len(`\u0000`)
	r, ok := utf16Unit(b)
	if !ok {
		return 0
	}
	if utf16.IsSurrogate(r) {
		if low, ok := utf16Unit(b[unit:]); ok {
			if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
				s.texts = utf8.AppendRune(s.texts, pair)
				return 2 * unit
			}
		}
	}
	s.texts = utf8.AppendRune(s.texts, r) // U+FFFD for half a surrogate pair
	return unit
}

func utf16Unit(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		d, ok := hexDigit(c)
		if !ok {
			return 0, false
		}
		r = r<<4 | rune(d)
	}
	return r, true
}

func hexDigit(c byte) (byte, bool) {
	switch {
	case c >= '0' && c <= '9':
		return c - '0', true
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10, true
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10, true
	}
	return 0, false
}

// uint reads a whole number up to most.
func (s *scanner) uint(most uint64) uint64 {
	v, rest, ok := number(s.b[s.at:])
	if !ok || v > most {
		s.fail()
		return 0
	}
	s.at = len(s.b) - len(rest)
	return v
}

// int reads a whole number.
func (s *scanner) int() int64 {
	if s.at < len(s.b) && s.b[s.at] == '-' {
		s.at++
		return -int64(s.uint(math.MaxInt64))
	}
	return int64(s.uint(math.MaxInt64))
}

// decimal reads a number with decimals as an integer in units of 1/10^digits.
func (s *scanner) decimal(digits int) int64 {
	v, rest, ok := fixed(s.b[s.at:], digits)
	if !ok {
		s.fail()
		return 0
	}
	for len(rest) > 0 && rest[0]-'0' <= 9 {
		rest = rest[1:]
	}
	s.at = len(s.b) - len(rest)
	return v
}

func (s *scanner) bool() bool {
	if rest, ok := literal(s.b[s.at:], "true"); ok {
		s.at = len(s.b) - len(rest)
		return true
	}
	if rest, ok := literal(s.b[s.at:], "false"); ok {
		s.at = len(s.b) - len(rest)
		return false
	}
	s.fail()
	return false
}

// time reads a time as nanoseconds since 1970. Earlier times are rejected, so that the difference
// of two never overflows.
func (s *scanner) time() int64 {
	ns, rest, ok := s.days.date(s.text())
	if !ok || ns < 0 || ns > farthest || len(rest) > 0 {
		s.fail()
		return 0
	}
	return ns
}

// bytes, ns, count and pct read a number whose unit is a nested name.
func (s *scanner) bytes() uint64            { return s.unit(`{"bytes":`, math.MaxUint64) }
func (s *scanner) ns() int64                { return int64(s.unit(`{"ns":`, fields.MaxSpan)) }
func (s *scanner) count(most uint64) uint64 { return s.unit(`{"count":`, most) }

// unit reads a number after prefix or, if b starts differently, an object with that member among
// others.
func (s *scanner) unit(prefix string, most uint64) (v uint64) {
	b := s.b[s.at:]
	if len(b) > len(prefix) && string(b[:len(prefix)]) == prefix {
		v, rest, ok := number(b[len(prefix):])
		if ok && v <= most && len(rest) > 0 && rest[0] == '}' {
			s.at = len(s.b) - len(rest) + 1
			return v
		}
	}
	name := prefix[2 : len(prefix)-2]
	for s.object(); s.next(); {
		if string(s.key) == name {
			v = s.uint(most)
		} else {
			s.skip()
		}
	}
	return v
}

// ratio reads a number with all of its digits.
func (s *scanner) ratio() float64 { return s.number("0123456789.") }

// real reads any number.
func (s *scanner) real() float64 { return s.number("0123456789+-.eE") }

// number reads a number of these characters.
func (s *scanner) number(of string) float64 {
	end := s.at
	for end < len(s.b) && end-s.at <= maxDigits && strings.IndexByte(of, s.b[end]) >= 0 {
		end++
	}
	v, err := strconv.ParseFloat(string(s.b[s.at:end]), 64)
	if err != nil {
		s.fail()
		return 0
	}
	s.at = end
	return v
}

// maxDigits is the maximum number of digits of a ratio: more than any undamaged number has.
const maxDigits = 32

// share reads a ratio with all of its digits as a percentage.
func (s *scanner) share() (percent float64) {
	for s.object(); s.next(); {
		if string(s.key) == "pct" {
			percent = 100 * s.ratio()
		} else {
			s.skip()
		}
	}
	return percent
}

// pct reads a ratio in units of 0.01 %.
func (s *scanner) pct() (v int64) {
	for s.object(); s.next(); {
		if string(s.key) == "pct" {
			v = s.decimal(4)
		} else {
			s.skip()
		}
	}
	return v
}

// skip skips a value of any kind.
func (s *scanner) skip() {
	depth := 0
	for i := s.at; i < len(s.b); i++ {
		switch s.b[i] {
		case '"':
			n := formats.QuotedLength(s.b[i:])
			if n == 0 {
				s.fail()
				return
			}
			i += n - 1
			if depth == 0 {
				s.at = i + 1
				return
			}
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				s.at = i + 1
				return
			}
			if depth < 0 { // end of the enclosing object
				s.end(i)
				return
			}
		case ',':
			if depth == 0 {
				s.end(i)
				return
			}
		}
	}
	s.fail()
}

// end ends a value at i, which must not be empty.
func (s *scanner) end(i int) {
	if i == s.at {
		s.fail()
		return
	}
	s.at = i
}
