package gcsettings

import (
	"fmt"
	"strconv"
	"strings"
)

// A reading is how a runtime interprets a text.
type reading struct {
	value  string // normalized: on, off, a decimal number, the text
	number uint64 // 0 or 1 for a switch
	absent bool   // as if nothing were set
	why    string // why it is absent, or has no effect
	note   string // why it is not what people may think
}

// emptyText is the reason why an empty text sets nothing.
const emptyText = "it is empty"

// readVariable interprets the value of a variable as CoreCLR does: the leading hexadecimal digits
// count, with or without 0x.
func readVariable(s *Setting, text string) reading {
	switch {
	case text == "":
		return reading{absent: true, why: emptyText}
	case s.Kind == Text:
		return reading{value: text}
	}
	n, digits, rest := leadingHex(text)
	switch {
	case digits == "" && s.Kind == Bool:
		return reading{absent: true, why: "it is not a hexadecimal number: write 1 or 0"}
	case digits == "":
		return reading{value: plain(s, 0), why: "it is not a hexadecimal number and is treated as 0"}
	case len(strings.TrimLeft(digits, "0")) > 16:
		return reading{value: plain(s, 0), why: "it has more than 64 bits and is treated as 0"}
	}
	r := reading{number: n}
	switch {
	case rest != "" && s.Kind == Bool:
		r.note = fmt.Sprintf("only its hexadecimal digits %s are used: write 1 or 0", digits)
	case rest != "":
		r.note = fmt.Sprintf("only its hexadecimal digits %s are used", digits)
	case strings.HasPrefix(strings.TrimSpace(text), "-"):
		r.note = fmt.Sprintf("a negative number wraps around to 64 bits: it is 0x%x", n)
	case s.Kind == Number && s.Unit != Mask && looksDecimal(text):
		r.note = "variables are hexadecimal: it is 0x" + text
	}
	if s.Kind == Bool {
		r.number = min(r.number, 1)
	}
	r.value = plain(s, r.number)
	return r
}

// looksDecimal reports whether a number may be meant to be decimal, and is a different one then.
func looksDecimal(text string) bool {
	return len(text) > 1 && text[0] != '0' && strings.Trim(text, "0123456789") == ""
}

// readStrict interprets the value of a variable as NativeAOT does: all of it must be one
// hexadecimal number, without 0x.
func readStrict(s *Setting, text string) reading {
	if s.Kind == Text {
		return readVariable(s, text)
	}
	n, err := strconv.ParseUint(text, 16, 64)
	if err != nil {
		return reading{absent: true, why: "NativeAOT reads hexadecimal digits only, without 0x"}
	}
	if s.Kind == Bool {
		n = min(n, 1)
	}
	r := readVariable(s, text)
	return reading{value: plain(s, n), number: n, note: r.note}
}

// readProperty interprets the value of a property, as it is in the file.
func readProperty(s *Setting, value any) reading {
	text := propertyText(value)
	switch {
	case s.Kind == Text:
		if text == "" {
			return reading{absent: true, why: emptyText}
		}
		return reading{value: text}
	case s.Kind == Bool:
		on := strings.EqualFold(text, "true")
		r := reading{value: plain(s, 0)}
		if on {
			r = reading{value: plain(s, 1), number: 1}
		} else if !strings.EqualFold(text, "false") {
			r.why = "a switch must be true or false there; anything else is treated as false"
		}
		return r
	}
	digits := strings.TrimSpace(text)
	if hex, ok := cutHexPrefix(digits); ok {
		n, leading, _ := leadingHex(hex)
		return reading{value: plain(s, n), number: n, note: leftOver(hex, leading)}
	}
	leading := digits[:len(digits)-len(strings.TrimLeft(digits, "0123456789"))]
	n, err := strconv.ParseUint(leading, 10, 64)
	if err != nil {
		return reading{value: plain(s, 0), why: "it is not a number and is treated as 0"}
	}
	return reading{value: plain(s, n), number: n, note: leftOver(digits, leading)}
}

func leftOver(text, leading string) string {
	if text == leading {
		return ""
	}
	return fmt.Sprintf("only its digits %s are used", leading)
}

// propertyText returns a JSON value as the host passes it on.
func propertyText(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case bool:
		return strconv.FormatBool(v)
	case nil:
		return ""
	}
	return fmt.Sprint(value)
}

// leadingHex parses the hexadecimal digits at the start of a text, and also returns the digits and
// what follows them.
func leadingHex(text string) (n uint64, digits, rest string) {
	text, negative := strings.CutPrefix(strings.TrimSpace(text), "-")
	text, _ = cutHexPrefix(text)
	rest = strings.TrimLeft(text, hexDigits)
	digits = text[:len(text)-len(rest)]
	n, _ = strconv.ParseUint(digits, 16, 64)
	if negative {
		n = -n
	}
	return n, digits, rest
}

const hexDigits = "0123456789abcdefABCDEF"

func cutHexPrefix(s string) (rest string, ok bool) {
	if len(s) > 2 && s[0] == '0' && (s[1] == 'x' || s[1] == 'X') {
		return s[2:], true
	}
	return s, false
}

// plain formats a value: a switch as a word, a mask in hexadecimal, other numbers in decimal.
func plain(s *Setting, n uint64) string {
	switch {
	case s.Kind == Bool && n != 0:
		return "on"
	case s.Kind == Bool:
		return "off"
	case s.Unit == Mask:
		return "0x" + strconv.FormatUint(n, 16)
	}
	return strconv.FormatUint(n, 10)
}
