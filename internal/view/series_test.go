package view_test

import (
	"regexp"
	"slices"
	"testing"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// TestSeries: the looks of lines differ from each other, on a light and on a dark background.
func TestSeries(t *testing.T) {
	var light, dark []string
	for _, s := range view.Series() {
		for _, rgb := range []string{s.RGB, s.Dark} {
			if !regexp.MustCompile(`^#[0-9a-f]{6}$`).MatchString(rgb) {
				t.Errorf("%q is no color", rgb)
			}
		}
		if slices.Contains(light, s.RGB) || slices.Contains(dark, s.Dark) {
			t.Errorf("two series have the color of %s", s.Name)
		}
		light, dark = append(light, s.RGB), append(dark, s.Dark)
	}
}

// TestClassColumns: the columns of summaries have titles of their own, and class names are those of
// metrics with blanks.
func TestClassColumns(t *testing.T) {
	var titles []string
	for _, c := range slices.Concat(view.PauseColumns(), view.CollectionColumns(), view.SizeColumns()) {
		if c.Title == "" || c.Of == nil || slices.Contains(titles, c.Title) {
			t.Errorf("column %q", c.Title)
		}
		titles = append(titles, c.Title)
	}
	if a, b := view.ClassTitle(analysis.ClassGen2), view.ClassTitle(analysis.ClassNone); a != "gen2 blocking" || b != "without a GC" {
		t.Errorf("classes are called %q and %q", a, b)
	}
}
