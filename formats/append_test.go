package formats

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestAppendFixed(t *testing.T) {
	for _, c := range []struct {
		v           int64
		all, digits int
		want        string
	}{
		{0, 6, 3, "0.000"},
		{2501499, 6, 3, "2.501"},
		{2501500, 6, 3, "2.502"},
		{499, 6, 3, "0.000"},
		{500, 6, 3, "0.001"},
		{999499, 6, 3, "0.999"},
		{999500, 6, 3, "1.000"},
		{83400, 6, 3, "0.083"},
		{83400, 9, 7, "0.0000834"},
		{49, 9, 7, "0.0000000"},
		{50, 9, 7, "0.0000001"},
		{75_000_000_000, 9, 7, "75.0000000"},
		{1_499_999_999, 9, 0, "1"},
		{1_500_000_000, 9, 0, "2"},
		{1_000_000, 9, 3, "0.001"},
		{4_994_999, 9, 2, "0.00"},
		{5_000_000, 9, 2, "0.01"},
		{123, 3, 3, "0.123"},
		{-2501499, 6, 3, "-2.501"},
		{-2501500, 6, 3, "-2.502"},
		{-1_000_000, 6, 3, "-1.000"},
	} {
		if got := string(appendFixed(nil, c.v, c.all, c.digits)); got != c.want {
			t.Errorf("appendFixed(%d, %d, %d) is %s, want %s", c.v, c.all, c.digits, got, c.want)
		}
	}
}

// TestAppendFixedAny compares with exact arithmetic over the full range: times and sizes come from
// an untrusted target.
func TestAppendFixedAny(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	values := []int64{math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1}
	for range 20_000 {
		values = append(values, r.Int63()>>r.Intn(63), -(r.Int63() >> r.Intn(63)))
	}
	failures := 0
	for _, v := range values {
		for _, d := range [][2]int{{6, 3}, {9, 7}, {9, 3}, {9, 2}, {9, 1}} {
			got := string(appendFixed([]byte("x"), v, d[0], d[1]))[1:]
			want := exact(v, d[0], d[1])
			if strings.Trim(want, "-0.") == "" {
				got, want = strings.TrimPrefix(got, "-"), strings.TrimPrefix(want, "-")
			}
			if got != want {
				if failures++; failures <= 5 {
					t.Errorf("appendFixed(%d, %d, %d) is %s, want %s", v, d[0], d[1], got, want)
				}
			}
		}
	}
}

// exact rounds half away from zero.
func exact(v int64, all, digits int) string {
	n := new(big.Int).Abs(big.NewInt(v))
	div := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(all-digits)), nil)
	n.Add(n, new(big.Int).Div(div, big.NewInt(2)))
	s := n.Div(n, div).String()
	for len(s) <= digits {
		s = "0" + s
	}
	s = s[:len(s)-digits] + "." + s[len(s)-digits:]
	if v < 0 {
		s = "-" + s
	}
	return s
}

func TestAppendPadded(t *testing.T) {
	for _, c := range []struct {
		v     int64
		width int
		want  string
	}{{0, 1, "0"}, {0, 3, "000"}, {7, 2, "07"}, {42, 2, "42"}, {123, 2, "123"}, {999999999, 9, "999999999"}} {
		if got := string(appendPadded(nil, c.v, c.width)); got != c.want {
			t.Errorf("appendPadded(%d, %d) is %s, want %s", c.v, c.width, got, c.want)
		}
	}
}

const day = int64(24 * time.Hour)

