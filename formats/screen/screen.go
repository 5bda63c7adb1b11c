// Package screen decides what people see on a terminal: how wide it is, what the colors mean, which
// columns of a table fit, and where a long line is broken. Everything that prints tables or lines
// for people uses it, so that they agree. Standard output that is not a terminal is as wide as
// necessary, and has no colors.
package screen

import (
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"
)

// IsTerminal reports whether w is a terminal.
func IsTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// Size returns the size of the terminal that w is, in characters; 0, 0 if w is not a terminal. It
// asks each time, because a terminal may change its size at any moment.
func Size(w any) (width, height int) {
	if !IsTerminal(w) {
		return 0, 0
	}
	width, height, err := term.GetSize(int(w.(*os.File).Fd()))
	if err != nil || width <= 0 { // a serial line, or a container that was given no size
		return usualWidth, 0
	}
	return width, height
}

const usualWidth = 80

// Of returns a function that returns the size of the terminal that w is, or nil if w is not a
// terminal.
func Of(w any) func() (width, height int) {
	if !IsTerminal(w) {
		return nil
	}
	return func() (width, height int) { return Size(w) }
}

// TextWidth returns how wide text for people is on w: at most 80 characters, which are easy to
// read, and no wider than the terminal.
func TextWidth(w any) int {
	if width, _ := Size(w); width > 0 {
		return min(width, usualWidth)
	}
	return usualWidth
}

// Colored reports whether text on w is colored: on a terminal that supports colors, unless the user
// decides otherwise.
func Colored(w any) bool {
	if os.Getenv("NO_COLOR") != "" {
		return false
	}
	if v := os.Getenv("CLICOLOR_FORCE"); v != "" && v != "0" {
		return true
	}
	return IsTerminal(w) && os.Getenv("TERM") != "dumb"
}

// A Style is the escape sequence that starts a color on a terminal, named by its meaning.
type Style string

// The styles. Reset ends them.
const (
	Plain   Style = ""
	Heading Style = "\x1b[1m"
	Aside   Style = "\x1b[2m" // what belongs to no collection
	Good    Style = "\x1b[32m"
	Note    Style = "\x1b[34m"
	Warning Style = "\x1b[33m"
	Failure Style = "\x1b[31m"
	Alarm   Style = "\x1b[1;31m" // something is missing, or does not end

	Reset = "\x1b[0m"
)

// StyleAt returns the style, or Reset, that b starts with, "" if it is none; whole is false if b may
// be the start of one.
func StyleAt(b []byte) (style string, whole bool) {
	const most = len(Alarm)
	for i := range min(len(b), most) {
		switch c := b[i]; {
		case i == 0 && c == '\x1b', i == 1 && c == '[':
		case i > 1 && (c >= '0' && c <= '9' || c == ';'):
		case i > 1 && c == 'm':
			return colors(b[:i+1]), true
		default:
			return "", true
		}
	}
	return "", len(b) >= most
}

// colors returns a sequence that only changes colors, weight or brightness; "" for any other one.
func colors(b []byte) string {
	for code := range strings.SplitSeq(string(b[2:len(b)-1]), ";") {
		n, err := strconv.Atoi(code)
		if err != nil || n > 2 && n != 7 && (n < 31 || n > 37) {
			return ""
		}
	}
	return string(b)
}

// Pauses that stand out, in nanoseconds.
const (
	NoticeablePause = 50e6  // yellow
	LongPause       = 200e6 // what PerfView and the finding long-pause call long
)

// PauseStyle returns the style of a line about a pause; short pauses have the usual one.
func PauseStyle(ns int64, usual Style) Style {
	switch {
	case ns >= LongPause:
		return Failure
	case ns >= NoticeablePause:
		return Warning
	}
	return usual
}

// Painter returns a function that puts a text into a style, if colored.
func Painter(colored bool) func(Style, string) string {
	return func(s Style, text string) string {
		if !colored || s == Plain {
			return text
		}
		return string(s) + text + Reset
	}
}
