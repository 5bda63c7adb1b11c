// Package spelling finds the name that somebody meant who wrote another one: for
// commands, flags and the keys of a configuration.
package spelling

// DidYouMean proposes the name that is two letters away at most, as the end of a
// sentence; "" if there is none.
func DidYouMean(typed string, names []string) string {
	best, least := "", 3
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

// distance is how many letters must be put in, taken out or replaced.
func distance(a, b string) int {
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
