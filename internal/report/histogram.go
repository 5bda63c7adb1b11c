package report

import (
	"fmt"
	"math"

	"github.com/gclog/gclog/gclog/analysis"
	"github.com/gclog/gclog/internal/view"
)

// A Histogram is a drawing of the distribution of pauses on a logarithmic scale, in the units of an
// SVG.
type Histogram struct {
	Width, Height, Base float64 // Base is the y of the axis
	Bars                []HistogramBar
	Ticks               []Mark // of the axis of lengths
	Lines               []Mark // of the axis of counts
	Percentiles         []Mark
	Classes             []ClassMark // classes that occur, for the legend
	Text                string      // the same in words
}

// A HistogramBar is the pauses of one class in one bucket.
type HistogramBar struct {
	X, Y, Width, Height float64
	Class               string // as a name in CSS
	Text                string
}

// A Mark is a line in a drawing with a text.
type Mark struct {
	X, Y float64
	Text string
	Row  int // of overlapping texts
}

// A ClassMark is an entry of a legend.
type ClassMark struct{ Name, Class string }

const (
	histogramWidth, histogramHeight = 760.0, 250.0
	histogramLeft, histogramTop     = 48.0, 52.0
	histogramRight, histogramBottom = 28.0, 28.0
	percentileRows                  = 3
	characterWidth                  = 6.4  // about
	percentileSpace                 = 10.0 // between two texts
)

// newHistogram returns the drawing, or nil without pauses.
func newHistogram(r *Recorder, s *analysis.Summary) *Histogram {
	first, last, most := buckets, -1, uint64(0)
	for b := range buckets {
		sum := uint64(0)
		for c := range r.histogram {
			sum += r.histogram[c][b]
		}
		if sum > 0 {
			first, last, most = min(first, b), b, max(most, sum)
		}
	}
	if last < 0 {
		return nil
	}
	// Whole powers of ten, so that the axis has names.
	first = first / perDecade * perDecade
	last = (last/perDecade + 1) * perDecade
	h := &Histogram{Width: histogramWidth, Height: histogramHeight, Base: histogramHeight - histogramBottom}
	scaleX := (histogramWidth - histogramLeft - histogramRight) / float64(last-first)
	x := func(bucket float64) float64 { return histogramLeft + (bucket-float64(first))*scaleX }
	plot := h.Base - histogramTop
	top := niceMost(float64(most))
	y := func(n float64) float64 { return h.Base - plot*n/top }
	total := uint64(0)
	for b := first; b < last; b++ {
		below := uint64(0)
		for c := range r.histogram {
			n := r.histogram[c][b]
			if n == 0 {
				continue
			}
			class := analysis.Class(c)
			text := fmt.Sprintf("%s of %s from %s to %s",
				plural(n, "pause"), view.ClassTitle(class), pauseText(bucketStart(b)), pauseText(bucketStart(b+1)))
			h.Bars = append(h.Bars, HistogramBar{
				x(float64(b)) + 0.5, y(float64(below + n)), max(1, scaleX-1), y(float64(below)) - y(float64(below+n)),
				classCSS(class), text,
			})
			below += n
			total += n
		}
	}
	for b := first; b <= last; b += perDecade {
		h.Ticks = append(h.Ticks, Mark{X: x(float64(b)), Text: pauseText(bucketStart(b))})
	}
	for i := 0; i <= 4; i++ {
		n := top * float64(i) / 4
		h.Lines = append(h.Lines, Mark{Y: y(n), Text: fmt.Sprintf("%g", n)})
	}
	all := &s.Classes[analysis.ClassAll].Pauses
	h.Text = "Histogram of " + plural(total, "pause")
	var ends [percentileRows]float64 // of the texts in each row
	for _, p := range []struct {
		name string
		analysis.Number
	}{{"median", all.P50}, {"p90", all.P90}, {"p99", all.P99}, {"p99.9", all.P999}, {"max", all.Max}} {
		if !p.Known() || p.Value < firstBucketNS {
			continue
		}
		m := Mark{X: min(x(perDecade*math.Log10(p.Value/firstBucketNS)), histogramWidth), Text: p.name + " " + p.Text()}
		for m.Row < percentileRows-1 && m.X-characterWidth*float64(len(m.Text))-percentileSpace < ends[m.Row] {
			m.Row++
		}
		ends[m.Row] = m.X
		m.Y = 12 + 13*float64(m.Row)
		h.Percentiles = append(h.Percentiles, m)
		h.Text += ", " + m.Text
	}
	for c := range analysis.ClassAll {
		if s.Classes[c].Pauses.Count > 0 {
			h.Classes = append(h.Classes, ClassMark{view.ClassTitle(c), classCSS(c)})
		}
	}
	return h
}

// classCSS returns the name of a class in the style sheet.
func classCSS(c analysis.Class) string {
	return [analysis.Classes]string{"gen0", "gen1", "gen2", "background", "none", "all"}[c]
}

func pauseText(ns float64) string { return analysis.Number{Value: math.Round(ns), Unit: "ns"}.Text() }

// niceMost returns the end of an axis of counts up to most, with four equal parts.
func niceMost(most float64) float64 {
	for unit := 4.0; ; unit *= 10 {
		for _, m := range []float64{1, 2, 3, 5} {
			if unit*m >= most {
				return unit * m
			}
		}
	}
}
