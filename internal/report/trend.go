package report

import (
	"fmt"
	"strings"

	"github.com/gclog/gclog/gclog/analysis"
)

// A Trend is how the heap after gen2 collections changed.
type Trend struct {
	Count       int
	First, Last float64 // bytes
	Points      string  // of an SVG polyline in a box of trendWidth by trendHeight
}

const (
	trendWidth, trendHeight = 120, 28
	mostPoints              = 200
)

// gen2Trend returns the trend, or nil if there are fewer than two collections.
func gen2Trend(r *Recorder) *Trend {
	t := r.gcs
	class, after := t.column("class"), t.column("heap.after")
	var sizes []float64
	for i := range t.rows() {
		c := t.values[class][i]
		if c == unknown || t.values[after][i] == unknown {
			continue
		}
		switch t.names[class].list[c] {
		case analysis.ClassGen2.String(), analysis.ClassBackground.String():
			sizes = append(sizes, float64(t.values[after][i]))
		}
	}
	if len(sizes) < 2 {
		return nil
	}
	x := &Trend{Count: len(sizes), First: sizes[0], Last: sizes[len(sizes)-1]}
	most := 1.0
	for _, s := range sizes {
		most = max(most, s)
	}
	step := max(1, len(sizes)/mostPoints)
	var points []string
	for i := 0; i < len(sizes); i += step {
		points = append(points,
			fmt.Sprintf("%.1f,%.1f", trendWidth*float64(i)/float64(len(sizes)-1), (trendHeight-2)*(1-sizes[i]/most)+1))
	}
	x.Points = strings.Join(points, " ")
	return x
}

// text describes the trend.
func (t *Trend) text() string {
	bytes := func(v float64) string { return analysis.Number{Value: v, Unit: "bytes"}.Text() }
	change := "unchanged"
	if t.First > 0 && t.Last != t.First {
		percent := 100 * (t.Last - t.First) / t.First
		sign := "+"
		if percent < 0 {
			sign, percent = "−", -percent
		}
		change = sign + analysis.Number{Value: percent, Unit: "%"}.Text()
	}
	return fmt.Sprintf("%s since the first of %d, %s", change, t.Count, bytes(t.First))
}
