package accesslog

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/gclog/gclog/formats"
)

// ndjson is a log with one JSON object per line. It is parsed by hand: only two fields of an object
// and the position of its last brace matter.
type ndjson struct {
	o Options

	b     []byte
	at    int
	when  value // of the current row
	took  value
	empty bool // it has no members
	ours  bool // it has one of the names that are added
	end   int  // position of its last brace
}

// A value is the value of a field.
type value struct {
	b     []byte // without quotes
	found bool
}

func (l *ndjson) row(b []byte, _ bool) int { return endOfLine(b) }

func (l *ndjson) time() []byte     { return l.when.b }
func (l *ndjson) duration() []byte { return l.took.b }

func (l *ndjson) find(row []byte) problem {
	l.b, l.at, l.end = bytes.TrimPrefix(row, byteOrderMark), 0, -1
	l.when, l.took, l.ours, l.empty = value{}, value{}, false, true
	shift := len(row) - len(l.b)
	if l.blank() != '{' || !l.object(l.o.Time, l.o.Duration, true) || !blank(l.b[l.at:]) {
		return problemUnreadable
	}
	l.end = shift + l.at - 1
	switch {
	case l.ours:
		l.end = -1
		return problemJoined
	case !l.when.found:
		return problemNoTime
	case !l.took.found:
		return problemNoDuration
	}
	return problemNone
}

// blank skips whitespace and returns the next character, or 0 at the end.
func (l *ndjson) blank() byte {
	for l.at < len(l.b) {
		if c := l.b[l.at]; c > ' ' {
			return c
		}
		l.at++
	}
	return 0
}

// object skips an object, and looks in it for fields by their paths. A key that itself contains
// dots is found too.
func (l *ndjson) object(when, took string, top bool) bool {
	l.at++
	for first := true; ; first = false {
		c := l.blank()
		if c == '}' {
			l.at++
			return true
		}
		if !first {
			if c != ',' {
				return false
			}
			l.at++
			c = l.blank()
		}
		if c != '"' {
			return false
		}
		key := l.text()
		if key == nil || l.blank() != ':' {
			return false
		}
		l.at++
		c = l.blank()
		if top {
			l.empty = false
			l.ours = l.ours || len(key) > 3 && key[0] == 'g' && isOurs(key)
		}
		isWhen, restWhen := step(key, when, &l.when)
		isTook, restTook := step(key, took, &l.took)
		from := l.at
		if c == '{' && (restWhen != "" || restTook != "") {
			if !l.object(restWhen, restTook, false) {
				return false
			}
			continue
		}
		if !l.skip() {
			return false
		}
		if isWhen {
			l.when = valueOf(l.b[from:l.at])
		}
		if isTook {
			l.took = valueOf(l.b[from:l.at])
		}
	}
}

// step reports whether a key is the field at a path; otherwise it returns the rest of the path
// after that key, if the path starts with it.
func step(key []byte, path string, v *value) (is bool, rest string) {
	switch n := len(key); {
	case v.found || n > len(path) || path[:n] != string(key):
	case n == len(path):
		return n > 0, ""
	case path[n] == '.':
		return false, path[n+1:]
	}
	return false, ""
}

func isOurs(key []byte) bool {
	switch string(key) {
	case pauseField, countField, numbersField:
		return true
	}
	return false
}

// valueOf returns a value if it is a string or a number; null is no value.
func valueOf(b []byte) value {
	switch {
	case b[0] == 'n':
		return value{}
	case b[0] == '"' && bytes.IndexByte(b, '\\') >= 0:
		var s string
		_ = json.Unmarshal(b, &s) // if this fails, it is no time either
		return value{[]byte(s), true}
	case b[0] == '"':
		return value{b[1 : len(b)-1], true}
	}
	return value{b, true}
}

// text reads a key; nil if it is not terminated.
func (l *ndjson) text() []byte {
	n := formats.QuotedLength(l.b[l.at:])
	if n == 0 {
		return nil
	}
	b := l.b[l.at : l.at+n]
	l.at += n
	if bytes.IndexByte(b, '\\') < 0 {
		return b[1 : n-1]
	}
	var s string
	if json.Unmarshal(b, &s) != nil {
		return nil
	}
	return []byte(s)
}

// skip skips a value.
func (l *ndjson) skip() bool {
	depth := 0
	for i := l.at; i < len(l.b); i++ {
		switch l.b[i] {
		case '"':
			n := formats.QuotedLength(l.b[i:])
			if n == 0 {
				return false
			}
			i += n - 1
		case '{', '[':
			depth++
			continue
		case '}', ']':
			if depth--; depth < 0 {
				return false // there is no value
			}
		default:
			if depth > 0 {
				continue
			}
			if i = endOfWord(l.b, i); i == l.at {
				return false
			}
			l.at = i
			return true
		}
		if depth == 0 {
			l.at = i + 1
			return true
		}
	}
	return false
}

// endOfWord returns where a number or a word that starts at i ends.
func endOfWord(b []byte, i int) int {
	for ; i < len(b); i++ {
		if c := b[i]; c <= ' ' || c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || c == '{' || c == '[' {
			break
		}
	}
	return i
}

func (l *ndjson) add(dst, row []byte, g *pauses) []byte {
	if l.end < 0 {
		return append(dst, row...)
	}
	dst = append(dst, row[:l.end]...)
	if !l.empty {
		dst = append(dst, ',')
	}
	if g == nil {
		dst = append(dst, `"`+pauseField+`":null,"`+countField+`":null,"`+numbersField+`":null`...)
		return append(dst, row[l.end:]...)
	}
	dst = append(dst, `"`+pauseField+`":`...)
	dst = appendMillis(dst, g.Pause)
	dst = append(dst, `,"`+countField+`":`...)
	dst = strconv.AppendInt(dst, int64(g.Pauses), 10)
	dst = append(dst, `,"`+numbersField+`":[`...)
	dst = appendNumbers(dst, g.numbers, ',')
	dst = append(dst, ']')
	return append(dst, row[l.end:]...)
}

func appendNumbers(dst []byte, numbers []uint32, separator byte) []byte {
	for i, n := range numbers {
		if i > 0 {
			dst = append(dst, separator)
		}
		dst = strconv.AppendUint(dst, uint64(n), 10)
	}
	return dst
}

// names returns the paths of all fields in a row that are not objects.
func (l *ndjson) names(row []byte) (list []string) {
	var o map[string]any
	if json.Unmarshal(bytes.TrimPrefix(row, byteOrderMark), &o) != nil {
		return nil
	}
	return appendPaths(nil, "", o)
}

func appendPaths(dst []string, prefix string, o map[string]any) []string {
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if inner, ok := o[key].(map[string]any); ok {
			dst = appendPaths(dst, prefix+key+".", inner)
		} else {
			dst = append(dst, prefix+key)
		}
	}
	return dst
}
