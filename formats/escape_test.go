package formats_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/gclog/gclog/formats"
)

func TestQuotedLength(t *testing.T) {
	for text, want := range map[string]int{
		``: 0, `"`: 0, `"a`: 0, `""`: 2, `"a"`: 3, `"a":1`: 3, `"a\"`: 0, `"a\""`: 5, `"a\\"`: 5, `"a\\\"`: 0, `"\\\\" "`: 6,
	} {
		if got := formats.QuotedLength([]byte(text)); got != want {
			t.Errorf("%s is %d long, want %d", text, got, want)
		}
	}
}

// TestJSONWriter: the output means the same, and contains no character that acts.
func TestJSONWriter(t *testing.T) {
	all := ""
	for r := rune(1); r < 0x3000; r++ {
		all += string(r)
	}
	for _, text := range []string{"", "plain", "\u202e", "\u202eat the begin", "ü\u2066\u2069ü", "\x7f\u009b", all, "\U0001f600\u200f"} {
		var b bytes.Buffer
		if err := formats.NewJSONEncoder(&b).Encode(map[string]string{text: text}); err != nil {
			t.Fatal(err)
		}
		for _, r := range strings.TrimSuffix(b.String(), "\n") {
			if formats.IsControl(r) {
				t.Errorf("%q: U+%04X is in %q", text, r, b.String())
			}
		}
		var got map[string]string
		if err := json.Unmarshal(b.Bytes(), &got); err != nil || got[text] != text {
			t.Errorf("%q is read as %q, error %v", text, got, err)
		}
	}
}

// TestOneLine: a terminal shows it, in one line, and it is not endless.
func TestOneLine(t *testing.T) {
	for _, x := range []struct {
		text, want string
		most       int
	}{
		{"", "", 0},
		{"gör\tdie\nbank", "gör die bank", 12},
		{"a\x1b[2J\r\u202eb\xff", "a\uFFFD[2J\uFFFD\uFFFDb\uFFFD", 100},
		{"0123456789", "0123456789", 10},
		{"ööööö", "öööö…", 4},
	} {
		if got := formats.OneLine(x.text, x.most); got != x.want {
			t.Errorf("%q becomes %q, want %q", x.text, got, x.want)
		}
	}
}
