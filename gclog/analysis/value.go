package analysis

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// valueText formats a value with three digits: "203 ms", "1.5 GB", "12.5 %".
func valueText(v float64, unit string) string {
	switch unit {
	case "ns":
		return durationText(v)
	case "bytes":
		return sizeText(v)
	case "bytes/s":
		return sizeText(v) + "/s"
	case "%", "%/h":
		return digits(v) + " " + unit
	case "1/min":
		return digits(v) + " per minute"
	}
	return digits(v)
}

func durationText(ns float64) string {
	switch a := math.Abs(ns); {
	case a >= 119.5e9:
		return longText(time.Duration(ns))
	case a >= 999.5e6:
		return digits(ns/1e9) + " s"
	case a >= 999.5e3:
		return digits(ns/1e6) + " ms"
	case a >= 999.5:
		return digits(ns/1e3) + " µs"
	}
	return digits(ns) + " ns"
}

// longText formats minutes and hours in their two largest units: 2 min 3 s, 10 min, 5 h 12 min.
func longText(d time.Duration) string {
	large, small, of, in := " min", " s", time.Minute, time.Second
	if d.Abs().Round(time.Second) >= time.Hour {
		large, small, of, in = " h", " min", time.Hour, time.Minute
	}
	d = d.Round(in)
	text := strconv.FormatInt(int64(d/of), 10) + large
	if rest := (d % of / in).Abs(); rest != 0 {
		text += " " + strconv.FormatInt(int64(rest), 10) + small
	}
	return text
}

func sizeText(n float64) string {
	units := [...]string{" B", " KB", " MB", " GB", " TB"}
	i := 0
	for math.Abs(n) >= 999.5 && i < len(units)-1 {
		n, i = n/1000, i+1
	}
	return digits(n) + units[i]
}

// digits formats three digits, or all digits of a larger number, without trailing zeros after the
// point.
func digits(v float64) string {
	precision := 2
	switch a := math.Abs(v); {
	case a >= 99.95:
		precision = 0
	case a >= 9.995:
		precision = 1
	}
	s := strconv.FormatFloat(v, 'f', precision, 64)
	if precision > 0 {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// plural formats a number of things.
func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.FormatUint(n, 10) + " " + what + "s"
}