func TestClock(t *testing.T) {
	sync := time.Date(2026, 2, 28, 23, 59, 59, 999_123_456, time.UTC)
	c := newClock(sync, 90*time.Second+500*time.Millisecond)
	for _, x := range []struct {
		at     int64
		digits int
		want   string
		uptime string
	}{
		{0, 3, "2026-02-28T23:59:59.999", "90.500"},
		{0, 6, "2026-02-28T23:59:59.999123", "90.500"},
		{0, 9, "2026-02-28T23:59:59.999123456", "90.500"},
		{876_543, 3, "2026-02-28T23:59:59.999", "90.500"},
		{876_544, 3, "2026-03-01T00:00:00.000", "90.500"}, // the next day
		{1_000_000, 9, "2026-03-01T00:00:00.000123456", "90.501"},
		{-1_000_000, 3, "2026-02-28T23:59:59.998", "90.499"}, // backwards
		{-90_500_000_000, 3, "2026-02-28T23:58:29.499", "0.000"},
		{-91_000_000_000, 3, "2026-02-28T23:58:28.999", "0.000"}, // never negative
		{366 * day, 3, "2027-03-01T23:59:59.999", "31622490.500"},
	} {
		if got := string(c.appendClock(nil, x.at, x.digits)); got != x.want {
			t.Errorf("%d ns later is %s, want %s", x.at, got, x.want)
		}
		if got := string(c.appendUptime(nil, x.at)); got != x.uptime {
			t.Errorf("%d ns later the uptime is %s, want %s", x.at, got, x.uptime)
		}
	}
}

// TestClockAny compares with package time, forwards and backwards over days, and before 1970.
func TestClockAny(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, sync := range []time.Time{time.Date(2026, 11, 21, 0, 30, 37, 5, time.UTC), time.Unix(0, 0), time.Date(1969, 12, 31, 23, 59, 59, 999_999_999, time.UTC)} {
		c := newClock(sync, 0)
		for range 5000 {
			at := r.Int63n(10*365*day) - 5*365*day
			if got, want := string(c.appendClock(nil, at, 9)), sync.Add(time.Duration(at)).UTC().Format("2006-01-02T15:04:05.000000000"); got != want {
				t.Fatalf("%d ns after %v is %s, want %s", at, sync, got, want)
			}
		}
	}
}

func TestKiB(t *testing.T) {
	for bytes, want := range map[uint64]int64{
		0: 0, 511: 0, 512: 1, 1023: 1, 1024: 1, 1535: 1, 1536: 2, 900 << 30: 900 << 20,
		math.MaxUint64: 1 << 54, math.MaxUint64 - 512: 1<<54 - 1,
	} {
		if got := kib(bytes); got != want {
			t.Errorf("%d bytes are %d KiB, want %d", bytes, got, want)
		}
	}
}

func TestAppendBytes(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		want string
	}{
		{0, "0 B"},
		{1, "1 B"},
		{999, "999 B"},
		{1000, "1.0 KB"},
		{1049, "1.0 KB"},
		{1050, "1.1 KB"},
		{1500, "1.5 KB"},
		{999_949, "999.9 KB"},
		{999_950, "1.0 MB"},
		{29_800_000, "29.8 MB"},
		{999_949_999, "999.9 MB"},
		{999_950_000, "1.0 GB"},
		{3_100_000_000, "3.1 GB"},
		{999_949_999_999, "999.9 GB"},
		{999_950_000_000, "1.0 TB"},
		{1_000_000_000_000, "1.0 TB"},
		{999_950_000_000_000, "1000.0 TB"},
		{12_345_600_000_000_000, "12345.6 TB"},
		{math.MaxUint64, "18446744.1 TB"},
	} {
		if got := string(appendBytes(nil, c.n)); got != c.want {
			t.Errorf("%d is %s, want %s", c.n, got, c.want)
		}
	}
}

