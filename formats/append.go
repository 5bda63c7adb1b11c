package formats

import (
	"math/bits"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"
)

// The appenders below write numbers, times and strings as logs need them: always with a decimal
// point, always in UTC, and without allocating.

// appendFixed appends v, in units of 1/10^all, with digits decimals, rounded half away from zero:
// appendFixed(b, 2501499, 6, 3) is 2.501.
func appendFixed(dst []byte, v int64, all, digits int) []byte {
	u := uint64(v) // the minimum int64 has no positive counterpart
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	div, unit := pow10(all-digits), pow10(digits)
	u = divide(u, div)
	dst = appendUint(dst, u/unit)
	if digits == 0 {
		return dst
	}
	dst = append(dst, '.')
	return appendPadded(dst, int64(u%unit), digits)
}

func pow10(n int) uint64 {
	v := uint64(1)
	for range n {
		v *= 10
	}
	return v
}

// appendPadded appends v with leading zeros to at least width digits.
func appendPadded(dst []byte, v int64, width int) []byte {
	var b [20]byte
	i := len(b)
	for width > 0 || v > 0 {
		i--
		b[i] = byte('0' + v%10)
		v /= 10
		width--
	}
	return append(dst, b[i:]...)
}

// appendMillis appends nanoseconds as milliseconds with three decimals.
func appendMillis(dst []byte, ns int64) []byte { return appendFixed(dst, ns, 6, 3) }

// A clock turns the time stamps of a stream into wall-clock text.
type clock struct {
	sync   int64 // the stream's sync point, in nanoseconds since 1970
	uptime int64 // age of the process at the sync point

	second int64  // since 1970, that text is about
	text   []byte // "2006-01-02T15:04:05.": most times of a group are in the same second
}

func newClock(sync time.Time, uptime time.Duration) *clock {
	return &clock{sync: sync.UnixNano(), uptime: int64(uptime)}
}

const nsPerSecond = int64(time.Second)

// appendClock appends the date and time of a time stamp in UTC with the given number of decimals,
// truncated, as 2006-01-02T15:04:05.000.
func (c *clock) appendClock(dst []byte, at int64, digits int) []byte {
	t := c.sync + at
	second, ns := t/nsPerSecond, t%nsPerSecond
	if ns < 0 {
		second, ns = second-1, ns+nsPerSecond
	}
	if len(c.text) == 0 || second != c.second {
		c.second = second
		c.text = time.Unix(second, 0).UTC().AppendFormat(c.text[:0], "2006-01-02T15:04:05.")
	}
	dst = append(dst, c.text...)
	return appendPadded(dst, ns/int64(pow10(9-digits)), digits)
}

// appendUptime appends the age of the process in seconds with three decimals, truncated like the
// date next to it.
func (c *clock) appendUptime(dst []byte, at int64) []byte {
	ms := max(0, c.uptime+at) / int64(time.Millisecond)
	dst = strconv.AppendInt(dst, ms/1000, 10)
	dst = append(dst, '.')
	return appendPadded(dst, ms%1000, 3)
}

// divide returns n/d rounded to the nearest integer, even where adding half of d would overflow.
func divide(n, d uint64) uint64 { return n/d + (n%d+d/2)/d }

// kib rounds bytes to KiB.
func kib(bytes uint64) int64 { return int64(divide(bytes, 1024)) }

// appendBytes appends a human-readable size: 512 B, 1.5 KB, 29.8 MB, 3.1 GB.
func appendBytes(dst []byte, n uint64) []byte {
	units := [...]string{" B", " KB", " MB", " GB", " TB"}
	if n < 1000 {
		dst = strconv.AppendUint(dst, n, 10)
		return append(dst, units[0]...)
	}
	div, unit := uint64(1000), 1
	for n/div >= 1000 && unit < len(units)-1 {
		div *= 1000
		unit++
	}
	tenths := divide(n, div/10)
	if tenths >= 10000 && unit < len(units)-1 { // 999.95 MB is 1.0 GB
		div *= 1000
		unit++
		tenths = divide(n, div/10)
	}
	dst = strconv.AppendUint(dst, tenths/10, 10)
	dst = append(dst, '.', byte('0'+tenths%10))
	return append(dst, units[unit]...)
}

// SizeText formats a number of bytes as the text format does.
func SizeText(n int64) string { return string(appendBytes(nil, uint64(n))) }

// appendJSONString appends s quoted for JSON. s may come from a target: invalid UTF-8 becomes
// U+FFFD, and control characters and the separators that end lines in other languages are escaped.
func appendJSONString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	i := 0
	for i < len(s) && s[i] >= ' ' && s[i] < 0x7f && s[i] != '"' && s[i] != '\\' {
		i++ // most texts need no escape
	}
	dst = append(dst, s[:i]...)
	for i < len(s) {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c == '\n':
				dst = append(dst, '\\', 'n')
			case c == '\t':
				dst = append(dst, '\\', 't')
			case c == '\r':
				dst = append(dst, '\\', 'r')
			case c < 0x20 || c == 0x7f:
				dst = appendEscape(dst, rune(c))
			default:
				dst = append(dst, c)
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, `\ufffd`...)
		case IsControl(r):
			dst = appendEscape(dst, r)
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}

// appendPlain appends s with only those characters that no reader of a JDK log misinterprets:
// letters, digits, blank and .,:_/=-
func appendPlain(dst []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9',
			c == ' ', c == '.', c == ',', c == ':', c == '_', c == '/', c == '=', c == '-':
			dst = append(dst, c)
		default:
			dst = append(dst, '_')
		}
	}
	return dst
}

const digitPairs = "0001020304050607080910111213141516171819" + "2021222324252627282930313233343536373839" +
	"4041424344454647484950515253545556575859" + "6061626364656667686970717273747576777879" +
	"8081828384858687888990919293949596979899"

// tens are the powers of ten.
var tens = [20]uint64{
	1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
}

// appendUint appends a number. Most of what is written are numbers: it is faster than strconv
// because the digits are written where they belong.
func appendUint(dst []byte, v uint64) []byte {
	n := bits.Len64(v) * 1233 >> 12 // the number of digits, or one less
	if n == 0 || v >= tens[n] {
		n++
	}
	at := len(dst) + n
	dst = slices.Grow(dst, n)[:at]
	for ; v >= 100; v /= 100 {
		pair := v % 100 * 2
		at -= 2
		dst[at], dst[at+1] = digitPairs[pair], digitPairs[pair+1]
	}
	if v >= 10 {
		dst[at-2], dst[at-1] = digitPairs[2*v], digitPairs[2*v+1]
	} else {
		dst[at-1] = byte('0' + v)
	}
	return dst
}
