package view

import (
	"github.com/gclog/gclog/formats/screen"
	"github.com/gclog/gclog/gclog/analysis"
)

// A Look is how something is shown: its name, its color, and a letter and a shape, because a color
// must never be the only difference.
type Look struct {
	Name   string // plain words
	Letter string // one character, as in PerfView where it has one
	Shape  string // a name for charts: circle, square, triangle, diamond, cross
	Style  screen.Style
	// RGB and Dark are "#rrggbb" for a light and for a dark background. They are from the palette of
	// Okabe and Ito, which people with any color vision can distinguish.
	RGB, Dark string
}

// The palette of Okabe and Ito. Yellow, and black, are too close to a light and a dark background.
const (
	orange     = "#e69f00"
	skyBlue    = "#56b4e9"
	green      = "#009e73"
	blue       = "#0072b2"
	vermillion = "#d55e00"
	purple     = "#cc79a7"
	gray       = "#767676"
	lightGray  = "#a0a0a0"
	yellow     = "#f0e442"
)

// Of returns the look of a class of collections and pauses. ClassAll looks like ClassNone.
func Of(c analysis.Class) Look { return classes[min(c, analysis.ClassNone)] }

var classes = [analysis.ClassNone + 1]Look{
	analysis.ClassGen0:       {analysis.ClassGen0.Describe(), "0", "circle", cyan, skyBlue, skyBlue},
	analysis.ClassGen1:       {analysis.ClassGen1.Describe(), "1", "square", screen.Good, green, green},
	analysis.ClassGen2:       {analysis.ClassGen2.Describe(), "2", "triangle", screen.Failure, vermillion, vermillion},
	analysis.ClassBackground: {analysis.ClassBackground.Describe(), "B", "diamond", magenta, purple, purple},
	analysis.ClassNone:       {analysis.ClassNone.Describe(), "-", "cross", screen.Aside, gray, lightGray},
}

// Colors of a terminal without a meaning of their own.
const (
	cyan    screen.Style = "\x1b[36m"
	magenta screen.Style = "\x1b[35m"
)

// OfSeverity returns the look of a finding.
func OfSeverity(s analysis.Severity) Look { return severities[s] }

var severities = [...]Look{
	{},
	analysis.Info:    {analysis.Info.String(), "i", "circle", screen.Note, blue, skyBlue},
	analysis.Warning: {analysis.Warning.String(), "!", "triangle", screen.Warning, orange, yellow},
	analysis.Error:   {analysis.Error.String(), "X", "cross", screen.Failure, vermillion, vermillion},
}

// A Length is how long a pause is, in the steps that views distinguish.
type Length struct {
	Look
	From int64 // nanoseconds
}

// Lengths returns the steps, the shortest first.
func Lengths() []Length {
	return []Length{
		{Look{"short", " ", "circle", screen.Plain, blue, skyBlue}, 0},
		{Look{"noticeable", "!", "triangle", screen.Warning, orange, orange}, screen.NoticeablePause},
		{Look{"long", "X", "cross", screen.Failure, vermillion, vermillion}, screen.LongPause},
	}
}

// LengthOf returns the step of a pause in nanoseconds.
func LengthOf(pause int64) Length {
	list := Lengths()
	for len(list) > 1 && pause < list[len(list)-1].From {
		list = list[:len(list)-1]
	}
	return list[len(list)-1]
}
