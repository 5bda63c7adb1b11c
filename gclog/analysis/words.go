package analysis

import (
	"fmt"
	"strconv"
	"strings"
)

// How numbers are written in sentences.

// timeText and bytesText format integers.
func timeText(ns int64) string      { return durationText(float64(ns)) }
func bytesText(bytes uint64) string { return sizeText(float64(bytes)) }

// timesText formats a ratio.
func timesText(ratio float64) string { return digits(ratio) + " times" }

// ordinal returns 1st, 2nd, 3rd, 4th.
func ordinal(n int) string {
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// andList joins the items of an enumeration.
func andList(parts []string) string {
	if len(parts) < 2 {
		return strings.Join(parts, "")
	}
	return strings.Join(parts[:len(parts)-1], ", ") + " and " + parts[len(parts)-1]
}

// numbersText lists sorted numbers, with runs shortened: 31 to 33, 36 and 37.
func numbersText[N int | uint32](list []N) string {
	var parts []string
	for i := 0; i < len(list); {
		j := i
		for j+1 < len(list) && list[j+1] == list[j]+1 {
			j++
		}
		if j >= i+2 {
			parts = append(parts, fmt.Sprintf("%d to %d", list[i], list[j]))
		} else {
			for _, n := range list[i : j+1] {
				parts = append(parts, fmt.Sprint(n))
			}
		}
		i = j + 1
	}
	return andList(parts)
}

// upperFirst capitalizes the start of a sentence.
func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// noneOr formats a number of things that were named before.
func noneOr(n uint32) string {
	if n == 0 {
		return "none"
	}
	return strconv.FormatUint(uint64(n), 10)
}

// was returns the verb for a number of things.
func was(n uint64) string {
	if n == 1 {
		return " was"
	}
	return " were"
}

// are returns the verb for a number of things.
func are(n uint64) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
