package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gclog/gclog/formats"
)

// Span formats a duration for people: 46 s, 2 min 3 s, 5 h 12 min.
func Span(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// Shorten cuts a text that has more than n characters.
func Shorten(s string, n int) string {
	r := []rune(s)
	if len(r) <= n {
		return s
	}
	return string(r[:n-1]) + "…"
}

// ShortTime formats an estimated duration.
func ShortTime(d time.Duration) string {
	if d < time.Second {
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// Dash returns a text, or - if there is none.
func Dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// ShellWords quotes words for a shell.
func ShellWords(words []string) string {
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteByte(' ')
		}
		if strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-/+:=@%,") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		b.WriteString(w)
	}
	return b.String()
}

// A Lack is a reason why some numbers are unknown, with their names.
type Lack struct {
	Why   string
	Names []string
}

// AddLack adds a name to those with the same reason.
func AddLack(list []Lack, why, name string) []Lack {
	i := slices.IndexFunc(list, func(l Lack) bool { return l.Why == why })
	if i < 0 {
		return append(list, Lack{why, []string{name}})
	}
	if l := &list[i]; !slices.Contains(l.Names, name) {
		l.Names = append(l.Names, name)
	}
	return list
}

// Counted formats a number of things.
func Counted(n uint64, what string) string { return fmt.Sprintf("%d %s", n, Plural(n, what)) }

// Plural returns the word for n things.
func Plural(n uint64, what string) string {
	if n == 1 {
		return what
	}
	return what + "s"
}

// Elapsed formats a duration as hh:mm:ss.
func Elapsed(d time.Duration) string {
	s := int64(d.Seconds())
	return fmt.Sprintf("%02d:%02d:%02d", s/3600, s/60%60, s%60)
}

// Clean replaces characters that a terminal would interpret: names and arguments come from other
// processes.
func Clean(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r != '\n' && r != '\t' && formats.IsControl(r):
			return '\uFFFD'
		}
		return r
	}, s)
}