func TestAppendSizes(t *testing.T) {
	if got, want := string(appendSizes(nil, 28672, 3072, 73728)), "28672K->3072K(73728K)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := string(appendSize(nil, 0, 7)), "0K(7K)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestDivide: the capacities are those in section 2 of spec/java-formats.md.
func TestDivide(t *testing.T) {
	heap := func(young, old int64) (h heapKiB) {
		h.gen[0], h.gen[2] = young, old
		return h
	}
	for _, c := range []struct {
		before, after heapKiB
		committed     int64
		want          capacity
	}{
		{heap(10, 20), heap(5, 20), 90, capacity{30, 60, 90}}, // a third
		{heap(50, 20), heap(5, 20), 90, capacity{50, 40, 90}}, // young was larger than a third
		{heap(10, 80), heap(5, 80), 90, capacity{10, 80, 90}}, // old needs more than two thirds
		{heap(10, 20), heap(5, 20), 0, capacity{10, 20, 30}},  // committed memory unknown
		{heap(60, 20), heap(0, 70), 80, capacity{60, 70, 130}},
		{heap(0, 0), heap(0, 0), 0, capacity{}},
	} {
		if got := shareOut(c.before, c.after, c.committed); got != c.want {
			t.Errorf("%v, %v of %d is %+v, want %+v", c.before, c.after, c.committed, got, c.want)
		}
	}
}

func TestAppendJSONString(t *testing.T) {
	for in, want := range map[string]string{
		"":                   `""`,
		"plain":              `"plain"`,
		"a\"b\\c/":           `"a\"b\\c/"`,
		"\n\t\r":             `"\n\t\r"`,
		"\x00\x1b\x7f":       `"\u0000\u001b\u007f"`,
		"\u0085\u009f\u00a0": `"\u0085\u009f` + "\u00a0" + `"`,
		"\u2028\u2029":       `"\u2028\u2029"`,
		"\xff":               `"\ufffd"`,
		"\xe2\x82":           `"\ufffd\ufffd"`,
		"\ufffd":             "\"\ufffd\"",
		"é日😀":                `"é日😀"`,
	} {
		if got := string(appendJSONString(nil, in)); got != want {
			t.Errorf("%q is %s, want %s", in, got, want)
		}
	}
}

// FuzzJSONString: whatever a target calls itself, the result is one JSON string on one line with
// the same value.
func FuzzJSONString(f *testing.F) {
	for _, s := range []string{
		"", "plain", `"\/`, "\x00\x01\x1f\x7f\n\r\t\b\f", "\u0080\u0085\u009f\u00a0\u2027\u2028\u2029\u202a\ufeff\ufffd",
		"\xff\xfe\xc0\x80", "\xe2\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "é日😀", "a\xffb",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		before := []byte("before")
		out := appendJSONString(before, s)
		if string(out[:len(before)]) != "before" {
			t.Fatal("what was there is changed")
		}
		out = out[len(before):]
		if !json.Valid(out) || !utf8.Valid(out) {
			t.Fatalf("%q is no JSON: %q", s, out)
		}
		var got string
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); got != want {
			t.Errorf("%q is read back as %q", s, got)
		}
		for _, r := range string(out) {
			if r < 0x20 || r >= 0x7f && r < 0xa0 || r == 0x2028 || r == 0x2029 {
				t.Errorf("%q has U+%04X in its JSON", s, r)
			}
		}
	})
}

var onlyPlain = regexp.MustCompile(`^[A-Za-z0-9 .,:_/=-]*$`)

// FuzzPlain: what is appended to the header of a JDK log cannot be misinterpreted, and harmless
// characters are kept.
func FuzzPlain(f *testing.F) {
	for _, s := range []string{"", "MyApp", "a b.c,d:e_f/g=h-i", "My (young)][gc", "-XX:+UseG1GC", "é\xff\n\x00", "[memory ]<AF"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := string(appendPlain([]byte("x"), s))[1:]
		if !onlyPlain.MatchString(out) || strings.Contains(out, "\n") {
			t.Errorf("%q is %q", s, out)
		}
		if len(out) != len(s) {
			t.Errorf("%q of %d bytes is %q of %d", s, len(s), out, len(out))
		}
		for i := range len(s) {
			if onlyPlain.MatchString(s[i:i+1]) && s[i] != '\n' && out[i] != s[i] {
				t.Errorf("%q is %q: it changes %q", s, out, s[i])
			}
		}
	})
}
