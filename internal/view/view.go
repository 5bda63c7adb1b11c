// Package view is what all views of collections share: which columns there are and in which order,
// what classes, severities and lengths of pauses are called, which color, letter and shape they
// have, and how numbers are written. The views are the summary, the explanation, the text log, top,
// stat, the report and the comparison.
//
// Names of numbers come from where they are defined: columns from formats.TextColumns and
// formats/fields, metrics from gclog/analysis, thresholds and terminal styles from formats/screen.
package view

import "github.com/gclog/gclog/gclog/analysis"

// Text formats a value with three digits and its unit, as summaries do. The units are those of
// analysis.Number.
func Text(value float64, unit string) string {
	return analysis.Number{Value: value, Unit: unit}.Text()
}

// Unknown replaces a value that is unknown.
const Unknown = "n/a"
