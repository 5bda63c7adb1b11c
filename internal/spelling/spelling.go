// Package spelling finds the name that was meant by a misspelled one: for commands, flags and the
// keys of a configuration.
package spelling

import (
	"slices"
	"strings"
)

// DidYouMean proposes the closest name at a distance of at most two letters, as the end of a
// sentence. It returns "" if there is none.
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

// most is the maximum distance of a name.
const most = 2

// Near returns the names that may have been meant, the most likely first: those at a distance of at
// most two letters, then those that contain typed. Case is ignored.
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

// distance returns how many letters must be inserted, deleted or replaced. If the lengths alone
// differ by more than most, it returns a number greater than most.
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
