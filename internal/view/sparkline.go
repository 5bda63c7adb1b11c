package view

import "strings"

// bars are the heights of a sparkline, a blank for 0.
var bars = []rune(" ▁▂▃▄▅▆▇█")

// Sparkline draws values as bars relative to most, one character each. A value above 0 is never
// invisible; one that is negative is unknown, and a dot.
func Sparkline(values []float64, most float64) string {
	var b strings.Builder
	for _, v := range values {
		switch {
		case v < 0:
			b.WriteRune('·')
		case v == 0 || most <= 0:
			b.WriteRune(bars[0])
		default:
			steps := float64(len(bars) - 1)
			b.WriteRune(bars[int(min(steps, max(1, v/most*steps+0.5)))])
		}
	}
	return b.String()
}
