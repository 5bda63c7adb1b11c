// Package spelling finds the name that somebody meant who wrote another one: for
// commands, flags and the keys of a configuration.
package spelling

import (
	"slices"
	"strings"
)

// DidYouMean proposes the name that is two letters away at most, as the end of a
// sentence; "" if there is none.
func DidYouMean(typed string, names []string) string {
	best, least := "", most+1
	for _, name := range names {
		if d := distance(typed, name); d < least && d < len(name)/2 {
			best, least = name, d
		}
	}
	if best == "" {
		return ""
	}
	return ", did you mean " + best + "?"
}

// most is how many letters a name may be away.
const most = 2

// Near returns the names that may have been meant, the most likely first: those that are two
// letters away at most, then those that hold what was typed; upper and lower case are the same.
func Near(typed string, names []string) (near []string) {
	if typed == "" {
		return nil
	}
	typed = strings.ToLower(typed)
	away := map[string]int{}
	for _, name := range names {
		lower := strings.ToLower(name)
		d := distance(typed, lower)
		switch {
		case d <= most && d < len(name)/2:
		case strings.Contains(lower, typed):
			d = most + 1
		default:
			continue
		}
		away[name] = d
		near = append(near, name)
	}
	slices.SortStableFunc(near, func(a, b string) int { return away[a] - away[b] })
	return near
}

// distance is how many letters must be put in, taken out or replaced; of names that are too
// different in length for that it is more than most.
func distance(a, b string) int {
	if d := len(a) - len(b); d > most || -d > most {
		return most + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d = min(corner, row[j], row[j+1]) + 1
			}
			corner, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
