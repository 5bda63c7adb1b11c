package formats

import (
	"strings"
	"testing"
)

// TestTextWriter: no text makes a terminal do anything but show it, however it is cut into writes;
// gclog's own colors remain where there are any.
func TestTextWriter(t *testing.T) {
	for _, c := range []struct{ text, plain, styled string }{
		{"a\tb\nß…\n", "a\tb\nß…\n", ""},
		{"\x1b[31mred\x1b[0m \x1b[1;31mx", "\ufffd[31mred\ufffd[0m \ufffd[1;31mx", "\x1b[31mred\x1b[0m \x1b[1;31mx"},
		{"\x1b]0;pwn\a\x1b[2J\r\b\x7f", "\ufffd]0;pwn\ufffd\ufffd[2J\ufffd\ufffd\ufffd", ""},
		{"\x1b[8mhidden\x1b[5m\x1b[?1m\x1b[m\x1b[1;8m", "\ufffd[8mhidden\ufffd[5m\ufffd[?1m\ufffd[m\ufffd[1;8m", ""},
		{"\u202e\u2028\u009b1m", "\ufffd\ufffd\ufffd1m", ""},
		{"\x9b1m\xff\xe2\x80x", "\ufffd1m\ufffd\ufffd\ufffdx", ""},
	} {
		for _, styles := range []bool{false, true} {
			want := c.plain
			if styles && c.styled != "" {
				want = c.styled
			}
			for size := 1; size <= len(c.text); size++ {
				var b strings.Builder
				w := &TextWriter{W: &b, Styles: styles}
				for rest := c.text; rest != ""; {
					n, err := w.Write([]byte(rest[:min(size, len(rest))]))
					if n != min(size, len(rest)) || err != nil {
						t.Fatal(n, err)
					}
					rest = rest[n:]
				}
				if b.String() != want {
					t.Errorf("%q by %d: %q, want %q", c.text, size, b.String(), want)
				}
			}
		}
	}
}

// TestCSVWriter: no cell is a formula, and numbers stay numbers.
func TestCSVWriter(t *testing.T) {
	for cell, want := range map[string]string{
		"":                   "",
		"System.String":      "System.String",
		"<>c__DisplayClass":  "<>c__DisplayClass",
		"a,b":                `"a,b"`,
		"=cmd|' /C calc'!A0": "'=cmd|' /C calc'!A0",
		"+1+1":               "'+1+1",
		"@SUM(1)":            "'@SUM(1)",
		"-x":                 "'-x",
		"-":                  "'-",
		"＝1":                 "'＝1",
		" =1":                "' =1",
		"\t=1":               "' =1",
		"-5":                 "-5",
		"+5.25e3":            "+5.25e3",
		"\r=1":               "\ufffd=1",
		"\x1b[2J\u202ea\nb":  "\ufffd[2J\ufffda b",
	} {
		var b strings.Builder
		w := NewCSVWriter(&b)
		if err := w.Write([]string{cell}); err != nil || w.Flush() != nil || b.String() != want+"\n" {
			t.Errorf("%q: %q, want %q, %v", cell, b.String(), want, err)
		}
	}
}
